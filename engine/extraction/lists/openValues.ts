import type { Json, JsonObject } from '../../kernel/json.ts';
import { coerced, isInexact } from '../fields/coerced.ts';
import type { Field, RowsByName, SchemaNode } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import type { Source } from '../source.ts';
import { entriesIn } from './cellEntries.ts';
import { listedRows } from './listedRows.ts';
import { mapEntries } from './mapEntries.ts';
import { tableValues } from './nestedLists.ts';
import { listed } from './rowMembers.ts';
import { rowValue, type Cite } from './rowValues.ts';

interface Filling {
  readonly source: Source;
  readonly cite: Cite;
}

type MapNode = Extract<SchemaNode, { readonly kind: 'map' }>;
type NestedNode = Extract<SchemaNode, { readonly kind: 'nested' }>;

/** The entries of a map, under the names that the document gives them; undefined where it has none. */
export function mapValue(node: MapNode, filling: Filling): JsonObject | undefined {
  const entries = new Map<string, Json>();
  for (const [name, valueAt] of entriesOf(node, filling)) {
    const at = `${node.pointer}/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`;
    const value = name === '' || entries.has(name) ? undefined : valueAt(at);
    if (value !== undefined) entries.set(name, value);
  }
  return entries.size === 0 ? undefined : Object.fromEntries(entries);
}

type Named = readonly [name: string, valueAt: (pointer: string) => Json | undefined];

function entriesOf({ field, item }: MapNode, { source, cite }: Filling): readonly Named[] {
  switch (item.kind) {
    case 'named_rows':
      return rowsByName(item, source).map((row) => [
        row.get(item.key.pointer)?.text ?? '',
        (at) => rowValue(row, { members: item.columns, at }, cite),
      ]);
    case 'list':
      return mapEntries(field, undefined, source).map(({ name, finding }) => [
        name,
        (at) => listValue(item.field, entriesIn(finding), { at, cite }),
      ]);
    case 'leaf':
      return mapEntries(field, item.field, source).map(({ name, finding }) => [
        name,
        (at) => listValue(item.field, [finding], { at, cite, isSingle: true })?.[0],
      ]);
  }
}

function rowsByName({ key, columns, called }: RowsByName, source: Source) {
  const members = new Map<string, SchemaNode>([[key.pointer, { kind: 'leaf', field: key }], ...columns]);
  return listedRows(listed(members, called), source);
}

interface Place {
  readonly at: string;
  readonly cite: Cite;
  /** The only value stands at the pointer itself, and not in a list there. */
  readonly isSingle?: boolean;
}

function listValue(
  field: Field,
  findings: readonly Finding[],
  { at, cite, isSingle = false }: Place,
): readonly Json[] | undefined {
  const values: Json[] = [];
  for (const finding of findings) {
    const value = coerced(field, finding.value);
    if (value === undefined) continue;
    cite(isSingle ? at : `${at}/${String(values.length)}`, finding, isInexact(field, value));
    values.push(value);
  }
  return values.length === 0 ? undefined : values;
}

/** Lists in a list: the rows of a table, or the one list that is found of what each of them is. */
export function nestedValue(
  { pointer, item, called }: NestedNode,
  { source, cite }: Filling,
  valueOf: (item: SchemaNode, cite: Cite) => Json | undefined,
): Json | undefined {
  if (item.kind === 'list') {
    const rows: Json[] = [];
    for (const row of tableValues(called, item.field, source)) {
      const values = listValue(item.field, row, { at: `${pointer}/${String(rows.length)}`, cite });
      if (values !== undefined) rows.push(values);
    }
    return rows.length === 0 ? undefined : rows;
  }
  const below: Cite = (path, ...said) => cite(`${pointer}/0${path.slice(pointer.length)}`, ...said);
  const only = valueOf(item, below);
  return only === undefined ? undefined : [only];
}
