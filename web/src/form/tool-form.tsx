import type { default as FormType, IChangeEvent } from "@rjsf/core";
import { withTheme } from "@rjsf/core";
import type { ErrorSchema, RJSFSchema, UiSchema } from "@rjsf/utils";
import { type ReactNode, type Ref, useMemo } from "react";

import { useEntityTypes } from "@/entities/queries";

import { prepareSchema } from "./prepare";
import { type FormContext, SchemaField } from "./schema-field";
import { ArrayGroup, ArrayRow, Choice, ErrorList, Field, ObjectGroup } from "./templates";
import { validator } from "./validator";
import { BaseInput, widgets } from "./widgets";

const Themed = withTheme({
  templates: {
    FieldTemplate: Field,
    ObjectFieldTemplate: ObjectGroup,
    ArrayFieldTemplate: ArrayGroup,
    ArrayFieldItemTemplate: ArrayRow,
    MultiSchemaFieldTemplate: Choice,
    BaseInputTemplate: BaseInput,
    ErrorListTemplate: ErrorList,
  },
  widgets,
  fields: { SchemaField },
});

const nothingHidden: UiSchema = { "ui:submitButtonOptions": { norender: true } };
// What a form begins with is decided before (`initialOf`): the form library would fill in empty groups and lists.
const defaults = { arrayMinItems: { populate: "never" }, emptyObjectFields: "skipDefaults" } as const;

const ignore = () => {};

export type FormHandle = FormType;

/** A form for whatever the schema describes. `children` stands below the fields: the button that sends it. */
export function ToolForm({
  schema,
  value,
  onChange,
  onSubmit,
  errors,
  disabled,
  handle,
  children,
  id,
}: {
  schema: unknown;
  value: unknown;
  onChange: (value: unknown) => void;
  onSubmit: (value: unknown) => void;
  /** What the server found wrong, by field. */
  errors?: ErrorSchema;
  disabled?: boolean;
  handle?: Ref<FormHandle>;
  children?: ReactNode;
  id?: string;
}) {
  const prepared = useMemo<RJSFSchema>(() => prepareSchema(schema), [schema]);
  const names = useMemo(() => JSON.stringify(prepared).includes('"x-entity-type"'), [prepared]);
  const entityTypes = useEntityTypes(names);
  const context = useMemo<FormContext>(() => ({ entityTypes }), [entityTypes?.join(" ")]);
  return (
    <Themed
      id={id}
      ref={handle}
      schema={prepared}
      uiSchema={nothingHidden}
      validator={validator}
      idPrefix="tool"
      formContext={context}
      formData={value}
      onChange={(event: IChangeEvent) => onChange(event.formData)}
      onSubmit={(event: IChangeEvent) => onSubmit(event.formData)}
      extraErrors={errors}
      // The list above the fields says it; the console need not.
      onError={ignore}
      disabled={disabled}
      noHtml5Validate
      omitExtraData
      showErrorList="top"
      focusOnFirstError={false}
      experimental_defaultFormStateBehavior={defaults}
    >
      {children ?? <></>}
    </Themed>
  );
}
