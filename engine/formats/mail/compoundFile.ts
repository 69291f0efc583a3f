/*
 * What Outlook saves is a file system in a file ([MS-CFB]): sectors in chains, and a tree of entries. The package that
 * reads it follows both without a bound, and makes room for as much as an entry says that it has.
 */

const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
const TABLES_IN_HEADER = 109;
/** The type of an entry that has bytes of its own. */
const STREAM = 2;

/**
 * Whether all chains of sectors end, and all entries are a tree of which none has more bytes than the file: linear in
 * the size of the file.
 */
export function isSoundCompound(bytes: Buffer): boolean {
  if (bytes.length < HEADER_BYTES) return false;
  const sectors = sectorsOf(bytes);
  const next = sectors.table(tablesOf(bytes, sectors));
  if (!endsEverywhere(next)) return false;
  const small = sectors.table(chain(next, bytes.readInt32LE(60)));
  return endsEverywhere(small) && isTree(bytes, chain(next, bytes.readInt32LE(48)).map(sectors.at));
}

/** The sectors of a file; those beyond its end have nothing. */
function sectorsOf(bytes: Buffer) {
  const size = bytes.readUInt16LE(30) === 12 ? 4096 : 512;
  const at = (sector: number): number => (sector + 1) * size;
  const numbers = (sector: number): readonly number[] => {
    const from = at(sector);
    const count = Math.min(size, bytes.length - from) >> 2;
    return from < 0
      ? []
      : Array.from({ length: Math.max(0, count) }, (_, i) => bytes.readInt32LE(from + 4 * i));
  };
  return { size, at, numbers, table: (of: readonly number[]) => of.flatMap(numbers) };
}

/** The sectors in which the table of chains lies: the first are in the header, the rest in a chain of its own. */
function tablesOf(bytes: Buffer, { size, numbers }: ReturnType<typeof sectorsOf>): readonly number[] {
  const tables = Array.from({ length: TABLES_IN_HEADER }, (_, i) => bytes.readInt32LE(76 + 4 * i));
  const seen = new Set<number>();
  for (let more = bytes.readInt32LE(68); more >= 0 && !seen.has(more); more = numbers(more).at(-1) ?? -1) {
    seen.add(more);
    tables.push(...numbers(more).slice(0, size / 4 - 1));
  }
  return [...new Set(tables.filter((sector) => sector >= 0))];
}

/** The sectors of a chain that ends. */
function chain(next: readonly number[], first: number): readonly number[] {
  const sectors: number[] = [];
  for (let sector: number | undefined = first; sector !== undefined && sector >= 0; sector = next[sector])
    sectors.push(sector);
  return sectors;
}

/** Whether nothing leads back to itself. */
function endsEverywhere(next: readonly number[]): boolean {
  const walk = new Int32Array(next.length);
  for (let first = 0; first < next.length; first += 1) {
    let sector = first;
    while (sector >= 0 && sector < next.length && walk[sector] === 0) {
      walk[sector] = first + 1;
      sector = next[sector] ?? -1;
    }
    if (walk[sector] === first + 1) return false;
  }
  return true;
}

/** Whether each entry is reached once at most from the first one, and has no more bytes than the file. */
function isTree(bytes: Buffer, sectors: readonly number[]): boolean {
  const size = sectorsOf(bytes).size;
  const placeOf = (entry: number): number | undefined => {
    const sector = sectors[Math.floor((entry * ENTRY_BYTES) / size)];
    const at = sector === undefined ? -1 : sector + ((entry * ENTRY_BYTES) % size);
    return at >= 0 && at + ENTRY_BYTES <= bytes.length ? at : undefined;
  };
  const seen = new Set<number>();
  const open = [0];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const at = placeOf(entry);
    if (at === undefined) continue;
    const isLonger = bytes.readUInt8(at + 66) === STREAM && bytes.readUInt32LE(at + 120) > bytes.length;
    if (seen.has(entry) || isLonger) return false;
    seen.add(entry);
    open.push(...[68, 72, 76].map((offset) => bytes.readInt32LE(at + offset)).filter((other) => other >= 0));
  }
  return true;
}
