import { withoutEnd } from '../../kernel/text.ts';
import type { Json } from '../../kernel/json.ts';
import { once, remembered } from '../../kernel/once.ts';
import { inSegment, type Candidate, type Conventions } from '../candidates.ts';
import type { Field } from '../fields/fields.ts';
import type { ValueKind } from '../words/concepts.ts';
import type { Spot } from '../form/pair.ts';
import { withoutCivility } from '../parts/people.ts';
import type { Segment } from '../places/layout.ts';
import { isPlaceholder, isSentence } from '../form/printed.ts';
import { choiceIn, tickedOption, yesOrNo } from '../texts.ts';
import { datesIn, monthOf } from '../values/dates.ts';
import { currenciesIn, digitsAround, isMark, timesIn, scaledIn } from '../values/numbers.ts';
import { codeLength, isShare, shapeOf, type Shape } from './shapes.ts';
import type { EvidenceKind } from '../finding.ts';
import type { Source } from '../source.ts';
import type { Generator } from '../../ports/why.ts';
import { lexicon } from '../words/lexicon.ts';

/** A value that a field may have, as it stands in a segment. */
export interface ValueReading extends Spot {
  readonly value: Json;
  readonly text: string;
  /** 0..1: how sure its form makes it. */
  readonly strictness: number;
  /** The lines that the value goes on in. */
  readonly more?: readonly Segment[];
}

interface WrittenField {
  readonly field: Field;
  readonly conventions: Conventions;
}

/** What a spot says of a field, in the order of the text; nothing where what stands there has another shape. */
export function valuesAt(spot: Spot, asked: WrittenField): readonly ValueReading[] {
  const shape = shapeOf(asked.field);
  return READERS[shape]?.(spot, asked) ?? typed(spot, asked, shape);
}

type Reader = (spot: Spot, asked: WrittenField) => readonly ValueReading[];

const READERS: Readonly<Partial<Record<Shape, Reader>>> = {
  boolean: (spot) => wholeAs(spot, yesOrNo(textOf(spot)), 1),
  choice: (spot, { field }) => {
    const text = textOf(spot);
    return wholeAs(spot, choiceIn(field, tickedOption(text) ?? text), 1);
  },
  time: (spot) => found(spot, timesIn(spot.segment.text), 1),
  year: (spot, { field }) => found(spot, yearsIn(spot.segment.text), 0.9).map((one) => asType(field, one)),
  integer: (spot, asked) =>
    numbers(spot, asked).filter(({ value }) => Number.isInteger(value) || typeof value === 'string'),
  number: (spot, asked) => numbers(spot, asked),
  code: (spot, { field }) =>
    codes(spot).filter(({ text }) => text.replace(/[^\p{L}\p{N}]/gu, '').length >= codeLength(field)),
  name: (spot, { field }) =>
    texts(spot, NAME_ENDS, (text) => isNameLike(text) || MAIL.test(text))
      .map(unaddressed)
      .map((one) => partOfName(one, field)),
  text: (spot) => texts(spot, TEXT_ENDS, () => true),
};

const textOf = ({ segment, from, to }: Spot): string => segment.text.slice(from, to).trim();

const wholeAs = (spot: Spot, value: Json | undefined, strictness: number): readonly ValueReading[] =>
  value === undefined ? [] : [{ ...spot, value, text: textOf(spot), strictness }];

