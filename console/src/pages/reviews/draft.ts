import type { Citation, Review } from '@quire/client';
import type { SchemaPart } from '../../document/values.ts';

type Value = Readonly<Record<string, unknown>>;
/** Why a person has to look at what stands at a path. */
export type Doubt = Review['reasons'][number];

/** What is being decided: each step keeps the one before, to go back to. */
export interface Draft {
  readonly result: Value;
  /** Where values stand, and what is in doubt, by paths of `result` as it is now. */
  readonly citations: readonly Citation[];
  readonly doubts: readonly Doubt[];
  readonly accepted: ReadonlySet<string>;
  /** Where the last step was. */
  readonly at: string | undefined;
  readonly before: Draft | undefined;
}

/** What was read, and nothing done to it yet. */
export const draftOf = ({ result, citations, reasons }: Review): Draft => ({
  result: result ?? {},
  citations,
  doubts: reasons,
  accepted: new Set<string>(),
  at: undefined,
  before: undefined,
});

/** A draft as text, to be kept while its page is loaded again; of the steps before it nothing is kept. */
export const draftText = ({ result, citations, doubts, accepted }: Draft): string =>
  JSON.stringify({ result, citations, doubts, accepted: [...accepted] });

/** The draft of a text, after which one goes back to `fresh`. */
export const draftFrom = (text: string, fresh: Draft): Draft => {
  const { accepted, ...kept } = JSON.parse(text) as Pick<Draft, 'result' | 'citations' | 'doubts'> & {
    readonly accepted: readonly string[];
  };
  return { ...kept, accepted: new Set(accepted), at: undefined, before: fresh };
};

export type Step =
  /** `value`: undefined takes it out. */
  | { readonly kind: 'set'; readonly path: string; readonly value: unknown }
  | { readonly kind: 'accept'; readonly path: string }
  /** Rows of the list at `list`; `at` counts from 0. A new one, `value`, stands after `at`, which is -1 before all. */
  | { readonly kind: 'add'; readonly list: string; readonly at: number; readonly value: unknown }
  | { readonly kind: 'remove' | 'join'; readonly list: string; readonly at: number }
  | { readonly kind: 'undo' };

const namesOf = (path: string): readonly string[] =>
  path === ''
    ? []
    : path
        .slice(1)
        .split('/')
        .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

const memberAt = (place: unknown, name: string): unknown => {
  if (Array.isArray(place)) return place[Number(name)] as unknown;
  if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) return undefined;
  return (place as Value)[name];
};

/** What stands at a path; undefined: nothing. */
export const valueAt = (result: unknown, path: string): unknown =>
  namesOf(path).reduce((place, name) => memberAt(place, name), result);

/** A copy with another value at a path, or without what stands there; what is not there on the way is made. */
const withValue = (place: unknown, names: readonly string[], value: unknown): unknown => {
  const [name, ...rest] = names;
  if (name === undefined) return value;
  const inner = withValue(memberAt(place, name), rest, value);
  if (Array.isArray(place))
    return place.map((one: unknown, at) => (String(at) === name ? (inner ?? null) : one));
  const members = typeof place === 'object' && place !== null ? (place as Value) : {};
  const others = Object.entries(members).filter(([one]) => one !== name);
  return Object.fromEntries(inner === undefined ? others : [...others, [name, inner]]);
};

const rowsAt = (result: Value, list: string): readonly unknown[] => {
  const rows = valueAt(result, list);
  return Array.isArray(rows) ? (rows as readonly unknown[]) : [];
};

/** Where rows of a list lead that others were put between or taken from; undefined: nowhere. */
type Moves = (row: number) => number | undefined;

const movedPath = (path: string, list: string, moves: Moves): string | undefined => {
  if (!path.startsWith(`${list}/`)) return path;
  const [row = '', ...rest] = path.slice(list.length + 1).split('/');
  const moved = moves(Number(row));
  return moved === undefined ? undefined : [list, String(moved), ...rest].join('/');
};

