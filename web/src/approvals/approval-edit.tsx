import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useRef, useState } from "react";

import { Button } from "@/components/ui/button";
import { DrawerSection } from "@/components/ui/drawer";
import { Segmented } from "@/components/ui/segmented";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ErrorNote } from "@/components/ui/states";
import type { FormHandle } from "@/form/tool-form";
import { toolQuery } from "@/tools/queries";

import type { Decisions } from "./decide";
import { type Approval, inputOf } from "./queries";

const ToolForm = lazy(() => import("@/form/tool-form").then((module) => ({ default: module.ToolForm })));
const JsonEditor = lazy(() => import("@/components/ui/json-editor").then((module) => ({ default: module.JsonEditor })));

/**
 * Another input for a waiting call: the tool's own form, or JSON. Saving it decides nothing: the dry run is made again,
 * and what it foresees is shown before anyone says yes.
 */
export function ApprovalEdit({
  approval,
  decisions,
  digest,
  onDone,
}: {
  approval: Approval;
  decisions: Decisions;
  digest: string | undefined;
  onDone: () => void;
}) {
  const tool = useQuery({ ...toolQuery(approval.tool_id), retry: false });
  const [value, setValue] = useState<unknown>(() => inputOf(approval));
  const [text, setText] = useState(() => JSON.stringify(inputOf(approval), null, 2));
  const [asJson, setAsJson] = useState(false);
  const form = useRef<FormHandle>(null);
  // Whoever may decide need not be allowed to call the tool, and then has no form.
  const json = asJson || tool.isError;
  const parsed = parse(text);
  const change = (next: string) => {
    // A form can't show what is not JSON yet.
    if (next === "form" && !parsed.ok) return;
    setAsJson(next === "json");
    if (next === "json") setText(JSON.stringify(value, null, 2));
    else if (parsed.ok) setValue(parsed.value);
  };
  const save = (input: unknown) =>
    decisions.edit.mutate({ input: input as Record<string, never>, digest }, { onSuccess: onDone });
  return (
    <DrawerSection
      title="Change the input"
      aside={
        tool.isError ? null : (
          <Segmented
            name="edit-as"
            label="Edit as"
            value={json ? "json" : "form"}
            onChange={change}
            options={[
              { value: "form", title: "Form" },
              { value: "json", title: "JSON" },
            ]}
          />
        )
      }
    >
      <div className="space-y-4 rounded-xl border border-line p-5 max-sm:p-4">
        <Suspense fallback={<LoadingForm />}>
          {json ? (
            <div>
              <JsonEditor label="Input as JSON" value={text} onChange={setText} />
              {parsed.ok ? null : (
                <p role="alert" className="mt-1 text-xs text-danger-ink">
                  {parsed.wrong}
                </p>
              )}
            </div>
          ) : tool.isPending ? (
            <LoadingForm />
          ) : (
            <ToolForm
              id={`edit-${approval.id}`}
              schema={tool.data.input_schema}
              value={value}
              onChange={setValue}
              onSubmit={save}
              handle={form}
            />
          )}
        </Suspense>
        {decisions.edit.isError ? <ErrorNote error={decisions.edit.error} /> : null}
        <p className="text-xs text-ink-3">What was asked for is kept beside it, and whoever asked is told what really ran.</p>
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onDone}>
            Back
          </Button>
          {json ? (
            <Button look="primary" disabled={!parsed.ok || decisions.edit.isPending} onClick={() => (parsed.ok ? save(parsed.value) : undefined)}>
              Save and preview
            </Button>
          ) : (
            <Button look="primary" disabled={decisions.edit.isPending || tool.isPending} onClick={() => form.current?.submit()}>
              Save and preview
            </Button>
          )}
        </div>
      </div>
    </DrawerSection>
  );
}

function LoadingForm() {
  return (
    <Loading label="Loading the form">
      <Skeleton className="h-9" />
      <Skeleton className="mt-3 h-9" />
    </Loading>
  );
}

function parse(text: string): { ok: true; value: unknown } | { ok: false; wrong: string } {
  try {
    const value: unknown = JSON.parse(text);
    const fits = value !== null && typeof value === "object" && !Array.isArray(value);
    return fits ? { ok: true, value } : { ok: false, wrong: "The input is an object: {…}." };
  } catch {
    return { ok: false, wrong: "This is not JSON yet." };
  }
}
