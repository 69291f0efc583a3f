import { ownMember } from '../../kernel/json.ts';
/** Formats of list numbers by what both families of office files call them. */
const FORMATS: Readonly<Record<string, (value: number) => string>> = {
  decimal: String,
  '1': String,
  decimalZero: (value) => String(value).padStart(2, '0'),
  upperRoman: (value) => roman(value),
  I: (value) => roman(value),
  lowerRoman: (value) => roman(value).toLowerCase(),
  i: (value) => roman(value).toLowerCase(),
  upperLetter: (value) => letters(value),
  A: (value) => letters(value),
  lowerLetter: (value) => letters(value).toLowerCase(),
  a: (value) => letters(value).toLowerCase(),
  ordinal: (value) => `${value}${ordinalEnding(value)}`,
  decimalEnclosedParen: (value) => `(${value})`,
  decimalEnclosedFullstop: (value) => `${value}.`,
  decimalEnclosedCircle: (value) => (value <= 20 ? String.fromCodePoint(0x2460 + value - 1) : `(${value})`),
};

/** A list number as it is seen. Formats that we do not know are shown as plain numbers. */
export function formatNumber(value: number, format: string): string {
  if (format === '' || format === 'none') return '';
  if (value < 1) return String(value);
  return (ownMember(FORMATS, format) ?? String)(value);
}

const ROMAN: readonly (readonly [number, string])[] = [
  [1000, 'M'],
  [900, 'CM'],
  [500, 'D'],
  [400, 'CD'],
  [100, 'C'],
  [90, 'XC'],
  [50, 'L'],
  [40, 'XL'],
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
];

function roman(value: number): string {
  if (value > 3999) return String(value);
  let rest = value;
  let text = '';
  for (const [amount, sign] of ROMAN)
    while (rest >= amount) {
      text += sign;
      rest -= amount;
    }
  return text;
}

/** A to Z, then AA, BB and so on. */
const letters = (value: number): string =>
  value > 26 * 20
    ? String(value)
    : String.fromCharCode(65 + ((value - 1) % 26)).repeat(Math.floor((value - 1) / 26) + 1);

function ordinalEnding(value: number): string {
  if (value % 100 >= 11 && value % 100 <= 13) return 'th';
  return { 1: 'st', 2: 'nd', 3: 'rd' }[value % 10] ?? 'th';
}
