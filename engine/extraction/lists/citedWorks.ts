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
  return worksIn(end < 0 ? below : below.slice(0, end))
    .slice(0, ENTRIES_MAX)
    .map((work) => entryFinding(work, CONFIDENT));
}

function isHeading(text: string): boolean {
  const own = folded(text)
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
  return own.length > 0 && own.length <= HEADING_WORDS_MAX && own.some((word) => ASKED.has(word));
}

/** A work begins with its mark; where works have none, with its paragraph. */
function worksIn(lines: readonly TextLine[]): readonly { readonly text: string; readonly at: TextLine }[] {
  const areMarked = lines.some(({ text, number }) => number !== null || MARK.test(text));
  const works: { text: string; at: TextLine }[] = [];
  for (const [i, line] of lines.entries()) {
    const begins = areMarked
      ? line.number !== null || MARK.test(line.text)
      : line.block !== lines[i - 1]?.block;
    const last = works.at(-1);
    if (begins) works.push({ text: line.text.replace(MARK, ''), at: line });
    else if (last !== undefined) last.text = `${last.text} ${line.text}`;
  }
  return works;
}
