import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";

import { cn } from "@/lib/cn";

import { controlLook } from "./input";

/** The browser's own list of choices, in our look. */
export function Select({ className, children, ...props }: ComponentProps<"select">) {
  return (
    <span className={cn("relative block", className)}>
      <select className={cn(controlLook, "h-9 appearance-none pr-9")} {...props}>
        {children}
      </select>
      <ChevronDown aria-hidden className="pointer-events-none absolute right-3 top-2.5 size-4 text-ink-3" />
    </span>
  );
}
