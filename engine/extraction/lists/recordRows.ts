import { type EvidenceKind, textFinding, type Finding, type RowFindings } from '../finding.ts';
import type { Field } from '../fields/fields.ts';
import type { Pair } from '../form/pair.ts';
import type { Segment } from '../places/layout.ts';
import { labelIndexOf } from '../singles/labelIndex.ts';
import { impliedBy, shapeOf } from '../singles/shapes.ts';
import { valuesAt, type ValueReading } from '../singles/values.ts';
import type { Source } from '../source.ts';

/** A label that says a member of the list, with the value beside it. */
interface Hit {
  readonly field: Field;
  readonly pair: Pair;
  readonly score: number;
  readonly value: ValueReading;
}

/** A label must say its member so well. */
const NAMED = 0.6;
/** One record may be the document itself; two are a list. */
const RECORDS_MIN = 2;
const RECORDS_MAX = 1000;
/** So many of the members must be labelled, and in most of the records. */
const MEMBERS_SHARE = 0.5;
const RECORDS_SHARE = 0.6;
/** Ways in which a label that repeats shows itself as one: beside its value, for above it stand headers. */
const KINDS: ReadonlySet<EvidenceKind> = new Set<EvidenceKind>(['colon', 'cell', 'right', 'beside']);

/**
 * The rows of a list that is printed as blocks of labels and values, one after another: each begins where
 * the same label comes again. A member without a label may be the text right above.
 */
export function recordRows(fields: readonly Field[], source: Source): readonly RowFindings[] {
  if (fields.length < 2) return [];
  const records = bestRecords(hitsOf(fields, source)).slice(0, RECORDS_MAX);
  const members = usualMembers(records);
  if (records.length < RECORDS_MIN || members.size < Math.max(2, MEMBERS_SHARE * fields.length)) return [];
  const titles = titlesOf(records, fields, source);
  return records.map((record, i) => rowOf(record, titles[i]));
}

function hitsOf(fields: readonly Field[], source: Source): readonly Hit[] {
  const best = new Map<Pair, Hit>();
  for (const hit of fields.flatMap((field) => hitsFor(field, source)))
    if (hit.score > (best.get(hit.pair)?.score ?? 0)) best.set(hit.pair, hit);
  const place = ({ pair: { at, value } }: Hit): number => at.index + value.from / 1e6;
  return [...best.values()].sort((a, b) => place(a) - place(b));
}

const hitsFor = (field: Field, source: Source): readonly Hit[] =>
  labelIndexOf(source)
    .labelled(field.terms, impliedBy(shapeOf(field)))
    .filter(({ score }) => score >= NAMED)
    .flatMap(({ label, score }) =>
      label.pairs.flatMap((pair): readonly Hit[] => {
        const [value] = KINDS.has(pair.kind)
          ? valuesAt(pair.value, { field, conventions: source.conventions })
          : [];
        return value === undefined ? [] : [{ field, pair, score, value }];
      }),
    );

type Record = ReadonlyMap<Field, Hit>;

/** The records as they begin with the member that leaves the fewest values alone; of several, the first. */
function bestRecords(hits: readonly Hit[]): readonly Record[] {
  let [best, most]: [readonly Record[], number] = [[], 0];
  for (const anchor of new Set(hits.map(({ field }) => field))) {
    const records = recordsOf(hits, anchor);
    const whole = records.filter(({ size }) => size > 1);
    const held = whole.reduce((sum, { size }) => sum + size, 0) - (records.length - whole.length);
    if (held > most) [best, most] = [whole, held];
  }
  return best;
}

function recordsOf(hits: readonly Hit[], anchor: Field): readonly Record[] {
  const records: Map<Field, Hit>[] = [];
  for (const hit of hits) {
    const last = records.at(-1);
    if (hit.field === anchor) records.push(new Map([[anchor, hit]]));
    else if (last !== undefined && !last.has(hit.field)) last.set(hit.field, hit);
  }
  return records;
}

/** Members that most of the records have. */
function usualMembers(records: readonly Record[]): ReadonlySet<Field> {
  const counts = new Map<Field, number>();
  for (const field of records.flatMap((record) => [...record.keys()]))
    counts.set(field, (counts.get(field) ?? 0) + 1);
  return new Set(
    [...counts].flatMap(([field, count]) => (count >= RECORDS_SHARE * records.length ? [field] : [])),
  );
}

/** The texts alone in the rows above the records, for the only member that has no label; all must differ. */
function titlesOf(
  records: readonly Record[],
  fields: readonly Field[],
  source: Source,
): readonly (readonly [string, Finding] | undefined)[] {
  const [field, ...others] = fields.filter((one) => !records.some((record) => record.has(one)));
  if (field === undefined || others.length > 0) return [];
  const titles = records.map((record) => titleAbove(record, field, source));
  const texts = new Set(titles.map((title) => JSON.stringify(title?.value)));
  return titles.every((title) => title !== undefined) && texts.size === titles.length
    ? titles.map((title) => [field.pointer, title] as const)
    : [];
}

function titleAbove(record: Record, field: Field, source: Source): Finding | undefined {
  const first = [...record.values()][0]?.pair.at;
  const above = first === undefined ? undefined : source.layout.rows[first.row - 1];
  const [only, ...others] = above?.segments ?? [];
  if (only === undefined || others.length > 0 || only.page !== first?.page) return undefined;
  const [value] = valuesAt(wholeOf(only), { field, conventions: source.conventions });
  return value === undefined ? undefined : findingAt(value, 0.5, 'place');
}

const wholeOf = (segment: Segment): Pair['value'] => ({ segment, from: 0, to: segment.text.length });

const rowOf = (record: Record, title: readonly [string, Finding] | undefined): RowFindings =>
  new Map([
    ...(title === undefined ? [] : [title]),
    ...[...record.values()].flatMap(({ field, value, score, pair }): readonly [string, Finding][] => {
      const finding = findingAt(value, 0.9 * score, pair.kind);
      return finding === undefined ? [] : [[field.pointer, finding]];
    }),
  ]);

function findingAt({ segment, from, to, ...value }: ValueReading, label: number, kind: EvidenceKind) {
  const evidence = { label, strictness: value.strictness, margin: 0.2, agreement: 0, kind };
  const finding = textFinding([{ segment, from, to }], evidence);
  return finding === undefined ? undefined : { ...finding, value: value.value };
}