interface Piece {
  readonly value: Json;
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const found = (
  { segment, from, to }: Spot,
  pieces: readonly Piece[],
  strictness: number,
): readonly ValueReading[] =>
  pieces
    .filter((piece) => piece.from >= from && piece.to <= to)
    .map((piece) => ({ segment, strictness, ...piece }));

/** "sixty (60) days": a count in parentheses behind a word is not below zero. */
const isSpelled = (text: string, from: number, number: string): boolean =>
  /^\(\d{1,4}\)$/.test(number.trim()) && /\p{L}{3}\s$/u.test(text.slice(Math.max(0, from - 5), from));

const asType = ({ type }: Field, one: ValueReading): ValueReading =>
  type === 'string' ? { ...one, value: one.text } : one;

/** A year stands alone: 1000 to 2999, no part of a date or of a longer number. */
const yearsIn = (text: string): readonly Piece[] =>
  [...text.matchAll(/(?<![\p{L}\p{N}.,:/-])[12]\d{3}(?![\p{L}\p{N}/-]|[.,]\d)/gu)].map((match) => ({
    value: Number(match[0]),
    text: match[0],
    from: match.index,
    to: match.index + 4,
  }));

const KINDS: Readonly<Partial<Record<Shape, readonly ValueKind[]>>> = {
  percent: ['percent', 'number'],
};

function typed(
  { segment, from, to }: Spot,
  { conventions }: WrittenField,
  shape: Shape,
): readonly ValueReading[] {
  const kinds = KINDS[shape] ?? [shape as ValueKind];
  return inSegment(segment, conventions)
    .filter((one) => kinds.includes(one.kind) && one.from >= from && one.to <= to)
    .map((one) => ({
      segment,
      from: one.from,
      to: one.to,
      value: one.value,
      text: one.text.trim(),
      strictness: one.strictness,
    }));
}

/** Numbers and, where the field asks for a share, percentages; with "k" and "million" multiplied. */
function numbers({ segment, from, to }: Spot, { field, conventions }: WrittenField): readonly ValueReading[] {
  const known = numbersRead(conventions)(segment);
  return remembered(known, `${from} ${to} ${isShare(field)}`, () =>
    numbersAt({ segment, from, to }, { field, conventions }),
  );
}

/** Most fields ask for the numbers of the same places. */
const numbersRead = once((_by: Conventions) =>
  once((_of: Segment) => new Map<string, readonly ValueReading[]>()),
);

function numbersAt(
  { segment, from, to }: Spot,
  { field, conventions }: WrittenField,
): readonly ValueReading[] {
  const scaled = scaledIn(segment.text, conventions.decimalMark).filter(
    (one) => one.from >= from && one.to <= to,
  );
  const plain = inSegment(segment, conventions).filter(
    (one) =>
      (one.kind === 'number' || one.kind === 'percent') &&
      one.from >= from &&
      one.to <= to &&
      !scaled.some((other) => one.from < other.to && other.from < one.to) &&
      !isReference(segment.text.slice(from, one.from)) &&
      !isPartOfText(segment.text, one),
  );
  const isPercent = ({ kind, from: start }: Candidate): boolean =>
    kind === 'percent' || /%\s*$/.test(segment.text.slice(0, start));
  const percents = plain.filter(isPercent);
  const amounts = plain.filter((one) => !isPercent(one));
  const chosen = isShare(field) && percents.length > 0 ? percents : amounts;
  return [...scaled.map((one) => ({ segment, strictness: 1, ...one })), ...chosen]
    .map(({ value, text, from: start, to: end, strictness }) => ({
      segment,
      from: start,
      to: end,
      value: typeof value === 'number' && isSpelled(segment.text, start, text) ? Math.abs(value) : value,
      text: text.trim(),
      strictness,
    }))
    .map(wholeDigits)
    .sort((a, b) => a.from - b.from);
}

/** A number that is a part of more digits is none: all of them are what stands there, as text. */
function wholeDigits(one: ValueReading): ValueReading {
  const run = digitsAround(one.segment.text, one);
  return run === undefined ? one : { ...one, ...run, value: run.text };
}

/** A day before the name of a month, or a year after it, is a part of a date. */
function isPartOfDate(text: string, { from, to }: { readonly from: number; readonly to: number }): boolean {
  const number = text.slice(from, to).replace(/\D/g, '');
  const [before] = /\p{L}{3,12}(?=\.?,?\s*$)/u.exec(text.slice(Math.max(0, from - 16), from)) ?? [];
  const [, after] = /^\.?\s(?:de\s)?(\p{L}{3,12})(?!\p{L})/u.exec(text.slice(to, to + 20)) ?? [];
  if (/^[12]\d{3}$/.test(number)) return before !== undefined && monthOf(before) > 0;
  return Number(number) <= 31 && after !== undefined && after.length <= 9 && monthOf(after) > 0;
}

/** A number after such a word names a part of a document: "line 37", "Form 2106", "§ 5". */
export const isReference = (before: string): boolean => REFERENCE.test(before);
const REFERENCE = new RegExp(`${lexicon.forms.references.pattern}[\\s.:]*$`, 'iu');

/** Digits that are no number of their own: of a date, an explanation in brackets, a code, or a mark. */
export const isPartOfText = (text: string, one: { readonly from: number; readonly to: number }): boolean =>
  isInParentheses(text, one) || isPartOfDate(text, one) || isMark(text, one);

/** A number in a parenthesis that has letters belongs to what it explains. */
function isInParentheses(
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  const open = text.lastIndexOf('(', from + 1);
  const close = text.indexOf(')', to - 1);
  if (open < 0 || close < 0 || text.slice(open, from).includes(')')) return false;
  return /\p{L}/u.test(text.slice(open, close));
}

const CODE_MAX = 40;
/** A share or a time of day identifies nothing. */
const MEASURED = /^(?:\d[\d.,]*\s?%|\d{1,2}(?::\d{2}){1,2}(?:\s?[ap]m)?)$/iu;

/** What identifies: a digit in it as a rule, all of a short text or its first token that has one. */
function codes(spot: Spot): readonly ValueReading[] {
  const text = textOf(spot);
  if (datesIn(text, true).length > 0 || currenciesIn(text).length > 0 || MEASURED.test(text)) return [];
  const lead = spot.segment.text.slice(spot.from, spot.to).search(/\S/);
  const at = spot.from + Math.max(0, lead);
  const isWhole =
    text.length <= CODE_MAX && /\d/.test(text) && !/\p{Ll}{3}/u.test(text) && text.split(' ').length <= 6;
  if (isWhole && !isPlaceholder(text))
    return [{ ...spot, from: at, to: at + text.length, value: text, text, strictness: 0.8 }];
  return [...text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}./_-]*/gu)]
    .filter(({ 0: token }) => /\d/.test(token))
    .slice(0, 1)
    .map(({ 0: token, index }) => {
      const value = withoutEnd(token, /[./_-]/);
      return {
        segment: spot.segment,
        from: at + index,
        to: at + index + value.length,
        value,
        text: value,
        strictness: 0.7,
      };
    });
}

