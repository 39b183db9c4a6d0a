import { Menu, Search } from "lucide-react";
import { lazy, Suspense } from "react";

import { Button } from "@/components/ui/button";
import { Kbd } from "@/components/ui/input";

// Menus come after the first paint: they are a fifth of what the shell would weigh.
const ThemeMenu = lazy(() => import("./theme-menu").then((module) => ({ default: module.ThemeMenu })));

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
      <Suspense fallback={<span className="size-9" />}>
        <ThemeMenu />
      </Suspense>
    </header>
  );
}
