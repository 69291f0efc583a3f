import type { EvidenceKind } from '../finding.ts';
import { coerced, isInexact } from '../fields/coerced.ts';
import type { Called, Field, RowsByName, SchemaNode } from '../fields/fields.ts';
import { labelWords } from '../words/labelWords.ts';
import { namedBy, says } from '../words/says.ts';
import { termsIn } from '../fields/terms.ts';
import { signed, textFinding, type Finding, type Signed } from '../finding.ts';
import type { Pair } from '../form/pair.ts';
import { cellValue } from '../grids/cellValues.ts';
import { cellsIn, type Grid } from '../grids/grid.ts';
import { gridsOf } from '../grids/tableGrids.ts';
import { listedRows } from './listedRows.ts';
import { listed } from './rowMembers.ts';
import { entriesIn, rowValue, type Cite } from './rowValues.ts';
import { labelIndexOf } from '../singles/labelIndex.ts';
import { valuesAt } from '../singles/values.ts';
import type { Source } from '../source.ts';
import { memberPointer, type Json, type JsonObject } from '../../kernel/json.ts';

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
    const at = memberPointer(node.pointer, name);
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
  return listedRows(listed(members, called), source).items;
}

interface CitedAt {
  readonly at: string;
  readonly cite: Cite;
  /** The only value stands at the pointer itself, and not in a list there. */
  readonly isSingle?: boolean;
}

function listValue(
  field: Field,
  findings: readonly Signed[],
  { at, cite, isSingle = false }: CitedAt,
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

/** An entry of a map: the label that names it, and its value. */
interface MapEntry {
  readonly name: string;
  readonly finding: Signed;
}

/** A heading must name the map so well. */
const NAMED = 0.75;
const NAME_CHARACTERS_MAX = 60;
const ENTRIES_MAX = 500;
/** Ways in which a label shows itself as one beside its value. */
const KINDS: ReadonlySet<EvidenceKind> = new Set<EvidenceKind>(['colon', 'cell', 'right', 'beside']);

/**
 * The labels that stand with their values under a heading that names the map, in the order of the document; of
 * labels that come again, the first. `item` is what the values are read as; undefined: their whole text.
 */
function mapEntries(map: Field, item: Field | undefined, source: Source): readonly MapEntry[] {
  const entries = new Map<string, MapEntry>();
  for (const pair of labelIndexOf(source).form.pairs) {
    const name = pair.label.replace(/[:：]$/u, '').trim();
    const isName = name !== '' && name.length <= NAME_CHARACTERS_MAX && KINDS.has(pair.kind);
    if (!isName || entries.has(name) || entries.size >= ENTRIES_MAX) continue;
    const score = headingScore(map, pair);
    const finding =
      score < NAMED ? undefined : signed('labels', source, () => findingAt(pair, { item, source, score }));
    if (finding !== undefined) entries.set(name, { name, finding });
  }
  return [...entries.values()];
}

const headingScore = ({ terms }: Field, { context }: Pair): number =>
  says({ label: termsIn(context), context: [], implied: new Set() }, terms);

interface PairReading {
  readonly item: Field | undefined;
  readonly source: Source;
  readonly score: number;
}

function findingAt(pair: Pair, { item, source, score }: PairReading): Finding | undefined {
  const evidence = { label: 0.9 * score, margin: 0.2, agreement: 0, kind: pair.kind };
  if (item === undefined) return textFinding([pair.value], { ...evidence, strictness: 0.6 });
  const [read] = valuesAt(pair.value, { field: item, conventions: source.conventions });
  const finding = read && textFinding([read], { ...evidence, strictness: read.strictness });
  return finding && { ...finding, value: read.value };
}

/** What stands above a table must name the list so well, where there are several tables. */
const TITLED = 0.72;
const ONLY_TABLE = 0.6;

/**
 * The rows of the table that a list of lists asks for, each with the values of its cells that are of the field's type:
 * of the table whose title names the list, or of the only one.
 */
function tableValues(
  { phrases, description }: Called,
  field: Field,
  source: Source,
): readonly (readonly Signed[])[] {
  const names = { phrases, about: description === '' ? [] : [labelWords(description)] };
  const grids = gridsOf(source.document);
  const scored = grids.map((grid) => ({ grid, score: titleScore(names, grid) }));
  const best = scored.reduce<{ readonly grid: Grid; readonly score: number } | undefined>(
    (most, one) => (one.score > (most?.score ?? 0) ? one : most),
    undefined,
  );
  const [only, ...others] = grids;
  if (best !== undefined && best.score >= TITLED)
    return valuesIn(best.grid, field, { source, label: best.score });
  return only === undefined || others.length > 0 ? [] : valuesIn(only, field, { source, label: ONLY_TABLE });
}

const titleScore = (names: Parameters<typeof namedBy>[0], { above, title }: Grid): number =>
  [...(title === undefined ? [] : [title.text]), ...above].reduce(
    (most, text) => Math.max(most, namedBy(names, labelWords(text))),
    0,
  );

interface Read {
  readonly source: Source;
  readonly label: number;
}

function valuesIn(grid: Grid, field: Field, { source, label }: Read): readonly (readonly Signed[])[] {
  const reading = { source, evidence: { label, margin: 0.2, agreement: 0 } };
  return grid.rows
    .map((row) =>
      cellsIn(row).flatMap((cell) => signed('tables', source, () => cellValue(field, cell, reading)) ?? []),
    )
    .filter(({ length }) => length > 0);
}
