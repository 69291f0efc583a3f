import { SSF } from '@e965/xlsx';
import { cleanText, oneLine } from '../../document/plainText.ts';

/** A cell as SheetJS reads it: its text as its format shows it, its value and its format. */
export interface ReadCell {
  readonly w?: string;
  readonly v?: unknown;
  readonly z?: unknown;
}

/** As the workbook shows a cell: dates, percents and currencies by their formats, but nothing that a format hides. */
export function shownText({ w, v, z }: ReadCell): string {
  if (w !== undefined) return oneLine(cleanText(typeof v === 'number' ? wholeNumber(w, v, z) : w));
  if (v instanceof Date) return momentText(v);
  if (typeof v === 'string') return oneLine(cleanText(v));
  return typeof v === 'number' || typeof v === 'boolean' ? String(v) : '';
}

/** A number's text with the digits and the sign that it would lose by its format. */
function wholeNumber(text: string, value: number, format: unknown): string {
  const digits = withAllDigits(text, value);
  return value < 0 && hasNoSign(text) && isShownAlike(text, value, format) ? `-${digits}` : digits;
}

/** `4.00638E+12`: narrow cells show long whole numbers so, and two of them look the same. */
export const withAllDigits = (text: string, value: number): string =>
  /\d(?:[.,]\d+)?E\+?\d+$/i.test(text.trim()) && Number.isSafeInteger(value) ? String(value) : text;

/** Digits without a minus or brackets before or behind them. */
export const hasNoSign = (text: string): boolean => !/[-−–()]/.test(text) && /[1-9]/.test(text);

/** Whether a negative number looks like the positive one but for its colour. */
function isShownAlike(text: string, value: number, format: unknown): boolean {
  if (typeof format !== 'string') return false;
  try {
    return (SSF as { format: (format: string, value: number) => string }).format(format, -value) === text;
  } catch {
    return false;
  }
}

const SECOND_MS = 1000;
/** Workbooks count days from here on: what lies before is a time of the day alone. */
const FIRST_DAY = Date.UTC(1900, 0, 1);

/** `2025-03-14`, `2025-03-14T16:45`, `16:45`: a fraction of a day is never exactly a second. */
function momentText(moment: Date): string {
  const time = Math.round(moment.getTime() / SECOND_MS) * SECOND_MS;
  const iso = new Date(time).toISOString();
  const clock = iso.slice(11, iso.slice(17, 19) === '00' ? 16 : 19);
  if (time < FIRST_DAY) return clock;
  return clock === '00:00' ? iso.slice(0, 10) : `${iso.slice(0, 10)}T${clock}`;
}
