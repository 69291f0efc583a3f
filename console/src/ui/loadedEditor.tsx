import { closeBrackets } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap } from '@codemirror/language';
import { linter, lintGutter } from '@codemirror/lint';
import { searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { look } from './editorLook.ts';

export interface EditedText {
  /** What is edited, for screen readers. */
  readonly label: string;
  readonly value: string;
  /** Left out: it is only read. */
  readonly onChange?: (text: string) => void;
}

export interface JsonEditorProps extends EditedText {
  /** As CSS has it. */
  readonly height: string;
}

/** Tab leaves the editor, so that the page can be walked by keyboard. */
const base: Extension = [
  lineNumbers(),
  foldGutter(),
  bracketMatching(),
  EditorView.lineWrapping,
  json(),
  keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap]),
  look,
];

const writing: Extension = [history(), closeBrackets(), linter(jsonParseLinter()), lintGutter()];
const reading: Extension = [EditorState.readOnly.of(true), EditorView.editable.of(false)];

/** The editor itself; loaded when one is first shown. */
export default function LoadedEditor({ label, value, onChange, height }: JsonEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const tell = useRef(onChange);
  const first = useRef(value);
  const isWritten = onChange !== undefined;
  useEffect(() => {
    tell.current = onChange;
  }, [onChange]);
  useEffect(() => {
    if (place.current === null) return;
    const told = EditorView.updateListener.of((update) => {
      if (update.docChanged) tell.current?.(update.state.doc.toString());
    });
    const named = EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' });
    const editor = new EditorView({
      parent: place.current,
      doc: first.current,
      extensions: [base, isWritten ? writing : reading, told, named],
    });
    view.current = editor;
    return () => {
      first.current = editor.state.doc.toString();
      editor.destroy();
    };
  }, [label, isWritten]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  return <div ref={place} className="[&>.cm-editor]:h-full" style={{ height }} />;
}
