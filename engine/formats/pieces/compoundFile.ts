import { RefusedDocument } from './blocks.ts';

const END_OF_CHAIN = 0xfffffffe;
const SECTOR_MAX = 0xfffffffa;
const DIRECTORY_ENTRY = 128;
const MINI_SECTOR = 64;

/** A chain of sectors: its file allocation table and how a sector's bytes are found. */
interface Chains {
  readonly table: readonly number[];
  readonly sector: (index: number) => Buffer;
}

interface Entry {
  readonly name: string;
  readonly type: number;
  readonly start: number;
  readonly size: number;
  /** Entries of the same storage, before and after this one. */
  readonly siblings: readonly number[];
  readonly child: number;
}

/** A compound file (MS-CFB): its streams by their names, whose case does not count. */
export interface Compound {
  /** Names in the file's own storage, in small letters. */
  readonly names: ReadonlySet<string>;
  readonly streamOf: (name: string) => Buffer | undefined;
}

export const compoundStreams = (file: Buffer): Compound['streamOf'] => compoundIn(file).streamOf;

/**
 * What a compound file holds itself; storages within it are other documents, which may have the same names. Damage
 * is a `RefusedDocument` or a `RangeError`.
 */
export function compoundIn(file: Buffer): Compound {
  const sectorSize = 1 << file.readUInt16LE(0x1e);
  if (sectorSize !== 512 && sectorSize !== 4096) throw new RefusedDocument('The document is damaged.');
  const sector = (index: number): Buffer => file.subarray((index + 1) * sectorSize, (index + 2) * sectorSize);
  const chains: Chains = { table: allocationTable(file, sector), sector };
  const entries = entriesOf(readChain(chains, file.readUInt32LE(0x30)));
  const root = entries.find(({ type }) => type === 5);
  const cutoff = file.readUInt32LE(0x38);
  const mini: Chains = miniChains(chains, file.readUInt32LE(0x3c), root);
  const own = ownEntries(entries, root);
  return {
    names: new Set(own.map(({ name }) => name.toLowerCase())),
    streamOf: (name) => {
      const entry = own.find((one) => one.type === STREAM && one.name.toLowerCase() === name.toLowerCase());
      if (entry === undefined) return undefined;
      const bytes = readChain(entry.size < cutoff ? mini : chains, entry.start);
      return bytes.subarray(0, entry.size);
    },
  };
}

const [STORAGE, STREAM] = [1, 2];

/** The entries that lie in no storage within the file. */
function ownEntries(entries: readonly Entry[], root: Entry | undefined): readonly Entry[] {
  const within = new Set<Entry>();
  const open = entries.filter((one) => one.type === STORAGE).map(({ child }) => child);
  while (open.length > 0) {
    const entry = entries[open.pop() ?? -1];
    if (entry === undefined || entry === root || within.has(entry)) continue;
    within.add(entry);
    open.push(...entry.siblings);
  }
  return entries.filter((entry) => entry !== root && !within.has(entry));
}

/** The table's own sectors are listed in the header and then in a chain of lists. */
function allocationTable(file: Buffer, sector: (index: number) => Buffer): readonly number[] {
  const listed = numbersIn(file.subarray(0x4c, 0x200));
  const seen = new Set<number>();
  let next = file.readUInt32LE(0x44);
  while (next < SECTOR_MAX && !seen.has(next)) {
    seen.add(next);
    const numbers = numbersIn(sector(next));
    next = numbers.pop() ?? END_OF_CHAIN;
    listed.push(...numbers);
  }
  const sectors = new Set(listed.filter((index) => index < SECTOR_MAX));
  return [...sectors].flatMap((index) => numbersIn(sector(index)));
}

function miniChains(chains: Chains, tableStart: number, root: Entry | undefined): Chains {
  const bytes = root === undefined ? Buffer.alloc(0) : readChain(chains, root.start);
  return {
    table: numbersIn(readChain(chains, tableStart)),
    sector: (index) => bytes.subarray(index * MINI_SECTOR, (index + 1) * MINI_SECTOR),
  };
}

/** A chain that comes back to where it was is damaged. */
function readChain({ table, sector }: Chains, start: number): Buffer {
  const parts: Buffer[] = [];
  const seen = new Set<number>();
  let at = start;
  while (at < SECTOR_MAX) {
    if (seen.has(at)) throw new RefusedDocument('The document is damaged.');
    seen.add(at);
    parts.push(sector(at));
    at = table[at] ?? END_OF_CHAIN;
  }
  return Buffer.concat(parts);
}

function entriesOf(directory: Buffer): readonly Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at + DIRECTORY_ENTRY <= directory.length; at += DIRECTORY_ENTRY) {
    const entry = directory.subarray(at, at + DIRECTORY_ENTRY);
    const nameBytes = Math.min(64, entry.readUInt16LE(0x40));
    entries.push({
      name: entry.toString('utf16le', 0, Math.max(0, nameBytes - 2)),
      type: entry.readUInt8(0x42),
      siblings: [entry.readUInt32LE(0x44), entry.readUInt32LE(0x48)],
      child: entry.readUInt32LE(0x4c),
      start: entry.readUInt32LE(0x74),
      size: entry.readUInt32LE(0x78),
    });
  }
  return entries;
}

function numbersIn(bytes: Buffer): number[] {
  const numbers: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) numbers.push(bytes.readUInt32LE(at));
  return numbers;
}
