import type { Document, SeenValue } from '../document/document.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { LocalCitation } from '../ports/extractionEngine.ts';
import type { FieldWhy } from '../ports/why.ts';
import { byLexicon } from './byLexicon.ts';
import { aboveFloor, type Floor, MIN_CONFIDENCE, type LocalRead } from './confidenceFloor.ts';
import { coerced, isInexact, readings, saidIn } from './fields/coerced.ts';
import { schemaTree, type Field, type ObjectNode, type SchemaNode } from './fields/fields.ts';
import { factFor, joinedFact } from './facts/bylines.ts';
import type { Ablation, Finding, Signed } from './finding.ts';
import { boxAround, pageOf } from './places/layout.ts';
import type { Off } from './lists/balances.ts';
import { listedValues, listOfRows, type ListItems, type TriedWay } from './lists/listedRows.ts';
import { listed } from './lists/rowMembers.ts';
import { filledBest } from './lists/filledBest.ts';
import { rowValues, type Cite, type SignedRow } from './lists/rowValues.ts';
import { mapValue, nestedValue } from './lists/openValues.ts';
import { singlesOf } from './singles/singles.ts';
import { paceOf, type Pace } from './pace.ts';
import { sourceOf, type Source } from './source.ts';
import { findTotals, isTotal } from './singles/totals.ts';
import { whyLog } from './why.ts';
import { scoredSingles, type Singles } from '../reader/scorer.ts';

export interface LocalExtraction {
  readonly value: JsonObject;
  readonly citations: readonly LocalCitation[];
  /** Found, but less sure than asked for, and left out of the value; or a balance that does not come out. */
  readonly seen: readonly SeenValue[];
  /** JSON Pointers of what was not looked for, for want of time. */
  readonly left: readonly string[];
  /** The offers for each field, where they were asked for. */
  readonly why?: readonly FieldWhy[] | undefined;
}

export type ExtractOptions = ReadingOptions & Floor;

export interface ReadingOptions extends Ablation {
  /** Once it says so, nothing more is looked for: what was found until then is the answer. Default: never. */
  readonly isLate?: (() => boolean) | undefined;
  /** Keeps all offers that the values are chosen from. Default: no. */
  readonly why?: boolean | undefined;
}

export const NOTHING_FOUND: LocalExtraction = { value: {}, citations: [], seen: [], left: [] };

/** A document read for a schema: what every field is looked up in. */
export interface Reading {
  readonly tree: ObjectNode;
  readonly source: Source;
  readonly totals: ReadonlyMap<string, Finding>;
  /** The values of the single fields by their pointers; made when they are asked for first. */
  readonly singles: () => Singles;
  readonly pace: Pace;
}

/** What examples taught. Each is asked for its field first; without it the rules decide alone. */
export interface Taught {
  /** Instead of what the rules found; undefined: nothing stands there. */
  readonly leaf?: (field: Field, found: Signed | undefined) => Signed | undefined;
  /** The field of a list, with the labels that it has. */
  readonly list?: (field: Field) => Field;
  /** The rows of a list by its pointer; undefined: the rules decide. */
  readonly rows?: (pointer: string, fields: readonly Field[]) => readonly SignedRow[] | undefined;
}

/**
 * Fills a schema from a document, without a model: typed values that stand in the document, chosen by the
 * labels around them. Pure and reproducible; what is not found is left out, nothing is made up.
 */
export function extract(
  document: Document,
  schema: JsonObject,
  options: ExtractOptions = {},
): LocalExtraction {
  const reading = readingOf(document, schema, options);
  return reading === undefined ? NOTHING_FOUND : extractFrom(reading, options);
}

/** Lays a document out and finds its typed values; undefined for a schema that no object fills. */
export function readingOf(
  document: Document,
  schema: JsonObject,
  { isLate, why, without }: ReadingOptions = {},
): Reading | undefined {
  const tree = schemaTree(schema);
  if (tree?.kind !== 'object') return undefined;
  const fields = fieldsOf(tree);
  const source = sourceOf(
    document,
    fields.flatMap(({ phrases }) => phrases),
    { without, why: why === true ? whyLog() : undefined },
  );
  const totals = findTotals(fields.filter(isTotal), source);
  let singles: Singles | undefined;
  const pace = paceOf(isLate);
  const byRules = rulesFor(fields, { source, totals, pace });
  const isFinal = (field: Field): boolean => factFor(field, source) !== undefined;
  return {
    tree,
    source,
    totals,
    pace,
    singles: () => (singles ??= scoredSingles(fields, source, { byRules, isFinal, isLate })),
  };
}

