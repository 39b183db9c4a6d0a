import { Switch as Radix } from "radix-ui";
import type { ComponentProps } from "react";

/** On or off. */
export function Switch(props: ComponentProps<typeof Radix.Root>) {
  return (
    <Radix.Root
      className="relative inline-flex h-6 w-10 shrink-0 items-center rounded-full border border-transparent bg-line-strong transition-colors disabled:opacity-50 data-[state=checked]:bg-accent aria-invalid:ring-2 aria-invalid:ring-danger"
      {...props}
    >
      <Radix.Thumb className="block size-[18px] translate-x-[2px] rounded-full bg-white transition-transform data-[state=checked]:translate-x-[18px]" />
    </Radix.Root>
  );
}
