const DIGITS: Readonly<Record<string, string>> = {
  O: '0', o: '0', D: '0', Q: '0', I: '1', l: '1', '|': '1', S: '5', s: '5', B: '8', Z: '2',
}; // prettier-ignore
const LIKE = '[\\dOoDQIl|SsBZ]';
const AMOUNT = new RegExp(
  `^[^\\p{L}\\d]{0,2}(?:${LIKE}{1,3},)*${LIKE}{1,7}[.,]${LIKE}{2}[^\\p{L}\\d]{0,2}$`,
  'u',
);
const DATE = new RegExp(`^${LIKE}{1,2}([./-])${LIKE}{1,2}\\1(?:${LIKE}{2}|${LIKE}{4})$`);

/**
 * What OCR takes for letters inside of an amount or a date, as digits again: `1O.5O` is `10.50`. Of the same
 * length; other words stay as they are.
 */
export function repairedShape(text: string): string {
  const isShape = (AMOUNT.test(text) || DATE.test(text)) && (text.match(/\d/g) ?? []).length >= 2;
  return isShape ? text.replace(/[OoDQIl|SsBZ]/g, (letter) => DIGITS[letter] ?? letter) : text;
}
