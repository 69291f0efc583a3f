import type { Found } from './identifiers.ts';
import { ownMember } from '../../kernel/json.ts';
import { exactNumber, oneOf, withoutEnd, folded } from '../../kernel/text.ts';
import { lexicon, values } from '../words/lexicon.ts';

/** Which mark parts the decimals in a document. */
export type DecimalMark = ',' | '.';

export interface NumberShape {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly percent: boolean;
  /** ISO code when a symbol or code stands beside it. */
  readonly currency: string | undefined;
}

const SYMBOLS: Readonly<Record<string, string>> = values.currency_symbols;
const MONEY_WORD = `${oneOf(values.currency_codes)}\\b|US\\$|R\\$|A\\$|C\\$|[€$£¥₹₽₩]|Rs\\.?|zł|Kč|RM|Euros?\\b`;

/** Signs that no cents follow: `1.250,-`, `25,--`, `12,=`, `1 250:-`. */
const NO_CENTS = String.raw`(?:[.,](?:[-–—]{1,2}|=)|:[-–—])(?![\p{L}\p{N}])`;
const MINUS = '-−–';
/** Spaces that part thousands, of many widths. */
const SPACES = String.raw` \u00a0\u2007\u2009\u202f`;

/** A number stands by itself: no letter, digit or joint of an identifier touches it. */
const NUMBER = new RegExp(
  String.raw`(?<![\p{L}\p{N}_/.,:-]|\d[ \u2007\u2009’'](?=\d{3}\b))` +
    `(?:(?<lead>[${MINUS}])(?=${MONEY_WORD}))?` +
    `(?<before>(?:${MONEY_WORD})\\s?)?(?<sign>[${MINUS}+(]\\s?)?(?<pre>[€$£¥₹]\\s?)?` +
    String.raw`(?<digits>\d{1,3}(?:[${SPACES}’'](?=\d{3}(?!\d))\d{3})+(?:[.,]\d{1,4})?|\d+(?:[.,]\d+)*)` +
    `(?:${NO_CENTS})?` +
    `(?<trail>\\)|(?:[-−]|(?<=[.,]\\d\\d)–)(?![\\p{L}\\p{N}]))?(?<after>\\s?(?:%|‰|${MONEY_WORD}))?` +
    String.raw`(?![\p{L}\p{N}_/:]|[.,-]\d|-\p{L})`,
  'gu',
);

/** All numbers in a text, with what stands beside them. */
export function numbersIn(text: string): readonly NumberShape[] {
  return [...text.matchAll(NUMBER)].map((match) => {
    const { before = '', sign = '', pre = '', after = '' } = match.groups ?? {};
    const mark = after.trim();
    const lead = isDash(sign, text.slice(0, match.index)) ? sign.length : 0;
    return {
      text: match[0].slice(lead).trim(),
      from: match.index + lead,
      to: match.index + match[0].length,
      percent: mark === '%' || mark === '‰',
      currency: currencyOf(before.trim()) ?? currencyOf(pre.trim()) ?? currencyOf(mark),
    };
  });
}

/** Between two numbers, apart from both, stands a dash and no sign: "32,534 - 42,290". */
const isDash = (sign: string, before: string): boolean =>
  /^[-−–]\s$/u.test(sign) && /\d\s?$/.test(before.slice(-2));

const CODE = new RegExp(`^${oneOf(values.currency_codes)}$`);

/** The ISO 4217 code that a symbol or code means. */
export function currencyOf(text: string): string | undefined {
  if (CODE.test(text)) return text;
  return Object.hasOwn(SYMBOLS, text) ? SYMBOLS[text] : undefined;
}

/** Letters beside amounts that say which way money went, debit first. */
const PAIRS = values.debit_credit.map(([debit = '', credit = '']) => ({ debit, credit }));
const SIDES = oneOf(PAIRS.flatMap(({ debit, credit }) => [debit, credit]));
const LETTERS = new RegExp(String.raw`(?<=\d[.,]\d\d\s?)(?:\p{Lu}|${SIDES})(?![\p{L}\p{N}])`, 'gu');

