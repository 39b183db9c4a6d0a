import { Toaster as Sonner } from "sonner";

import { useTheme } from "@/shell/theme";

/** The toasts themselves, in our look. */
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
