/** A place in bytes that are read from front to back. */
export interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

/** By byte: what parts words, and what ends one. */
export const SPACES = Array.from({ length: 256 }, (_, byte) => [0, 9, 10, 12, 13, 32].includes(byte));
export const ENDS = SPACES.map(
  (isSpace, byte) => isSpace || '()<>[]{}/%'.includes(String.fromCharCode(byte)),
);
const code = (sign: string): number => sign.charCodeAt(0);

export const SIGNS = {
  PERCENT: code('%'),
  OPEN: code('('),
  CLOSE: code(')'),
  LESS: code('<'),
  MORE: code('>'),
  SLASH: code('/'),
  LIST_OPENS: code('['),
  LIST_ENDS: code(']'),
  BACKSLASH: code('\\'),
  MINUS: code('-'),
  PLUS: code('+'),
  POINT: code('.'),
} as const;
const { OPEN, CLOSE, MORE, BACKSLASH, MINUS, PLUS, POINT } = SIGNS;

const isDigit = (byte: number | undefined): byte is number => byte !== undefined && byte >= 48 && byte <= 57;

/** Most of what a page's contents are is numbers, so that they are read byte by byte. */
export function plainNumber(cursor: Cursor): number | undefined {
  const { bytes } = cursor;
  const from = cursor.at;
  const sign = bytes[from];
  while (isSign(bytes[cursor.at])) cursor.at += 1;
  const whole = digitsOf(cursor);
  if (bytes[cursor.at] === POINT) cursor.at += 1;
  const part = digitsOf(cursor);
  const end = bytes[cursor.at];
  if (whole.count + part.count === 0 || (end !== undefined && ENDS[end] === false && end !== MINUS)) {
    cursor.at = from;
    return undefined;
  }
  // Some programs write `0.00-5` for a number that they had not rounded.
  while (isSign(bytes[cursor.at]) || isDigit(bytes[cursor.at])) cursor.at += 1;
  const value = whole.value + part.value / 10 ** part.count;
  return sign === MINUS ? -value : value;
}

const isSign = (byte: number | undefined): boolean => byte === MINUS || byte === PLUS;

function digitsOf(cursor: Cursor): { readonly value: number; readonly count: number } {
  let [value, count] = [0, 0];
  for (let byte = cursor.bytes[cursor.at]; isDigit(byte); byte = cursor.bytes[cursor.at]) {
    value = value * 10 + byte - 48;
    count += 1;
    cursor.at += 1;
  }
  return { value, count };
}

/** A text of two hexadecimal digits a byte. */
export function hexText(cursor: Cursor): readonly number[] {
  const { bytes } = cursor;
  const text: number[] = [];
  let half: number | undefined;
  cursor.at += 1;
  for (let byte = bytes[cursor.at]; byte !== undefined && byte !== MORE; byte = bytes[(cursor.at += 1)]) {
    const digit = hexDigit(byte);
    if (digit === undefined) continue;
    if (half === undefined) half = digit;
    else {
      text.push(half * 16 + digit);
      half = undefined;
    }
  }
  cursor.at += 1;
  if (half !== undefined) text.push(half * 16);
  return text;
}

function hexDigit(byte: number): number | undefined {
  if (isDigit(byte)) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : undefined;
}

const ESCAPES: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12 };

/** A text in brackets, which may hold brackets in pairs. */
export function literalText(cursor: Cursor): readonly number[] {
  const { bytes } = cursor;
  const text: number[] = [];
  let open = 0;
  for (; cursor.at < bytes.length; cursor.at += 1) {
    const byte = bytes[cursor.at] ?? 0;
    if (byte === BACKSLASH) {
      const escaped = readEscape(cursor);
      if (escaped !== undefined) text.push(escaped);
      continue;
    }
    if (byte === OPEN) open += 1;
    if (byte === CLOSE) open -= 1;
    if (open === 0) break;
    if (byte !== OPEN || open > 1) text.push(byte);
  }
  cursor.at += 1;
  return text;
}

/** One escaped byte; the cursor stays on the last character of the escape. */
function readEscape(cursor: Cursor): number | undefined {
  const { bytes } = cursor;
  cursor.at += 1;
  const byte = bytes[cursor.at] ?? 0;
  if (byte === 13 && bytes[cursor.at + 1] === 10) cursor.at += 1;
  if (byte === 13 || byte === 10) return undefined;
  return isOctal(byte) ? octal(cursor) : (ESCAPES[String.fromCharCode(byte)] ?? byte);
}

const isOctal = (byte: number | undefined): byte is number => byte !== undefined && byte >= 48 && byte <= 55;

function octal(cursor: Cursor): number {
  let value = (cursor.bytes[cursor.at] ?? 48) - 48;
  for (let i = 0; i < 2; i += 1) {
    const next = cursor.bytes[cursor.at + 1];
    if (!isOctal(next)) break;
    value = value * 8 + next - 48;
    cursor.at += 1;
  }
  return value & 255;
}
