import { createLink } from "@tanstack/react-router";
import type { VariantProps } from "class-variance-authority";
import type { ComponentProps } from "react";

import { cn } from "@/lib/cn";

import { buttonLook } from "./button";

/** A link within the app that looks like a button. */
export const ButtonLink = createLink(function Anchor({ className, look, size, ...props }: ComponentProps<"a"> & VariantProps<typeof buttonLook>) {
  return <a className={cn(buttonLook({ look, size }), className)} {...props} />;
});