/** Two rows as one: texts and lists one after the other, equal texts once, else the first that says something. */
const joined = (one: unknown, other: unknown): unknown => {
  if (typeof one === 'string' && typeof other === 'string') return one === other ? one : `${one} ${other}`;
  if (Array.isArray(one) && Array.isArray(other)) return [...(one as unknown[]), ...(other as unknown[])];
  const isRow = (value: unknown): value is Value => typeof value === 'object' && value !== null;
  if (!isRow(one) || !isRow(other)) return one ?? other;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, joined(one[name], other[name])]));
};

/** The place of a value that a person gave: nobody has said where it stands. */
const BY_PERSON = { text: '', page: null, bbox: null, confidence: 1, by: 'person' } as const;

/** Whether a person gave the value of a citation, and no machine. */
export const isByPerson = ({ by, page }: Citation): boolean => by === 'person' && page === null;

/** Citations without the places of values that stood at a path or below it before a person gave another. */
const citedByPerson = (citations: readonly Citation[], path: string): readonly Citation[] => [
  ...citations.filter((one) => !isWithin(one.path, path)),
  { path, ...BY_PERSON },
];

interface Rows {
  readonly list: string;
  readonly next: readonly unknown[];
  readonly moves: Moves;
}

/** Other rows, with all that is known of those that stay. */
const withRows = (draft: Draft, { list, next, moves }: Rows): Draft => {
  const moved = <Placed extends { readonly path: string }>(all: readonly Placed[]): readonly Placed[] =>
    all.flatMap((one) => {
      const path = movedPath(one.path, list, moves);
      return path === undefined ? [] : [{ ...one, path }];
    });
  return {
    result: withValue(draft.result, namesOf(list), next) as Value,
    citations: moved(draft.citations),
    doubts: moved(draft.doubts),
    accepted: new Set([...draft.accepted].flatMap((path) => movedPath(path, list, moves) ?? [])),
    at: list,
    before: draft,
  };
};

/** Whether the same stands at a path of two results. */
const isSame = (one: Pick<Draft, 'result'>, other: Pick<Draft, 'result'>, path: string): boolean =>
  JSON.stringify(valueAt(one.result, path)) === JSON.stringify(valueAt(other.result, path));

const isWithin = (path: string, at: string): boolean => path === at || path.startsWith(`${at}/`);

const rowStep = (draft: Draft, step: Extract<Step, { readonly list: string }>): Draft => {
  const { kind, list, at } = step;
  const rows = rowsAt(draft.result, list);
  if (kind === 'add') {
    const next = [...rows.slice(0, at + 1), step.value, ...rows.slice(at + 1)];
    return withRows(draft, { list, next, moves: (row) => (row > at ? row + 1 : row) });
  }
  const upwards: Moves = (row) => (row > at ? row - 1 : row === at ? undefined : row);
  if (kind === 'remove')
    return withRows(draft, { list, next: rows.filter((_, row) => row !== at), moves: upwards });
  if (at < 1) return draft;
  const next = [...rows.slice(0, at - 1), joined(rows[at - 1], rows[at]), ...rows.slice(at + 1)];
  const after = withRows(draft, { list, next, moves: upwards });
  const citations = after.citations.map((one) =>
    isWithin(one.path, `${list}/${String(at - 1)}`) && !isSame(draft, after, one.path)
      ? { path: one.path, ...BY_PERSON }
      : one,
  );
  return { ...after, citations };
};

/** The draft after a step. What was set is accepted with it. */
export const stepped = (draft: Draft, step: Step): Draft => {
  if (step.kind === 'undo') return draft.before ?? draft;
  if ('list' in step) return rowStep(draft, step);
  const { path } = step;
  const said = { accepted: new Set([...draft.accepted, path]), at: path, before: draft };
  if (step.kind === 'accept') return { ...draft, ...said };
  const result = withValue(draft.result, namesOf(path), step.value) as Value;
  if (isSame(draft, { result }, path)) return { ...draft, ...said };
  return { ...draft, ...said, result, citations: citedByPerson(draft.citations, path) };
};

/** The part of a schema that a value has to fit. */
const partAt = (schema: SchemaPart, path: string): SchemaPart | undefined =>
  namesOf(path).reduce<SchemaPart | undefined>(
    (part, name) => part?.properties?.[name] ?? part?.items,
    schema,
  );

const typesAt = (schema: SchemaPart, path: string): readonly string[] =>
  [partAt(schema, path)?.type ?? 'string'].flat();

