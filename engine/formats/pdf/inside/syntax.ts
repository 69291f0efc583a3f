import { ENDS, hexText, literalText, plainNumber, SIGNS, SPACES, type Cursor } from './texts.ts';

/** A value of the language that PDF files and the contents of pages are written in. */
export type PdfValue = number | boolean | null | PdfName | PdfText | PdfList | PdfDict | PdfRef | PdfWord;

export interface PdfName {
  readonly kind: 'name';
  readonly name: string;
}

export interface PdfText {
  readonly kind: 'text';
  readonly bytes: readonly number[];
}

export interface PdfList {
  readonly kind: 'list';
  readonly items: readonly PdfValue[];
}

export interface PdfDict {
  readonly kind: 'dict';
  readonly entries: ReadonlyMap<string, PdfValue>;
}

export interface PdfRef {
  readonly kind: 'ref';
  readonly number: number;
}

/** An operator, or a keyword of the file. */
export interface PdfWord {
  readonly kind: 'word';
  readonly word: string;
}

/** Deeper ones are none of people's. */
const DEPTH_MAX = 40;

const { PERCENT, OPEN, LESS, MORE, SLASH, LIST_OPENS, LIST_ENDS } = SIGNS;

/** The next value or operator; undefined at the end, and where a list or dictionary ends. */
export function readValue(cursor: Cursor, depth = 0): PdfValue | undefined {
  const { bytes } = cursor;
  skipSpace(cursor);
  const first = bytes[cursor.at];
  if (first === undefined || first === LIST_ENDS) return undefined;
  switch (first) {
    case OPEN:
      return { kind: 'text', bytes: literalText(cursor) };
    case SLASH:
      cursor.at += 1;
      return { kind: 'name', name: unescapedName(plainWord(cursor)) };
    case LIST_OPENS:
      cursor.at += 1;
      return { kind: 'list', items: readItems(cursor, depth) };
    case LESS:
      return bytes[cursor.at + 1] === LESS
        ? readDict(cursor, depth)
        : { kind: 'text', bytes: hexText(cursor) };
    case MORE:
      return undefined;
    default:
      return numberOrWord(cursor);
  }
}

function skipSpace(cursor: Cursor): void {
  const { bytes } = cursor;
  for (;;) {
    const byte = bytes[cursor.at];
    if (byte === PERCENT) while (!isLineEnd(bytes[cursor.at])) cursor.at += 1;
    else if (byte !== undefined && SPACES[byte] === true) cursor.at += 1;
    else return;
  }
}

const isLineEnd = (byte: number | undefined): boolean => byte === undefined || byte === 10 || byte === 13;

function plainWord(cursor: Cursor): string {
  const { bytes } = cursor;
  const from = cursor.at;
  let byte = bytes[cursor.at];
  while (byte !== undefined && ENDS[byte] === false) {
    cursor.at += 1;
    byte = bytes[cursor.at];
  }
  let word = '';
  for (let at = from; at < cursor.at; at += 1) word += String.fromCharCode(bytes[at] ?? 0);
  return word;
}

const unescapedName = (name: string): string =>
  name.includes('#')
    ? name.replace(/#([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    : name;

function numberOrWord(cursor: Cursor): PdfValue {
  const number = plainNumber(cursor);
  if (number !== undefined) return number;
  const word = plainWord(cursor);
  if (word === '') cursor.at += 1;
  if (word === 'true' || word === 'false') return word === 'true';
  return word === 'null' ? null : wordOf(word);
}

/** Operators are few and come again and again. */
const WORDS = new Map<string, PdfWord>();
const WORDS_MAX = 500;

function wordOf(word: string): PdfWord {
  const known = WORDS.get(word) ?? { kind: 'word', word };
  if (WORDS.size < WORDS_MAX) WORDS.set(word, known);
  return known;
}

/** Values up to the end of a list. `7 0 R` is a reference to object 7. */
function readItems(cursor: Cursor, depth: number): readonly PdfValue[] {
  const items: PdfValue[] = [];
  if (depth >= DEPTH_MAX) return items;
  for (;;) {
    const value = readValue(cursor, depth + 1);
    if (value === undefined) break;
    if (isWord(value, 'R')) {
      items.pop();
      const number = items.pop();
      items.push({ kind: 'ref', number: typeof number === 'number' ? number : -1 });
    } else items.push(value);
  }
  cursor.at += 1;
  return items;
}

export const isWord = (value: PdfValue | undefined, word: string): boolean =>
  typeof value === 'object' && value?.kind === 'word' && value.word === word;

function readDict(cursor: Cursor, depth: number): PdfDict {
  cursor.at += 2;
  const items = readItems(cursor, depth);
  if (cursor.bytes[cursor.at] === MORE) cursor.at += 1;
  const entries = new Map<string, PdfValue>();
  for (let at = 0; at + 1 < items.length; at += 2) {
    const [key, value] = [items[at], items[at + 1]];
    if (typeof key === 'object' && key?.kind === 'name' && value !== undefined) entries.set(key.name, value);
  }
  return { kind: 'dict', entries };
}