/** What labels, sums, sentences and facts of a document say of a schema's single fields, before it is weighed. */
export function rulesFor(
  fields: readonly Field[],
  { source, totals, pace }: Pick<Reading, 'source' | 'totals' | 'pace'>,
): (field: Field) => Signed | undefined {
  let singles: ReadonlyMap<string, Signed> | undefined;
  const known = (field: Field): Signed | undefined => byLexicon(field, { totals, source });
  return (field) => {
    const fact = factFor(field, source);
    if (fact !== undefined) return joinedFact(fact);
    singles ??= singlesOf(fields, { source, byRules: known, pace });
    const found = singles.get(field.pointer);
    if (found === undefined || found.confidence >= SEEN_MIN) return found;
    source.why?.passOver(field.pointer, 'unsure');
    return undefined;
  };
}

/** Fills the schema from what was read. */
export function extractFrom(
  { tree, source, singles, pace }: Reading,
  { min_confidence = MIN_CONFIDENCE }: Floor,
  taught: Taught = {},
): LocalExtraction {
  const citations: LocalRead[] = [];
  const cite: Cite = (path, finding, inexact) => citations.push(cited(path, finding, inexact));
  const off: SeenValue[] = [];
  const tell = (one: SeenValue): unknown => off.push(one);
  const limits = { least: SEEN_MIN, sure: min_confidence };
  const found = objectOf(tree, { source, singles, taught, pace, cite, tell, ...limits }) ?? {};
  const { value, citations: kept, seen } = aboveFloor({ value: found, citations }, { min_confidence });
  const why = source.why?.told({ value, citations: kept, sure: limits.sure });
  return {
    value,
    citations: kept,
    seen: [...seen, ...off],
    left: pace.left(),
    ...(why !== undefined && { why }),
  };
}

/** The value of one part of the schema alone; undefined where the document does not say it. */
export const valueAt = (node: SchemaNode, { source, singles, pace }: Reading, taught: Taught = {}) =>
  valueOf(node, {
    source,
    singles,
    taught,
    pace,
    cite: () => undefined,
    tell: () => undefined,
    least: MIN_CONFIDENCE,
    sure: MIN_CONFIDENCE,
  });

interface Fill {
  readonly source: Source;
  readonly singles: Reading['singles'];
  readonly taught: Taught;
  readonly pace: Pace;
  readonly cite: Cite;
  /** What is to be said of a value beside the answer. */
  readonly tell: (one: SeenValue) => unknown;
  /** Less sure findings of the rules are as good as none. */
  readonly least: number;
  /** Less sure findings will be left out. */
  readonly sure: number;
}

/** The leaves outside arrays, of shapes of one place those of them all; at each pointer the first. */
export function fieldsOf(node: SchemaNode): readonly Field[] {
  if (node.kind === 'leaf') return [node.field];
  if (node.kind === 'object') return [...node.members.values()].flatMap(fieldsOf);
  if (node.kind !== 'ways') return [];
  const all = node.ways.flatMap(fieldsOf);
  const first = new Map([...all].reverse().map((field) => [field.pointer, field]));
  return all.filter((field) => first.get(field.pointer) === field);
}

