import { createReadStream } from 'node:fs';
import Papa from 'papaparse';
import { UnreadablePayoutFile } from '../domain/payoutFile.ts';

/** Bytes that are read at once: their rows are read within some milliseconds, empty ones too. */
const PIECE_BYTES = 16_384;
/** A longer row is none: a quote was not closed, or the file is another one. */
const ROW_CHARS_MAX = 65_536;
const DELIMITERS = [',', ';', '\t', '|'];

const NO_TEXT = 'The file is not UTF-8 text. Save it as CSV in UTF-8.';

/** The characters of a file in pieces, with one kind of line end. */
async function* textOf(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // A carriage return at the end of a piece waits for its line feed.
  let rest = '';
  const decoded = (bytes?: Uint8Array): string => {
    try {
      return rest + (bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }));
    } catch {
      throw new UnreadablePayoutFile(NO_TEXT);
    }
  };
  for await (const bytes of createReadStream(path, { highWaterMark: PIECE_BYTES, signal })) {
    const text = decoded(bytes as Uint8Array);
    if (text.includes('\0')) throw new UnreadablePayoutFile(NO_TEXT);
    rest = text.endsWith('\r') ? '\r' : '';
    yield text.slice(0, text.length - rest.length).replaceAll(/\r\n?/g, '\n');
  }
  yield decoded().replaceAll('\r', '\n');
}

/** The delimiter that parts the first line into most cells. */
const delimiterOf = (line: string): string =>
  DELIMITERS.map((one) => ({ one, cells: line.split(one).length })).reduce((most, next) =>
    next.cells > most.cells ? next : most,
  ).one;

const isEmpty = (row: readonly string[]): boolean => row.length === 1 && row[0]?.trim() === '';

const parsed = (text: string, delimiter: string, { isLast }: { readonly isLast: boolean }) => {
  const parser = new Papa.Parser({ delimiter, newline: '\n' });
  const { data, errors, meta } = parser.parse(text, 0, !isLast) as Papa.ParseResult<string[]>;
  // Quotes of a row that goes on in the next piece are not judged yet.
  const isBroken = errors.some(({ row }) => isLast || (row ?? 0) < data.length);
  return { data, isBroken, end: isLast ? text.length : meta.cursor };
};

/**
 * The rows of a CSV file (UTF-8, any of four delimiters), some at a time, without empty ones. Nothing but what is asked
 * for is read, and a row that does not end is not collected. Throws UnreadablePayoutFile.
 */
export async function* csvRows(
  path: string,
  signal: AbortSignal,
): AsyncGenerator<readonly (readonly string[])[]> {
  let [text, delimiter, rows] = ['', '', 0];
  const take = (isLast: boolean): readonly (readonly string[])[] => {
    delimiter ||= delimiterOf(text.split('\n', 1)[0] ?? '');
    const { data, isBroken, end } = parsed(text, delimiter, { isLast });
    text = text.slice(end);
    if (isBroken || text.length > ROW_CHARS_MAX)
      throw new UnreadablePayoutFile(
        `A quote does not fit, or a row does not end: between rows ${String(rows)} and ${String(rows + data.length)}.`,
      );
    rows += data.length;
    return data.filter((row) => !isEmpty(row));
  };
  for await (const piece of textOf(path, signal)) {
    text += piece;
    if (text.includes('\n')) yield take(false);
    else if (text.length > ROW_CHARS_MAX) take(false);
  }
  if (text !== '') yield take(true);
}
