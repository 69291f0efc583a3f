import type { Json, JsonObject } from '../../kernel/json.ts';
import { coerced, isInexact } from '../fields/coerced.ts';
import type { SchemaNode } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import type { RowFindings } from '../tables/rowValues.ts';
import { entriesIn } from './cellEntries.ts';
import { innerOf, innerPrefix, type Members } from './rowMembers.ts';

/** `inexact`: what stands there are digits that no number holds. */
export type Cite = (path: string, finding: Finding, inexact: boolean) => unknown;

interface Writing {
  readonly rows: readonly RowFindings[];
  readonly members: Members;
  /** JSON Pointer of what is written. */
  readonly at: string;
  /** Before the pointers of the members, in the rows. */
  readonly prefix: string;
}

/** The values of a list from its flat rows: rows that hold rows are one where they say the same. */
export function rowValues(
  rows: readonly RowFindings[],
  { members, at }: Pick<Writing, 'members' | 'at'>,
  cite: Cite,
): readonly JsonObject[] {
  return writtenRows({ rows, members, at, prefix: '' }, cite);
}

function writtenRows({ rows, members, at, prefix }: Writing, cite: Cite): readonly JsonObject[] {
  const groups = innerOf(members) === undefined ? rows.map((row) => [row]) : groupsOf(rows, members, prefix);
  const values: JsonObject[] = [];
  for (const group of groups)
    values.push(writtenRow({ rows: group, members, at: `${at}/${values.length}`, prefix }, cite) ?? {});
  return values;
}

/** Rows in a run whose own members are the same. */
function groupsOf(
  rows: readonly RowFindings[],
  members: Members,
  prefix: string,
): readonly (readonly RowFindings[])[] {
  const groups: RowFindings[][] = [];
  let before: string | undefined;
  for (const row of rows) {
    const said = JSON.stringify(
      ownPointers(members).map((pointer) => row.get(prefix + pointer)?.value ?? null),
    );
    if (said === before) groups.at(-1)?.push(row);
    else groups.push([row]);
    before = said;
  }
  return groups;
}

const ownPointers = (members: Members): readonly string[] =>
  [...members.values()].flatMap((node) => {
    if (node.kind === 'object') return ownPointers(node.members);
    return node.kind === 'rows' ? [] : [node.kind === 'list' ? node.pointer : node.field.pointer];
  });

function writtenRow(writing: Writing, cite: Cite): JsonObject | undefined {
  const entries: [string, Json][] = [];
  for (const [name, node] of writing.members) {
    const value = written(node, writing, cite);
    if (value !== undefined) entries.push([name, value]);
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function written(node: SchemaNode, writing: Writing, cite: Cite): Json | undefined {
  const { rows, at, prefix } = writing;
  switch (node.kind) {
    case 'object':
      return writtenRow({ ...writing, members: node.members }, cite);
    case 'leaf':
      return writtenLeaf(node.field, rows[0]?.get(prefix + node.field.pointer), { at, cite });
    case 'list':
      return writtenTexts(node, rows[0]?.get(prefix + node.pointer), { at, cite });
    case 'rows':
      return someOf(writtenRows(innerWriting(node, writing), cite));
  }
}

const innerWriting = (
  { pointer, columns }: Extract<SchemaNode, { readonly kind: 'rows' }>,
  { rows, at, prefix }: Writing,
): Writing => ({
  rows: rows.filter((row) => [...row.keys()].some((key) => key.startsWith(innerPrefix(prefix, pointer)))),
  members: columns,
  at: at + pointer,
  prefix: innerPrefix(prefix, pointer),
});

const someOf = (values: readonly Json[]): Json | undefined => (values.length === 0 ? undefined : values);

interface Place {
  readonly at: string;
  readonly cite: Cite;
}

function writtenLeaf(
  field: Extract<SchemaNode, { readonly kind: 'leaf' }>['field'],
  finding: Finding | undefined,
  { at, cite }: Place,
): Json | undefined {
  const value = finding === undefined ? undefined : coerced(field, finding.value);
  if (finding === undefined || value === undefined) return undefined;
  if (field.choices.length > 0 && !(typeof value === 'string' && field.choices.includes(value)))
    return undefined;
  cite(at + field.pointer, finding, isInexact(field, value));
  return value;
}

/** The entries that one cell lists. */
function writtenTexts(
  { pointer, field }: Extract<SchemaNode, { readonly kind: 'list' }>,
  finding: Finding | undefined,
  { at, cite }: Place,
): Json | undefined {
  const values: Json[] = [];
  for (const entry of finding === undefined ? [] : entriesIn(finding, field.choices)) {
    const value = coerced(field, entry.value);
    if (value === undefined) continue;
    cite(`${at}${pointer}/${values.length}`, entry, isInexact(field, value));
    values.push(value);
  }
  return someOf(values);
}
