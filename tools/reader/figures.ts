import type { Json, JsonObject } from '@quire/engine/kernel/json';
import { toldOf, type Told } from './calibrating.ts';
import type { Answered, Counts, Item, Scorer } from './corpus.ts';

/** What one document's answer is worth. */
export interface Scored {
  readonly all: Counts;
  /** Of the values outside lists. */
  readonly singles: Counts;
  readonly values: readonly Answered[];
  readonly told: readonly Told[];
  readonly absent: number;
  readonly invented: number;
  readonly cited: { readonly hit: number; readonly n: number };
  readonly ms: number;
  readonly failed: boolean;
  /** By a benchmark's own count, 0..1. */
  readonly own: number | undefined;
}

export interface Answer {
  readonly value: JsonObject;
  readonly citations: readonly { readonly path: string; readonly confidence: number }[];
  readonly ms: number;
  readonly failed: boolean;
}

/** A value without its lists. */
function withoutLists(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).filter(([, member]) => !Array.isArray(member));
  return Object.fromEntries(members.map(([name, member]) => [name, withoutLists(member)]));
}

export interface Scoring {
  readonly scorer: Scorer;
  readonly strict: (truth: JsonObject, got: JsonObject) => Counts;
  readonly docu: (value: JsonObject, schema: JsonObject, truth: JsonObject) => number;
}

export function scored(item: Item, { value, citations, ms, failed }: Answer, by: Scoring): Scored {
  const { scorer, strict, docu } = by;
  const { truth, schema, strict: isStrict } = item;
  const count = (expected: JsonObject, got: JsonObject): Counts =>
    isStrict ? strict(expected, got) : scorer.compare(expected, got, schema, item);
  const { values, absent, invented } = scorer.honesty(truth, value, schema, citations, item);
  return {
    all: count(truth, value),
    singles: count(withoutLists(truth) as JsonObject, withoutLists(value) as JsonObject),
    values,
    told: toldOf(values, value, { document: item.id, kind: item.kind ?? item.set }),
    absent,
    invented,
    cited: scorer.citationHits(citations, value, schema),
    ms,
    failed,
    own: item.set.startsWith('docubench') ? docu(value, schema, truth) : undefined,
  };
}

/** A value that stands in an answer or a truth, and its schema. */
interface Leaf {
  readonly value: Json;
  readonly schema: JsonObject;
  /** Of its member, without the places in lists. */
  readonly path: string;
}

const memberOf = (schema: Json | undefined, name: string): JsonObject =>
  ((schema as JsonObject | undefined)?.[name] ?? {}) as JsonObject;

const leavesOf = (value: Json, schema: JsonObject, path = ''): readonly Leaf[] => {
  if (value === null || value === '') return [];
  if (Array.isArray(value))
    return (value as readonly Json[]).flatMap((one) => leavesOf(one, memberOf(schema, 'items'), path));
  if (typeof value !== 'object') return [{ value, schema, path }];
  const members = memberOf(schema, 'properties');
  return Object.entries(value).flatMap(([name, one]) =>
    leavesOf(one, memberOf(members, name), `${path}/${name}`),
  );
};

/** What a proposed schema is worth: of a truth's values those that an extraction by it says too, each once. */
export interface Proposed {
  readonly values: number;
  readonly covered: number;
  /** Fields of the proposal, those of rows among them, and of these such as have a value. */
  readonly fields: number;
  readonly found: number;
}

const fieldsOf = (schema: JsonObject, path = ''): readonly string[] => {
  if (schema['type'] === 'array') return fieldsOf(memberOf(schema, 'items'), path);
  const { properties } = schema;
  return properties === undefined
    ? [path]
    : Object.entries(properties as JsonObject).flatMap(([name, one]) =>
        fieldsOf(one as JsonObject, `${path}/${name}`),
      );
};

export const proposedOf = (
  { truth, schema, match }: Item,
  { proposal, value }: { readonly proposal: JsonObject; readonly value: JsonObject },
  { agrees }: Scorer,
): Proposed => {
  const told = leavesOf(truth, schema);
  const said = [...leavesOf(value, proposal)];
  const fields = fieldsOf(proposal);
  const found = new Set(said.map(({ path }) => path));
  const covered = told.filter((one) => {
    const at = said.findIndex((other) => agrees(one.value, other.value, one.schema, match[one.path]));
    if (at >= 0) said.splice(at, 1);
    return at >= 0;
  });
  return {
    values: told.length,
    covered: covered.length,
    fields: fields.length,
    found: fields.filter((one) => found.has(one)).length,
  };
};

const sum = (scores: readonly Scored[], of: (one: Scored) => number): number =>
  scores.reduce((total, one) => total + of(one), 0);

/** 1 where nothing is expected and nothing answered. */
export const f1 = ({ tp, fp, fn }: Counts): number =>
  tp + fp + fn === 0 ? 1 : (2 * tp) / (2 * tp + fp + fn);

const added = (scores: readonly Scored[], of: (one: Scored) => Counts): Counts => ({
  tp: sum(scores, (one) => of(one).tp),
  fp: sum(scores, (one) => of(one).fp),
  fn: sum(scores, (one) => of(one).fn),
});

const share = (values: readonly Answered[], from: number, to: number): string => {
  const within = values.filter(({ confidence = 0 }) => confidence >= from && confidence < to);
  return within.length === 0 ? '-' : `${within.filter(({ right }) => right).length}/${within.length}`;
};

const figure = (value: number): string => (Number.isNaN(value) ? '-' : value.toFixed(3));

/** One row of the table: every figure of a set. */
export function rowOf(scores: readonly Scored[]): Readonly<Record<string, string>> {
  const all = added(scores, ({ all: counts }) => counts);
  const values = scores.flatMap((one) => one.values);
  const singles = values.filter(({ single }) => single);
  const listed = values.filter(({ single }) => !single);
  const { hit, n } = { hit: sum(scores, ({ cited }) => cited.hit), n: sum(scores, ({ cited }) => cited.n) };
  const failures = scores.filter(({ failed }) => failed).length;
  return {
    documents: failures === 0 ? String(scores.length) : `${scores.length}, ${failures} failed`,
    values: String(all.tp + all.fn),
    precision: figure(all.tp / (all.tp + all.fp)),
    recall: figure(all.tp / (all.tp + all.fn)),
    F1: figure(f1(all)),
    'macro F1': figure(sum(scores, (one) => f1(one.all)) / scores.length),
    'F1 of single values': figure(f1(added(scores, (one) => one.singles))),
    invented: `${sum(scores, (one) => one.invented)}/${sum(scores, ({ absent }) => absent)}`,
    'single >= .9': share(singles, 0.9, 2),
    'single .8-.9': share(singles, 0.8, 0.9),
    'listed >= .9': share(listed, 0.9, 2),
    'listed .8-.9': share(listed, 0.8, 0.9),
    cited: figure(hit / n),
    'own score': figure(sum(scores, ({ own = NaN }) => own) / scores.length),
    seconds: (sum(scores, ({ ms }) => ms) / 1000).toFixed(1),
  };
}

/** The least and the highest F1 of runs that differ in their seeds alone. */
export function spread(runs: readonly (readonly Scored[])[]): string {
  const found = runs.map((scores) => f1(added(scores, ({ all }) => all)));
  return runs.length < 2 ? '' : `${figure(Math.min(...found))}-${figure(Math.max(...found))}`;
}

/** A table in Markdown. */
export function tableOf(rows: readonly Readonly<Record<string, string>>[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => row[column] ?? ''))),
  ].join('\n');
}