/** Whether the marks of a number part its thousands: `1,234`, `1.234.567`. */
const hasThousands = (digits: string): boolean =>
  /^-?\d{1,3}(?:,\d{3})+$/.test(digits) || /^-?\d{1,3}(?:\.\d{3}){2,}$/.test(digits);

/** A number as people write it: of `1.234,50` and `1,234.50` the last mark parts the cents. */
const numberIn = (text: string): number | undefined => {
  const digits = text.replaceAll(/[^\d.,-]/g, '');
  const last = hasThousands(digits) ? -1 : Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  const whole = (last < 0 ? digits : digits.slice(0, last)).replaceAll(/[.,]/g, '');
  const cents = last < 0 ? '' : digits.slice(last + 1);
  const number = Number(`${whole}.${cents}`);
  return whole === '' || Number.isNaN(number) ? undefined : number;
};

const two = (part: number | string): string => String(part).padStart(2, '0');

const MONTH = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;

/** A day as it stands in documents, as `2031-03-17`; undefined where it may be another one, as `03/04/2031`. */
const dayIn = (text: string): string | undefined => {
  const [, day, month, year] = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/.exec(text) ?? [];
  if (day !== undefined && month !== undefined) return `${year ?? ''}-${two(month)}-${two(day)}`;
  const read = MONTH.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(read.getTime())) return undefined;
  return `${String(read.getFullYear())}-${two(read.getMonth() + 1)}-${two(read.getDate())}`;
};

/** What was typed, as the schema wants it; what cannot be is kept as text, and refused with the decision. */
export const typedValue = (schema: SchemaPart, path: string, text: string): unknown => {
  const types = typesAt(schema, path);
  if (types.includes('number') || types.includes('integer')) return numberIn(text) ?? text;
  if (types.includes('boolean') && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return partAt(schema, path)?.format === 'date' ? (dayIn(text) ?? text) : text;
};

/** How a schema says that a document does not say a value: null, or nothing at all, undefined. */
export const nothingAt = (schema: SchemaPart, path: string): null | undefined => {
  const names = namesOf(path);
  const owner = partAt(schema, path.slice(0, path.lastIndexOf('/')));
  const isNeeded = owner?.required?.includes(names.at(-1) ?? '') === true;
  return isNeeded || typesAt(schema, path).includes('null') ? null : undefined;
};

/** Whether the schema has members or items there, not a value: what stands nowhere may be either. */
export const isGroupAt = (schema: SchemaPart, path: string): boolean => {
  const types = typesAt(schema, path);
  return types.length === 0 || types.some((type) => type === 'object' || type === 'array');
};

/** Whether a value that the schema needs is said to be absent. */
export const isAbsent = (result: unknown, schema: SchemaPart, path: string): boolean =>
  path !== '' &&
  valueAt(result, path) === null &&
  nothingAt(schema, path) === null &&
  !typesAt(schema, path).includes('null');

/** A decision as it is sent: a needed value of which nothing is said is no null, but named as absent. */
export const decisionIn = (
  { result, accepted }: Pick<Draft, 'result' | 'accepted'>,
  schema: SchemaPart,
): { readonly result: Value; readonly absent: readonly string[] } => {
  const absent = [...accepted].filter((path) => isAbsent(result, schema, path));
  const without = absent.reduce((whole, path) => withValue(whole, namesOf(path), undefined) as Value, result);
  return { result: without, absent };
};

/** A new row of a list: an object whose members are filled in, or a value that is. */
export const newRow = (schema: SchemaPart, list: string): unknown =>
  partAt(schema, `${list}/0`)?.properties === undefined ? null : {};

/** The list and the row that a value stands in; of a list that has none, the place before the first. */
export const rowOf = (
  { result, schema }: { readonly result: unknown; readonly schema: SchemaPart },
  path: string,
): { readonly list: string; readonly at: number } | undefined => {
  if (typesAt(schema, path).includes('array')) return { list: path, at: -1 };
  const names = path.split('/');
  for (let end = names.length - 1; end > 0; end -= 1) {
    const list = names.slice(0, end).join('/');
    if (Array.isArray(valueAt(result, list))) return { list, at: Number(names[end]) };
  }
  return undefined;
};
