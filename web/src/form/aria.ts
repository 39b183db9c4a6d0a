import { descriptionId, errorId, type WidgetProps } from "@rjsf/utils";

/** What a control tells those who can't see it: only ids that exist on the page. */
export function ariaOf(props: Pick<WidgetProps, "id" | "rawErrors" | "required"> & { schema: { description?: string } }, described = true) {
  const wrong = (props.rawErrors?.length ?? 0) > 0;
  const ids = [described && props.schema.description ? descriptionId(props.id) : "", wrong ? errorId(props.id) : ""];
  return {
    "aria-invalid": wrong || undefined,
    "aria-describedby": ids.filter(Boolean).join(" ") || undefined,
    "aria-required": props.required || undefined,
  };
}
