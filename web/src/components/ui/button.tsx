import { cva, type VariantProps } from "class-variance-authority";
import { Slot } from "radix-ui";
import type { ComponentProps } from "react";

import { cn } from "@/lib/cn";

export const buttonLook = cva(
  "inline-flex shrink-0 items-center justify-center gap-2 whitespace-nowrap rounded-lg text-sm font-medium transition-colors " +
    "disabled:cursor-not-allowed disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0",
  {
    variants: {
      look: {
        /** The one thing to do in this view. */
        primary: "bg-accent text-white hover:bg-accent-hover",
        /** Everything else. */
        outline: "border border-line-strong bg-surface text-ink hover:bg-hover",
        quiet: "text-ink-2 hover:bg-hover hover:text-ink",
        /** What destroys or refuses: outlined, never solid. */
        danger: "border border-line-strong bg-surface text-danger-ink hover:border-danger hover:bg-danger-soft",
        link: "text-accent-ink hover:underline",
      },
      size: { md: "h-9 px-3.5", sm: "h-8 px-3", icon: "size-9", "icon-sm": "size-8" },
    },
    compoundVariants: [{ look: "link", className: "h-auto px-0" }],
    defaultVariants: { look: "outline", size: "md" },
  },
);

type ButtonProps = ComponentProps<"button"> & VariantProps<typeof buttonLook> & { asChild?: boolean };

/** A button, or with `asChild` a link that looks like one. */
export function Button({ className, look, size, asChild, type = "button", ...props }: ButtonProps) {
  const classes = cn(buttonLook({ look, size }), className);
  return asChild ? <Slot.Root className={classes} {...props} /> : <button type={type} className={classes} {...props} />;
}
