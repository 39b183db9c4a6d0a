import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark" | "system";

const KEY = "toolgate.theme";
const media = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function chosen(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

let theme: Theme = chosen();

function apply(): void {
  document.documentElement.dataset.theme = resolved();
  for (const tell of listeners) tell();
}

const resolved = (): "light" | "dark" => (theme === "system" ? (media.matches ? "dark" : "light") : theme);

media.addEventListener("change", apply);

/** Chooses a theme and keeps the choice in this browser. */
export function chooseTheme(next: Theme): void {
  theme = next;
  try {
    if (next === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // It holds for as long as the page is open.
  }
  apply();
}

/** The theme as chosen and as shown. */
export function useTheme(): { theme: Theme; shown: "light" | "dark" } {
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    theme: useSyncExternalStore(subscribe, () => theme),
    shown: useSyncExternalStore(subscribe, resolved),
  };
}
