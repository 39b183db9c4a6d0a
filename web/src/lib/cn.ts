import { type ClassValue, clsx } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

const merge = extendTailwindMerge({
  extend: { classGroups: { "font-size": [{ text: ["2xs", "xs", "sm", "base", "lg", "xl", "2xl"] }] } },
});

/** Joins class names; later ones win over earlier ones of the same kind. */
export function cn(...classes: ClassValue[]): string {
  return merge(clsx(classes));
}
