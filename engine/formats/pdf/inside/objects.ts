import { ownMember } from '../../../kernel/json.ts';
import { isWord, readValue, type PdfDict, type PdfList, type PdfRef, type PdfValue } from './syntax.ts';
import type { Cursor } from './texts.ts';
import { constants, inflateSync } from 'node:zlib';

/** How a stream is packed, as far as contents of pages usually are. */
type Filter = 'flate' | 'ascii85' | 'other';

/** All that may be unpacked of one file, and of one stream. */
const UNPACKED_MAX = 64 * 1024 * 1024;
const STREAM_MAX = 16 * 1024 * 1024;

/** Unpacks streams, as long as all of them together stay within bounds. */
function unpacker(): (packed: Uint8Array, filters: readonly Filter[]) => Uint8Array | undefined {
  let left = UNPACKED_MAX;
  return (packed, filters) => {
    let bytes: Uint8Array | undefined = packed;
    for (const filter of filters) bytes = bytes === undefined ? undefined : step(bytes, filter, left);
    left -= bytes?.length ?? STREAM_MAX;
    return left < 0 ? undefined : bytes;
  };
}

function step(bytes: Uint8Array, filter: Filter, left: number): Uint8Array | undefined {
  if (filter === 'other' || left <= 0 || bytes.length > STREAM_MAX) return undefined;
  return filter === 'ascii85' ? fromAscii85(bytes) : inflated(bytes, Math.min(left, STREAM_MAX));
}

function inflated(bytes: Uint8Array, maxOutputLength: number): Uint8Array | undefined {
  try {
    return inflateSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return undefined;
  }
}

const [FIRST, LAST, ZEROS, END] = [33, 117, 122, 126];

/** Five letters are four bytes; `z` is four zeros, `~` the end. */
function fromAscii85(letters: Uint8Array): Uint8Array {
  const bytes: number[] = [];
  let group: number[] = [];
  for (const letter of letters) {
    if (letter === END) break;
    if (letter === ZEROS && group.length === 0) bytes.push(0, 0, 0, 0);
    else if (letter >= FIRST && letter <= LAST) group.push(letter - FIRST);
    if (group.length < 5) continue;
    bytes.push(...bytesOf(group));
    group = [];
  }
  const { length } = group;
  if (length > 1) bytes.push(...bytesOf([...group, 84, 84, 84, 84].slice(0, 5)).slice(0, length - 1));
  return Uint8Array.from(bytes);
}

function bytesOf(group: readonly number[]): readonly number[] {
  const value = group.reduce((sum, digit) => sum * 85 + digit, 0);
  return [value / 0x1000000, value / 0x10000, value / 0x100, value].map((part) => Math.floor(part) & 255);
}

/** The objects of a PDF file, found when they are asked for. */
export interface PdfObjects {
  readonly root: PdfDict;
  /** What a value refers to; the value itself where it is no reference. */
  get(value: PdfValue | undefined): PdfValue | undefined;
  dict(value: PdfValue | undefined): PdfDict | undefined;
  list(value: PdfValue | undefined): PdfList | undefined;
  /** Where an object begins in the file; undefined for those that are packed or missing. */
  placeOf(number: number): number | undefined;
  /** The unpacked bytes of a stream; undefined where they cannot be had. */
  stream(ref: PdfRef): { readonly dict: PdfDict; readonly bytes: Uint8Array } | undefined;
}

/** Larger files are not looked into: what is found here is only beside their text. */
const BYTES_MAX = 64 * 1024 * 1024;
const OBJECTS_MAX = 500_000;

/** Where an object begins: in the file, or in an unpacked stream of objects. */
interface Spot {
  readonly bytes: Uint8Array;
  readonly at: number;
}

/** The objects of a file; undefined where it is encrypted, too large, or has no beginning. */
export function pdfObjects(file: Buffer): PdfObjects | undefined {
  if (file.length > BYTES_MAX || file.includes('/Encrypt')) return undefined;
  const spots = spotsOf(file);
  const unpack = unpacker();
  const known = new Map<number, PdfValue | undefined>();
  const load = (number: number): PdfValue | undefined => {
    const spot = spots.get(number);
    if (spot !== undefined && !known.has(number)) known.set(number, readValue({ ...spot }));
    return known.get(number);
  };
  const get = (value: PdfValue | undefined): PdfValue | undefined =>
    isRef(value) ? load(value.number) : value;
  const stream = (ref: PdfRef): ReturnType<PdfObjects['stream']> => {
    const [spot, dict] = [spots.get(ref.number), dictIn(load(ref.number))];
    if (spot?.bytes !== file || dict === undefined) return undefined;
    const bytes = unpack(packedAt(file, spot.at, get(dict.entries.get('Length'))), filtersOf(dict, get));
    return bytes === undefined ? undefined : { dict, bytes };
  };
  const placeOf = (number: number): number | undefined => {
    const spot = spots.get(number);
    return spot?.bytes === file ? spot.at : undefined;
  };
  for (const [number, spot] of packedSpots(file, spots, stream)) spots.set(number, spot);
  const root = rootOf(file, get);
  return root === undefined
    ? undefined
    : {
        root,
        get,
        stream,
        placeOf,
        dict: (value) => dictIn(get(value)),
        list: (value) => listIn(get(value)),
      };
}

