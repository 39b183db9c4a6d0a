import {
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  descriptionId,
  errorId,
  type ErrorListProps,
  type FieldTemplateProps,
  type MultiSchemaFieldTemplateProps,
  type ObjectFieldTemplateProps,
  type RJSFSchema,
} from "@rjsf/utils";
import { ArrowDown, ArrowUp, Plus, Trash2, X } from "lucide-react";
import { type ReactNode, useContext, useEffect, useRef } from "react";

import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { humanWord } from "@/lib/format";

import { entityTypeOf } from "./entity-widget";
import { ListContext, RemoveContext, RowContext, UntitledContext } from "./row";

function Errors({ id, errors }: { id: string; errors?: string[] }) {
  return errors?.length ? (
    <p id={errorId(id)} className="mt-1 text-xs text-danger-ink">
      {errors.join(" ")}
    </p>
  ) : null;
}

/** A label, its helper text, the control and what is wrong with it. Groups and switches bring their own labels. */
export function Field(props: FieldTemplateProps) {
  const { id, label, children, rawErrors, required, schema, hidden, displayLabel, rawDescription } = props;
  const row = useContext(RowContext);
  if (hidden) return <div hidden>{children}</div>;
  const isChoice = (schema.oneOf || schema.anyOf) && !props.registry.schemaUtils.isSelect(schema);
  const isGroup = schema.type === "object" || (schema.type === "array" && !isPlainList(schema, props));
  // A switch stands beside its own label.
  if (isChoice || isGroup || schema.type === "boolean" || !displayLabel) {
    return (
      <div className="min-w-0">
        {children}
        {isChoice || isGroup ? null : <Errors id={id} errors={rawErrors} />}
      </div>
    );
  }
  const quiet = row?.inline === true;
  return (
    <div className="min-w-0">
      <label htmlFor={id} className={cn("block text-sm font-medium", quiet && row.index > 0 && "sr-only")}>
        {quiet && row.index > 0 ? `${row.title} ${row.index + 1}: ${label}` : label}
        {required || quiet ? null : <span className="ml-1.5 font-normal text-ink-3">optional</span>}
      </label>
      {rawDescription && !quiet ? (
        <p id={descriptionId(id)} className="text-xs text-ink-3">
          {rawDescription}
        </p>
      ) : null}
      {rawDescription && quiet ? (
        <p id={descriptionId(id)} className="sr-only">
          {rawDescription}
        </p>
      ) : null}
      <div className={quiet && row.index > 0 ? "" : "mt-1.5"}>{children}</div>
      <Errors id={id} errors={rawErrors} />
    </div>
  );
}

/** A list that is one control: several of a few values, of many names, or of files. */
function isPlainList(schema: RJSFSchema, props: FieldTemplateProps): boolean {
  const widget: unknown = props.uiSchema?.["ui:widget"];
  return widget === "entities" || widget === "files" || props.registry.schemaUtils.isMultiSelect(schema);
}

function Legend({ title, optional, description, id, aside }: { title?: string; optional?: boolean; description?: ReactNode; id: string; aside?: ReactNode }) {
  return (
    <>
      {title ? (
        <legend className="flex w-full items-center text-sm font-medium">
          {title}
          {optional ? <span className="ml-1.5 font-normal text-ink-3">optional</span> : null}
          {aside}
        </legend>
      ) : null}
      {description ? (
        <p id={descriptionId(id)} className="text-xs text-ink-3">
          {description}
        </p>
      ) : null}
    </>
  );
}

/** A group of fields: the form itself, a part of it, or a row of a list. */
export function ObjectGroup({ properties, title, description, fieldPathId, schema }: ObjectFieldTemplateProps) {
  const row = useContext(RowContext);
  const untitled = useContext(UntitledContext);
  const remove = useContext(RemoveContext);
  if (properties.length === 0) return null;
  const fields = properties.map((property) => (
    <div key={property.name} className={cn("min-w-0", row?.inline && widthOf(schema, property.name))}>
      {property.content}
    </div>
  ));
  const inner = (
    <UntitledContext value={false}>
      <RemoveContext value={null}>
        {row?.inline ? (
          <div className="flex items-end gap-2">{fields}</div>
        ) : (
          <RowContext value={null}>
            <div className="space-y-5">{fields}</div>
          </RowContext>
        )}
      </RemoveContext>
    </UntitledContext>
  );
  if (row?.inline || fieldPathId.path.length === 0) return inner;
  if (untitled) return <div className="border-l-2 border-line pl-4">{inner}</div>;
  // Inside a list the row's own head names it.
  if (row) return inner;
  return (
    <fieldset>
      <Legend
        id={fieldPathId.$id}
        title={title}
        description={description}
        aside={
          remove ? (
            <Button look="quiet" size="icon-sm" className="ml-auto" aria-label={`Remove ${title}`} onClick={remove}>
              <X aria-hidden />
            </Button>
          ) : null
        }
      />
      <div className="mt-3 border-l-2 border-line pl-4">{inner}</div>
    </fieldset>
  );
}