/** What the schema gives itself stands beside what is sure alone: it says nothing of the document. */
function objectOf({ members }: ObjectNode, fill: Fill): JsonObject | undefined {
  const entries: [string, Json][] = [];
  let isSure = false;
  const cite: Cite = (path, finding, inexact) => {
    isSure ||= !inexact && finding.confidence >= fill.sure;
    return fill.cite(path, finding, inexact);
  };
  for (const [name, node] of members) {
    const value = valueOf(node, { ...fill, cite });
    if (value !== undefined) entries.push([name, value]);
  }
  if (entries.length === 0) return undefined;
  const found = new Map(entries);
  const given = [...members].flatMap(([name, node]): [string, Json][] => {
    if (node.kind === 'fixed') return isSure ? [[name, node.value]] : [];
    const value = found.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(given);
}

function valueOf(node: SchemaNode, fill: Fill): Json | undefined {
  switch (node.kind) {
    case 'object':
      return objectOf(node, fill);
    case 'leaf':
      return leafOf(node.field, fill);
    case 'ways':
      return filledBest(node.ways, fill, (way, cite) => valueOf(way, { ...fill, cite }));
    case 'fixed':
      return undefined;
    default:
      return fill.pace.leavesOut(node.pointer) ? undefined : lookedUp(node, fill);
  }
}

type LookedUp = Extract<SchemaNode, { readonly kind: 'list' | 'rows' | 'map' | 'nested' }>;

/** What takes a look through the document of its own. */
function lookedUp(node: LookedUp, fill: Fill): Json | undefined {
  switch (node.kind) {
    case 'list':
      return listOf(node.pointer, node.field, fill);
    case 'rows':
      return rowsOf(node, fill);
    case 'map':
      return mapValue(node, fill);
    case 'nested':
      return nestedValue(node, fill, (item, cite) => valueOf(item, { ...fill, cite }));
  }
}

function leafOf(field: Field, fill: Fill): Json | undefined {
  const { leaf } = fill.taught;
  const { why } = fill.source;
  const seen = foundByRules(field, fill, fill.least);
  const found = seen !== undefined && seen.confidence >= MIN_CONFIDENCE ? seen : undefined;
  const finding =
    leaf === undefined ? seen : (leaf(field, found) ?? (found === undefined ? seen : undefined));
  if (finding !== seen) why?.passOver(field.pointer, 'taught');
  return finding && typedLeaf(field, finding, fill);
}

/** The value of a finding in the field's type; undefined where it has none. */
function typedLeaf(field: Field, finding: Signed, { source: { why }, cite }: Fill): Json | undefined {
  const value = coerced(field, saidIn(field, finding));
  const inexact = value !== undefined && isInexact(field, value);
  why?.end(field.pointer, finding);
  if (value === undefined || inexact) why?.passOver(field.pointer, 'unfit');
  if (value !== undefined) cite(field.pointer, finding, inexact);
  return value;
}

/** Less sure than this nothing was seen. */
const SEEN_MIN = 0.2;

/** What is found for a leaf without examples; undefined where that is too little. */
export function foundByRules(
  field: Field,
  { singles }: Pick<Reading, 'singles'>,
  least = MIN_CONFIDENCE,
): Signed | undefined {
  const found = singles().findings.get(field.pointer);
  return found !== undefined && found.confidence >= least ? found : undefined;
}

function listOf(pointer: string, asked: Field, fill: Fill): Json | undefined {
  const field = fill.taught.list?.(asked) ?? asked;
  const values: Json[] = [];
  const found = readings(field).map((one) => listedValues(one, fill.source));
  noteWays(
    pointer,
    found.flatMap(({ tried }) => tried),
    fill,
  );
  for (const finding of distinct(found.find(({ items }) => items.length > 0)?.items ?? [])) {
    const value = coerced(field, finding.value);
    if (value === undefined) continue;
    fill.cite(`${pointer}/${values.length}`, finding, isInexact(field, value));
    values.push(value);
  }
  return values.length === 0 ? undefined : values;
}

function noteWays(pointer: string, tried: readonly TriedWay[], { source: { why } }: Fill): void {
  for (const { by, ...counted } of why === undefined ? [] : tried) why?.count(pointer, by, counted);
}

const distinct = (findings: readonly Signed[]): readonly Signed[] =>
  findings.filter(({ value }, index) => findings.findIndex((other) => other.value === value) === index);

function rowsOf(
  { pointer, columns, called, shapes }: Extract<SchemaNode, { readonly kind: 'rows' }>,
  fill: Fill,
): Json | undefined {
  const fields = [...columns.values()].flatMap(fieldsOf);
  const asked = listed(columns, called);
  const taught = fill.taught.rows?.(pointer, fields);
  const found: ListItems<SignedRow> =
    taught === undefined ? listOfRows(asked, fill.source) : { items: taught, tried: waysTaught(taught) };
  const { items: rows, tried, off = [] } = found;
  noteWays(pointer, tried, fill);
  for (const one of off) fill.tell(doubtOf(pointer, one));
  const values = rowValues(rows, { members: columns, at: pointer, shapes }, fill.cite);
  return values.length === 0 ? undefined : values;
}

const doubtOf = (
  path: string,
  { printed: { value, text, page, words, confidence }, expected }: Off,
): SeenValue => ({
  path,
  value,
  text,
  page: pageOf(page, words),
  bbox: boxAround(words),
  confidence,
  expected,
});

const waysTaught = ({ length }: readonly SignedRow[]): readonly TriedWay[] => [
  { by: 'examples', items: length, outcome: length > 0 ? 'won' : 'empty' },
];

const cited = (path: string, { text, page, words, confidence, by }: Signed, inexact: boolean): LocalRead => ({
  path,
  text,
  page: pageOf(page, words),
  bbox: boxAround(words),
  confidence,
  by,
  ...(inexact && { inexact }),
});
