import type { Called, Field } from '../fields/fields.ts';
import { labelWords } from '../words/labelWords.ts';
import { namedBy, type Names } from '../words/says.ts';
import { confidenceOf, type Finding, type RowFindings } from '../finding.ts';
import { cellValue } from '../grids/cellValues.ts';
import type { Cell } from '../grids/grid.ts';
import { isLoud, textLines, type TextLine, wordsOf } from './textLines.ts';
import type { Source } from '../source.ts';
import { lexicon } from '../words/lexicon.ts';

/** An entry of a list as it stands in the document. */
interface Entry {
  readonly text: string;
  readonly at: TextLine;
}

/** How well a label must name the list. */
const NAMED = 0.72;
const LABEL_WORDS_MAX = 7;
const ENTRIES_MAX = 500;

/** What follows the label that names a list best: the rest of its line, and the lines that belong to it. */
interface Labelled {
  readonly lines: readonly TextLine[];
  readonly score: number;
  /** It begins on the line of its label. */
  readonly isInline: boolean;
}

/** The first of the labels that name a list best, with what follows it; undefined where no label does. */
function labelled(names: Names, { document }: Source): Labelled | undefined {
  const lines = textLines(document);
  let best: Labelled | undefined;
  for (const [at, line] of lines.entries()) {
    const label = labelOf(line.text);
    const score = label === undefined ? 0 : namedBy(names, labelWords(label));
    if (label === undefined || score < NAMED || score <= (best?.score ?? 0)) continue;
    const text = line.text.slice(label.length).replace(/^\s?:\s*/, '');
    const own = text === '' ? [] : [{ ...line, text }];
    const below = linesBelow(lines, at, own.length > 0);
    if (own.length + below.length > 0) best = { lines: [...own, ...below], score, isInline: own.length > 0 };
  }
  return best;
}

/** What stands before a colon, or a short line that is no sentence. */
function labelOf(text: string): string | undefined {
  const colon = text.search(/\s?:(?:\s|$)|(?<=^[^☐☑☒:]{2,90})\s(?=[☐☑☒])/u);
  const label = colon < 0 ? text : text.slice(0, colon);
  const isLong = label.split(' ').length > LABEL_WORDS_MAX;
  return isLong || (colon < 0 && /[.,;\d]$/.test(label)) ? undefined : label;
}

/** The other lines of the label's block; else those of the list or the paragraph after it. */
function linesBelow(lines: readonly TextLine[], at: number, isInline: boolean): readonly TextLine[] {
  const rest = lines.slice(at + 1, at + 1 + ENTRIES_MAX);
  const block = lines[at]?.block;
  const isOwn = rest[0]?.block === block;
  if (isOwn || isInline) return upTo(rest, (line) => line.block !== block || isLabelled(line.text));
  return nextBlock(rest);
}

function nextBlock(rest: readonly TextLine[]): readonly TextLine[] {
  const next = rest[0]?.block;
  if (next?.kind === 'list_item') return upTo(rest, (line) => line.block.kind !== 'list_item');
  if (next?.kind !== 'paragraph') return [];
  const own = upTo(rest, (line) => line.block !== next);
  return own.every(isShort) ? upTo(rest, (line) => line.block.kind === 'heading' || !isShort(line)) : own;
}

const SHORT_CHARACTERS_MAX = 60;

/** No sentence, no label, no blank of a template, and no title of another section. */
const isShort = ({ text }: TextLine): boolean =>
  text.length <= SHORT_CHARACTERS_MAX && !/[.:!?\]]$/u.test(text) && !isLoud(text);

/** Another label stands at its beginning. */
const isLabelled = (text: string): boolean => labelOf(text)?.length !== text.length;

function upTo(lines: readonly TextLine[], isEnd: (line: TextLine) => boolean): readonly TextLine[] {
  const end = lines.findIndex(isEnd);
  return end < 0 ? lines : lines.slice(0, end);
}

/** Boxes before the options of a list: those that are ticked count. */
const BOXES = /[☐☑☒]/u;
const MARKS = /[;•·|]/;
const COMMAS = /,\s/;

