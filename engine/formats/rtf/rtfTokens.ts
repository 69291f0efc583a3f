import { RefusedDocument } from '../pieces/blocks.ts';

/** What RTF is made of. `byte` is a character of the code page, `\'e9`. */
export type RtfToken =
  | { readonly kind: 'open' }
  | { readonly kind: 'close' }
  | { readonly kind: 'word'; readonly word: string; readonly value: number | null }
  | { readonly kind: 'byte'; readonly code: number }
  | { readonly kind: 'text'; readonly text: string };

const TOKEN = new RegExp(
  String.raw`([{}])|\\([A-Za-z]{1,32})(-?\d{1,10})?(?:\r\n|[ \r\n])?|\\'([\dA-Fa-f]{2})|\\([\s\S])|` +
    String.raw`[\r\n\0]+|([^\\{}\r\n\0]+)|\\$`,
  'y',
);
const GROUPS_MAX = 256;

/** Control symbols that stand for words or signs. */
const SYMBOLS: Readonly<Record<string, RtfToken>> = {
  '~': { kind: 'text', text: '\u00a0' },
  _: { kind: 'text', text: '-' },
  '\\': { kind: 'text', text: '\\' },
  '{': { kind: 'text', text: '{' },
  '}': { kind: 'text', text: '}' },
  '*': { kind: 'word', word: '*', value: null },
  '\n': { kind: 'word', word: 'par', value: null },
  '\r': { kind: 'word', word: 'par', value: null },
  '\t': { kind: 'word', word: 'tab', value: null },
};

/** The tokens of an RTF file, its bytes as Latin-1. What `\bin` holds is left out. */
export function* rtfTokens(source: string): Generator<RtfToken> {
  let depth = 0;
  let at = 0;
  while (at < source.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(source);
    if (match === null) return;
    at = TOKEN.lastIndex;
    const token = tokenOf(match);
    if (token === undefined) continue;
    depth += stepOf(token);
    if (depth > GROUPS_MAX) throw new RefusedDocument('The document is nested too deeply.');
    if (depth <= 0) return;
    if (token.kind === 'word' && token.word === 'bin') at += Math.max(0, token.value ?? 0);
    else yield token;
  }
}

function stepOf({ kind }: RtfToken): number {
  if (kind === 'open') return 1;
  return kind === 'close' ? -1 : 0;
}

function tokenOf([, brace, word, value, byte, symbol, text]: RegExpExecArray): RtfToken | undefined {
  if (brace !== undefined) return { kind: brace === '{' ? 'open' : 'close' };
  if (word !== undefined) return { kind: 'word', word, value: value === undefined ? null : Number(value) };
  if (byte !== undefined) return { kind: 'byte', code: Number.parseInt(byte, 16) };
  if (symbol !== undefined) return SYMBOLS[symbol];
  return text === undefined ? undefined : { kind: 'text', text };
}