/** Numbers and switches need less room than words. */
function widthOf(schema: RJSFSchema, name: string): string {
  const part = schema.properties?.[name];
  const type = typeof part === "object" ? part.type : undefined;
  return type === "number" || type === "integer" ? "flex-[1_1_72px]" : "flex-[2_1_112px]";
}

/** Whether the rows of a list are short enough for one line each. */
function isInline(items: RJSFSchema | undefined): boolean {
  const parts = Object.values(items?.properties ?? {});
  const short = (part: unknown) => {
    const { type, enum: values, maxLength, format } = (part ?? {}) as RJSFSchema;
    const plain = !values && !format && !entityTypeOf(part as RJSFSchema);
    return type === "number" || type === "integer" || (type === "string" && plain && (maxLength ?? 0) <= 200);
  };
  return parts.length > 0 && parts.length <= 2 && parts.every(short);
}

/** A list of things that can be added, moved and taken away. */
export function ArrayGroup(props: ArrayFieldTemplateProps) {
  const { items, title, schema, canAdd, onAddClick, disabled, readonly, fieldPathId, required, rawErrors, registry } = props;
  const frame = useRef<HTMLFieldSetElement>(null);
  const before = useRef(items.length);
  const adding = useRef(false);
  useEffect(() => {
    // Who adds a row wants to fill it in.
    if (adding.current && items.length > before.current) {
      const rows = frame.current?.querySelectorAll<HTMLElement>(`[data-row="${fieldPathId.$id}"]`);
      rows?.[rows.length - 1]?.querySelector<HTMLElement>("input, select, textarea, [role=switch]")?.focus();
      adding.current = false;
    }
    before.current = items.length;
  }, [items.length, fieldPathId.$id]);
  const itemSchema = typeof schema.items === "object" && !Array.isArray(schema.items)
    ? registry.schemaUtils.retrieveSchema(schema.items as RJSFSchema)
    : undefined;
  const itemTitle = itemSchema?.title ?? singular(title);
  const isObject = itemSchema?.type === "object";
  const inline = !isObject || isInline(itemSchema);
  return (
    <fieldset ref={frame} aria-describedby={rawErrors?.length ? errorId(fieldPathId.$id) : undefined}>
      <Legend id={fieldPathId.$id} title={title} optional={!required} description={schema.description} />
      <ListContext value={{ itemTitle, inline }}>
        <RowContext value={null}>
          {items.length > 0 ? (
            <div className={cn("mt-2 rounded-xl border border-line", inline ? "space-y-2 p-3" : "divide-y divide-line")}>{items}</div>
          ) : null}
        </RowContext>
      </ListContext>
      <Errors id={fieldPathId.$id} errors={rawErrors} />
      {canAdd ? (
        <Button
          look="link"
          className="mt-2 min-h-7 [&_svg]:size-3.5"
          disabled={disabled || readonly}
          onClick={(event) => {
            adding.current = true;
            onAddClick(event);
          }}
        >
          <Plus aria-hidden />
          Add {itemTitle.toLowerCase()}
        </Button>
      ) : null}
    </fieldset>
  );
}

