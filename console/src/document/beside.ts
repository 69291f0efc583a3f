import type { ValueRow } from './values.ts';

/** Names in the order of the first list, what only others have behind what stands before it there. */
export const merged = (lists: readonly (readonly string[])[]): readonly string[] => {
  const all: string[] = [];
  for (const list of lists) {
    let at = 0;
    for (const name of list) {
      const known = all.indexOf(name);
      if (known < 0) all.splice(at, 0, name);
      at = (known < 0 ? at : known) + 1;
    }
  }
  return all;
};

/** A value of two readings side by side. */
export interface ValueLine {
  readonly path: string;
  readonly one: ValueRow | undefined;
  readonly other: ValueRow | undefined;
  readonly isSame: boolean;
}

const valueOf = (row: ValueRow | undefined): string | null => row?.value ?? null;

/** The values of two readings of a document side by side; groups are left out, their values are there. */
export const valuesBeside = (one: readonly ValueRow[], other: readonly ValueRow[]): readonly ValueLine[] => {
  const [first, second] = [one, other].map(
    (rows) => new Map(rows.filter(({ value }) => value !== undefined).map((row) => [row.path, row])),
  ) as [Map<string, ValueRow>, Map<string, ValueRow>];
  return merged([[...first.keys()], [...second.keys()]]).map((path) => {
    const line = { path, one: first.get(path), other: second.get(path) };
    return { ...line, isSame: valueOf(line.one) === valueOf(line.other) };
  });
};
