import { useSyncExternalStore, useEffect, useRef } from 'react';
import { json } from '@codemirror/lang-json';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { shell } from '../texts/shell.ts';
import { look } from './editorLook.ts';

/** Below it two columns of text have no room. */
const narrow = window.matchMedia('(max-width: 720px)');

const subscribe = (listener: () => void): (() => void) => {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
};

/** Whether the window is as narrow as a phone's. */
export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches);

export interface DiffProps {
  readonly label: string;
  /** Earlier and later text, mostly JSON. */
  readonly before: string;
  readonly after: string;
}

const reading: Extension = [
  lineNumbers(),
  EditorView.lineWrapping,
  json(),
  look,
  EditorState.readOnly.of(true),
];

const named = (name: string): Extension =>
  EditorView.contentAttributes.of({ 'aria-label': name, tabindex: '0' });

const collapseUnchanged = { margin: 3, minSize: 6 };

const sideBySide = (parent: HTMLElement, { label, before, after }: DiffProps): { destroy: () => void } =>
  new MergeView({
    parent,
    a: { doc: before, extensions: [reading, named(`${label}: ${shell.before}`)] },
    b: { doc: after, extensions: [reading, named(`${label}: ${shell.after}`)] },
    collapseUnchanged,
  });

/** What goes stands above what comes, in one column: two have no room in a narrow window. */
const below = (parent: HTMLElement, { label, before, after }: DiffProps): { destroy: () => void } =>
  new EditorView({
    parent,
    doc: after,
    extensions: [
      reading,
      named(label),
      unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged }),
    ],
  });

/** The comparison itself; loaded when one is first shown. */
export default function LoadedDiff({ label, before, after }: DiffProps) {
  const place = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow();
  useEffect(() => {
    if (place.current === null) return;
    const view = (isNarrow ? below : sideBySide)(place.current, { label, before, after });
    return () => view.destroy();
  }, [label, before, after, isNarrow]);
  return <div ref={place} role="group" aria-label={label} className="max-h-[60vh] overflow-auto" />;
}
