import { labelWords } from '../fields/words.ts';
import { namedBy, type Names } from '../grids/likeness.ts';
import type { Source } from '../source.ts';
import { textLines, type TextLine } from './textLines.ts';

/** An entry of a list as it stands in the document. */
export interface Entry {
  readonly text: string;
  readonly at: TextLine;
}

/** How well a label must name the list. */
const NAMED = 0.72;
const LABEL_WORDS_MAX = 7;
const ENTRIES_MAX = 500;

/** What follows the label that names a list best: the rest of its line, and the lines that belong to it. */
export interface Labelled {
  readonly lines: readonly TextLine[];
  readonly score: number;
  /** It begins on the line of its label. */
  readonly isInline: boolean;
}

/** The first of the labels that name a list best, with what follows it; undefined where no label does. */
export function labelled(names: Names, { document }: Source): Labelled | undefined {
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
  const colon = text.search(/\s?:(?:\s|$)/);
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
  return next?.kind === 'paragraph' ? upTo(rest, (line) => line.block !== next) : [];
}

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
export function textEntries({ lines, isInline }: Labelled): readonly Entry[] {
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
export const bareEntry = (text: string): string =>
  text
    .trim()
    .replace(/^(?:[-–—•·▪◦*] ?|\(?\d{1,3}[.)] )/, '')
    .replace(/[.,;]$/, '')
    .trim();
