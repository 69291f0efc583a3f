/** Signs of the fonts whose letters are pictures, by code point. */
const WINGDINGS: Readonly<Record<number, string>> = {
  0x28: '☎',
  0x2a: '✉',
  0x4a: '☺',
  0x6c: '●',
  0x6e: '■',
  0x6f: '□',
  0x71: '❑',
  0x72: '❑',
  0x76: '❖',
  0x78: '☒',
  0xa7: '▪',
  0xa8: '☐',
  0xd8: '➢',
  0xe0: '→',
  0xf0: '⇨',
  0xfb: '✗',
  0xfc: '✓',
  0xfd: '☒',
  0xfe: '☑',
};

const SYMBOL_FROM = 0x41;
const SYMBOL_UPPER = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ';
const SYMBOL_LOWER = 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ';
const SYMBOL: Readonly<Record<number, string>> = {
  0xa3: '≤',
  0xa5: '∞',
  0xae: '→',
  0xb0: '°',
  0xb1: '±',
  0xb3: '≥',
  0xb4: '×',
  0xb7: '•',
  0xb8: '÷',
  0xb9: '≠',
  0xba: '≡',
  0xbb: '≈',
  0xd2: '®',
  0xd3: '©',
  0xd4: '™',
};

/** A sign of a symbol font as Unicode; '' where we do not know it. The code may lie in the private area. */
export function symbolSign(font: string, code: number): string {
  const sign = code >= 0xf000 && code <= 0xf0ff ? code - 0xf000 : code;
  if (/wingdings/i.test(font)) return WINGDINGS[sign] ?? '';
  if (/^symbol/i.test(font)) return SYMBOL[sign] ?? greek(sign);
  return isShown(code) ? String.fromCodePoint(code) : '';
}

/** Neither a control character nor in the private area, where other fonts show nothing. */
const isShown = (code: number): boolean => code >= 0x20 && code <= 0xffff && (code < 0xd800 || code > 0xf8ff);

/** Greek letters in the places of Latin ones; digits and points stand for themselves. */
const greek = (sign: number): string =>
  SYMBOL_UPPER.charAt(sign - SYMBOL_FROM) ||
  SYMBOL_LOWER.charAt(sign - 0x61) ||
  (sign >= 0x20 && sign < 0x7f ? String.fromCharCode(sign) : '');

const RAISED: Readonly<Record<string, string>> = {
  '0': '⁰',
  '1': '¹',
  '2': '²',
  '3': '³',
  '4': '⁴',
  '5': '⁵',
  '6': '⁶',
  '7': '⁷',
  '8': '⁸',
  '9': '⁹',
  '-': '⁻',
  '−': '⁻',
  '+': '⁺',
};
const LOWERED: Readonly<Record<string, string>> = {
  '0': '₀',
  '1': '₁',
  '2': '₂',
  '3': '₃',
  '4': '₄',
  '5': '₅',
  '6': '₆',
  '7': '₇',
  '8': '₈',
  '9': '₉',
};

/** Raised or lowered digits by the signs that Unicode has for them, so that 10² is not read as 102. */
export function shiftedText(text: string, shift: 'super' | 'sub'): string {
  const signs = shift === 'super' ? RAISED : LOWERED;
  const shifted = Array.from(text, (sign) => signs[sign]);
  return shifted.includes(undefined) ? text : shifted.join('');
}
