import { Check, ChevronDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";

import { Button } from "./button";

/** A filter: several of a few choices. None chosen means all. */
export function FilterMenu({
  title,
  options,
  chosen,
  onChange,
}: {
  title: string;
  options: { value: string; title: string; count?: number }[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}) {
  const flip = (value: string) =>
    onChange(chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value]);
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button>
          {title}
          {chosen.length > 0 ? (
            <span className="rounded-full bg-accent-soft px-1.5 text-2xs font-medium text-accent-ink">{chosen.length}</span>
          ) : null}
          <ChevronDown aria-hidden className="text-ink-3" />
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="start" sideOffset={6} className={menuLook}>
          {options.map((option) => (
            <DropdownMenu.CheckboxItem
              key={option.value}
              checked={chosen.includes(option.value)}
              onCheckedChange={() => flip(option.value)}
              onSelect={(event) => event.preventDefault()}
              className={menuItemLook}
            >
              <span className="flex size-4 items-center justify-center rounded-sm border border-line-strong">
                <DropdownMenu.ItemIndicator>
                  <Check aria-hidden className="size-3 text-accent-ink" />
                </DropdownMenu.ItemIndicator>
              </span>
              <span className="flex-1">{option.title}</span>
              {option.count != null ? <span className="text-xs text-ink-3 tabular-nums">{option.count}</span> : null}
            </DropdownMenu.CheckboxItem>
          ))}
          {chosen.length > 0 ? (
            <>
              <DropdownMenu.Separator className="my-1 h-px bg-line" />
              <DropdownMenu.Item className={menuItemLook} onSelect={() => onChange([])}>
                Clear
              </DropdownMenu.Item>
            </>
          ) : null}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export const menuLook =
  "z-50 max-h-[360px] min-w-48 overflow-y-auto rounded-xl border border-line bg-surface p-1 shadow-pop " +
  "data-[state=open]:animate-in data-[state=open]:fade-in duration-150";
export const menuItemLook =
  "flex min-h-8 cursor-pointer select-none items-center gap-2 rounded-lg px-2 py-1 text-sm outline-none " +
  "data-[highlighted]:bg-hover data-[disabled]:opacity-50 [&_svg]:shrink-0";
