import words from './sums.json' with { type: 'json' };
import type { Json, JsonObject } from './kernel/json.ts';
import type { CheckOutcome } from './rules/checks.ts';
import { isSampled, type ReviewPolicy, type ReviewReason } from './review.ts';

/** Why a person has to look, and at what. */
export interface Doubt {
  readonly code: ReviewReason;
  /** JSON Pointer into the result; `''` is all of it. */
  readonly path: string;
  /** 0 to 1, if the doubt is about confidence. */
  readonly confidence?: number;
}

/** What a person is asked: what to decide about, and the schema that the decision has to fit. */
export interface Question {
  readonly schema: JsonObject;
  readonly doubts: readonly Doubt[];
  /** Left out where it is not about the parts of a stack. */
  readonly parts?: AskedParts | undefined;
}

/** What becomes of the parts of a stack: those of some classes are documents of a batch. */
export interface AskedParts {
  readonly batch_id: string;
  /** The classes whose parts go to a saved config. */
  readonly sent: readonly string[];
}

/** What was read of a document, as far as a doubt is about it. */
export interface Reading {
  readonly value: JsonObject;
  readonly citations: readonly { readonly path: string; readonly confidence: number }[];
  readonly warnings: readonly {
    readonly code: string;
    readonly path?: string;
    readonly confidence?: number;
  }[];
  readonly errors: readonly { readonly path: string; readonly keyword: string }[];
  /** What came of the checks and look-ups of the config. */
  readonly checks?: readonly Pick<CheckOutcome, 'passed' | 'paths' | 'lookup'>[];
  /** JSON Pointers to the values that an earlier document has too, `''` for its whole file; left out: none. */
  readonly duplicated?: readonly string[];
  readonly file_sha256: string;
}

/** Values that are less sure than that, those among them that were left out for it. */
const unsure = ({ citations, warnings }: Reading, below: number): readonly Doubt[] => {
  const left = warnings.filter(({ code }) => code === 'low_confidence');
  return [...citations, ...left].flatMap(({ path, confidence = 0 }) =>
    path !== undefined && confidence < below ? [{ code: 'below' as const, path, confidence }] : [],
  );
};

/** Name of a member as the lists of words have it: `netAmount`, `Net amount` and `net_amount` are one. */
const wordOf = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_');

const AMOUNTS: ReadonlySet<string> = new Set(words.amounts);
const TOTALS: ReadonlySet<string> = new Set(words.totals);
const BESIDE: ReadonlySet<string> = new Set(words.beside);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** Numbers of an object whose names are among some words, with their names. */
const numbersOf = (object: JsonObject, among: ReadonlySet<string>): readonly (readonly [string, number])[] =>
  Object.entries(object).flatMap(([name, value]) =>
    typeof value === 'number' && among.has(wordOf(name)) ? [[name, value] as const] : [],
  );

/** Half a cent for each item: what rounding the items may make of their sum. */
const ROUNDING = 0.005;
const MEMBERS_MAX = 6;

/** Every sum that some of the amounts may have, taken off: taxes and postage stand beside the items. */
const without = (total: number, beside: readonly number[]): readonly number[] =>
  beside
    .slice(0, MEMBERS_MAX)
    .reduce<readonly number[]>((sums, one) => [...sums, ...sums.map((sum) => sum - one)], [total]);

/**
 * Whether the items add up to a total: any column of amounts, to any total, with or without what stands beside them.
 * undefined: there is nothing to add up.
 */
const addsUp = (items: readonly Json[], owner: JsonObject): boolean | undefined => {
  const totals = numbersOf(owner, TOTALS);
  const rows = items.filter(isObject);
  const [first] = rows;
  if (totals.length === 0 || first === undefined || rows.length < items.length) return undefined;
  const columns = numbersOf(first, AMOUNTS).flatMap(([name]) => {
    const cells = rows.map((row) => row[name]).filter((cell) => typeof cell === 'number');
    return cells.length === rows.length ? [cells.reduce((sum, cell) => sum + cell, 0)] : [];
  });
  if (columns.length === 0) return undefined;
  const beside = numbersOf(owner, BESIDE).map(([, value]) => value);
  const wanted = totals.flatMap(([, total]) => without(total, beside));
  const slack = ROUNDING * (rows.length + 1);
  return columns.some((sum) => wanted.some((total) => Math.abs(sum - total) <= slack));
};

/** Pointers to totals that their items do not add up to, and to those items. */
const wrongSums = (value: Json, at: string): readonly string[] => {
  if (isList(value)) return value.flatMap((item, index) => wrongSums(item, `${at}/${String(index)}`));
  if (!isObject(value)) return [];
  const place = (name: string) => `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return Object.entries(value).flatMap(([name, member]) => {
    const below = wrongSums(member, place(name));
    if (!isList(member) || addsUp(member, value) !== false) return below;
    return [...numbersOf(value, TOTALS).map(([total]) => place(total)), place(name), ...below];
  });
};

/** Two readings of a value differ, or parts of a document do. */
const DIFFER: ReadonlySet<string> = new Set(['readings_differ', 'contradicted']);

const broken = ({ value, warnings }: Reading): readonly Doubt[] =>
  [
    ...wrongSums(value, ''),
    ...warnings.flatMap(({ code, path }) => (DIFFER.has(code) && path !== undefined ? [path] : [])),
  ].map((path) => ({ code: 'rules', path }));

/** A check that has failed is about what it names, or about all of the result; a look-up is about one value. */
const failed = ({ checks = [] }: Reading): readonly Doubt[] =>
  checks.flatMap(({ passed, paths, lookup }) => {
    if (passed !== false) return [];
    const code = lookup === undefined ? 'check_failed' : 'lookup_doubtful';
    return (paths.length === 0 ? [''] : paths).map((path) => ({ code, path }) as const);
  });

const repeated = ({ duplicated = [] }: Reading): readonly Doubt[] =>
  duplicated.map((path) => ({ code: 'duplicate', path }));

/** What a person has to look at, by what was asked for; none: nobody has to. */
export const doubtsIn = (reading: Reading, policy: ReviewPolicy): readonly Doubt[] => {
  const missing = reading.errors.filter(({ keyword }) => keyword === 'required');
  const doubts: readonly Doubt[] = [
    ...(policy.below === undefined ? [] : unsure(reading, policy.below)),
    ...(policy.missing_required === true
      ? missing.map(({ path }) => ({ code: 'missing_required' as const, path }))
      : []),
    ...(policy.rules === true ? [...broken(reading), ...failed(reading), ...repeated(reading)] : []),
    ...(policy.sample !== undefined && isSampled(reading.file_sha256, policy.sample)
      ? [{ code: 'sample' as const, path: '' }]
      : []),
  ];
  const told = new Set<string>();
  return doubts.filter(({ code, path }) => {
    const name = `${code} ${path}`;
    return !told.has(name) && told.add(name).has(name);
  });
};