/**
 * The letters that mark amounts as debits in a document: `S` where others are marked `H`. One letter alone, and one
 * among others, may say anything: receipts mark rates of tax so.
 */
export function voteDebit(texts: Iterable<string>): string | undefined {
  const seen = new Set<string>();
  for (const text of texts) for (const [letters] of text.matchAll(LETTERS)) seen.add(letters);
  const pair = PAIRS.find(({ debit, credit }) => seen.has(debit) && (debit.length > 1 || seen.has(credit)));
  if (pair === undefined) return undefined;
  const others = [...seen].filter((letters) => letters !== pair.debit && letters !== pair.credit);
  return pair.debit.length > 1 || others.length === 0 ? pair.debit : undefined;
}

const MONEY_MARK = new RegExp(`(?<![\\p{L}\\p{N}])(?:${MONEY_WORD})(?![\\p{L}])`, 'gu');

/** Every currency that a text names, in order. */
export const currenciesIn = (
  text: string,
): readonly { code: string; text: string; from: number; to: number }[] =>
  [...text.matchAll(MONEY_MARK)].flatMap((match) => {
    const code = currencyOf(match[0]);
    return code === undefined
      ? []
      : [{ code, text: match[0], from: match.index, to: match.index + match[0].length }];
  });

/** So many numbers that may be read both ways say more than one that may not. */
const FAR_MORE = 50;

/**
 * The mark that most numbers of the document speak for; a tie is a point. Hundreds of numbers with three digits behind
 * the same mark are thousands, whatever a footnote "1,2" says.
 */
export function voteDecimalMark(texts: Iterable<string>): DecimalMark {
  let [votes, rounds, unsure] = [0, 0, 0];
  for (const text of texts) {
    for (const { text: number } of numbersIn(text)) {
      const mark = markBeforeDash(number) ?? ownMark(number.replace(/[^\d.,]/g, ''));
      votes += voteFor(mark);
      if (mark !== undefined) continue;
      rounds += roundThousands(number);
      unsure += voteFor(thousandsIn(number));
    }
  }
  const isOutweighed = votes * unsure < 0 && Math.abs(unsure) > FAR_MORE * Math.abs(votes);
  const sum = isOutweighed ? unsure : votes || -rounds;
  return sum < 0 ? ',' : '.';
}

const voteFor = (mark: DecimalMark | undefined): number => (mark === undefined ? 0 : mark === ',' ? -1 : 1);

/** The mark of decimals if the three digits behind the other one are thousands. */
const thousandsIn = (number: string): DecimalMark | undefined =>
  /\d,\d/.test(number) ? '.' : /\d\.\d/.test(number) ? ',' : undefined;

/** "24.000" is seldom twenty-four to three places: 1 where a point parts thousands, -1 where a comma does. */
const roundThousands = (number: string): number =>
  /^\D*\d{1,3}\.\d00(?!\d)/.test(number) ? 1 : /^\D*\d{1,3},\d00(?!\d)/.test(number) ? -1 : 0;

/** The decimal mark that a number shows by itself; undefined when it may be read both ways. */
function ownMark(digits: string): DecimalMark | undefined {
  const comma = digits.lastIndexOf(',');
  const point = digits.lastIndexOf('.');
  if (comma >= 0 && point >= 0) return comma > point ? ',' : '.';
  if (comma < 0 && point < 0) return undefined;
  return onlyMark(digits, comma >= 0 ? ',' : '.');
}

/** Of one kind of mark: several part thousands, one before three digits may be either. */
function onlyMark(digits: string, mark: DecimalMark): DecimalMark | undefined {
  const parts = digits.split(mark);
  if (parts.length > 2) return mark === ',' ? '.' : ',';
  const [whole = '', decimals = ''] = parts;
  return decimals.length === 3 && whole.length <= 3 && !digits.startsWith('0') ? undefined : mark;
}

