import { type ReactNode, useId } from "react";

import { cn } from "@/lib/cn";

import { Field, Input, Textarea } from "./input";
import { Segmented } from "./segmented";
import { Switch } from "./switch";

type Named = { label: string; hint?: ReactNode; optional?: boolean; error?: ReactNode };

/** A line of text, with suggestions where there are any. */
export function TextField({ label, hint, optional, error, value, onChange, suggestions, mono, ...input }: Named & {
  value: string;
  onChange: (value: string) => void;
  suggestions?: readonly string[];
  /** Ids, rules and addresses. */
  mono?: boolean;
  type?: string;
  placeholder?: string;
  maxLength?: number;
  readOnly?: boolean;
  inputMode?: "numeric" | "decimal";
}) {
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint} optional={optional} error={error}>
      {(aria) => (
        <>
          <Input
            {...aria}
            {...input}
            list={suggestions ? `${id}-list` : undefined}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            autoComplete="off"
            spellCheck={mono ? false : undefined}
            className={cn(mono && "font-mono text-xs")}
          />
          {suggestions ? (
            <datalist id={`${id}-list`}>
              {suggestions.slice(0, 1000).map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          ) : null}
        </>
      )}
    </Field>
  );
}

/** Several words, one on each line. */
export function LinesField({ label, hint, optional, error, value, onChange, placeholder }: Named & {
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
}) {
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint} optional={optional} error={error}>
      {(aria) => (
        <Textarea
          {...aria}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          placeholder={placeholder}
          spellCheck={false}
          rows={Math.min(8, Math.max(2, value.split("\n").length))}
          className="min-h-0 font-mono text-xs"
        />
      )}
    </Field>
  );
}

/** One of a few. */
export function ChoiceField({ label, hint, value, onChange, options, disabled }: Named & {
  value: string | undefined;
  onChange: (value: string) => void;
  options: { value: string; title: string }[];
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div>
      <p id={id} className="text-sm font-medium">
        {label}
      </p>
      {hint ? (
        <p id={`${id}-hint`} className="text-xs text-ink-3">
          {hint}
        </p>
      ) : null}
      <div className="mt-1.5">
        <Segmented name={id} labelledBy={id} describedBy={hint ? `${id}-hint` : undefined} value={value} onChange={onChange} options={options} disabled={disabled} />
      </div>
    </div>
  );
}

/** Some of a few; none chosen means what the hint says. */
export function ChecksField({ label, hint, chosen, onChange, options }: Named & {
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  options: { value: string; title: string; hint?: string }[];
}) {
  const id = useId();
  return (
    <fieldset>
      <legend className="text-sm font-medium">{label}</legend>
      {hint ? <p className="text-xs text-ink-3">{hint}</p> : null}
      <div className="mt-1.5 flex flex-wrap gap-x-5 gap-y-1">
        {options.map((option) => (
          <label key={option.value} htmlFor={`${id}-${option.value}`} className="flex min-h-7 items-center gap-2 text-sm">
            <input
              id={`${id}-${option.value}`}
              type="checkbox"
              className="size-4 accent-(--accent)"
              checked={chosen.includes(option.value)}
              onChange={(event) =>
                onChange(event.target.checked ? [...chosen, option.value] : chosen.filter((other) => other !== option.value))
              }
            />
            <span>{option.title}</span>
            {option.hint ? <span className="text-xs text-ink-3">{option.hint}</span> : null}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** On or off, with what that means. */
export function SwitchField({ label, hint, checked, onChange, disabled }: Named & {
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div className="flex items-center justify-between gap-4 rounded-lg border border-line px-4 py-3">
      <label htmlFor={id} className="text-sm">
        <span className="block font-medium">{label}</span>
        {hint ? <span className="block text-xs text-ink-3">{hint}</span> : null}
      </label>
      <Switch id={id} checked={checked} onCheckedChange={onChange} disabled={disabled} />
    </div>
  );
}

/** A whole number of at least 1 that may be left out; `undefined` when it is empty, `NaN` when it is no such number. */
export function wholeNumber(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return /^[1-9][0-9]{0,14}$/.test(trimmed) ? Number(trimmed) : Number.NaN;
}
