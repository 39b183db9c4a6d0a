import { ChoiceField } from "@/components/ui/fields";
import { Field } from "@/components/ui/input";
import { Select } from "@/components/ui/select";

import { type Approval, inputOf } from "./queries";
import { durations, type Scope, scopeInWords } from "./remember";

/** How far a yes reaches: which arguments, which session, how long. It is always about this tool and this caller. */
export function RememberPicker({
  approval,
  scope,
  onChange,
}: {
  approval: Approval;
  scope: Scope;
  onChange: (scope: Scope) => void;
}) {
  const input = inputOf(approval);
  const names = Object.keys(input);
  const flip = (name: string) =>
    onChange({
      ...scope,
      fixed: scope.fixed.includes(name) ? scope.fixed.filter((other) => other !== name) : [...scope.fixed, name],
    });
  return (
    <div className="space-y-4" role="group" aria-label="What to remember">
      <ChoiceField
        label="Which calls"
        value={scope.arguments}
        onChange={(value) => onChange({ ...scope, arguments: value as Scope["arguments"] })}
        options={[
          { value: "same", title: "This input" },
          ...(names.length > 1 ? [{ value: "within", title: "These arguments" }] : []),
          { value: "any", title: "Any input" },
        ]}
      />
      {scope.arguments === "within" ? (
        <fieldset className="border-l-2 border-line pl-3">
          <legend className="mb-1 text-xs text-ink-3">What must stay as it is here</legend>
          {names.map((name) => (
            <label key={name} className="flex min-h-7 items-center gap-2 text-sm">
              <input
                type="checkbox"
                className="size-4 shrink-0 accent-accent"
                checked={scope.fixed.includes(name)}
                onChange={() => flip(name)}
              />
              <span className="shrink-0 font-mono text-xs">{name}</span>
              <span className="truncate font-mono text-xs text-ink-3">{JSON.stringify(input[name])}</span>
            </label>
          ))}
        </fieldset>
      ) : null}
      <div className="flex flex-wrap gap-4">
        <Field id="remember-long" label="For">
          {(aria) => (
            <Select
              {...aria}
              className="w-32"
              value={scope.seconds}
              onChange={(event) => onChange({ ...scope, seconds: Number(event.target.value) })}
            >
              {durations.map((one) => (
                <option key={one.seconds} value={one.seconds}>
                  {one.words}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <ChoiceField
          label="Where"
          value={scope.sessionOnly ? "session" : "all"}
          onChange={(value) => onChange({ ...scope, sessionOnly: value === "session" })}
          options={[
            { value: "all", title: "Everywhere" },
            { value: "session", title: "This session" },
          ]}
        />
      </div>
      <p className="break-words text-xs text-ink-3">{scopeInWords(approval, scope)} You can take it back at any time.</p>
    </div>
  );
}
