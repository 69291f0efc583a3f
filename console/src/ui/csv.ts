/** A spreadsheet runs a cell that begins so as a formula, unless the whole cell is a number. */
const MAY_RUN = /^[=+@\t\r\n＝＋－＠-]/;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  const text = textOf(value);
  const safe = MAY_RUN.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** By this at its beginning a spreadsheet knows that a file is UTF-8. */
export const BOM = '\uFEFF';

/** Rows as CSV (RFC 4180), each value as the API gives it. */
export const csvOf = (names: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  [names, ...rows].map((row) => row.map(cell).join(',')).join('\r\n');

const QUOTE = '"'.charCodeAt(0);
const BREAK = '\n'.charCodeAt(0);

/** The number of rows below the names, read piece by piece; a break within quotes ends no row. */
export const rowsIn = async (csv: Blob): Promise<number> => {
  const pieces = csv.stream().getReader();
  let isQuoted = false;
  let breaks = 0;
  let last = BREAK;
  for (let piece = await pieces.read(); !piece.done; piece = await pieces.read())
    for (const byte of piece.value) {
      if (byte === QUOTE) isQuoted = !isQuoted;
      if (byte === BREAK && !isQuoted) breaks += 1;
      last = byte;
    }
  return Math.max(0, breaks - (last === BREAK ? 1 : 0));
};

/** Hands a text or bytes to the browser as a file to keep. */
export const saveFile = (name: string, content: string | Blob, type = 'text/csv'): void => {
  const url = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};

/** A text as one word of a shell's line, which runs nothing of it. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
