import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

import type { PolicyProblem } from "./queries";

const look = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--ink)", fontSize: "13px", borderRadius: "8px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "0" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "21px", maxHeight: "62vh", minHeight: "320px", borderRadius: "8px" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-3)", border: "none" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft) !important" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--line)", borderRadius: "8px", color: "var(--ink)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--danger)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
});

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

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.comment, color: "var(--ink-3)" },
    { tag: tags.string, color: "var(--ok-ink)" },
    { tag: tags.number, color: "var(--info-ink)" },
    { tag: tags.keyword, color: "var(--accent-ink)", fontWeight: "500" },
    { tag: tags.meta, color: "var(--warn-ink)" },
    { tag: tags.typeName, color: "var(--info-ink)" },
  ]),
);

/** Where a problem stands in a text; lines and columns of a text that has changed since may be gone. */
function placed(state: EditorState, problem: PolicyProblem, severity: "error" | "warning"): Diagnostic {
  const line = state.doc.line(Math.min(Math.max(problem.line, 1), state.doc.lines));
  const from = Math.min(line.from + Math.max(problem.column - 1, 0), line.to);
  return { from, to: Math.max(from, line.to), severity, message: problem.hint ? `${problem.message}: ${problem.hint}` : problem.message };
}

/** The place to show: a new object each time, so that the same place can be shown twice. */
export type Jump = { line: number; column: number };

/** Cedar text to write. Tab leaves the field, as everywhere. */
export function CedarEditor({ value, onChange, problems, warnings, jump, readOnly }: {
  value: string;
  onChange: (text: string) => void;
  problems: readonly PolicyProblem[];
  warnings: readonly PolicyProblem[];
  jump: Jump | null;
  readOnly?: boolean;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    const editor = new EditorView({
      parent: frame.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          cedar,
          colours,
          lintGutter(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          look,
          EditorState.readOnly.of(Boolean(readOnly)),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Policies in Cedar", tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
    // Made once: later texts go into the same editor below.
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor && editor.state.doc.toString() !== value) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    }
  }, [value]);
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
  return <div ref={frame} className="rounded-lg border border-line-strong" />;
}