export const isRef = (value: PdfValue | undefined): value is PdfRef =>
  typeof value === 'object' && value?.kind === 'ref';
const dictIn = (value: PdfValue | undefined): PdfDict | undefined =>
  typeof value === 'object' && value?.kind === 'dict' ? value : undefined;
const listIn = (value: PdfValue | undefined): PdfList | undefined =>
  typeof value === 'object' && value?.kind === 'list' ? value : undefined;

/** The name that a value is; '' where it is none. */
export const nameIn = (value: PdfValue | undefined): string =>
  typeof value === 'object' && value?.kind === 'name' ? value.name : '';

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 48 && byte <= 57;
const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13;

/** Objects by their number, from the marks before them: tables of places are often damaged, these are not. */
function spotsOf(file: Buffer): Map<number, Spot> {
  const spots = new Map<number, Spot>();
  for (
    let at = file.indexOf(' obj');
    at >= 0 && spots.size < OBJECTS_MAX;
    at = file.indexOf(' obj', at + 4)
  ) {
    const number = numberBefore(file, at);
    if (number !== undefined) spots.set(number, { bytes: file, at: at + 4 });
  }
  return spots;
}

/** The number in `12 0 obj`, read backwards from before `obj`. */
function numberBefore(file: Buffer, end: number): number | undefined {
  let at = end - 1;
  const least = Math.max(0, end - 20);
  while (at > least && isDigit(file[at])) at -= 1;
  if (at === end - 1 || !isSpace(file[at])) return undefined;
  while (at > least && isSpace(file[at])) at -= 1;
  const to = at + 1;
  while (at >= least && isDigit(file[at])) at -= 1;
  return to === at + 1 ? undefined : Number(file.toString('latin1', at + 1, to));
}

/** Objects that lie in streams of objects; what lies later in the file is the newer one. */
function packedSpots(
  file: Buffer,
  spots: ReadonlyMap<number, Spot>,
  stream: PdfObjects['stream'],
): ReadonlyMap<number, Spot> {
  const packed = new Map<number, Spot>();
  if (!file.includes('/ObjStm')) return packed;
  for (const [number, { at }] of [...spots].sort((a, b) => a[1].at - b[1].at)) {
    if (!file.subarray(at, at + 400).includes('/ObjStm')) continue;
    const found = stream({ kind: 'ref', number });
    if (found === undefined) continue;
    for (const [inner, spot] of placesIn(found)) {
      const plain = spots.get(inner);
      if (plain === undefined || plain.at < at) packed.set(inner, spot);
    }
  }
  return packed;
}

function placesIn({ dict, bytes }: NonNullable<ReturnType<PdfObjects['stream']>>): readonly [number, Spot][] {
  const [count, first] = [dict.entries.get('N'), dict.entries.get('First')];
  if (typeof count !== 'number' || typeof first !== 'number') return [];
  const cursor: Cursor = { bytes, at: 0 };
  const places: [number, Spot][] = [];
  while (places.length < Math.min(count, OBJECTS_MAX) && cursor.at < first) {
    const [number, offset] = [readValue(cursor), readValue(cursor)];
    if (typeof number !== 'number' || typeof offset !== 'number') break;
    places.push([number, { bytes, at: first + offset }]);
  }
  return places;
}

/** The catalog, as the last trailer names it. */
function rootOf(file: Buffer, get: PdfObjects['get']): PdfDict | undefined {
  const at = file.lastIndexOf('/Root');
  if (at < 0) return undefined;
  const number = readValue({ bytes: file, at: at + 5 });
  return typeof number === 'number' ? dictIn(get({ kind: 'ref', number })) : undefined;
}

/** The packed bytes of the stream whose dictionary begins there. */
function packedAt(file: Buffer, start: number, length: PdfValue | undefined): Buffer {
  const cursor: Cursor = { bytes: file, at: start };
  readValue(cursor);
  if (!isWord(readValue(cursor), 'stream')) return Buffer.alloc(0);
  const from = cursor.at + (file[cursor.at] === 13 ? 1 : 0) + 1;
  if (typeof length === 'number' && length >= 0) {
    const after = file.subarray(from + length, from + length + 20).toString('latin1');
    if (/^\s{0,4}endstream/.test(after)) return file.subarray(from, from + length);
  }
  const end = file.indexOf('endstream', from);
  return file.subarray(from, end < 0 ? file.length : end);
}

function filtersOf({ entries }: PdfDict, get: PdfObjects['get']): readonly Filter[] {
  const filter = get(entries.get('Filter'));
  if (filter === undefined || filter === null) return [];
  return (listIn(filter)?.items ?? [filter]).map((one) => ownMember(FILTERS, nameIn(get(one))) ?? 'other');
}

const FILTERS: Readonly<Record<string, Filter | undefined>> = {
  FlateDecode: 'flate',
  Fl: 'flate',
  ASCII85Decode: 'ascii85',
  A85: 'ascii85',
};
