import { enumOptionsIsSelected, enumOptionsSelectValue, enumOptionsDeselectValue, getInputProps, type BaseInputTemplateProps, type WidgetProps } from "@rjsf/utils";
import { useId } from "react";

import { Input, Textarea } from "@/components/ui/input";
import { Segmented } from "@/components/ui/segmented";
import { Select } from "@/components/ui/select";
import { Switch } from "@/components/ui/switch";
import { humanWord } from "@/lib/format";

import { ariaOf } from "./aria";
import { EntitiesWidget, EntityWidget } from "./entity-widget";
import { FilesWidget, FileWidget } from "./file-widget";

type Hinted = { "x-default"?: unknown };

/** What holds when nothing is filled in. */
function defaultOf(props: WidgetProps): unknown {
  return (props.schema as Hinted)["x-default"] ?? props.schema.default;
}

function placeholderOf(props: WidgetProps): string | undefined {
  if (props.placeholder) return props.placeholder;
  const hint = defaultOf(props);
  return hint === undefined || typeof hint === "object" ? undefined : String(hint);
}

/** A line of text, a number, a date. */
export function BaseInput(props: BaseInputTemplateProps) {
  const { id, value, disabled, readonly, options, schema, type } = props;
  const { step, min, max, ...input } = getInputProps(schema, type, options);
  const numeric = schema.type === "number" || schema.type === "integer";
  return (
    <Input
      id={id}
      name={props.htmlName ?? id}
      {...input}
      {...(numeric ? { step: step ?? "any", min, max, inputMode: schema.type === "integer" ? "numeric" : "decimal" } : {})}
      value={value ?? ""}
      placeholder={placeholderOf(props)}
      disabled={disabled}
      readOnly={readonly}
      autoComplete="off"
      spellCheck={schema.format ? false : undefined}
      // A wheel turned over a number would change it unseen.
      onWheel={numeric ? (event) => event.currentTarget.blur() : undefined}
      onChange={(event) => props.onChange(event.target.value === "" ? options.emptyValue : event.target.value)}
      onBlur={(event) => props.onBlur(id, event.target.value)}
      onFocus={(event) => props.onFocus(id, event.target.value)}
      {...ariaOf(props)}
    />
  );
}

function LongText(props: WidgetProps) {
  const { id, value, disabled, readonly, options } = props;
  return (
    <Textarea
      id={id}
      name={props.htmlName ?? id}
      value={value ?? ""}
      rows={4}
      placeholder={placeholderOf(props)}
      disabled={disabled}
      readOnly={readonly}
      onChange={(event) => props.onChange(event.target.value === "" ? options.emptyValue : event.target.value)}
      {...ariaOf(props)}
    />
  );
}

/** What an option is called: its own title, or its value as a word. */
function titleOf(label: string, value: unknown): string {
  return label === String(value) && typeof value === "string" ? humanWord(value) : label;
}

function LongList(props: WidgetProps) {
  const { id, value, disabled, readonly, options, multiple } = props;
  const all = options.enumOptions ?? [];
  const shown: unknown = value ?? defaultOf(props);
  const at = all.findIndex((option) => option.value === shown);
  return (
    <Select
      id={id}
      name={props.htmlName ?? id}
      value={at < 0 ? "" : String(at)}
      multiple={multiple}
      disabled={disabled || readonly}
      onChange={(event) => props.onChange(event.target.value === "" ? undefined : all[Number(event.target.value)]?.value)}
      aria-label={id.endsWith("_select") ? props.label : undefined}
      {...ariaOf(props, !id.endsWith("_select"))}
    >
      {at < 0 || !props.required ? <option value="">{at < 0 ? "Choose…" : "None"}</option> : null}
      {all.map((option, index) => (
        <option key={index} value={String(index)}>
          {titleOf(option.label, option.value)}
        </option>
      ))}
    </Select>
  );
}

function ShortList(props: WidgetProps) {
  const { id, value, disabled, readonly, options } = props;
  const all = options.enumOptions ?? [];
  const shown: unknown = value ?? defaultOf(props);
  const at = all.findIndex((option) => option.value === shown);
  const aria = ariaOf(props, !id.endsWith("_select"));
  return (
    <Segmented
      name={props.htmlName ?? id}
      label={props.label}
      describedBy={aria["aria-describedby"]}
      invalid={aria["aria-invalid"]}
      disabled={disabled || readonly}
      value={at < 0 ? undefined : String(at)}
      onChange={(index) => props.onChange(all[Number(index)]?.value)}
      options={all.map((option, index) => ({ value: String(index), title: titleOf(option.label, option.value) }))}
    />
  );
}

function OnOff(props: WidgetProps) {
  const { id, value, disabled, readonly, label, schema, options } = props;
  const description = options.description ?? schema.description;
  return (
    <div className="flex items-start justify-between gap-4 rounded-xl border border-line p-3">
      <div className="min-w-0">
        <label htmlFor={id} className="block text-sm font-medium">
          {label}
        </label>
        {description ? (
          <p id={`${id}__description`} className="text-xs text-ink-3">
            {description}
          </p>
        ) : null}
      </div>
      <Switch
        id={id}
        checked={Boolean(value ?? defaultOf(props))}
        disabled={disabled || readonly}
        onCheckedChange={(next) => props.onChange(next)}
        {...ariaOf({ ...props, schema: { description: description as string | undefined } })}
      />
    </div>
  );
}

function Checks(props: WidgetProps) {
  const { id, value, disabled, readonly, options } = props;
  const all = options.enumOptions ?? [];
  const group = useId();
  return (
    <div role="group" aria-label={props.label} className="space-y-1" {...pick(ariaOf(props))}>
      {all.map((option, index) => (
        <label key={index} htmlFor={`${id}-${index}`} className="flex min-h-7 items-center gap-2 text-sm text-ink-2">
          <input
            id={`${id}-${index}`}
            name={group}
            type="checkbox"
            className="size-4 accent-[var(--accent)]"
            checked={enumOptionsIsSelected(option.value, value ?? [])}
            disabled={disabled || readonly}
            onChange={(event) =>
              props.onChange(
                event.target.checked
                  ? enumOptionsSelectValue(index, value ?? [], all)
                  : enumOptionsDeselectValue(index, value ?? [], all),
              )
            }
          />
          {titleOf(option.label, option.value)}
        </label>
      ))}
    </div>
  );
}

/** A group takes no `aria-required`, and says itself what is wrong. */
const pick = (aria: ReturnType<typeof ariaOf>) => ({ "aria-describedby": aria["aria-describedby"] });

/** Our controls, by the names the form library knows them by. */
export const widgets = {
  TextareaWidget: LongText,
  SelectWidget: LongList,
  RadioWidget: ShortList,
  CheckboxWidget: OnOff,
  CheckboxesWidget: Checks,
  entity: EntityWidget,
  entities: EntitiesWidget,
  file: FileWidget,
  files: FilesWidget,
};
