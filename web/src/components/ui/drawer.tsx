import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import { type ReactNode, useRef } from "react";

import { cn } from "@/lib/cn";

import { Button } from "./button";
import { Skeleton } from "./skeleton";

/**
 * A panel from the right. Whether it is open stands in the address (`?run=…`), so that a link opens it and Back closes
 * it: `onClose` takes the search param away. Focus starts on the panel itself, never on a button that decides.
 */
export function Drawer({
  open,
  onClose,
  badges,
  title,
  description,
  children,
  footer,
  wide,
}: {
  open: boolean;
  onClose: () => void;
  badges?: ReactNode;
  title: ReactNode;
  description?: ReactNode;
  children: ReactNode;
  footer?: ReactNode;
  wide?: boolean;
}) {
  const panel = useRef<HTMLDivElement>(null);
  return (
    <Dialog.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-shade data-[state=open]:animate-in data-[state=open]:fade-in duration-150" />
        <Dialog.Content
          ref={panel}
          tabIndex={-1}
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            panel.current?.focus();
          }}
          className={cn(
            "fixed inset-y-0 right-0 z-40 flex w-full flex-col border-l border-line bg-surface shadow-pop outline-none",
            "data-[state=open]:animate-in data-[state=open]:slide-in-from-right-8 data-[state=open]:fade-in duration-200",
            wide ? "max-w-[860px]" : "max-w-[640px]",
          )}
        >
          <header className="relative border-b border-line px-6 pb-5 pt-5 pr-16 max-sm:px-4 max-sm:pr-14">
            {badges ? <div className="mb-2 flex flex-wrap items-center gap-1.5">{badges}</div> : null}
            <Dialog.Title className="text-xl font-semibold tracking-tight">{title}</Dialog.Title>
            {description ? <div className="mt-1 max-w-[60ch] text-sm text-ink-3">{description}</div> : null}
            <Dialog.Close asChild>
              <Button look="quiet" size="icon" aria-label="Close" className="absolute right-4 top-4">
                <X aria-hidden />
              </Button>
            </Dialog.Close>
          </header>
          <div
            role="region"
            aria-label="Details"
            tabIndex={0}
            className="min-h-0 flex-1 space-y-6 overflow-y-auto px-6 py-5 outline-offset-[-2px] max-sm:px-4"
          >
            {children}
          </div>
          {footer ? (
            <footer className="flex flex-wrap items-center justify-between gap-3 border-t border-line bg-sunken px-6 py-3.5 max-sm:px-4">
              {footer}
            </footer>
          ) : null}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Keeps the room of badges that are on their way, so that nothing jumps when they come. */
export function BadgeSkeleton() {
  return <Skeleton className="h-[22px] w-24 rounded-md" />;
}

/** A titled part of a drawer. */
export function DrawerSection({
  title,
  icon,
  aside,
  children,
}: {
  title: string;
  icon?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section>
      <div className="mb-2 flex items-center justify-between gap-3">
        <h3 className="flex items-center gap-2 text-sm font-semibold [&_svg]:size-4 [&_svg]:text-ink-3">
          {icon}
          {title}
        </h3>
        {aside ? <div className="text-xs text-ink-3">{aside}</div> : null}
      </div>
      {children}
    </section>
  );
}
