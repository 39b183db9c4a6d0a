import type { RJSFSchema, WidgetProps } from "@rjsf/utils";

import { DropZone } from "@/files/drop-zone";

import { ariaOf } from "./aria";

type Accepting = RJSFSchema & { "x-accept"?: unknown };

/** Whether a field holds a file's id. */
export const isFile = (schema: RJSFSchema | undefined): boolean => schema?.type === "string" && schema.format === "file";

function acceptOf(schema: RJSFSchema): string[] {
  const accept = (schema as Accepting)["x-accept"];
  const list: unknown[] = Array.isArray(accept) ? accept : typeof accept === "string" ? accept.split(",") : [];
  return list.filter((one): one is string => typeof one === "string").map((one) => one.trim()).filter(Boolean);
}

/** A file, uploaded at once; the field holds its id. */
export function FileWidget(props: WidgetProps) {
  const { id, value, label, disabled, readonly, options, schema } = props;
  return (
    <DropZone
      id={id}
      label={label}
      accept={acceptOf(schema)}
      value={typeof value === "string" && value !== "" ? [value] : []}
      onChange={(files) => props.onChange(files[0] ?? options.emptyValue)}
      disabled={disabled}
      readOnly={readonly}
      {...ariaOf(props)}
    />
  );
}

/** Several files; the field holds their ids. */
export function FilesWidget(props: WidgetProps) {
  const { id, value, label, required, disabled, readonly, schema, registry } = props;
  const items = registry.schemaUtils.retrieveSchema((schema.items ?? {}) as RJSFSchema);
  const ids: unknown[] = Array.isArray(value) ? value : [];
  return (
    <DropZone
      id={id}
      label={label}
      accept={acceptOf(items)}
      value={ids.filter((one): one is string => typeof one === "string")}
      onChange={(files) => props.onChange(files.length === 0 && !required ? undefined : files)}
      several
      most={schema.maxItems}
      disabled={disabled}
      readOnly={readonly}
      {...ariaOf(props)}
    />
  );
}
