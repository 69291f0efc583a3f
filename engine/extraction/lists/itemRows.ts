import { withoutEnd } from '../../kernel/text.ts';
import { inSegment, type Candidate } from '../candidates.ts';
import type { Field } from '../fields/fields.ts';
import { findingOf, textFinding, type Finding } from '../finding.ts';
import { wholeScore } from '../words/says.ts';
import type { Row, Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { isTotalRow } from '../grids/goods.ts';

/** A line of a receipt: what was bought, and the numbers beside it. */
interface Item {
  readonly name: readonly Part[];
  readonly quantity: Candidate | undefined;
  readonly price: Candidate | undefined;
  readonly amount: Candidate;
}
interface Part {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
}

const SUM_TOLERANCE = 0.011;
/** Pages up to this width, in points, are slips of paper. */
const SLIP_WIDTH = 420;
const NAME_CHARACTERS_MAX = 80;

/**
 * Items of a list without a header, as receipts have them: a name, perhaps "2 x 1.50", and an amount at the
 * end of the line, down to the first total. They count when they add up to a total below them, or when
 * there are several on a slip of paper.
 */
export function findItems(fields: readonly Field[], source: Source): readonly ReadonlyMap<string, Finding>[] {
  const byConcept = new Map(fields.map((field) => [field.concept?.id, field]));
  const amountField = byConcept.get('line_total') ?? byConcept.get('unit_price');
  if (amountField === undefined || !byConcept.has('description')) return [];
  const { items, sums } = itemsOf(source);
  const sum = items.reduce((all, { amount }) => all + Number(amount.value), 0);
  const agrees = sums.some((total) => Math.abs(total - sum) <= SUM_TOLERANCE);
  if (items.length === 0 || (!agrees && (items.length < 2 || !isSlip(source)))) return [];
  return items.map((item) => findingsOf(item, byConcept, agrees));
}

function isSlip({ layout: { segments } }: Source): boolean {
  const left = segments.reduce((least, { x0 }) => Math.min(least, x0), Number.POSITIVE_INFINITY);
  const right = segments.reduce((most, { x1 }) => Math.max(most, x1), 0);
  return segments.some(({ words }) => words.some(({ box }) => box !== null)) && right - left < SLIP_WIDTH;
}

function findingsOf(
  { name, quantity, price, amount }: Item,
  fields: ReadonlyMap<string | undefined, Field>,
  agrees: boolean,
): ReadonlyMap<string, Finding> {
  const evidence = { label: agrees ? 0.8 : 0.6, margin: 0.2, agreement: agrees ? 0.5 : 0 };
  const found = new Map<string, Finding>();
  const add = (id: string, finding: Finding | undefined): void => {
    const field = fields.get(id);
    if (field !== undefined && finding !== undefined) found.set(field.pointer, finding);
  };
  const numbers = [
    ['quantity', quantity],
    ['unit_price', price ?? (fields.has('line_total') ? undefined : amount)],
    ['line_total', amount],
  ] as const;
  add('description', textFinding(name, { ...evidence, strictness: 0.5 }));
  for (const [id, candidate] of numbers)
    add(id, candidate === undefined ? undefined : findingOf(candidate, evidence));
  return found;
}

function itemsOf(source: Source): { readonly items: readonly Item[]; readonly sums: readonly number[] } {
  const { rows } = source.layout;
  const first = rows.findIndex((row) => isTotalRow(row, source));
  if (first < 0) return { items: [], sums: [] };
  const items: Item[] = [];
  let pending: Segment | undefined;
  for (const row of rows.slice(0, first)) {
    const item = itemOf(row, pending, source);
    if (item !== undefined) items.push(item);
    pending = item === undefined ? nameAlone(row, source) : undefined;
  }
  const sums = rows.slice(first).flatMap((row) => amountsOf(row, source).map(({ value }) => Number(value)));
  return { items, sums };
}

const numbersOf = (segment: Segment, { conventions }: Source): readonly Candidate[] =>
  inSegment(segment, conventions).filter(({ kind }) => kind === 'number');

const amountsOf = ({ segments }: Row, source: Source): readonly Candidate[] =>
  segments.flatMap((segment) => numbersOf(segment, source)).filter(isAmount);

const isAmount = ({ text }: Candidate): boolean => /\d[.,]\d{2}(?!\d)\D*$/.test(text);

function itemOf(row: Row, pending: Segment | undefined, source: Source): Item | undefined {
  const last = row.segments.at(-1);
  const amount = last === undefined ? undefined : numbersOf(last, source).at(-1);
  if (last === undefined || amount === undefined || !isAmount(amount) || !endsWith(last, amount))
    return undefined;
  const before = row.segments.map((segment) => ({
    segment,
    from: 0,
    to: segment === last ? amount.from : segment.text.length,
  }));
  const numbers = before
    .flatMap(({ segment, to }) => numbersOf(segment, source).filter((number) => number.to <= to))
    .filter(({ value }) => typeof value === 'number' && value > 0);
  const own = before.flatMap((part) => namePart(part));
  const name = own.length > 0 ? own : pending === undefined ? [] : [wholePart(pending)];
  if (name.length === 0 || !isItemName(name, source)) return undefined;
  return { name, amount, ...multiplied(numbers, amount, own.length === 0) };
}

/** Only a mark may follow: a currency, a tax code. */
const endsWith = ({ text }: Segment, { to }: Candidate): boolean => /^\s*\S{0,3}$/.test(text.slice(to));

const wholePart = (segment: Segment): Part => ({ segment, from: 0, to: segment.text.length });

const QUANTITY_BEFORE = /^\s*\d{1,4}\s?[x×*]\s+(?=\p{L})/iu;
/** "3 x 12.50"; longer ones are no prices. */
const TIMES_AFTER = /\s{1,9}[\d.,]{1,30}\s{0,9}[x×*@]\s{0,9}[\d.,]{0,30}$/iu;
const MARK_OF_NUMBERS = /[\s\d.,x×*@€$£=%]/i;

/** A text without numbers at its end, and a currency after them. */
function withoutNumbersAfter(text: string): string {
  const before = text.trimEnd().replace(/\b[A-Z]{2,3}$/i, '');
  return withoutEnd(MARK_OF_NUMBERS.test(before.slice(-1)) ? before : text, MARK_OF_NUMBERS);
}

/** The words of a part, without the quantity before and the numbers after them. */
function namePart({ segment, from, to }: Part): readonly Part[] {
  const text = segment.text.slice(from, to);
  const start = QUANTITY_BEFORE.exec(text)?.[0].length ?? 0;
  const rest = text.slice(start);
  const end = start + (/\p{L}{2}/u.test(rest) ? rest.trimEnd().replace(TIMES_AFTER, '').trimEnd().length : 0);
  const named = /\p{L}{2}/u.test(withoutNumbersAfter(text.slice(start, end)));
  return named && !/^\s*(?:[A-Z]{3}|[€$£])\s*$/.test(text) ? [{ segment, from: start, to: end }] : [];
}

function isItemName(name: readonly Part[], { labels }: Source): boolean {
  const text = name.map(({ segment, from, to }) => segment.text.slice(from, to)).join(' ');
  if (text.length > NAME_CHARACTERS_MAX || /:\s*$|@\w/.test(text)) return false;
  return wholeScore(text, (words) => labels.any(words)) < 0.85;
}

function nameAlone({ segments }: Row, source: Source): Segment | undefined {
  const [only] = segments;
  if (only === undefined || segments.length > 1 || !/\p{L}{2}/u.test(only.text)) return undefined;
  return isItemName([wholePart(only)], source) ? only : undefined;
}

/** Quantity and price are the numbers that multiply to the amount; a quantity may stand alone. */
function multiplied(
  numbers: readonly Candidate[],
  amount: Candidate,
  isNumbersOnly: boolean,
): Pick<Item, 'quantity' | 'price'> {
  for (const price of numbers.filter(isAmount)) {
    const quantity = numbers.find(
      (one) =>
        one !== price &&
        Math.abs(Number(one.value) * Number(price.value) - Number(amount.value)) < SUM_TOLERANCE,
    );
    if (quantity !== undefined) return { quantity, price };
  }
  const whole = numbers.filter(
    (one) => Number.isInteger(one.value) && Number(one.value) < 1000 && !isAmount(one),
  );
  const beside = whole.filter(({ segment, from, to }) => isQuantityPlace(segment.text, { from, to }));
  const [quantity] = isNumbersOnly ? whole : beside;
  return { quantity, price: undefined };
}

/** "2 x Milk", "Milk x2", or a number in a cell of its own. */
const isQuantityPlace = (
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
): boolean =>
  /^\s?[x×*]/i.test(text.slice(to)) ||
  /[x×*]\s?$/i.test(text.slice(0, from)) ||
  text.trim().length === to - from;
