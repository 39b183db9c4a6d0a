import { ChoiceField, TextField, wholeNumber } from "@/components/ui/fields";
import { Field, Input } from "@/components/ui/input";
import { Select } from "@/components/ui/select";
import type { Schemas } from "@/api/client";
import { formatCount, formatNumber } from "@/lib/format";

/** How often, how many at once and how dear, as it is typed. */
export type Bounds = { rate: string; atOnce: string; cost: string; every: string; overrun: string };

type Bounded = {
  rate_per_minute?: number | null;
  concurrency?: number | null;
  cost?: Schemas["BudgetView"] | null;
  on_overrun?: string | null;
};

/** What stands written, as it is typed. */
export const boundsOf = (of: Bounded | null): Bounds => ({
  rate: of?.rate_per_minute?.toString() ?? "",
  atOnce: of?.concurrency?.toString() ?? "",
  cost: of?.cost ? String(of.cost.micros / 1e6) : "",
  every: of?.cost?.every ?? "day",
  overrun: of?.on_overrun ?? "stop",
});

const money = (text: string): number | undefined => {
  if (text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? Math.round(value * 1e6) : Number.NaN;
};

/** Whether something is bounded, and every number is one. */
export function boundsReady(bounds: Bounds): { some: boolean; right: boolean } {
  const numbers = [wholeNumber(bounds.rate), wholeNumber(bounds.atOnce), money(bounds.cost)];
  return { some: numbers.some((one) => one !== undefined), right: numbers.every((one) => !Number.isNaN(one)) };
}

/** What is sent. */
export function boundsBody(bounds: Bounds): Bounded {
  const micros = money(bounds.cost);
  return {
    rate_per_minute: wholeNumber(bounds.rate),
    concurrency: wholeNumber(bounds.atOnce),
    cost: micros === undefined ? undefined : { micros, every: bounds.every },
    on_overrun: bounds.overrun,
  };
}

/** What is bounded, in words. */
export function boundsWords(of: Bounded): string {
  const parts = [
    of.rate_per_minute ? `${formatCount(of.rate_per_minute)} a minute` : "",
    of.concurrency ? `${formatCount(of.concurrency)} at once` : "",
    of.cost ? `cost ${formatNumber(of.cost.micros / 1e6)} ${{ hour: "an hour", day: "a day", month: "a month" }[of.cost.every] ?? of.cost.every}` : "",
  ].filter(Boolean);
  return parts.length === 0 ? "Nothing" : parts.join(", ") + (of.on_overrun === "ask" ? "; then a person is asked" : "");
}

/** The fields of bounds. */
export function BoundsFields({ bounds, onChange }: { bounds: Bounds; onChange: (bounds: Bounds) => void }) {
  const wrong = (value: number | undefined) => (Number.isNaN(value) ? "A number above 0." : undefined);
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <TextField
          label="Calls a minute"
          optional
          inputMode="numeric"
          value={bounds.rate}
          onChange={(rate) => onChange({ ...bounds, rate })}
          error={wrong(wholeNumber(bounds.rate))}
        />
        <TextField
          label="Calls at once"
          optional
          inputMode="numeric"
          value={bounds.atOnce}
          onChange={(atOnce) => onChange({ ...bounds, atOnce })}
          error={wrong(wholeNumber(bounds.atOnce))}
        />
      </div>
      <div className="grid items-end gap-3 sm:grid-cols-2">
        <Field id="bounds-cost" label="What calls may cost" optional error={wrong(money(bounds.cost))}>
          {(aria) => <Input {...aria} inputMode="decimal" value={bounds.cost} onChange={(event) => onChange({ ...bounds, cost: event.target.value })} />}
        </Field>
        <Select aria-label="In which span" value={bounds.every} onChange={(event) => onChange({ ...bounds, every: event.target.value })}>
          <option value="hour">An hour</option>
          <option value="day">A day</option>
          <option value="month">A month</option>
        </Select>
      </div>
      <ChoiceField
        label="When rate or cost is used up"
        value={bounds.overrun}
        onChange={(overrun) => onChange({ ...bounds, overrun })}
        options={[
          { value: "stop", title: "Calls stop" },
          { value: "ask", title: "A person is asked" },
        ]}
      />
    </>
  );
}
