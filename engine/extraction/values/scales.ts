import { exactNumber } from '../../kernel/text.ts';
import { ownMember } from '../../kernel/json.ts';
import { parseNumber, type DecimalMark } from './numbers.ts';

const POWERS: Readonly<Record<string, number>> = {
  k: 3, thousand: 3, tausend: 3, tsd: 3, mille: 3, mil: 3,
  m: 6, mn: 6, mm: 6, mio: 6, million: 6, millions: 6, millionen: 6, millones: 6, milioni: 6, miljoen: 6,
  bn: 9, mrd: 9, billion: 9, billions: 9, milliarden: 9, milliard: 9, milliards: 9, miljard: 9, miliardi: 9,
}; // prettier-ignore
/** A letter alone multiplies only an amount of money, for metres and the like have the same letters. */
const ALONE = new Set(['k', 'm', 'mm', 'mil']);
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
