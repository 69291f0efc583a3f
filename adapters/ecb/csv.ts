import type { FxDay } from '../../domain/fxRates/rates.ts';
import { dayOf, type RateCell } from './days.ts';

const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july'],
  ...['august', 'september', 'october', 'november', 'december'],
];

/** `2026-01-30`, or `30 January 2026` as the daily file has it; undefined for anything else. */
const isoDateOf = (text: string): string | undefined => {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  const parts = /^(\d{1,2}) ([A-Za-z]+) (\d{4})$/.exec(text);
  const [, day = '', month = '', year = ''] = parts ?? [];
  const number = MONTHS.indexOf(month.toLowerCase()) + 1;
  return number === 0 ? undefined : `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
};

/** The ECB's files quote nothing; a trailing comma leaves one empty field. */
const fieldsOf = (line: string): readonly string[] => {
  if (line.includes('"')) throw new Error('quoted fields are not part of the format');
  const fields = line.split(',').map((field) => field.trim());
  return fields.at(-1) === '' ? fields.slice(0, -1) : fields;
};

const lineToDay = (line: string, currencies: readonly string[], number: number): FxDay => {
  const [date = '', ...rates] = fieldsOf(line);
  if (rates.length !== currencies.length)
    throw new Error(
      `line ${String(number)} has ${String(rates.length)} rates where the header names ${String(currencies.length)}`,
    );
  const cells: readonly RateCell[] = currencies.map((currency, at) => [currency, rates[at] ?? '']);
  return dayOf(isoDateOf(date), cells, `line ${String(number)}`);
};

/** Days of an ECB CSV file, in its order. Throws with the line that does not fit. */
export const daysOfCsv = (text: string): readonly FxDay[] => {
  const lines = text.split(/\r?\n/);
  const [header = '', ...rest] = lines;
  const [first, ...currencies] = fieldsOf(header);
  if (first?.toLowerCase() !== 'date') throw new Error('line 1 must begin with "Date"');
  if (new Set(currencies).size !== currencies.length) throw new Error('line 1 names a currency twice');
  return rest.flatMap((line, at) => (line.trim() === '' ? [] : [lineToDay(line, currencies, at + 2)]));
};
