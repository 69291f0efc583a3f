import type { DocFile } from './docFile.ts';
import {
  LABEL_CHARACTERS_MAX,
  numberingOf,
  type Level,
  type Numbered,
  type Numbering,
} from '../office/numbering.ts';

const LISTS = 73;
const LIST_OVERRIDES = 74;
const LIST_BYTES = 28;
const LEVEL_BYTES = 28;
const OVERRIDE_BYTES = 16;
const FORMATS: Readonly<Record<number, string>> = {
  0: 'decimal',
  1: 'upperRoman',
  2: 'lowerRoman',
  3: 'upperLetter',
  4: 'lowerLetter',
  5: 'ordinal',
  22: 'decimalZero',
  23: 'bullet',
  255: 'none',
};

/** The lists of a Word 97 file by the numbers that paragraphs have, from 1. */
export function docNumbering(file: DocFile): Numbering {
  const definitions = readLists(file.tailAt(LISTS));
  return numberingOf(readOverrides(file.tailAt(LIST_OVERRIDES), definitions));
}

type Definitions = ReadonlyMap<number, ReadonlyMap<number, Level>>;

/** The lists one after the other, and then all their levels. */
function readLists(tables: Buffer): Definitions {
  const lists = new Map<number, ReadonlyMap<number, Level>>();
  if (tables.length < 2) return lists;
  const count = tables.readUInt16LE(0);
  let at = 2 + count * LIST_BYTES;
  for (let index = 0; index < count; index += 1) {
    const from = 2 + index * LIST_BYTES;
    const id = tables.readInt32LE(from);
    const isSimple = (tables.readUInt8(from + 26) & 1) === 1;
    const levels = new Map<number, Level>();
    for (let level = 0; level < (isSimple ? 1 : 9); level += 1) {
      const read = readLevel(tables, at);
      levels.set(level, read.level);
      at = read.end;
    }
    lists.set(id, levels);
  }
  return lists;
}

function readLevel(tables: Buffer, at: number): { readonly level: Level; readonly end: number } {
  const flags = tables.readUInt8(at + 5);
  const textAt = at + LEVEL_BYTES + tables.readUInt8(at + 24) + tables.readUInt8(at + 25);
  const end = textAt + 2 + tables.readUInt16LE(textAt) * 2;
  const text = tables.toString('utf16le', textAt + 2, Math.min(end, textAt + 2 + LABEL_CHARACTERS_MAX * 2));
  return {
    level: {
      format: FORMATS[tables.readUInt8(at + 4)] ?? 'decimal',
      pattern: text.replace(/[\u0000-\u0008]/g, (sign) => `%${sign.charCodeAt(0) + 1}`),
      start: Math.max(0, tables.readInt32LE(at)),
      isLegal: (flags & 4) !== 0,
      restarts: (flags & 8) === 0,
      style: undefined,
    },
    end,
  };
}

/** What paragraphs refer to: a list, and for some levels another start. */
function readOverrides(tables: Buffer, definitions: Definitions): ReadonlyMap<string, Numbered> {
  const lists = new Map<string, Numbered>();
  if (tables.length < 4) return lists;
  const count = Math.min(tables.readUInt32LE(0), Math.floor((tables.length - 4) / OVERRIDE_BYTES));
  let at = 4 + count * OVERRIDE_BYTES;
  for (let index = 0; index < count; index += 1) {
    const from = 4 + index * OVERRIDE_BYTES;
    const id = tables.readInt32LE(from);
    const read = readStarts(tables, at + 4, tables.readUInt8(from + 12));
    at = read.end;
    const levels = new Map([...(definitions.get(id) ?? []), ...read.levels]);
    lists.set(String(index + 1), { definition: String(id), levels, starts: read.starts });
  }
  return lists;
}

interface Overrides {
  readonly starts: ReadonlyMap<number, number>;
  readonly levels: ReadonlyMap<number, Level>;
  readonly end: number;
}

function readStarts(tables: Buffer, from: number, count: number): Overrides {
  const starts = new Map<number, number>();
  const levels = new Map<number, Level>();
  let at = from;
  for (let index = 0; index < count && at + 8 <= tables.length; index += 1) {
    const flags = tables.readUInt32LE(at + 4);
    const level = flags & 0xf;
    if ((flags & 0x10) !== 0) starts.set(level, Math.max(0, tables.readInt32LE(at)));
    at += 8;
    if ((flags & 0x20) === 0) continue;
    const read = readLevel(tables, at);
    levels.set(level, read.level);
    if ((flags & 0x10) !== 0) starts.set(level, read.level.start);
    at = read.end;
  }
  return { starts, levels, end: at };
}
