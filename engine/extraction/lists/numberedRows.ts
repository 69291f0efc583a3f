import type { Field } from '../fields/fields.ts';
import { confidenceOf, textFinding, type Finding, type RowFindings } from '../finding.ts';
import type { Row } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { entryFinding } from './labelledLists.ts';
import { textLines } from './textLines.ts';
import { lexicon } from '../words/lexicon.ts';

/** An item of a numbered list. */
interface Item {
  readonly number: number;
  readonly numbered: Finding;
  readonly title: Finding;
}

const ITEMS_MIN = 3;
const ITEMS_MAX = 200;
/** Points that the numbers of one list may stand apart. */
const EDGE = 12;
/** Words of a field that asks for an item's number. */
const NUMBERS = lexicon.asks.row_number;

/** The items of a numbered list, 1, 2, 3 …, for rows of a number and a text. */
export function numberedRows(fields: readonly Field[], source: Source): readonly RowFindings[] {
  const [number, ...numbers] = fields.filter(isNumber);
  const [title, ...others] = fields.filter((field) => field !== number);
  if (number === undefined || numbers.length > 0 || title?.type !== 'string' || others.length > 0) return [];
  const chains = [longestChain(markedLines(source)), longestChain(listItems(source))];
  const items = chains.find(({ length }) => length >= ITEMS_MIN) ?? [];
  return items.map(
    (item) =>
      new Map([
        [
          number.pointer,
          { ...item.numbered, value: number.type === 'string' ? String(item.number) : item.number },
        ],
        [title.pointer, item.title],
      ]),
  );
}

const isNumber = ({ phrases, type, concept }: Field): boolean =>
  type !== 'boolean' &&
  (concept?.id === 'line_number' ||
    phrases.some((words) => words.length < 3 && words.some((word) => NUMBERS.has(word))));

interface Marked extends Item {
  readonly x0: number;
}

const EVIDENCE = { label: 0.8, strictness: 0.6, margin: 0.3, agreement: 0 };
/** "3." or "3)", after at most a stray mark, and what stands behind it. */
const MARKER = /^[^\p{L}\p{N}]{0,2}(\d{1,3})[.)](?:\s|$)/u;

const markedLines = ({ layout }: Source): readonly Marked[] => layout.rows.flatMap(markedLine);

function markedLine({ segments }: Row): readonly Marked[] {
  const [first, ...others] = segments;
  const marker = first === undefined ? null : MARKER.exec(first.text);
  if (first === undefined || marker === null) return [];
  const [whole, digits = ''] = marker;
  const numbered = textFinding([{ segment: first, from: 0, to: whole.length }], EVIDENCE);
  const parts = [{ segment: first, from: whole.length, to: first.text.length }].filter(
    ({ from, to }) => from < to,
  );
  const title = textFinding(
    [...parts, ...others.map((segment) => ({ segment, from: 0, to: segment.text.length }))],
    EVIDENCE,
  );
  return numbered === undefined || title === undefined
    ? []
    : [{ number: Number(digits), numbered, title, x0: first.x0 }];
}

/** Items whose format keeps their numbers apart from their texts. */
const listItems = ({ document }: Source): readonly Marked[] =>
  textLines(document).flatMap((at) => {
    if (at.number === null) return [];
    const title = entryFinding({ text: at.text, at }, EVIDENCE.label);
    return [
      {
        number: at.number,
        title,
        numbered: { ...title, confidence: confidenceOf(EVIDENCE, title.words) },
        x0: 0,
      },
    ];
  });

/** The longest run 1, 2, 3 … whose numbers stand at one edge; other lists may stand between its items. */
function longestChain(items: readonly Marked[]): readonly Marked[] {
  let longest: readonly Marked[] = [];
  const open: Marked[][] = [];
  for (const item of items) {
    const chain = open.findLast(
      (one) => one.length + 1 === item.number && Math.abs((one[0]?.x0 ?? 0) - item.x0) <= EDGE,
    );
    if (chain === undefined && item.number === 1) open.push([item]);
    else chain?.push(item);
    if (open.length > CHAINS_MAX) open.shift();
    for (const one of chain === undefined ? open.slice(-1) : [chain])
      if (one.length > longest.length) longest = [...one];
  }
  return longest.slice(0, ITEMS_MAX);
}

/** Lists that may be open at once. */
const CHAINS_MAX = 8;
