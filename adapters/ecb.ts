import { inflateRawSync } from 'node:zlib';
import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import type { FxDay } from '../domain/fxRates.ts';

/** A currency code and its rate as the file has it. */
type RateCell = readonly [currency: string, rate: string];

const CURRENCY = /^[A-Z]{3}$/;
const RATE = /^\d{1,18}(\.\d{1,18})?$/;

const isDay = (text: string): boolean => {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
};

const checked = ([currency, rate]: RateCell, place: string): RateCell => {
  if (!CURRENCY.test(currency)) throw new Error(`${place}: "${currency}" is not a currency code`);
  if (!RATE.test(rate) || !/[1-9]/.test(rate))
    throw new Error(`${place}: "${rate}" is not a rate of ${currency}`);
  return [currency, rate];
};

/** A day's rates to EUR; `N/A` means none. Throws with `place` when something does not fit. */
const dayOf = (date: string | undefined, cells: readonly RateCell[], place: string): FxDay => {
  if (date === undefined || !isDay(date)) throw new Error(`${place}: there is no date`);
  const quoted = cells.filter(([, rate]) => rate !== 'N/A').map((cell) => checked(cell, place));
  if (quoted.length === 0) throw new Error(`${place}: ${date} has no rates`);
  return { date, base: 'EUR', rates: Object.fromEntries(quoted) };
};

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
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
const daysOfCsv = (text: string): readonly FxDay[] => {
  const lines = text.split(/\r?\n/);
  const [header = '', ...rest] = lines;
  const [first, ...currencies] = fieldsOf(header);
  if (first?.toLowerCase() !== 'date') throw new Error('line 1 must begin with "Date"');
  if (new Set(currencies).size !== currencies.length) throw new Error('line 1 names a currency twice');
  return rest.flatMap((line, at) => (line.trim() === '' ? [] : [lineToDay(line, currencies, at + 2)]));
};

const rateCube = z.object({ currency: z.string(), rate: z.string() });
const dayCube = z.object({ time: z.string(), Cube: z.array(rateCube) });
const envelope = z.object({
  Envelope: z.object({ Cube: z.array(z.object({ Cube: z.array(dayCube) })).length(1) }),
});

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseAttributeValue: false,
  parseTagValue: false,
  removeNSPrefix: true,
  processEntities: false,
  isArray: (name) => name === 'Cube',
});

/** Days of an ECB XML file, in its order. Entities are never expanded; a file with a DOCTYPE is refused. */
const daysOfXml = (text: string): readonly FxDay[] => {
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) throw new Error('a DOCTYPE is not part of the format');
  if (!/<\/[\w:]*Envelope>\s*$/.test(text)) throw new Error('it does not end with its Envelope');
  const parsed = envelope.safeParse(parser.parse(text));
  if (!parsed.success) throw new Error('it has no Envelope with a Cube per day');
  const days = parsed.data.Envelope.Cube[0]?.Cube ?? [];
  return days.map(({ time, Cube }) => {
    const cells = Cube.map(({ currency, rate }): RateCell => [currency, rate]);
    return dayOf(time, cells, `the Cube of ${time}`);
  });
};

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const STORED = 0;
const DEFLATED = 8;

/** The end record lies in the last 64 KiB: only a comment may follow it. */
const endOfDirectory = (zip: Buffer): number => {
  for (let at = zip.length - 22; at >= Math.max(0, zip.length - 65_557); at -= 1)
    if (zip.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  throw new Error('the zip file is damaged: it has no directory');
};

/**
 * The only file in a zip archive, unpacked. Throws when it is damaged, encrypted, holds another number
 * of files than one, or unpacks to more than `bytesMax`.
 */
export const onlyFileInZip = (zip: Buffer, bytesMax: number): Buffer => {
  const end = endOfDirectory(zip);
  if (zip.readUInt16LE(end + 10) !== 1) throw new Error('the zip file must hold exactly one file');
  const entry = zip.readUInt32LE(end + 16);
  if (zip.readUInt32LE(entry) !== DIRECTORY_ENTRY)
    throw new Error('the zip file is damaged: its directory is not where it should be');
  if ((zip.readUInt16LE(entry + 8) & 1) === 1) throw new Error('the zip file is encrypted');
  const method = zip.readUInt16LE(entry + 10);
  const packed = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  if (zip.readUInt32LE(local) !== LOCAL_ENTRY)
    throw new Error('the zip file is damaged: its file is missing');
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const bytes = zip.subarray(start, start + packed);
  if (method === STORED && packed <= bytesMax) return bytes;
  if (method === DEFLATED) return inflateRawSync(bytes, { maxOutputLength: bytesMax });
  throw new Error('the zip file is packed in a way that is not supported, or too large');
};

/** The largest file that is read, packed or unpacked: the whole history takes some 8 MB. */
export const ECB_FILE_BYTES_MAX = 64 * 1024 * 1024;

const isZip = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.readUInt32LE(0) === 0x04034b50;

const withoutRepeats = (days: readonly FxDay[]): readonly FxDay[] => {
  const byDate = new Map<string, FxDay>();
  for (const day of days) {
    if (byDate.has(day.date)) throw new Error(`${day.date} is there twice`);
    byDate.set(day.date, day);
  }
  return [...byDate.values()].sort((a, b) => (a.date < b.date ? -1 : 1));
};

/**
 * Days of one of the ECB's reference-rate files, oldest first: daily, 90-day or historical XML, CSV, or a
 * zip of such a file. Throws with a message if it is none of these or something in it does not fit.
 */
export const daysOfEcbFile = (bytes: Buffer): readonly FxDay[] => {
  if (bytes.length > ECB_FILE_BYTES_MAX) throw new Error('the file is larger than 64 MiB');
  const plain = isZip(bytes) ? onlyFileInZip(bytes, ECB_FILE_BYTES_MAX) : bytes;
  const text = plain.toString('utf8').replace(/^\uFEFF/, '');
  const days = text.trimStart().startsWith('<') ? daysOfXml(text) : daysOfCsv(text);
  if (days.length === 0) throw new Error('the file has no day in it');
  return withoutRepeats(days);
};
