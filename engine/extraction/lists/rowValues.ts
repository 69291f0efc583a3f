import type { Word } from '../../document/document.ts';
import { coerced, isInexact } from '../fields/coerced.ts';
import type { ObjectNode, SchemaNode } from '../fields/fields.ts';
import type { Finding, Signed } from '../finding.ts';
import { innerOf, innerPrefix, type Members } from './rowMembers.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';

/** `inexact`: what stands there are digits that no number holds. */
export type Cite = (path: string, finding: Signed, inexact: boolean) => unknown;

/** A row whose findings say what found them. */
export type SignedRow = ReadonlyMap<string, Signed>;

interface Writing {
  readonly rows: readonly SignedRow[];
  readonly members: Members;
  /** JSON Pointer of what is written. */
  readonly at: string;
  /** Before the pointers of the members, in the rows. */
  readonly prefix: string;
  /** Of rows of several shapes; each row has the one that it fills best. */
  readonly shapes?: readonly ObjectNode[] | undefined;
}

/** The values of a list from its flat rows: rows that hold rows are one where they say the same. */
export function rowValues(
  rows: readonly SignedRow[],
  { members, at, shapes }: Pick<Writing, 'members' | 'at' | 'shapes'>,
  cite: Cite,
): readonly JsonObject[] {
  return writtenRows({ rows, members, at, prefix: '', shapes }, cite);
}

/** The value of one row alone, at its own pointer; undefined where it holds nothing. */
export const rowValue = (
  row: SignedRow,
  { members, at }: Pick<Writing, 'members' | 'at'>,
  cite: Cite,
): JsonObject | undefined => writtenRow({ rows: [row], members, at, prefix: '' }, cite);

function writtenRows({ rows, members, at, prefix, shapes }: Writing, cite: Cite): readonly JsonObject[] {
  const groups = innerOf(members) === undefined ? rows.map((row) => [row]) : groupsOf(rows, members, prefix);
  const values: JsonObject[] = [];
  for (const group of groups) {
    const shaped = shapes === undefined ? members : bestShape(shapes, group, prefix);
    const writing = { rows: group, members: shaped, at: `${at}/${values.length}`, prefix };
    values.push(writtenRow(writing, cite) ?? {});
  }
  return values;
}

/** The members of the shape that lacks nothing it requires, if one does, and of which most was found. */
function bestShape(shapes: readonly ObjectNode[], rows: readonly SignedRow[], prefix: string): Members {
  let best: { readonly members: Members; readonly rank: number } = { members: new Map(), rank: -1 };
  for (const { members, required } of shapes) {
    const isFound = ([, node]: readonly [string, SchemaNode]): boolean =>
      node.kind === 'fixed' ||
      ownPointers(new Map([['', node]])).some((pointer) => rows[0]?.has(prefix + pointer) === true);
    const lacks = [...members].some((member) => required.has(member[0]) && !isFound(member));
    const rank = [...members].filter(isFound).length + (lacks ? 0 : WHOLE);
    if (rank > best.rank) best = { members, rank };
  }
  return best.members;
}

/** More than any row has members. */
const WHOLE = 1e6;

/** Rows in a run whose own members are the same. */
function groupsOf(
  rows: readonly SignedRow[],
  members: Members,
  prefix: string,
): readonly (readonly SignedRow[])[] {
  const groups: SignedRow[][] = [];
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

const ownPointers = (members: ReadonlyMap<unknown, SchemaNode>): readonly string[] =>
  [...members.values()].flatMap((node) => {
    if (node.kind === 'ways') return ownPointers(new Map(node.ways.entries()));
    if (node.kind === 'object') return ownPointers(node.members);
    if (node.kind === 'leaf') return [node.field.pointer];
    return node.kind === 'list' ? [node.pointer] : [];
  });

function writtenRow(writing: Writing, cite: Cite): JsonObject | undefined {
  const entries: [string, Json][] = [];
  let isFilled = false;
  for (const [name, node] of writing.members) {
    const value = written(node, writing, cite);
    if (value !== undefined) entries.push([name, value]);
    if (value !== undefined && node.kind !== 'fixed') isFilled = true;
  }
  return isFilled ? Object.fromEntries(entries) : undefined;
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
    case 'fixed':
      return node.value;
    case 'ways':
      return firstOf(node.ways, writing, cite);
    default:
      return undefined;
  }
}

/** The first way that holds anything. */
function firstOf(ways: readonly SchemaNode[], writing: Writing, cite: Cite): Json | undefined {
  for (const way of ways) {
    const value = written(way, writing, cite);
    if (value !== undefined) return value;
  }
  return undefined;
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

interface CitedAt {
  readonly at: string;
  readonly cite: Cite;
}

function writtenLeaf(
  field: Extract<SchemaNode, { readonly kind: 'leaf' }>['field'],
  finding: Signed | undefined,
  { at, cite }: CitedAt,
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
  finding: Signed | undefined,
  { at, cite }: CitedAt,
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

/** Marks that part the entries of one cell, the strongest first; a comma parts what nothing else does. */
const MARKS = [';', '•', '|', '/', ','] as const;
/** Entries of one cell that are read. */
const ENTRIES_MAX = 200;

/** The entries that a cell lists, each with its words: "EN, DE" are two. A value that is no text is one. */
export function entriesIn<F extends Finding>(finding: F, choices: readonly string[] = []): readonly F[] {
  if (choices.length > 0)
    return (typeof finding.value === 'string' ? finding.value : finding.text)
      .split(';')
      .map((value) => ({ ...finding, value }));
  if (typeof finding.value !== 'string' || finding.value !== finding.text) return [finding];
  const { text } = finding;
  const mark = MARKS.find((one) => (one === '/' ? text.includes(' / ') : text.includes(one)));
  if (mark === undefined) return [finding];
  const parted = splitWords(finding.words, mark);
  return text
    .split(mark === '/' ? ' / ' : mark)
    .map((part, i) => ({ part: part.trim(), words: parted[i] }))
    .filter(({ part }) => part !== '')
    .slice(0, ENTRIES_MAX)
    .map(({ part, words }) => ({ ...finding, value: part, text: part, words: words ?? finding.words }));
}

/** The words between words that a mark ends, or that are the mark. */
function splitWords(words: readonly Word[], mark: string): readonly (readonly Word[])[] {
  const parts: Word[][] = [[]];
  for (const word of words) {
    if (word.text !== mark) parts.at(-1)?.push(word);
    if (word.text.endsWith(mark)) parts.push([]);
  }
  return parts;
}
