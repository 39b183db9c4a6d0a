import { lazy, Suspense, useSyncExternalStore } from "react";

const Shown = lazy(() => import("./toaster").then((module) => ({ default: module.Toaster })));

// Loaded with the first toast: most visits need none.
let wanted = false;
const listeners = new Set<() => void>();

/** Says that something worked. What needs an answer belongs on the page instead. */
export function toast(text: string): void {
  wanted = true;
  for (const tell of listeners) tell();
  void import("sonner").then(({ toast: show }) => show(text));
}

/** Where toasts appear; the shell has one. */
export function Toaster() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => wanted,
  );
  return shown ? (
    <Suspense>
      <Shown />
    </Suspense>
  ) : null;
}
