import { canonicalJson } from '../../../domain/kernel/chain.ts';
import type { Json } from '../../../domain/kernel/json.ts';
import type { AuditedEvent } from '../log/auditedEvent.ts';
import type { Watcher } from '../log/auditLog.ts';
import type { Emit, ExpectedModel } from '../expected/expectedRows.ts';
import type { Findings } from '../findings.ts';
import { groupOf, plainColumns, plainRow, rowDigests, type PlainRow, type RowDigests } from './rowDigests.ts';
import type { ReadModelSnapshot, SnapshotModel } from './snapshot.ts';

/** Folds each read model up to its own checkpoint. */
const expectedUpTo = (models: readonly ExpectedModel[], snapshot: ReadModelSnapshot, emit: Emit) => {
  const folds = models.flatMap((model) => {
    const found = snapshot.models.find(({ name }) => name === model.name);
    return found === undefined ? [] : [{ fold: model.start(emit), upTo: found.position ?? -1n }];
  });
  return {
    apply: (event: AuditedEvent): void => {
      for (const { fold, upTo } of folds) if (event.position <= upTo) fold.apply(event);
    },
    finish: (): void => {
      for (const { fold } of folds) fold.finish();
    },
  };
};

const emitInto =
  (digests: RowDigests): Emit =>
  (table, row) =>
    digests.add(table.name, plainColumns(table, row));

/** What a comparison needs of the log: its events again, when rows have to be named. */
interface Comparison {
  readonly findings: Findings;
  readonly snapshot: ReadModelSnapshot;
  readonly models: readonly ExpectedModel[];
  /** Reads the events of the log once more. */
  readonly replay: (see: (event: AuditedEvent) => void) => Promise<void>;
}

type Groups = ReadonlyMap<string, ReadonlySet<string>>;

const differing = (expected: RowDigests, found: RowDigests, table: string): ReadonlySet<string> => {
  const [a, b] = [expected.groups(table), found.groups(table)];
  const names = [...new Set([...a.keys(), ...b.keys()])];
  return new Set(
    names.filter((name) => a.get(name)?.sum !== b.get(name)?.sum || a.get(name)?.rows !== b.get(name)?.rows),
  );
};

/** Rows that are looked at one by one; in a table that is wholly wrong the first ones tell enough. */
const ROWS_MAX = 200_000;

/** Rows of the tenants in question by table and key, as many as are looked at. */
const rowsByKey = (groups: Groups, keys: ReadonlyMap<string, readonly string[]>) => {
  const tables = new Map<string, Map<string, PlainRow>>();
  return {
    add: (table: string, row: PlainRow): void => {
      if (groups.get(table)?.has(groupOf(row)) !== true) return;
      const rows = tables.get(table) ?? new Map<string, PlainRow>();
      tables.set(table, rows);
      const key = (keys.get(table) ?? []).map((column) => keyText(row[column])).join(' ');
      if (rows.size < ROWS_MAX) rows.set(key, row);
    },
    of: (table: string): ReadonlyMap<string, PlainRow> => tables.get(table) ?? new Map<string, PlainRow>(),
  };
};

const textOf = (value: Json | undefined): string =>
  value === undefined ? 'no such column' : canonicalJson(value);

/** A part of a key as it is printed: texts without quotes. */
const keyText = (value: Json | undefined): string => (typeof value === 'string' ? value : textOf(value));

const about = (table: string, key: string, row: PlainRow) => {
  const tenant_id = groupOf(row);
  return { check: 'read_models', table, key, ...(tenant_id === '' ? {} : { tenant_id }) } as const;
};

const tellColumns = (
  findings: Findings,
  { table, key }: { readonly table: string; readonly key: string },
  [expected, found]: readonly [PlainRow, PlainRow],
): void => {
  for (const column of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const [should, is] = [textOf(expected[column]), textOf(found[column])];
    if (should !== is)
      findings.add({
        ...about(table, key, expected),
        message: `Table ${table}, row ${key}: ${column} differs from the events.`,
        column,
        expected: should,
        found: is,
      });
  }
};