/** `12-`: a minus after the last digit. */
const hasMinusAfter = (text: string): boolean => {
  const whole = withoutEnd(text, /\D/);
  const after = text.slice(whole.length);
  return /\d/.test(whole) && (/^\s*[-−]/.test(after) || (/[.,]\d\d$/.test(whole) && after.startsWith('–')));
};

const ENDS_WITHOUT_CENTS = new RegExp(`(?<=\\d)${NO_CENTS}`, 'u');

/** The decimal mark of a number that says that it has no cents. */
const markBeforeDash = (text: string): DecimalMark | undefined => {
  const mark = ENDS_WITHOUT_CENTS.exec(text)?.[0].charAt(0);
  if (mark === ':') return ',';
  return mark === ',' || mark === '.' ? mark : undefined;
};

/**
 * The value of a number as written: `1.234,56`, `1,234.56`, `1 234,56`, `(12.00)`, `12-`. Where it may be
 * read both ways the document's mark decides.
 */
export function parseNumber(text: string, documentMark: DecimalMark): number | undefined {
  const value = readNumber(text, documentMark);
  return typeof value === 'number' ? value : undefined;
}

/** The same; of a number that no double holds its text. */
export function readNumber(text: string, documentMark: DecimalMark): number | string | undefined {
  const negative = /^\D*[-−–(]/.test(text) || hasMinusAfter(text);
  const digits = withoutEnd(text.replace(/[^\d.,]/g, ''), /[.,]/).replace(/^[.,]+/, '');
  if (!/\d/.test(digits) || !isGrouped(digits)) return undefined;
  const mark = markBeforeDash(text) ?? ownMark(digits) ?? documentMark;
  const plain = digits
    .split(mark === ',' ? '.' : ',')
    .join('')
    .replace(',', '.');
  const value = exactNumber(plain);
  if (value === undefined) return text.trim();
  return negative && value !== 0 ? -value : value;
}

/** No amount: a footnote's mark, "gross pay 2)", half of a code, "2106-EZ", what a bracket counts, "(6 months)". */
export function isMark(text: string, { from, to }: { readonly from: number; readonly to: number }): boolean {
  const [before, own, after] = [text.slice(0, from), text.slice(from, to), text.slice(to)];
  const isClosed = /\)\s*$/.test(own) || /^\s?\)/.test(after);
  const isOpened = /^\s*\(/.test(own) || /\(\s?$/.test(before);
  if (isClosed !== isOpened)
    return isClosed ? /^\d\)?$/.test(own.trim()) && /\p{L}\s?$/u.test(before) : /^\s?\p{L}/u.test(after);
  return /^-\p{L}/u.test(after);
}

/** Several marks of one kind part thousands, or lakhs and crores (`12,34,567`); `1.2.3` counts nothing. */
const isGrouped = (digits: string): boolean => {
  const [, ...groups] = digits.split(digits.includes(',') ? ',' : '.');
  if (groups.length < 2 || (digits.includes(',') && digits.includes('.'))) return true;
  return (
    groups.slice(0, -1).every(({ length }) => length === 3 || length === 2) && groups.at(-1)?.length === 3
  );
};

const DIGIT_RUN =
  /(?<![\p{L}\p{N}.,/:-])(?:\+|\(0?)?\d+\)?(?:[ \u00a0\u202f]\d+)+(?![\p{L}\p{N}]|[.,/:-]\d)/gu;
/** Fewer digits in groups are figures beside each other. */
const RUN_DIGITS_MIN = 5;

/**
 * Digits in groups that are one thing (a telephone, a card), where a number is only a part of them; so are groups
 * that begin with 0. undefined: the number stands by itself.
 */
export function digitsAround(
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly text: string; readonly from: number; readonly to: number } | undefined {
  for (const match of text.matchAll(DIGIT_RUN)) {
    const run = { text: match[0], from: match.index, to: match.index + match[0].length };
    if (run.to <= from || run.from >= to) continue;
    const isMore = run.from < from + leadOf(text, from) || run.to > to;
    return (isMore || /^0/.test(run.text)) && run.text.replace(/\D/g, '').length >= RUN_DIGITS_MIN
      ? run
      : undefined;
  }
  return undefined;
}

