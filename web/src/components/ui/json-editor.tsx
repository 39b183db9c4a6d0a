import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { linter, lintGutter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

const look = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--ink)", fontSize: "12px", borderRadius: "8px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "0" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "20px", maxHeight: "480px" },
  ".cm-content": { caretColor: "var(--ink)", minHeight: "160px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-3)", border: "none", borderRadius: "8px 0 0 8px" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft) !important" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--line)", borderRadius: "8px", color: "var(--ink)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--danger)" },
});

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.string, color: "var(--ok-ink)" },
    { tag: tags.number, color: "var(--info-ink)" },
    { tag: [tags.bool, tags.null], color: "var(--accent-ink)" },
    { tag: tags.propertyName, color: "var(--ink)" },
  ]),
);

// An empty text says nothing, and nothing is wrong with it.
const wrongIn = jsonParseLinter();

/** JSON to write. Tab leaves the field, as everywhere; the text is checked as it is written. */
export function JsonEditor({ value, onChange, label, readOnly }: {
  value: string;
  onChange: (text: string) => void;
  label: string;
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
          indentOnInput(),
          json(),
          linter((view) => (view.state.doc.length === 0 ? [] : wrongIn(view))),
          lintGutter(),
          keymap.of([...defaultKeymap.filter((binding) => binding.key !== "Mod-Enter"), ...historyKeymap]),
          look,
          colours,
          EditorState.readOnly.of(Boolean(readOnly)),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
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
  return <div ref={frame} className="rounded-lg border border-line-strong" />;
}

