import { cva, type VariantProps } from "class-variance-authority";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

import { cn } from "@/lib/cn";

const look = cva(
  "inline-flex items-center gap-1 whitespace-nowrap rounded-md border px-1.5 text-xs font-medium leading-[20px] [&_svg]:size-3 [&_svg]:shrink-0",
  {
    variants: {
      tone: {
        neutral: "border-line bg-sunken text-ink-2",
        accent: "border-transparent bg-accent-soft text-accent-ink",
        ok: "border-transparent bg-ok-soft text-ok-ink",
        warn: "border-transparent bg-warn-soft text-warn-ink",
        danger: "border-transparent bg-danger-soft text-danger-ink",
        info: "border-transparent bg-info-soft text-info-ink",
      },
    },
    defaultVariants: { tone: "neutral" },
  },
);

export type Tone = NonNullable<VariantProps<typeof look>["tone"]>;

/** A word with an icon; the colour only repeats what both say. */
export function Badge({
  tone,
  icon: Icon,
  children,
  className,
  title,
}: {
  tone?: Tone;
  icon?: LucideIcon;
  children: ReactNode;
  className?: string;
  title?: string;
}) {
  return (
    <span className={cn(look({ tone }), className)} title={title}>
      {Icon ? <Icon aria-hidden /> : null}
      {children}
    </span>
  );
}
