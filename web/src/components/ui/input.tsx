import { Search } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";

import { cn } from "@/lib/cn";

export const controlLook =
  "w-full rounded-lg border border-line-strong bg-surface px-3 text-sm text-ink transition-colors " +
  "hover:border-ink-3 focus-visible:border-accent focus-visible:outline-offset-0 " +
  "disabled:cursor-not-allowed disabled:bg-sunken disabled:text-ink-3 [&:is(input,textarea):read-only]:bg-sunken aria-invalid:border-danger";

/** A line of text. */
export function Input({ className, ...props }: ComponentProps<"input">) {
  return <input className={cn(controlLook, "h-9", className)} {...props} />;
}

/** Several lines of text. */
export function Textarea({ className, ...props }: ComponentProps<"textarea">) {
  return <textarea className={cn(controlLook, "min-h-20 py-2 leading-[20px]", className)} {...props} />;
}

/** A field to search by, with the key that leads to it. */
export function SearchInput({ label, shortcut, className, ...props }: ComponentProps<"input"> & { label: string; shortcut?: string }) {
  return (
    <div className={cn("relative", className)}>
      <Search aria-hidden className="pointer-events-none absolute left-3 top-2.5 size-4 text-ink-3" />
      <Input type="search" aria-label={label} className="pl-9 pr-10 [&::-webkit-search-cancel-button]:hidden" {...props} />
      {shortcut ? <Kbd className="pointer-events-none absolute right-2 top-2">{shortcut}</Kbd> : null}
    </div>
  );
}

/** A key on the keyboard. */
export function Kbd({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <kbd
      aria-hidden
      className={cn(
        "inline-flex h-5 min-w-5 items-center justify-center rounded-sm border border-line bg-sunken px-1 font-mono text-2xs text-ink-3",
        className,
      )}
    >
      {children}
    </kbd>
  );
}

/** A label, its helper text, the control and what is wrong with it. `children` gets the ids to name. */
export function Field({
  id,
  label,
  hint,
  error,
  optional,
  children,
}: {
  id: string;
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  optional?: boolean;
  children: (aria: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}) {
  const described = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div>
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {optional ? <span className="ml-1.5 font-normal text-ink-3">optional</span> : null}
      </label>
      {hint ? (
        <p id={`${id}-hint`} className="text-xs text-ink-3">
          {hint}
        </p>
      ) : null}
      <div className="mt-1.5">
        {children({ id, "aria-describedby": described || undefined, "aria-invalid": error ? true : undefined })}
      </div>
      {error ? (
        <p id={`${id}-error`} className="mt-1 text-xs text-danger-ink">
          {error}
        </p>
      ) : null}
    </div>
  );
}
