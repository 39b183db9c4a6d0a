import { descriptionId, errorId, type FieldProps } from "@rjsf/utils";
import { useEffect, useState } from "react";

import { Textarea } from "@/components/ui/input";

const write = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value, null, 2));

/** A value that no plain field fits: an open object, or anything at all. Written as JSON. */
export function JsonField({ schema, formData, fieldPathId, onChange, required, name, disabled, readonly, rawErrors }: FieldProps) {
  const [text, setText] = useState(() => write(formData));
  const [broken, setBroken] = useState(false);
  const id = fieldPathId.$id;
  useEffect(() => {
    // What is written here comes back as a value; only a value from elsewhere replaces the text.
    setText((before) => {
      try {
        return JSON.stringify(before.trim() === "" ? undefined : JSON.parse(before)) === JSON.stringify(formData) ? before : write(formData);
      } catch {
        return formData === undefined ? before : write(formData);
      }
    });
  }, [formData]);
  const change = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === "" ? undefined : JSON.parse(next), fieldPathId.path);
      setBroken(false);
    } catch {
      setBroken(true);
    }
  };
  const wrong = broken ? ["This is not JSON yet."] : (rawErrors ?? []);
  const described = [schema.description ? descriptionId(id) : "", wrong.length > 0 ? errorId(id) : ""].filter(Boolean).join(" ");
  return (
    <div>
      <label htmlFor={id} className="block text-sm font-medium">
        {schema.title ?? name}
        {required ? null : <span className="ml-1.5 font-normal text-ink-3">optional</span>}
        <span className="ml-1.5 font-normal text-ink-3">as JSON</span>
      </label>
      {schema.description ? (
        <p id={descriptionId(id)} className="text-xs text-ink-3">
          {schema.description}
        </p>
      ) : null}
      <Textarea
        id={id}
        className="mt-1.5 font-mono text-xs"
        spellCheck={false}
        value={text}
        disabled={disabled}
        readOnly={readonly}
        aria-invalid={wrong.length > 0 || undefined}
        aria-describedby={described || undefined}
        onChange={(event) => change(event.target.value)}
      />
      {wrong.length > 0 ? (
        <p id={errorId(id)} className="mt-1 text-xs text-danger-ink">
          {wrong.join(" ")}
        </p>
      ) : null}
    </div>
  );
}
