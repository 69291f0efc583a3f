import type { Field } from '../fields/fields.ts';
import { folded } from '../fields/words.ts';
import type { Finding } from '../finding.ts';
import type { Source } from '../source.ts';
import { entryFinding } from './textEntries.ts';
import { textLines, type TextLine } from './textLines.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const ASKED = words(
  'references reference bibliography literature citations cited works literatur literaturverzeichnis quellen ' +
    'bibliographie bibliografia referencias referenze literatura literatuur',
);
const HEADING_WORDS_MAX = 3;
const ENTRIES_MAX = 500;
const LINES_MAX = 4000;
/** Before each work: "[1]", "1.", "(1)". */
const MARK = /^(?:\[\d{1,3}\]|\(\d{1,3}\)|\d{1,3}\.)\s/u;
/** "Low, A. and Renn, B. (1989)": a line begins with authors whose initials follow their names. */
const SURNAME = String.raw`(?:\p{L}[\p{L}’'-]{1,30}\s){0,2}\p{Lu}[\p{L}’'-]{1,30}`;
const INITIALS = String.raw`\p{Lu}\.(?:[\s-]?\p{Lu}\.){0,3}`;
const AUTHORS = new RegExp(String.raw`^${SURNAME},\s${INITIALS}(?:,|\s[(\d&]|\s(?:and|und|et|y)\s)`, 'u');
/** A sentence ends, and not with an initial. */
const ENDED = /(?:[\p{L}\p{N}]{2}|[\p{N})])[.”"]$/u;
/** So many lines that begin with authors show that works do. */
const AUTHORS_MIN = 3;
/** A line that is set like a heading ends no list whose marks go on within so many lines. */
const LOOKED_ON = 40;
const CONFIDENT = 0.9;

/** The works that a paper cites: what stands below the heading "References", one paragraph or mark each. */
export const citedWorks = ({ type, terms: { name } }: Field, source: Source): readonly Finding[] =>
  type === 'string' ? citedEntries(name, source) : [];

/** The same for whatever is called so. */
export function citedEntries(name: readonly string[], { document }: Source): readonly Finding[] {
  if (!name.some((word) => ASKED.has(word))) return [];
  const lines = textLines(document);
  const at = lines.findLastIndex(({ text }) => isHeading(text));
  if (at < 0) return [];
  const below = lines.slice(at + 1, at + 1 + LINES_MAX);
  const end = below.findIndex(
    ({ block }, i) =>
      block.kind === 'heading' && !below.slice(i, i + LOOKED_ON).some(({ text }) => MARK.test(text)),
  );
  return worksIn((end < 0 ? below : below.slice(0, end)).filter((line, i) => !isRunning(line, below[i - 1])))
    .slice(0, ENTRIES_MAX)
    .map((work) => entryFinding(work, CONFIDENT));
}

function isHeading(text: string): boolean {
  const own = folded(text)
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
  return own.length > 0 && own.length <= HEADING_WORDS_MAX && own.some((word) => ASKED.has(word));
}

function worksIn(lines: readonly TextLine[]): readonly { readonly text: string; readonly at: TextLine }[] {
  const begins = beginningIn(lines);
  const works: { text: string; at: TextLine }[] = [];
  for (const [i, line] of lines.entries()) {
    const last = works.at(-1);
    if (begins(line, lines[i - 1])) works.push({ text: line.text.replace(MARK, ''), at: line });
    else if (last !== undefined) last.text = `${last.text} ${line.text}`;
  }
  return works;
}

/** What stands alone at the head of a page beside its number is no part of a work that went on to it. */
const isRunning = ({ text, page, block }: TextLine, before: TextLine | undefined): boolean =>
  before !== undefined &&
  page !== before.page &&
  ENDED.test(before.text) &&
  block.text.trim() === text &&
  /^\d{1,4}\s.{0,100}[^.”"]$|^.{0,100}\s\d{1,4}$/u.test(text);

type Begins = (line: TextLine, before: TextLine | undefined) => boolean;

const isMarked: Begins = ({ text, number }) => number !== null || MARK.test(text);
const hasAuthors: Begins = ({ text }, before) =>
  AUTHORS.test(text) && (before === undefined || ENDED.test(before.text));
const isParagraph: Begins = ({ block }, before) => block !== before?.block;

/** A work begins with its mark; where works have none, with its authors, or else with its paragraph. */
function beginningIn(lines: readonly TextLine[]): Begins {
  if (lines.some((line) => isMarked(line, undefined))) return isMarked;
  const withAuthors = lines.filter((line, i) => hasAuthors(line, lines[i - 1]));
  return withAuthors.length >= AUTHORS_MIN ? hasAuthors : isParagraph;
}
