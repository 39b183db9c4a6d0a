import { getDefaultRegistry } from "@rjsf/core";
import { type FieldProps, getSchemaType, hasWidget, type RJSFSchema, type UiSchema } from "@rjsf/utils";
import { Plus } from "lucide-react";
import { useContext, useState } from "react";

import { Button } from "@/components/ui/button";

import { entityTypeOf } from "./entity-widget";
import { isFile } from "./file-widget";
import { JsonField } from "./json-field";
import { orderOf } from "./prepare";
import { RemoveContext, RowContext } from "./row";

const Original = getDefaultRegistry().fields.SchemaField!;

type Wanted = RJSFSchema & { "x-widget"?: string };

const MOST_SEGMENTS = 4;
const LONG_TEXT = 200;

/** How many letters still fit beside each other. */
const fits = (titles: unknown[]): boolean => titles.map(String).join("").length <= 36;

/**
 * Chooses a control by what the schema says, also inside references, choices, conditions and lists. A group of fields
 * that may be left out is only there once someone adds it.
 */
export function SchemaField(props: FieldProps) {
  const { schema, formData, registry, uiSchema, required, fieldPathId, onChange } = props;
  const [added, setAdded] = useState(false);
  const row = useContext(RowContext);
  const resolved = registry.schemaUtils.retrieveSchema(schema, formData) as Wanted;
  if (isOpen(resolved)) return <JsonField {...props} schema={resolved} rawErrors={props.errorSchema?.__errors as string[] | undefined} />;
  const field = <Original {...props} uiSchema={{ ...chosen(resolved, schema as Wanted, registry), ...uiSchema }} />;
  const isGroup = getSchemaType(resolved) === "object" && !resolved.oneOf && !resolved.anyOf;
  if (required || fieldPathId.path.length === 0 || !isGroup || typeof fieldPathId.path.at(-1) === "number" || row?.inline) {
    return field;
  }
  const title = resolved.title ?? props.name;
  if (!added && isEmpty(formData)) {
    return (
      <div className="flex items-start justify-between gap-4 rounded-xl border border-dashed border-line-strong p-3">
        <div className="min-w-0">
          <p className="text-sm font-medium">
            {title} <span className="ml-1 font-normal text-ink-3">optional</span>
          </p>
          {resolved.description ? <p className="text-xs text-ink-3">{resolved.description}</p> : null}
        </div>
        <Button size="sm" disabled={props.disabled || props.readonly} onClick={() => setAdded(true)} aria-label={`Add ${title}`}>
          <Plus aria-hidden />
          Add
        </Button>
      </div>
    );
  }
  const remove = () => {
    setAdded(false);
    onChange(undefined, fieldPathId.path);
  };
  return <RemoveContext value={remove}>{field}</RemoveContext>;
}

/** Whether a schema says too little for a field of its own: an object without named fields, or anything at all. */
function isOpen(schema: Wanted): boolean {
  if (schema.oneOf || schema.anyOf || schema.allOf || schema.enum || schema.const !== undefined || schema.$ref) return false;
  if (schema.type === "object") return Object.keys(schema.properties ?? {}).length === 0 && schema.additionalProperties !== false;
  if (schema.type === "array") return schema.items === undefined || schema.items === true;
  return schema.type === undefined && schema.properties === undefined && schema.if === undefined;
}

const isEmpty = (data: unknown): boolean =>
  data === undefined || data === null || (typeof data === "object" && Object.values(data).every((value) => isEmpty(value)));

/** What the form knows of the page around it. */
export type FormContext = {
  /** The types of entities that can be looked through; none while that is not known. */
  entityTypes?: readonly string[];
};

/** Controls for what is chosen by name or uploaded, one or a list of them. */
function picker(schema: Wanted, registry: FieldProps["registry"]): string | undefined {
  const type = getSchemaType(schema);
  const { entityTypes } = registry.formContext as FormContext;
  // A type that nobody can look through is filled in as text.
  const isEntity = (part: RJSFSchema) => {
    const name = entityTypeOf(part);
    return part.type === "string" && name !== undefined && (entityTypes?.includes(name) ?? true);
  };
  if (type === "string" && !schema.enum) return isFile(schema) ? "file" : isEntity(schema) ? "entity" : undefined;
  if (type !== "array" || typeof schema.items !== "object" || Array.isArray(schema.items)) return undefined;
  const items = registry.schemaUtils.retrieveSchema(schema.items as RJSFSchema);
  if (items.enum) return undefined;
  return isFile(items) ? "files" : isEntity(items) ? "entities" : undefined;
}

function chosen(schema: Wanted, raw: Wanted, registry: FieldProps["registry"]): UiSchema {
  const order = orderOf(raw.properties ? raw : schema);
  const ui: UiSchema = order ? { "ui:order": order } : {};
  const named = schema["x-widget"];
  // One that nobody knows would break the whole form.
  if (named && hasWidget(schema, named, registry.widgets)) return { ...ui, "ui:widget": named };
  const picked = picker(schema, registry);
  if (picked) return { ...ui, "ui:widget": picked };
  const type = getSchemaType(schema);
  const options = (schema.oneOf ?? schema.anyOf) as RJSFSchema[] | undefined;
  const isList = registry.schemaUtils.isSelect(schema);
  if (options && !isList) {
    const titles = options.map((option) => option.title ?? "");
    const few = options.length <= MOST_SEGMENTS && fits(titles);
    const key = schema.oneOf ? "oneOf" : "anyOf";
    // The control is for the choice alone: what is chosen picks its own.
    return { ...ui, "ui:widget": few ? "radio" : "select", [key]: options.map(() => ({})) };
  }
  if (isList && type !== "array") {
    const values = (schema.enum ?? options?.map((option) => option.title ?? option.const) ?? []) as unknown[];
    return { ...ui, "ui:widget": values.length <= MOST_SEGMENTS && fits(values) ? "radio" : "select" };
  }
  if (type === "boolean") return { ...ui, "ui:widget": "checkbox" };
  if (type === "array" && schema.uniqueItems && registry.schemaUtils.isMultiSelect(schema)) {
    return { ...ui, "ui:widget": "checkboxes" };
  }
  if (type === "string") {
    const long = schema.format === "textarea" || schema.format === "markdown" || (schema.maxLength ?? 0) > LONG_TEXT;
    if (long && !schema.enum) return { ...ui, "ui:widget": "textarea" };
    // Pickers of the browser for what it knows; a plain line for the rest.
    if (schema.format && !["date", "date-time", "email", "uri", "time", "color", "password"].includes(schema.format)) {
      return { ...ui, "ui:widget": "text" };
    }
  }
  return ui;
}
