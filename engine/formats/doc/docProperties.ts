import type { DocFile } from './docFile.ts';

/** A property modifier: which, and the bytes of its value. */
export interface Modifier {
  readonly code: number;
  readonly value: Buffer;
}

/** Modifiers of the text from one file offset to another. */
export interface PropertyRun {
  readonly from: number;
  readonly to: number;
  /** Of paragraphs, the number of their style. */
  readonly style: number;
  readonly modifiers: readonly Modifier[];
}

const CHARACTERS = 12;
const PARAGRAPHS = 13;
const PAGE = 512;
const NONE: PropertyRun = { from: 0, to: 0, style: 0, modifiers: [] };

/** Finds the properties of the character at a file offset. */
export type PropertiesAt = (fc: number) => PropertyRun;

export const characterProperties = (file: DocFile): PropertiesAt =>
  lookUp(runsOf(file, CHARACTERS, readCharacters));
export const paragraphProperties = (file: DocFile): PropertiesAt =>
  lookUp(runsOf(file, PARAGRAPHS, readParagraphs));

function lookUp(runs: readonly PropertyRun[]): PropertiesAt {
  const sorted = [...runs].sort((a, b) => a.from - b.from);
  return (fc) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.from ?? 0) <= fc) low = middle + 1;
      else high = middle;
    }
    const found = sorted[low - 1];
    if (found !== undefined && fc < found.to) return found;
    return { ...NONE, from: fc, to: sorted[low]?.from ?? Number.MAX_SAFE_INTEGER };
  };
}

type ReadPage = (page: Buffer, at: number, count: number) => Omit<PropertyRun, 'from' | 'to'>;

/** Each page of 512 bytes has the offsets of its runs, their count in its last byte. */
function runsOf({ main, tableAt }: DocFile, index: number, read: ReadPage): readonly PropertyRun[] {
  const table = tableAt(index);
  const pages = Math.max(0, Math.floor((table.length - 4) / 8));
  const runs: PropertyRun[] = [];
  for (let number = 0; number < pages; number += 1) {
    const at = table.readUInt32LE((pages + 1) * 4 + number * 4) * PAGE;
    const page = main.subarray(at, at + PAGE);
    if (page.length < PAGE) continue;
    const count = Math.min(101, page.readUInt8(PAGE - 1));
    for (let run = 0; run < count; run += 1)
      runs.push({
        from: page.readUInt32LE(run * 4),
        to: page.readUInt32LE(run * 4 + 4),
        ...read(page, run, count),
      });
  }
  return runs;
}

const readCharacters: ReadPage = (page, run, count) => {
  const at = page.readUInt8((count + 1) * 4 + run) * 2;
  return {
    style: 0,
    modifiers: at === 0 ? [] : modifiersIn(page.subarray(at + 1, at + 1 + page.readUInt8(at))),
  };
};

const readParagraphs: ReadPage = (page, run, count) => {
  const at = page.readUInt8((count + 1) * 4 + run * 13) * 2;
  if (at === 0) return { style: 0, modifiers: [] };
  const words = page.readUInt8(at);
  const bytes =
    words === 0
      ? page.subarray(at + 2, at + 2 + page.readUInt8(at + 1) * 2)
      : page.subarray(at + 1, at + words * 2);
  if (bytes.length < 2) return { style: 0, modifiers: [] };
  return { style: bytes.readUInt16LE(0), modifiers: modifiersIn(bytes.subarray(2)) };
};

const TABLE_DEFINITION = 0xd608;
const TAB_CHANGES = 0xc615;

/** Modifiers one after the other; what goes on past the end is left out. */
export function modifiersIn(bytes: Buffer): readonly Modifier[] {
  const modifiers: Modifier[] = [];
  let at = 0;
  while (at + 3 <= bytes.length) {
    const code = bytes.readUInt16LE(at);
    const [before, length] = valueRange(bytes, at + 2, code);
    const from = at + 2 + before;
    modifiers.push({ code, value: bytes.subarray(from, from + length) });
    at = from + length;
  }
  return modifiers;
}

/** The bytes before a value that say its length, and its length. */
function valueRange(bytes: Buffer, at: number, code: number): readonly [number, number] {
  if (code === TABLE_DEFINITION)
    return [2, at + 2 <= bytes.length ? Math.max(0, bytes.readUInt16LE(at) - 1) : 0];
  const kind = code >> 13;
  if (kind !== 6) return [0, [1, 1, 2, 4, 2, 2, 0, 3][kind] ?? 1];
  const length = bytes.readUInt8(at);
  if (code !== TAB_CHANGES || length !== 255) return [1, length];
  const deleted = bytes[at + 1] ?? 0;
  return [1, 2 + deleted * 4 + (bytes[at + 2 + deleted * 4] ?? 0) * 3];
}

/** The last value of a modifier as a number; undefined where it is not there. */
export function numberOf(modifiers: readonly Modifier[], code: number): number | undefined {
  const value = modifiers.findLast((modifier) => modifier.code === code)?.value;
  if (value === undefined || value.length === 0) return undefined;
  return value.readUIntLE(0, Math.min(4, value.length));
}
