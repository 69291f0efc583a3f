import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Random } from './random.ts';

const isEmpty = (value: Json | undefined): value is null | undefined | '' =>
  value === null || value === undefined || value === '';
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/** A text as its words, folded; marks that belong to numbers stay. */
export const wordsOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u2010-\u2015]/g, '-')
    .replace(/[^\p{L}\p{N}.%$-]+/gu, ' ')
    .trim();

const writtenAs = (value: string | number): readonly string[] =>
  typeof value === 'number'
    ? [
        String(value),
        ...[0, 1, 2].map((digits) => value.toLocaleString('en-US', { minimumFractionDigits: digits })),
      ].map(wordsOf)
    : [wordsOf(value)];

const stands = (value: string | number, words: string): boolean =>
  writtenAs(value).some((form) =>
    form.length > 3 ? words.includes(form) : form !== '' && ` ${words} `.includes(` ${form} `),
  );

/** Values that say something, objects and lists taken apart. */
export const leafCount = (value: Json | undefined): number => {
  if (isEmpty(value)) return 0;
  return typeof value === 'object'
    ? Object.values<Json>(value).reduce<number>((sum, one) => sum + leafCount(one), 0)
    : 1;
};

/** Of a list of objects an item is told whole when so much of it stands in what was shown. */
const TOLD_WHOLE = 0.6;

/**
 * What a model without fault tells of a truth when it is shown some words (`wordsOf`); null: nothing. Where it
 * lies (`lied`), `says` is what it tells instead.
 */
export function told(truth: Json, words: string, says: Json = truth): Json {
  if (isEmpty(truth)) return null;
  if (typeof truth === 'boolean') return says;
  if (typeof truth !== 'object') return stands(truth, words) ? says : null;
  if (isList(truth)) return truth.flatMap((item, at) => toldItem(item, words, memberAt(says, at)));
  const members = Object.entries(truth).map(
    ([key, value]) => [key, told(value, words, memberAt(says, key))] as const,
  );
  return members.some(([, value]) => value !== null && !(isList(value) && value.length === 0))
    ? Object.fromEntries(members)
    : null;
}

const memberAt = (value: Json, key: string | number): Json =>
  (value as Readonly<Record<string | number, Json>>)[key] ?? null;

function toldItem(item: Json, words: string, says: Json): readonly Json[] {
  const some = told(item, words, says);
  if (some === null) return [];
  if (typeof item !== 'object') return [some];
  return leafCount(told(item, words)) >= TOLD_WHOLE * leafCount(item) ? [says] : [];
}

/** A truth in which so many of the texts and numbers were changed: other letters, other digits. */
export function lied(value: JsonObject, share: number, random: Random): JsonObject {
  const change = (one: Json): Json => {
    if (typeof one === 'object' && one !== null) {
      if (isList(one)) return one.map(change);
      return Object.fromEntries(Object.entries(one).map(([key, member]) => [key, change(member)]));
    }
    if (isEmpty(one) || typeof one === 'boolean' || random.next() >= share) return one;
    return typeof one === 'number' ? otherNumber(one, random) : otherText(one, random);
  };
  return change(value) as JsonObject;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

const otherSign = (sign: string, random: Random): string => {
  const signs = /\d/.test(sign) ? '0123456789' : LETTERS;
  return random.pick(signs.split('').filter((other) => other !== sign.toLowerCase()));
};

/** Another digit somewhere in a number; the first stays other than 0. */
function otherNumber(value: number, random: Random): number {
  const digits = String(value).split('');
  const places = digits.flatMap((sign, at) => (/\d/.test(sign) ? [at] : []));
  const at = random.pick(places);
  digits[at] = otherSign(digits[at] ?? '', random);
  const other = Number(digits.join(''));
  return Number.isFinite(other) && other !== value ? other : value + 7;
}

/** Another letter or digit in one word of a text, or another word. */
function otherText(value: string, random: Random): string {
  const words = [...value.matchAll(/[\p{L}\p{N}]+/gu)];
  if (words.length === 0) return `${value}x`;
  const { 0: word, index } = random.pick(words);
  const at = random.between(0, word.length - 1);
  const isReplaced = random.next() < 0.5;
  const other = isReplaced
    ? word
        .split('')
        .map((sign) => otherSign(sign, random))
        .join('')
    : word.slice(0, at) + otherSign(word.charAt(at), random) + word.slice(at + 1);
  return value.slice(0, index) + other + value.slice(index + word.length);
}
