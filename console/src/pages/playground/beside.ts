import { flatFields, type Kind } from './fields.ts';
import type { SchemaPart, ValueRow } from '../../document/values.ts';

/** One line of several schemas side by side: what each says of a field. */
export interface FieldLine {
  readonly path: string;
  /** By schema: its kind, `json` where only JSON can say it, undefined where the schema lacks it. */
  readonly kinds: readonly (Kind | 'json' | undefined)[];
  readonly isSame: boolean;
}

/** Names in the order of the first list, what only others have behind what stands before it there. */
const merged = (lists: readonly (readonly string[])[]): readonly string[] => {
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

/** The fields of schemas side by side. */
export const fieldsBeside = (schemas: readonly SchemaPart[]): readonly FieldLine[] => {
  const maps = schemas.map(
    (schema) => new Map(flatFields(schema).map(({ path, kind }) => [path, kind ?? ('json' as const)])),
  );
  return merged(maps.map((map) => [...map.keys()])).map((path) => {
    const kinds = maps.map((map) => map.get(path));
    return { path, kinds, isSame: kinds.every((kind) => kind === kinds[0]) };
  });
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
