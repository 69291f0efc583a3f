import { asObject, isList, ownMember, type Json, type JsonObject } from '../../kernel/json.ts';

/** One row with the members of all rows, so that a column is labelled if any row is labelled with it. */
const columnsOf = (rows: readonly Json[]): Json | undefined =>
  rows.reduce<Json | undefined>((known, row) => joined(known, row), undefined);

const joined = (one: Json | undefined, other: Json | undefined): Json | undefined => {
  if (isList(one) && isList(other)) {
    const columns = joined(columnsOf(one), columnsOf(other));
    return columns === undefined ? [] : [columns];
  }
  const [known, more] = [asObject(one), asObject(other)];
  if (known === undefined || more === undefined) return one ?? other;
  const names = [...new Set([...Object.keys(known), ...Object.keys(more)])];
  return Object.fromEntries(
    names.map((name) => [name, joined(ownMember(known, name), ownMember(more, name)) ?? null]),
  );
};

const labelledMembers = (expected: JsonObject, got: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(got).flatMap(([name, value]): (readonly [string, Json])[] => {
      const said = Object.hasOwn(expected, name) ? onlyLabelled(ownMember(expected, name), value) : undefined;
      return said === undefined ? [] : [[name, said]];
    }),
  );

/**
 * What was read of the fields that an example has, null ones too: nobody has said what the document says of the
 * others. Rows keep their places.
 */
export const onlyLabelled = (expected: Json | undefined, got: Json | undefined): Json | undefined => {
  if (isList(got) && isList(expected)) {
    const columns = columnsOf(expected);
    return columns === undefined ? got : got.map((row) => onlyLabelled(columns, row) ?? null);
  }
  const [known, said] = [asObject(expected), asObject(got)];
  return known === undefined || said === undefined ? got : labelledMembers(known, said);
};