/** A name is given without "Mr" and the like. */
function unaddressed(one: ValueReading): ValueReading {
  const text = withoutCivility(one.text);
  return { ...one, from: one.to - text.length, text, value: text };
}

/** A person as a register has it: the family's name first, a comma, the given names. */
const REGISTERED = /^(?<last>\p{Lu}[\p{L}'’. -]{1,40}), (?<first>\p{Lu}[\p{L}'’. -]{0,40})$/u;

/** Of "Brannigan, Tess M" the part that a field asks for. */
function partOfName(one: ValueReading, { concept }: Field): ValueReading {
  const { last, first } = REGISTERED.exec(one.text)?.groups ?? {};
  const text = concept?.id === 'last_name' ? last : concept?.id === 'first_name' ? first : undefined;
  if (text === undefined) return one;
  const from = one.from + one.text.indexOf(text);
  return { ...one, from, to: from + text.length, value: text, text };
}

const TEXT_MAX = 2000;

/** "Jane Doe, Technical Manager": what a person is, by words that only say so. */
const BEFORE_ROLE = new RegExp(
  `,\\s(?=(?:\\p{L}+\\s){0,3}${lexicon.parts.offices.pattern}(?:\\s\\p{L}+){0,3}$)`,
  'iu',
);
/** A company's name ends with its legal form: "Hadley Castings Ltd, Foundry Way". */
const BEHIND_FORM = new RegExp(`(?<=[\\s,]${lexicon.parties.legal_forms.pattern}),\\s(?=\\p{Lu}|\\d)`, 'u');

