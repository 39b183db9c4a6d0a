import { json, jsonParseLinter } from "@codemirror/lang-json";
import { indentOnInput } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { EditorView } from "@codemirror/view";

import { editorFrame, useCodeEditor } from "./code-editor";

// An empty text says nothing, and nothing is wrong with it.
const wrongIn = jsonParseLinter();
const language = [
  EditorView.theme({ ".cm-scroller": { maxHeight: "480px" }, ".cm-content, .cm-gutter": { minHeight: "160px" } }),
  indentOnInput(),
  json(),
  linter((view) => (view.state.doc.length === 0 ? [] : wrongIn(view))),
];

/** JSON to write. The text is checked as it is written. */
export function JsonEditor({ value, onChange, label, readOnly }: {
  value: string;
  onChange: (text: string) => void;
  label: string;
  readOnly?: boolean;
}) {
  const { frame } = useCodeEditor({ value, onChange, label, readOnly, more: language });
  return <div ref={frame} className={editorFrame} />;
}
