import { StreamLanguage } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import type { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect } from "react";

import { editorFrame, useCodeEditor } from "@/components/ui/code-editor";

import type { PolicyProblem } from "./queries";

const WORDS = /^(permit|forbid|when|unless|if|then|else|in|is|has|like|true|false|principal|action|resource|context)\b/;

// Enough of Cedar to read it by colour; what is right and wrong is for the server to say.
const cedar = StreamLanguage.define<null>({
  name: "cedar",
  startState: () => null,
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/^"(\\.|[^"\\])*"?/)) return "string";
    if (stream.match(/^@[a-z]+/)) return "meta";
    if (stream.match(/^[0-9]+/)) return "number";
    if (stream.match(WORDS)) return "keyword";
    if (stream.match(/^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*/)) return stream.current().includes("::") ? "typeName" : "variableName";
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "//" } },
});

const language = [
  EditorView.theme({ "&": { fontSize: "13px" }, ".cm-scroller": { lineHeight: "21px", maxHeight: "62vh", minHeight: "320px" } }),
  cedar,
];

/** Where a problem stands in a text; lines and columns of a text that has changed since may be gone. */
function placed(state: EditorState, problem: PolicyProblem, severity: "error" | "warning"): Diagnostic {
  const line = state.doc.line(Math.min(Math.max(problem.line, 1), state.doc.lines));
  const from = Math.min(line.from + Math.max(problem.column - 1, 0), line.to);
  return { from, to: Math.max(from, line.to), severity, message: problem.hint ? `${problem.message}: ${problem.hint}` : problem.message };
}

/** The place to show: a new object each time, so that the same place can be shown twice. */
export type Jump = { line: number; column: number };

/** Cedar text to write. */
export function CedarEditor({ value, onChange, problems, warnings, jump, readOnly }: {
  value: string;
  onChange: (text: string) => void;
  problems: readonly PolicyProblem[];
  warnings: readonly PolicyProblem[];
  jump: Jump | null;
  readOnly?: boolean;
}) {
  const { frame, view } = useCodeEditor({ value, onChange, label: "Policies in Cedar", readOnly, more: language });
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const marks = [
      ...problems.map((problem) => placed(editor.state, problem, "error")),
      ...warnings.map((problem) => placed(editor.state, problem, "warning")),
    ].sort((a, b) => a.from - b.from);
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [problems, warnings]);
  useEffect(() => {
    const editor = view.current;
    if (!editor || !jump) return;
    const { from } = placed(editor.state, { ...jump, message: "" }, "error");
    editor.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    editor.focus();
  }, [jump]);
  return <div ref={frame} className={editorFrame} />;
}
