import { Menu, Monitor, Moon, Search, Sun } from "lucide-react";
import { DropdownMenu } from "radix-ui";

import { Button } from "@/components/ui/button";
import { menuItemLook, menuLook } from "@/components/ui/filter-menu";
import { Kbd } from "@/components/ui/input";

import { chooseTheme, type Theme, useTheme } from "./theme";

const mac = /Mac|iPhone|iPad/.test(navigator.platform);

/** The palette's field and the theme; on a phone also the menu. */
export function TopBar({ onMenu, onPalette }: { onMenu: () => void; onPalette: () => void }) {
  return (
    <header className="sticky top-0 z-20 flex h-14 items-center justify-between gap-3 border-b border-line bg-canvas px-8 max-md:px-4">
      <Button look="quiet" size="icon" aria-label="Menu" className="md:hidden" onClick={onMenu}>
        <Menu aria-hidden />
      </Button>
      <button
        type="button"
        onClick={onPalette}
        className="flex h-9 w-full max-w-[448px] items-center gap-2 rounded-lg border border-line bg-surface px-3 text-sm text-ink-3 hover:border-line-strong"
      >
        <Search aria-hidden className="size-4" />
        <span className="flex-1 truncate text-left">Jump to a tool, run or page</span>
        <span className="flex gap-1 max-sm:hidden">
          <Kbd>{mac ? "⌘" : "Ctrl"}</Kbd>
          <Kbd>K</Kbd>
        </span>
      </button>
      <ThemeMenu />
    </header>
  );
}

const choices: { value: Theme; title: string; icon: typeof Sun }[] = [
  { value: "light", title: "Light", icon: Sun },
  { value: "dark", title: "Dark", icon: Moon },
  { value: "system", title: "As the system", icon: Monitor },
];

function ThemeMenu() {
  const { theme, shown } = useTheme();
  const Icon = shown === "dark" ? Sun : Moon;
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button look="quiet" size="icon" aria-label="Theme">
          <Icon aria-hidden />
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={6} className={menuLook}>
          <DropdownMenu.RadioGroup value={theme} onValueChange={(value) => chooseTheme(value as Theme)}>
            {choices.map((choice) => (
              <DropdownMenu.RadioItem
                key={choice.value}
                value={choice.value}
                className={`${menuItemLook} data-[state=checked]:text-accent-ink`}
              >
                <choice.icon aria-hidden className="size-4" />
                {choice.title}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