const tellRows = (
  findings: Findings,
  table: string,
  [expected, found]: readonly [ReadonlyMap<string, PlainRow>, ReadonlyMap<string, PlainRow>],
): void => {
  for (const [key, row] of expected) {
    const other = found.get(key);
    if (other !== undefined) tellColumns(findings, { table, key }, [row, other]);
    else
      findings.add({
        ...about(table, key, row),
        message: `Table ${table}: row ${key} is missing.`,
        expected: canonicalJson(row),
      });
  }
  for (const [key, row] of found)
    if (!expected.has(key))
      findings.add({
        ...about(table, key, row),
        message: `Table ${table}: row ${key} is not in the events.`,
        found: canonicalJson(row),
      });
};

const coveredBy = (models: readonly ExpectedModel[]): ReadonlySet<string> =>
  new Set(models.flatMap(({ tables }) => tables.map(({ name }) => name)));

const digestFound = async ({ findings, snapshot, models }: Comparison): Promise<RowDigests> => {
  const covered = coveredBy(models);
  const found = rowDigests();
  for (const { tables } of snapshot.models)
    for (const { name } of tables) {
      if (!covered.has(name)) continue;
      for await (const row of snapshot.rows(name)) {
        found.add(name, plainRow(row));
        findings.checked('read_models');
      }
    }
  return found;
};

/** A second, slower reading names the rows of the tenants whose sums differ. */
const nameRows = async (comparison: Comparison, groups: Groups): Promise<void> => {
  const { findings, snapshot, models } = comparison;
  const keys = new Map(snapshot.models.flatMap(({ tables }) => tables.map(({ name, key }) => [name, key])));
  const [expected, found] = [rowsByKey(groups, keys), rowsByKey(groups, keys)];
  const fold = expectedUpTo(models, snapshot, (table, row) =>
    expected.add(table.name, plainColumns(table, row)),
  );
  await comparison.replay(fold.apply);
  fold.finish();
  for (const table of groups.keys()) {
    for await (const row of snapshot.rows(table)) found.add(table, plainRow(row));
    tellRows(findings, table, [expected.of(table), found.of(table)]);
  }
};

const noteWhatIsLeft = ({ findings, snapshot, models }: Comparison): void => {
  const covered = coveredBy(models);
  for (const text of snapshot.missing) findings.note(`Read model ${text}: it was not compared.`);
  for (const { tables } of snapshot.models)
    for (const { name } of tables)
      if (!covered.has(name)) findings.note(`Table ${name} was not compared: this audit does not know it.`);
};

const checkCheckpoint = (findings: Findings, { name, position }: SnapshotModel, end: bigint): void => {
  if (position === null || position <= end) return;
  findings.add({
    check: 'read_models',
    message:
      `Read model ${name} has applied position ${position}, and the log ends at ${end}: the ` +
      'end of the log was cut off.',
    position: position.toString(),
    expected: `at most ${end}`,
    found: position.toString(),
  });
};

/**
 * Compares the read models with what the events say, each at its own checkpoint. `watcher` computes the
 * expected side while the log is read; `finish` reads the tables.
 */
export const readModelComparison = (
  comparison: Comparison,
): { readonly watcher: Watcher; readonly finish: (end: bigint) => Promise<void> } => {
  const { findings, snapshot, models } = comparison;
  const expected = rowDigests();
  const fold = expectedUpTo(models, snapshot, emitInto(expected));
  return {
    watcher: { decoded: fold.apply },
    finish: async (end) => {
      fold.finish();
      findings.checked('read_models', 0);
      for (const model of snapshot.models) checkCheckpoint(findings, model, end);
      noteWhatIsLeft(comparison);
      const found = await digestFound(comparison);
      const known = new Set(snapshot.models.flatMap(({ tables }) => tables.map(({ name }) => name)));
      const groups = new Map(
        models
          .flatMap(({ tables }) => tables.map(({ name }) => name))
          .filter((table) => known.has(table))
          .map((table) => [table, differing(expected, found, table)] as const)
          .filter(([, names]) => names.size > 0),
      );
      if (groups.size > 0) await nameRows(comparison, groups);
    },
  };
};