/** Blanks before a number belong to it as it is matched. */
const leadOf = (text: string, from: number): number => Math.max(0, text.slice(from).search(/\S/));

const HOUR = String.raw`(?<![\p{L}\p{N}.,:/-])(?:[01]?\d|2[0-4])`;
const AFTER_NOON = String.raw`[ap]\.?\s?m\b\.?`;
const CLOCK = new RegExp(
  String.raw`${HOUR}(?:(?:[:.h]|\sh\s)\d{2}(?::\d{2})?(?:\s?(?:${AFTER_NOON}))?|` +
    String.raw`\s?(?:${AFTER_NOON}|Uhr\b|heures?\b|h\b|o['’]clock\b))(?![\p{L}\p{N}])`,
  'giu',
);

/** Times of the day as they are written: `7:30 a.m.`, `16h00`, `14.30 Uhr`. */
export const timesIn = (text: string): readonly Found[] =>
  [...text.matchAll(CLOCK)].map((match) => ({
    value: match[0].trim(),
    text: match[0].trim(),
    from: match.index,
    to: match.index + match[0].trimEnd().length,
  }));

/** Powers of ten that words and letters multiply a number by. */
const POWERS: Readonly<Record<string, number>> = values.powers;
/** A letter alone multiplies only an amount of money, for metres and the like have the same letters. */
const ALONE = new Set(values.powers_of_money);
const SCALED = new RegExp(
  String.raw`(?<![\p{L}\p{N}.,])(?<mark>[€$£¥₹]\s?|\p{Lu}{3}\s?)?(?<digits>\d[\d.,]*)\s?` +
    String.raw`(?<power>\p{L}{1,10})\.?(?![\p{L}\p{N}])`,
  'gu',
);

interface Scaled {
  readonly value: number;
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** The point is moved in the text: a product of doubles may be another number. */
const timesTen = (value: number | undefined, exponent: number): number | undefined =>
  value === undefined ? undefined : exactNumber(`${value}e${exponent}`);

/** Numbers that a word or letter multiplies: `$545k`, `3.2 million`, `1,4 Mrd. €`. */
export const scaledIn = (text: string, documentMark: DecimalMark): readonly Scaled[] =>
  [...text.matchAll(SCALED)].flatMap((match) => {
    const { mark = '', digits = '', power = '' } = match.groups ?? {};
    const key = power.toLowerCase();
    const exponent = ownMember(POWERS, key);
    if (exponent === undefined || (ALONE.has(key) && mark === '')) return [];
    const scaled = timesTen(parseNumber(digits, documentMark), exponent);
    if (scaled === undefined) return [];
    return [{ value: scaled, text: match[0].trim(), from: match.index, to: match.index + match[0].length }];
  });

export type Unit = keyof typeof lexicon.units;

const NAMES = Object.keys(lexicon.units) as readonly Unit[];
const WHOLE = NAMES.map((unit): readonly [Unit, RegExp] => [
  unit,
  new RegExp(`^${lexicon.units[unit].pattern}$`, 'u'),
]);
const AFTER = NAMES.map((unit): readonly [Unit, RegExp] => [
  unit,
  new RegExp(
    `^[\\s-]?(?:\\(\\p{L}{1,12}\\)\\s)?(?:full |calendar |working |business )?` +
      `${lexicon.units[unit].pattern}(?![\\p{L}\\p{N}])`,
    'u',
  ),
]);

/** The unit that a word names. */
export const unitNamed = (word: string): Unit | undefined => WHOLE.find(([, shape]) => shape.test(word))?.[0];

const CHARACTERS = 30;

/** The unit that a text begins with, as it stands behind a number. */
export function unitAfter(text: string): Unit | undefined {
  const said = folded(text.slice(0, CHARACTERS));
  return AFTER.find(([, shape]) => shape.test(said))?.[0];
}
