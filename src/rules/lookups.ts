import { pointedName } from '@quire/engine/kernel/json';
import { tableKeyOf } from '../../domain/rules/masterTable.ts';
import type { Json, JsonObject } from '../../domain/kernel/json.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import {
  type Check,
  type CheckOutcome,
  type LookupFound,
  lookupPath,
  type PinnedLookup,
} from '../../domain/rules/checks.ts';
import { getOrAside } from '../writer/setAside.ts';
import type { FoundRow, FoundRows, LookupWorker } from './lookupWork.ts';
import type { RulesAnswer, RulesWorker } from './rulesWork.ts';

/** Values of one result that are looked up: more are said to be too many. */
export const LOOKED_UP_MAX = 500;

/** Below it a value is in doubt, where a config does not say otherwise. */
export const MIN_SCORE = 0.85;

/** A value of a result with its place. */
interface Placed {
  readonly path: string;
  readonly value: Json;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !isList(value);

/** What stands below a value by the next part of a path; `*`: each item of a list. */
const below = ({ path, value }: Placed, part: string): readonly Placed[] => {
  if (isList(value))
    return part === '*' ? value.map((item, at) => ({ path: `${path}/${String(at)}`, value: item })) : [];
  const name = pointedName(part);
  const member = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return member === undefined ? [] : [{ path: `${path}/${part}`, value: member }];
};

/** The values of a field that say something, each with its place. */
const valuesAt = (result: JsonObject, pointer: string): readonly Placed[] => {
  let found: readonly Placed[] = [{ path: '', value: result }];
  for (const part of pointer.split('/').slice(1)) found = found.flatMap((one) => below(one, part));
  return found.filter(({ value }) => value !== null && value !== '');
};

/** A value as it is compared with texts; undefined: it is no single value. */
const textOf = (value: Json): string | undefined =>
  isObject(value) || isList(value) ? undefined : String(value);

interface LookedUp {
  readonly lookup: PinnedLookup;
  readonly values: readonly Placed[];
}

const nothingOf = ({ table_id, version, column }: PinnedLookup): LookupFound => ({
  table_id,
  table_version: version,
  column,
  score: null,
  row: null,
  match: null,
  values: null,
  equal_rows: 0,
});

/** One outcome for each value. */
const failed = ({ lookup, values }: LookedUp, message: string): readonly CheckOutcome[] =>
  values.map(({ path }) => ({
    name: path,
    passed: false,
    message,
    lookup: nothingOf(lookup),
    paths: [path],
  }));

const outcomeOf = (lookup: PinnedLookup, { path }: Placed, found: FoundRow | undefined): CheckOutcome => {
  const { min_score = MIN_SCORE } = lookup;
  const nothing = nothingOf(lookup);
  if (found === undefined)
    return {
      name: path,
      passed: false,
      message: 'The table has nothing like it.',
      lookup: nothing,
      paths: [path],
    };
  const { score, row, text: match, values, equal_rows } = found;
  const passed = score >= min_score;
  return {
    name: path,
    passed,
    ...(!passed && { message: 'The best match of the table is not like enough.' }),
    lookup: { ...nothing, score, row, match, values, equal_rows },
    paths: [path],
  };
};

const MISSING = 'There is no such value in the result.';
const TOO_MANY = `More than ${String(LOOKED_UP_MAX)} values of a result are not looked up.`;
const NO_TABLE = 'The table was removed.';
const NO_COLUMN = 'This version of the table has no such column.';
const TOO_MUCH = 'Looking the values up took more time or memory than it may.';

/** A field without a value is neither found nor missed: whether it may be missing is said by the schema. */
const missing = ({ lookup }: LookedUp): readonly CheckOutcome[] => {
  const path = lookupPath(lookup.field);
  return [{ name: path, passed: null, message: MISSING, lookup: nothingOf(lookup), paths: [] }];
};

const found = ({ lookup, values }: LookedUp, rows: FoundRows = 'no_table'): readonly CheckOutcome[] => {
  if (typeof rows === 'string') return failed({ lookup, values }, rows === 'no_table' ? NO_TABLE : NO_COLUMN);
  return values.map((value, at) => outcomeOf(lookup, value, rows[at]));
};

/** What is looked up of a result: the first values, over all look-ups in their order. */
const chosen = (lookups: readonly PinnedLookup[], result: JsonObject) => {
  let left = LOOKED_UP_MAX;
  return lookups.map((lookup) => {
    const values = valuesAt(result, lookupPath(lookup.field));
    const taken = values.slice(0, left);
    left -= taken.length;
    return { lookup, values: taken, isCut: taken.length < values.length };
  });
};

interface LookupsDeps {
  readonly worker: LookupWorker;
  readonly objects: Pick<ObjectStore, 'get'>;
}

/** The values of a result that a look-up is about, and why none of them can be found. */
const unasked = (one: LookedUp): readonly CheckOutcome[] | undefined => {
  if (one.values.length === 0) return missing(one);
  return one.lookup.sha256 === null ? failed(one, NO_TABLE) : undefined;
};

const CUT = { name: 'lookups', passed: false, message: TOO_MANY, paths: [] } as const;

/** Looks values of a result up. Throws once `signal` says that nobody waits for it. */
export type LooksUp = (
  asked: { readonly share: string; readonly lookups: readonly PinnedLookup[] },
  result: JsonObject,
  signal: AbortSignal,
) => Promise<readonly CheckOutcome[]>;

/** What a config says of each result, and whose it is. */
interface Judging {
  readonly tenant_id: string;
  readonly schema: JsonObject;
  readonly checks?: readonly Check[] | undefined;
  readonly lookups?: readonly PinnedLookup[] | undefined;
  readonly signal: AbortSignal;
}

/** undefined: the request has no rules, or its caller has left. */
export const judgedBy = async (
  { rules, lookUp }: { readonly rules: RulesWorker; readonly lookUp: LooksUp },
  { checks = [], lookups = [], tenant_id: share, schema, signal }: Judging,
  result: JsonObject,
): Promise<RulesAnswer | undefined> => {
  if (checks.length + lookups.length === 0) return undefined;
  try {
    const none = { checks: [] };
    const judged = checks.length === 0 ? none : await rules.judge(share, { checks, schema, result }, signal);
    const found = lookups.length === 0 ? [] : await lookUp({ share, lookups }, result, signal);
    return { checks: [...judged.checks, ...found] };
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
};

/** Looks the fields of a result up, each in the version of its table that counted when the work was accepted. */
export const lookedUp =
  ({ worker, objects }: LookupsDeps) =>
  async (
    { share, lookups }: { readonly share: string; readonly lookups: readonly PinnedLookup[] },
    result: JsonObject,
    signal: AbortSignal,
  ): ReturnType<LooksUp> => {
    const every = chosen(lookups, result);
    const all = every.filter(({ values, isCut }) => values.length > 0 || !isCut);
    const asked = all.filter((one) => unasked(one) === undefined);
    const keys = new Map(
      asked.map(({ lookup: { table_id, sha256 } }) => [sha256 ?? '', tableKeyOf(table_id, sha256 ?? '')]),
    );
    const answer =
      asked.length === 0
        ? ({ kind: 'found', found: [] } as const)
        : await worker.look(
            share,
            {
              asked: asked.map(({ lookup: { sha256, column }, values }) => ({
                sha256: sha256 ?? '',
                column,
                values: values.map(({ value }) => textOf(value) ?? ''),
              })),
              linesOf: (sha256) => getOrAside(objects, keys.get(sha256) ?? ''),
            },
            signal,
          );
    const outcomes = all.flatMap((one) => {
      const before = unasked(one);
      if (before !== undefined) return before;
      if (answer.kind === 'too_much') return failed(one, TOO_MUCH);
      return found(one, answer.found[asked.indexOf(one)]);
    });
    return every.some(({ isCut }) => isCut) ? [...outcomes, CUT] : outcomes;
  };