/** The entries of a list of texts: ticked boxes, lines, or what marks or commas part. */
function textEntries({ lines, isInline }: Labelled): readonly Entry[] {
  const has = (marks: RegExp): boolean => lines.some(({ text }) => marks.test(text));
  const parts = (at: TextLine): readonly string[] => {
    if (has(BOXES)) return ticked(at.text);
    if (has(MARKS)) return at.text.split(MARKS);
    return isInline || lines.length === 1 || mostly(lines, COMMAS) ? at.text.split(COMMA_OR_AND) : [at.text];
  };
  return lines
    .flatMap((at) => parts(at).map((text) => ({ text: bareEntry(text), at })))
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
}

const COMMA_OR_AND = /,\s(?:and|und|et|y|e|en|a)\s|,\s|\s(?:and|und)\s/;

const ticked = (text: string): readonly string[] =>
  text
    .split(/(?=[☐☑☒])/u)
    .filter((part) => /^[☑☒]/u.test(part))
    .map((part) => part.slice(1));

const mostly = (lines: readonly TextLine[], marks: RegExp): boolean =>
  2 * lines.filter(({ text }) => marks.test(text)).length > lines.length;

/** Without its bullet, its number and the mark at its end. */
const bareEntry = (text: string): string =>
  text
    .trim()
    .replace(/^(?:[-–—•·▪◦*] ?|\(?\d{1,3}[.)] )/, '')
    .replace(/[.,;]$/, '')
    .trim();

/** An entry is a few words; a longer one is prose that follows the label. */
const ENTRY_CHARACTERS_MAX = 120;

/** A sentence ends in it, and another begins. */
const isProse = (text: string): boolean => /\p{L}{3}[.!?]\s+\p{Lu}/u.test(text);

/** The texts of a list below or after its label, none where prose follows; undefined where no label is. */
export const listedTexts = (field: Field, source: Source): readonly Finding[] | undefined =>
  textsUnder(field, source);

function textsUnder(names: Names, source: Source): readonly Finding[] | undefined {
  const found = labelled(names, source);
  if (found === undefined) return undefined;
  const entries = textEntries(found);
  if (entries.some(({ text }) => text.length > ENTRY_CHARACTERS_MAX || isProse(text))) return [];
  return entries.map((entry) => entryFinding(entry, found.score));
}

/** An entry as it stands on its page. */
export function entryFinding({ text, at }: Entry, score: number): Finding {
  const words = wordsOf(text, at);
  const evidence = { label: score, strictness: 0.6, margin: 0.3, agreement: 0 };
  return { value: text, text, page: at.page.page, words, confidence: confidenceOf(evidence, words) };
}

const ROW_CHARACTERS_MAX = 200;
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
  const names = { phrases: called.phrases, about };
  const [only, ...others] = fields;
  if (only !== undefined && others.length === 0) return isText(only) ? textRows(only, names, source) : [];
  const found = labelled(names, source);
  if (found === undefined) return [];
  const entries = found.lines.flatMap((at) =>
    at.text.split(/;\s/).map((text): Entry => ({ text: bareEntry(text), at })),
  );
  if (entries.some(({ text }) => text.length > ROW_CHARACTERS_MAX)) return [];
  const rows = entries.flatMap((entry) => rowOf(entry, fields, { source, score: found.score }));
  return rows.length >= Math.max(ROWS_MIN, SHARE * entries.length) ? rows : [];
}

/** The rows of a list whose rows have a text alone: each is an entry below the list's label. */
const textRows = (field: Field, names: Names, source: Source): readonly RowFindings[] =>
  (textsUnder(names, source) ?? []).map((finding) => new Map([[field.pointer, finding]]));

interface ScoredSource {
  readonly source: Source;
  readonly score: number;
}

/** The parts of an entry for the fields, in the order of the schema, by type; all fields must have one. */
function rowOf(
  { text, at }: Entry,
  fields: readonly Field[],
  { source, score }: ScoredSource,
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

const COURTESIES = lexicon.parties.courtesies;

/** "Mr", "Mme", "Frau" are no part of a name. */
function withoutCourtesy(text: string): string {
  const [first = '', ...rest] = text.split(' ');
  return rest.length > 0 && COURTESIES.has(first.replace('.', '').toLowerCase()) ? rest.join(' ') : text;
}
