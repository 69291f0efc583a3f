import type { FxDay } from '../../domain/fxRates/rates.ts';
import { daysOfCsv } from './csv.ts';
import { daysOfXml } from './xml.ts';
import { onlyFileInZip } from './zip.ts';

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
 * zip of such a file. Throws with a sentence when it is none of these or something in it does not fit.
 */
export const daysOfEcbFile = (bytes: Buffer): readonly FxDay[] => {
  if (bytes.length > ECB_FILE_BYTES_MAX) throw new Error('the file is larger than 64 MiB');
  const plain = isZip(bytes) ? onlyFileInZip(bytes, ECB_FILE_BYTES_MAX) : bytes;
  const text = plain.toString('utf8').replace(/^\uFEFF/, '');
  const days = text.trimStart().startsWith('<') ? daysOfXml(text) : daysOfCsv(text);
  if (days.length === 0) throw new Error('the file has no day in it');
  return withoutRepeats(days);
};
