import { cellValue } from '../grids/cellValues.ts';
import type { Cell } from '../grids/grid.ts';
import type { Called, Field } from '../fields/fields.ts';
import { labelWords } from '../fields/words.ts';
import type { Finding } from '../finding.ts';
import names from '../lexicon/names.json' with { type: 'json' };
import type { Source } from '../source.ts';
import type { RowFindings } from '../tables/rowValues.ts';
import { bareEntry, labelled, type Entry } from './labelledLists.ts';
import { wordsOf } from './textLines.ts';

const ENTRY_CHARACTERS_MAX = 200;
/** What parts the members of an entry: "Ada Low, keeper", "Frogs - 12". */
const PARTED = /,\s|\s[-–—|·]\s|\t|;\s|\s\(|\)\s?/;
/** So many of the lines must be entries. */
const SHARE = 0.6;
/** One line that happens to have as many parts says nothing. */
const ROWS_MIN = 2;

/** The rows of a list whose entries are lines below its label, each with its members one after another. */
export function labelledRows(
  { fields, called }: { readonly fields: readonly Field[]; readonly called: Called },
  source: Source,
): readonly RowFindings[] {
  const about = called.description === '' ? [] : [labelWords(called.description)];
  const found = labelled({ phrases: called.phrases, about }, source);
  if (found === undefined || fields.length < 2) return [];
  const entries = found.lines.flatMap((at) =>
    at.text.split(/;\s/).map((text): Entry => ({ text: bareEntry(text), at })),
  );
  if (entries.some(({ text }) => text.length > ENTRY_CHARACTERS_MAX)) return [];
  const rows = entries.flatMap((entry) => rowOf(entry, fields, { source, score: found.score }));
  return rows.length >= Math.max(ROWS_MIN, SHARE * entries.length) ? rows : [];
}

interface Reading {
  readonly source: Source;
  readonly score: number;
}

/** The parts of an entry for the fields, in the order of the schema, by type; all fields must have one. */
function rowOf(
  { text, at }: Entry,
  fields: readonly Field[],
  { source, score }: Reading,
): readonly RowFindings[] {
  const parts = text
    .split(PARTED)
    .map((part) => withoutCourtesy(part.trim()))
    .filter((part) => part !== '');
  if (parts.length !== fields.length) return [];
  const evidence = { label: 0.9 * score, margin: 0.2, agreement: 0 };
  const found = new Map<string, Finding>();
  for (const field of [...fields].sort((a, b) => Number(isText(a)) - Number(isText(b)))) {
    const place = parts.findIndex(
      (part) => cellValue(field, cellOf(part, at), { source, evidence }) !== undefined,
    );
    const [part = ''] = place < 0 ? [] : parts.splice(place, 1);
    const value = cellValue(field, cellOf(part, at), { source, evidence });
    if (value === undefined) return [];
    found.set(
      field.pointer,
      isText(field) && field.choices.length === 0 ? { ...value, value: part, text: part } : value,
    );
  }
  return [found];
}

const isText = ({ type, kind }: Field): boolean => type === 'string' && kind !== 'date';

const cellOf = (text: string, at: Entry['at']): Cell => ({
  text,
  page: at.page.page,
  columnSpan: 1,
  words: wordsOf(text, at),
});

const COURTESIES = new Set(names.courtesies);

/** "Mr", "Mme", "Frau" are no part of a name. */
function withoutCourtesy(text: string): string {
  const [first = '', ...rest] = text.split(' ');
  return rest.length > 0 && COURTESIES.has(first.replace('.', '').toLowerCase()) ? rest.join(' ') : text;
}
