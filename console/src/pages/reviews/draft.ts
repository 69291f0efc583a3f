import type { Citation } from '@quire/client';
import type { SchemaPart } from '../../document/values.ts';

type Value = Readonly<Record<string, unknown>>;

/** What is being decided: each step keeps the one before, to go back to. */
export interface Draft {
  readonly result: Value;
  /** Where values stand, and what is in doubt, by paths of `result` as it is now. */
  readonly citations: readonly Citation[];
  readonly doubts: readonly string[];
  readonly accepted: ReadonlySet<string>;
  readonly before: Draft | undefined;
}

export type Step =
  | { readonly kind: 'set'; readonly path: string; readonly value: unknown }
  | { readonly kind: 'accept'; readonly path: string }
  /** Rows: of the list at `list`; `at` counts from 0. */
  | { readonly kind: 'add' | 'remove' | 'join'; readonly list: string; readonly at: number }
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

/** A copy with another value at a path; what is not there on the way is made. */
const withValue = (place: unknown, names: readonly string[], value: unknown): unknown => {
  const [name, ...rest] = names;
  if (name === undefined) return value;
  const inner = withValue(memberAt(place, name), rest, value);
  if (Array.isArray(place)) return place.map((one: unknown, at) => (String(at) === name ? inner : one));
  const members = typeof place === 'object' && place !== null ? (place as Value) : {};
  return Object.fromEntries([...Object.entries(members).filter(([one]) => one !== name), [name, inner]]);
};

const rowsAt = (result: Value, list: string): readonly unknown[] => {
  const rows = valueAt(result, list);
  return Array.isArray(rows) ? (rows as readonly unknown[]) : [];
};

/** Where a path of a list leads once the row `at` is gone; undefined: with it. */
const movedPath = (path: string, list: string, at: number): string | undefined => {
  if (!path.startsWith(`${list}/`)) return path;
  const [row = '', ...rest] = path.slice(list.length + 1).split('/');
  const number = Number(row);
  if (!Number.isInteger(number) || number < at) return path;
  return number === at ? undefined : [list, String(number - 1), ...rest].join('/');
};

/** Two rows as one: texts one after the other, else the first that says something. */
const joined = (one: unknown, other: unknown): unknown => {
  if (typeof one === 'string' && typeof other === 'string') return `${one} ${other}`;
  const isRow = (value: unknown): value is Value => typeof value === 'object' && value !== null;
  if (!isRow(one) || !isRow(other)) return one ?? other;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, joined(one[name], other[name])]));
};

const withoutRow = (draft: Draft, list: string, at: number): Omit<Draft, 'before'> => ({
  result: withValue(
    draft.result,
    namesOf(list),
    rowsAt(draft.result, list).filter((_, row) => row !== at),
  ) as Value,
  citations: draft.citations.flatMap((one) => {
    const path = movedPath(one.path, list, at);
    return path === undefined ? [] : [{ ...one, path }];
  }),
  doubts: draft.doubts.flatMap((path) => movedPath(path, list, at) ?? []),
  accepted: new Set([...draft.accepted].flatMap((path) => movedPath(path, list, at) ?? [])),
});

const rowStep = (
  draft: Draft,
  { kind, list, at }: Extract<Step, { readonly list: string }>,
): Omit<Draft, 'before'> => {
  const rows = rowsAt(draft.result, list);
  const put = (next: readonly unknown[]) => withValue(draft.result, namesOf(list), next) as Value;
  if (kind === 'add') return { ...draft, result: put([...rows, {}]) };
  if (kind === 'remove' || at < 1) return withoutRow(draft, list, at);
  const one = joined(rows[at - 1], rows[at]);
  return withoutRow({ ...draft, result: put(rows.map((row, n) => (n === at - 1 ? one : row))) }, list, at);
};

/** The draft after a step. What was set is accepted with it. */
export const stepped = (draft: Draft, step: Step): Draft => {
  if (step.kind === 'undo') return draft.before ?? draft;
  if ('list' in step) return { ...rowStep(draft, step), before: draft };
  const accepted = new Set([...draft.accepted, step.path]);
  if (step.kind === 'accept') return { ...draft, accepted, before: draft };
  const result = withValue(draft.result, namesOf(step.path), step.value) as Value;
  return { ...draft, result, accepted, before: draft };
};

/** The part of a schema that a value has to fit. */
const partAt = (schema: SchemaPart, path: string): SchemaPart | undefined =>
  namesOf(path).reduce<SchemaPart | undefined>(
    (part, name) => part?.properties?.[name] ?? part?.items,
    schema,
  );

/** A number as people write it: of `1.234,50` and `1,234.50` the last mark parts the cents. */
const numberIn = (text: string): number | undefined => {
  const digits = text.replaceAll(/[^\d.,-]/g, '');
  const last = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  const cents = last < 0 ? '' : digits.slice(last + 1);
  const isGroup =
    cents.length === 3 && digits.replace(/[^.,]/g, '').length === 1 && digits.charAt(last) === ',';
  const whole = (last < 0 || isGroup ? digits : digits.slice(0, last)).replaceAll(/[.,]/g, '');
  const number = Number(isGroup || cents === '' ? whole : `${whole}.${cents}`);
  return whole === '' || Number.isNaN(number) ? undefined : number;
};

/** What was typed, as the schema wants it; what cannot be is kept as text, and refused with the decision. */
export const typedValue = (schema: SchemaPart, path: string, text: string): unknown => {
  const types = [partAt(schema, path)?.type ?? 'string'].flat();
  if (types.includes('number') || types.includes('integer')) return numberIn(text) ?? text;
  if (types.includes('boolean') && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return text;
};

/** The list and the row that a value stands in. */
export const rowOf = (
  result: unknown,
  path: string,
): { readonly list: string; readonly at: number } | undefined => {
  const names = path.split('/');
  for (let end = names.length - 1; end > 0; end -= 1) {
    const list = names.slice(0, end).join('/');
    if (Array.isArray(valueAt(result, list))) return { list, at: Number(names[end]) };
  }
  return undefined;
};
