import { filterOf, keyNames, type Listed, type Place } from './cursor.ts';
import type { SqlRow } from './ports.ts';

/** Keys of the rest of a walk, in its order, and where each is. */
interface Kept {
  readonly rows: readonly SqlRow[];
  readonly places: ReadonlyMap<string, number>;
  usedMs: number;
}

/** Keys that are kept in all: of rows with two keys they are some 50 MB. */
const KEYS_MAX = 250_000;
/** Keys of one walk; a longer one is read page by page. */
export const WALK_MAX = 120_000;
/** Who does not go on for so long, ms, begins anew. */
const KEPT_MS = 60_000;
/** From this many rows a page on a walk is an export, and its order is made once. */
export const EXPORTED_ROWS = 200;

const kept = new Map<string, Kept>();
let lists = 0;

const total = (): number => [...kept.values()].reduce((sum, { rows }) => sum + rows.length, 0);

/** Forgets walks that nobody goes on with. Those under way keep their keys, or they would push each other out. */
const forgetIdle = (nowMs: number): void => {
  for (const [name, { usedMs }] of kept) if (nowMs - usedMs > KEPT_MS) kept.delete(name);
};

/** Whether so many keys of a walk may be kept, in place of those that it has. */
const hasRoom = (name: string, keys: number): boolean =>
  keys <= WALK_MAX && total() - (kept.get(name)?.rows.length ?? 0) + keys <= KEYS_MAX;

/**
 * The order of sorted walks, kept between their pages: a database would sort all rows for each page. `find` reads the
 * keys behind a place, at most `WALK_MAX` and one more.
 */
export const keptKeys = () => {
  lists += 1;
  const id = String(lists);
  return {
    /** The keys behind the key of a cursor; undefined: there are too many to keep. */
    behind: async (
      list: Listed,
      { asked, place }: { readonly asked: object; readonly place: Place },
      find: () => Promise<readonly SqlRow[]>,
    ): Promise<readonly SqlRow[] | undefined> => {
      const names = keyNames(list);
      const nameOf = (row: SqlRow): string => JSON.stringify(names.map((name) => String(row[name])));
      const name = `${id} ${filterOf(asked)}`;
      const nowMs = performance.now();
      forgetIdle(nowMs);
      const known = kept.get(name);
      const at = known?.places.get(JSON.stringify(place.key.map(String)));
      if (known !== undefined && at !== undefined) {
        known.usedMs = nowMs;
        return known.rows.slice(at + 1);
      }
      if (!hasRoom(name, place.total)) return undefined;
      const rows = await find();
      if (rows.length > WALK_MAX) return undefined;
      if (!hasRoom(name, rows.length)) return rows;
      const places = new Map(rows.map((row, number) => [nameOf(row), number]));
      kept.set(name, { rows, places, usedMs: nowMs });
      return rows;
    },
  };
};
