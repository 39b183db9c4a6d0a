import type { RJSFSchema, WidgetProps } from "@rjsf/utils";

import { EntityPicker } from "@/entities/entity-picker";

import { ariaOf } from "./aria";

type Typed = RJSFSchema & { "x-entity-type"?: unknown };

/** The type of entity a field names; none when it names none. */
export function entityTypeOf(schema: RJSFSchema | undefined): string | undefined {
  const type = (schema as Typed | undefined)?.["x-entity-type"];
  return typeof type === "string" && type !== "" ? type : undefined;
}

/** One entity, by name; the field holds its id. */
export function EntityWidget(props: WidgetProps) {
  const { id, value, label, required, disabled, readonly, options } = props;
  return (
    <EntityPicker
      id={id}
      type={entityTypeOf(props.schema) ?? ""}
      label={label}
      value={typeof value === "string" && value !== "" ? [value] : []}
      onChange={([chosen]) => props.onChange(chosen ?? options.emptyValue)}
      required={required}
      disabled={disabled}
      readOnly={readonly}
      {...ariaOf(props)}
    />
  );
}

/** Several entities, as chips; the field holds their ids. */
export function EntitiesWidget(props: WidgetProps) {
  const { id, value, label, required, disabled, readonly, schema, registry } = props;
  const items = registry.schemaUtils.retrieveSchema((schema.items ?? {}) as RJSFSchema);
  const ids: unknown[] = Array.isArray(value) ? value : [];
  return (
    <EntityPicker
      id={id}
      type={entityTypeOf(items) ?? ""}
      label={label}
      value={ids.filter((one): one is string => typeof one === "string")}
      // A list that may be left out and holds nothing is left out.
      onChange={(chosen) => props.onChange(chosen.length === 0 && !required ? undefined : chosen)}
      several
      required={required}
      disabled={disabled}
      readOnly={readonly}
      {...ariaOf(props)}
    />
  );
}
