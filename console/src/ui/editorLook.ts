import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { styleNonce } from './style.ts';

const theme = EditorView.theme({
  '&': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    fontSize: '13px',
    borderRadius: '6px',
    border: '1px solid var(--line)',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--soft)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  // its own is white in the dark theme too
  '.cm-collapsedLines': { background: 'var(--sunken)', color: 'var(--soft)' },
  // the mark beside the words is in few fonts
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯"' },
  // what goes is marked by its line; coloured words on a coloured mark could not be read
  '.cm-deletedChunk, .cm-deletedChunk *': { color: 'var(--ink) !important' },
  '.cm-deletedChunk .cm-deletedText': { background: 'transparent', textDecoration: 'line-through' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--ink)', border: '1px solid var(--line)' },
});

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--chart-1)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.number, color: 'var(--warn)' },
  { tag: [tags.bool, tags.null], color: 'var(--chart-4)' },
]);

const nonce = styleNonce();

/** The colours of the theme that is shown. */
export const look: Extension = [
  theme,
  syntaxHighlighting(colors),
  nonce === undefined ? [] : EditorView.cspNonce.of(nonce),
];
