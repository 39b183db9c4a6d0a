import { Monitor, Moon, Sun } from "lucide-react";
import { DropdownMenu } from "radix-ui";

import { Button } from "@/components/ui/button";
import { menuItemLook, menuLook } from "@/components/ui/filter-menu";

import { chooseTheme, type Theme, useTheme } from "./theme";

const choices: { value: Theme; title: string; icon: typeof Sun }[] = [
  { value: "light", title: "Light", icon: Sun },
  { value: "dark", title: "Dark", icon: Moon },
  { value: "system", title: "As the system", icon: Monitor },
];

/** Light, dark, or as the system has it. */
export function ThemeMenu() {
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