/** Where a name ends: at a description in small letters, a number, another piece of a line, an address of mail. */
const NAME_ENDS: readonly RegExp[] = [
  /,\s(?=\p{Ll}|[(+]?\d)/u,
  /\s[·•|–—]\s/u,
  /\s[(<]?[^\s(<@]{1,80}@/u,
  BEFORE_ROLE,
  BEHIND_FORM,
];
const TEXT_ENDS: readonly RegExp[] = [/\s[·•|]\s/u];

function texts(
  spot: Spot,
  ends: readonly RegExp[],
  isOne: (text: string) => boolean,
): readonly ValueReading[] {
  const raw = spot.segment.text.slice(spot.from, spot.to);
  const end = ends.reduce((first, pattern) => {
    const at = raw.search(pattern);
    return at > 0 && at < first ? at : first;
  }, raw.length);
  const text = withoutCode(withoutDate(raw.slice(0, end).trim()))
    .replace(/[,;|]$/, '')
    .trim();
  if (
    text === '' ||
    text.length > TEXT_MAX ||
    !/[\p{L}\p{N}]/u.test(text) ||
    isPlaceholder(text) ||
    !isOne(text)
  )
    return [];
  const from = spot.from + raw.indexOf(text);
  return [{ segment: spot.segment, from, to: from + text.length, value: text, text, strictness: 0.6 }];
}

/** A date at the end of a text is another value that stands beside it, unless a small word leads to it. */
function withoutDate(text: string): string {
  const last = datesIn(text, true).at(-1);
  return last === undefined || last.to < text.length || last.from < 3 || LEADS.test(text.slice(0, last.from))
    ? text
    : text.slice(0, last.from).trim();
}

const LEADS = /(?:^|\s)\p{Ll}{2,8}\s$/u;

const NAME_MAX = 80;

/** The number in brackets that a list of customers has behind a name; a year is none. */
const CODE_BEHIND = /\s\((?![12]\d{3}\))\d{4,12}\)/u;

/** A name without the code that a register gives it, and what stands behind that: "Amy for America (135176)". */
export function withoutCode(text: string): string {
  if (text.length > NAME_MAX || isSentence(text)) return text;
  const named = text.split(CODE_BEHIND, 1)[0] ?? text;
  return /\p{L}{2}/u.test(named) ? named : text;
}

/** Persons are named by their address too. */
const MAIL = /^[^\s@]+@[^\s@]+$/;

/** Names are letters, little else, begin large, and are no sentence. */
const isNameLike = (text: string): boolean => {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const digits = text.match(/\d/g)?.length ?? 0;
  return (
    letters >= 2 &&
    digits * 3 <= letters &&
    text.length <= NAME_MAX &&
    !isSentence(text) &&
    !/^(?!(?:van|von|de|der|di|da|du|la|le|el|al|bin|ibn|zu|ter|ten)\s|\p{Ll}{1,4}\p{Lu})\p{Ll}/u.test(text)
  );
};

/** A way to find single values: what it offers for a field. */
export interface Offering {
  readonly by: Generator;
  readonly offers: (field: Field, source: Source) => readonly Draft[];
}

/** A value that a document offers a field, and why. */
export interface Offer extends ValueReading {
  readonly kind: EvidenceKind;
  /** 0..1: how well the words beside it say the field. */
  readonly score: number;
  /** The same words name another value as well. */
  readonly isDoubtful: boolean;
  readonly by: Generator;
  /** The heading above the label says whose it is, as the schema does. */
  readonly isTitled?: boolean;
}

/** An offer before it is known whether another is as good. */
export type Draft = Omit<Offer, 'isDoubtful' | 'by'>;
