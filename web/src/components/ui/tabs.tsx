import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";

/** Tabs whose choice usually stands in the address. */
export function Tabs({
  value,
  onChange,
  tabs,
  label,
  children,
}: {
  value: string;
  onChange: (value: string) => void;
  label: string;
  tabs: { value: string; title: string; count?: ReactNode }[];
  children: ReactNode;
}) {
  return (
    <Radix.Root value={value} onValueChange={onChange}>
      <Radix.List aria-label={label} className="flex gap-6 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className="-mb-px inline-flex h-10 items-center gap-2 whitespace-nowrap border-b-2 border-transparent text-sm font-medium text-ink-3 outline-offset-[-2px] transition-colors hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.title}
            {tab.count != null ? (
              <span className="rounded-full bg-hover px-1.5 text-2xs font-medium text-ink-2">{tab.count}</span>
            ) : null}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {children}
    </Radix.Root>
  );
}

/** What a tab shows. */
export function TabPanel({ value, children }: { value: string; children: ReactNode }) {
  return (
    <Radix.Content value={value} className="pt-6 outline-offset-4">
      {children}
    </Radix.Content>
  );
}