/** One row of a list, with its buttons named by what they act on. */
export function ArrayRow({ children, buttonsProps, index, hasToolbar, parentUiSchema, schema, ...props }: ArrayFieldItemTemplateProps) {
  void parentUiSchema;
  const list = useContext(ListContext) ?? { itemTitle: "item", inline: true };
  const name = `${list.itemTitle.toLowerCase()} ${index + 1}`;
  const { hasMoveUp, hasMoveDown, hasRemove, onMoveUpItem, onMoveDownItem, onRemoveItem, disabled, readonly } = buttonsProps;
  const off = disabled || readonly;
  const row = buttonsProps.fieldPathId.$id.replace(/_\d+$/, "");
  const buttons = hasToolbar ? (
    <div className="flex shrink-0">
      {hasMoveUp || hasMoveDown ? (
        <>
          <RowButton label={`Move ${name} up`} disabled={off || !hasMoveUp} onClick={onMoveUpItem}>
            <ArrowUp aria-hidden />
          </RowButton>
          <RowButton label={`Move ${name} down`} disabled={off || !hasMoveDown} onClick={onMoveDownItem}>
            <ArrowDown aria-hidden />
          </RowButton>
        </>
      ) : null}
      {hasRemove ? (
        <RowButton label={`Remove ${name}`} disabled={off} onClick={onRemoveItem}>
          <Trash2 aria-hidden />
        </RowButton>
      ) : null}
    </div>
  ) : null;
  void props;
  const isObject = schema.type === "object";
  const context = { index, title: list.itemTitle, inline: list.inline && isObject };
  if (list.inline) {
    return (
      <div data-row={row} className="flex items-end gap-1">
        <div className="min-w-0 flex-1">
          <RowContext value={isObject ? context : { ...context, inline: true, index: Math.max(index, 1) }}>{children}</RowContext>
        </div>
        {buttons}
      </div>
    );
  }
  return (
    <div data-row={row} role="group" aria-label={`${list.itemTitle} ${index + 1}`} className="p-3">
      <div className="mb-2 flex items-center justify-between">
        <span className="text-xs font-medium text-ink-3">
          {list.itemTitle} {index + 1}
        </span>
        {buttons}
      </div>
      <RowContext value={context}>{children}</RowContext>
    </div>
  );
}

function RowButton({ label, disabled, onClick, children }: { label: string; disabled?: boolean; onClick: (event?: unknown) => void; children: ReactNode }) {
  return (
    <Button look="quiet" className="h-9 w-7 px-0 text-ink-3" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      {children}
    </Button>
  );
}

/** `years` → `year`, `criteria` → `criterion`: good enough for a button. */
function singular(title: string): string {
  const word = humanWord(title);
  if (/criteria$/i.test(word)) return word.replace(/criteria$/i, (end) => (end[0] === "C" ? "Criterion" : "criterion"));
  if (/ies$/i.test(word)) return word.replace(/ies$/i, "y");
  if (/(sses|shes|ches|xes)$/i.test(word)) return word.slice(0, -2);
  return /[^s]s$/i.test(word) ? word.slice(0, -1) : "item";
}

/** A choice between shapes: the title once, then the choice, then what it asks for. */
export function Choice({ selector, optionSchemaField, schema }: MultiSchemaFieldTemplateProps) {
  return (
    <fieldset className="space-y-3">
      {schema.title ? <legend className="text-sm font-medium">{schema.title}</legend> : null}
      {schema.description ? <p className="-mt-3 text-xs text-ink-3">{schema.description}</p> : null}
      <div>{selector}</div>
      <UntitledContext value={true}>{optionSchemaField}</UntitledContext>
    </fieldset>
  );
}

/** What is wrong, above the form; each entry leads to its field. */
export function ErrorList({ errors }: ErrorListProps) {
  return (
    <div role="alert" className="mb-5 rounded-lg bg-danger-soft px-3 py-2 text-sm text-danger-ink">
      <p className="font-medium">{errors.length === 1 ? "One field needs a look." : `${errors.length} fields need a look.`}</p>
      <ul className="mt-1 space-y-0.5">
        {errors.map((error, index) => {
          const path = ((error.params as { path?: string[] } | undefined)?.path ?? (error.property ?? "").split(".")).filter(Boolean);
          return (
            <li key={index}>
              <button type="button" className="min-h-6 text-left underline" onClick={() => focusField(path)}>
                {path.length > 0 ? `${namePath(path)}: ` : ""}
                {error.message}
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

const namePath = (path: string[]): string =>
  path.map((part) => (/^\d+$/.test(part) ? String(Number(part) + 1) : humanWord(part))).join(" › ");

function focusField(path: string[]): void {
  const id = `tool_${path.join("_")}`;
  const field = document.getElementById(id) ?? document.querySelector<HTMLElement>(`[name="${CSS.escape(id)}"], [id^="${CSS.escape(id)}"]`);
  field?.scrollIntoView({ block: "center" });
  field?.focus();
}
