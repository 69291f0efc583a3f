import { oneOf } from '../../kernel/text.ts';
import { values } from '../words/lexicon.ts';

/** A typed token in a text. `value` is its normal form. */
export interface Found {
  readonly value: string;
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** Whether what stands there is called a fax, before or behind it: `Fax: 555 0100`, `555 0100 (fax)`. */
export const isFax = (text: string, { from, to }: Pick<Found, 'from' | 'to'>): boolean =>
  /fax\W*$/iu.test(text.slice(0, from)) || /^\W{0,3}fax/iu.test(text.slice(to));

const found = (match: RegExpExecArray, value: string): Found => ({
  value,
  text: match[0],
  from: match.index,
  to: match.index + match[0].length,
});

const all = (text: string, pattern: RegExp, normal: (raw: string) => string | undefined): readonly Found[] =>
  [...text.matchAll(pattern)].flatMap((match) => {
    const value = normal(match[0]);
    return value === undefined ? [] : [found(match, value)];
  });

const IBAN_LENGTHS: Readonly<Record<string, number>> = values.iban_lengths;

/** IBANs with their country's length; `valid` tells whether the check digits agree (ISO 7064, mod 97). */
export function ibansIn(text: string): readonly (Found & { readonly valid: boolean })[] {
  return [...text.matchAll(/(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?:\s?[A-Z\d]){10,30}/gu)].flatMap((match) => {
    const length = IBAN_LENGTHS[match[0].slice(0, 2)];
    if (length === undefined) return [];
    const raw = firstCharacters(match[0], length);
    const value = raw.replace(/\s/g, '');
    if (value.length !== length) return [];
    return [{ value, text: raw, from: match.index, to: match.index + raw.length, valid: mod97(value) === 1 }];
  });
}

/** The start of a text that has so many characters besides spaces. */
function firstCharacters(text: string, count: number): string {
  let seen = 0;
  for (let i = 0; i < text.length; i += 1) {
    if (!/\s/.test(text.charAt(i))) seen += 1;
    if (seen === count) return text.slice(0, i + 1);
  }
  return text;
}

function mod97(iban: string): number {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const digits = /\d/.test(character) ? character : String(character.charCodeAt(0) - 55);
    for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest;
}

/** The forms of VAT numbers, by country. */
const VAT_FORMS: readonly RegExp[] = [
  /ATU(?: ?\d){8}/,
  /BE ?[01]?(?:[ .]?\d){9}/,
  /BG ?\d{9,10}/,
  /CHE[- ]?\d{3}\.?\d{3}\.?\d{3}/,
  /CY ?\d{8}[A-Z]/,
  /CZ ?\d{8,10}/,
  /DE(?:[ .]?\d){9}/,
  /DK ?(?:\d{2} ?){3}\d{2}/,
  /EE ?\d{9}/,
  /EL ?\d{9}/,
  /ES ?[A-Z\d]\d{7}[A-Z\d]/,
  /FI ?\d{8}/,
  /FR ?[A-Z\d] ?[A-Z\d](?:[ .]?\d){9}/,
  /GB ?\d{3} ?\d{4} ?\d{2}(?: ?\d{3})?/,
  /HR ?\d{11}/,
  /HU ?\d{8}/,
  /IE ?\d[A-Z\d+*]\d{5}[A-Z]{1,2}/,
  /IT(?: ?\d){11}/,
  /LT ?\d{9,12}/,
  /LU ?\d{8}/,
  /LV ?\d{11}/,
  /MT ?\d{8}/,
  /NL(?:[ .]?\d){9}[ .]?B[ .]?\d{2}/,
  /NL ?\d{11}/,
  /NO ?\d{9} ?MVA/,
  /PL ?\d{10}/,
  /PT(?: ?\d){9}/,
  /RO ?\d{2,10}/,
  /SE ?\d{12}/,
  /SI ?\d{8}/,
  /SK ?\d{10}/,
];
const VAT = new RegExp(
  String.raw`(?<![\p{L}\p{N}])${oneOf(VAT_FORMS.map(({ source }) => source))}(?![\p{L}\p{N}])`,
  'gu',
);

export const vatIdsIn = (text: string): readonly Found[] =>
  all(text, VAT, (raw) => raw.replace(/[\s.-]/g, ''));
export const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.)+\p{L}{2,24}(?![\w-])/gu;
export const emailsIn = (text: string): readonly Found[] => all(text, EMAIL, (raw) => raw.toLowerCase());
export const urlsIn = (text: string): readonly Found[] =>
  all(text, /(?:https?:\/\/|(?<![\w@.])www\.)[^\s<>"']{3,2000}[^\s<>"'.,;:)\]]/g, (raw) =>
    /^https?:/.test(raw) ? raw : `https://${raw}`,
  );
export const bicsIn = (text: string): readonly Found[] =>
  all(text, /(?<![\p{L}\p{N}])[A-Z]{6}[A-Z2-9][A-NP-Z\d](?:[A-Z\d]{3})?(?![\p{L}\p{N}])/gu, (raw) => raw);
export const phonesIn = (text: string): readonly Found[] =>
  [
    ...text.matchAll(/(?<![\p{L}\p{N}.,/-])(?:\+|\(0?\d|0|\(\d{3})[\d\s()/.-]{5,22}\d(?![\p{L}\p{N}])/gu),
  ].flatMap((match) => {
    const [raw = ''] = match[0].split(UNCLOSED);
    const digits = raw.replace(/\D/g, '').length;
    if (digits < 7 || digits > 15) return [];
    return [{ value: raw.trim(), text: raw, from: match.index, to: match.index + raw.length }];
  });

/** A bracket that opens behind a number and does not close in it: "(24 h)". */
const UNCLOSED = /\s\([^)]*$/u;

/** Tokens like numbers of documents and customers: with a digit, perhaps in groups joined by marks. */
export const idsIn = (text: string): readonly Found[] =>
  all(
    text,
    /(?<![\p{L}\p{N}_/-]|\d,)[\p{L}\p{N}](?:[\p{L}\p{N}]|[-/._](?=[\p{L}\p{N}])){0,39}(?![\p{L}\p{N}]|,\d)/gu,
    (raw) => (/\d/.test(raw) && !/^\d+[.,]\d{1,2}$/.test(raw) ? raw : undefined),
  );
