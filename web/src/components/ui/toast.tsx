import { Toaster as Sonner, toast } from "sonner";

import { useTheme } from "@/shell/theme";

/** Says that something worked. What needs an answer belongs on the page instead. */
export { toast };

/** Where toasts appear; the shell has one. */
export function Toaster() {
  const { shown } = useTheme();
  return (
    <Sonner
      theme={shown}
      position="bottom-right"
      toastOptions={{
        unstyled: true,
        classNames: {
          toast: "flex w-[340px] items-center gap-3 rounded-xl border border-line bg-surface px-4 py-3 text-sm text-ink shadow-pop",
          description: "text-xs text-ink-3",
        },
      }}
    />
  );
}
