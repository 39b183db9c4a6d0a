import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintGutter } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { type RefObject, useEffect, useRef } from "react";

const look = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--ink)", fontSize: "12px", borderRadius: "8px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "0" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "20px", borderRadius: "8px" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-3)", border: "none", borderRadius: "8px 0 0 8px" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft) !important" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--line)", borderRadius: "8px", color: "var(--ink)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--danger)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
});

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.comment, color: "var(--ink-3)" },
    { tag: tags.string, color: "var(--ok-ink)" },
    { tag: [tags.number, tags.typeName], color: "var(--info-ink)" },
    { tag: [tags.bool, tags.null], color: "var(--accent-ink)" },
    { tag: tags.keyword, color: "var(--accent-ink)", fontWeight: "500" },
    { tag: tags.meta, color: "var(--warn-ink)" },
    { tag: tags.propertyName, color: "var(--ink)" },
  ]),
);

/** The frame around an editor. */
export const editorFrame = "rounded-lg border border-line-strong";

/**
 * An editor for a text in some language: what every one of them has, and `more`, which is read once. Tab leaves the field,
 * as everywhere, and Ctrl Enter is left to the page.
 */
export function useCodeEditor({ value, onChange, label, readOnly, more }: {
  value: string;
  onChange: (text: string) => void;
  label: string;
  readOnly?: boolean;
  more: Extension;
}): { frame: RefObject<HTMLDivElement | null>; view: RefObject<EditorView | null> } {
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
          more,
          lineNumbers(),
          history(),
          bracketMatching(),
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
  return { frame, view };
}
