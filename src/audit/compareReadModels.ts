import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { balanceRows, grantRows, ledgerRows, llmCostRows, openClaimRows } from './expectedMoney.ts';
import {
  apiKeyRows,
  artifactRows,
  batchRows,
  billingConfigRows,
  deploymentRows,
  operationRows,
  priceListRows,
  rateLimitRows,
  reviewRows,
  masterTableRows,
  savedConfigRows,
  trainingJobRows,
} from './expectedRows.ts';
import { webhookRows } from './expectedWebhooks.ts';
import { evaluationRows } from './evaluations.ts';
import { documentRows, usageEventRows } from './expectedDocuments.ts';
import { paymentRows } from './expectedPayments.ts';
import { runRows } from './expectedRuns.ts';
import { usageRows, usageStatsRows } from './expectedUsage.ts';
import type { AuditedEvent, Emit, ExpectedModel } from './auditedEvent.ts';
import { marginRows } from './margin.ts';
import { canonicalJson, sha256 } from '../../domain/kernel/chain.ts';
import type { Json } from '../../domain/kernel/json.ts';
import { documents } from '../../projections/documents.ts';
import type { Projector, ReadTable, Table } from '../../projections/engine/table.ts';
import type { Watcher } from './auditLog.ts';
import type { Findings } from './findings.ts';
import { generations, hasRegistry } from '../../projections/engine/registry.ts';
import type { Sql, SqlRow, SqlTx } from '../../projections/engine/ports.ts';

/** The content that the auditor expects in each read model. */
export const EXPECTED_MODELS: readonly ExpectedModel[] = [
  balanceRows,
  ledgerRows,
  grantRows,
  paymentRows,
  priceListRows,
  billingConfigRows,
  apiKeyRows,
  documentRows,
  usageEventRows,
  runRows,
  openClaimRows,
  rateLimitRows,
  usageRows,
  usageStatsRows,
  llmCostRows,
  marginRows,
  trainingJobRows,
  operationRows,
  batchRows,
  artifactRows,
  deploymentRows,
  webhookRows,
  savedConfigRows,
  masterTableRows,
  reviewRows,
  evaluationRows,
];

/** Rows of one table and tenant: how many, and a sum that does not depend on their order. */
interface GroupDigest {
  rows: number;
  sum: bigint;
}

type RowDigests = ReturnType<typeof rowDigests>;

/** A row in the form that both sides are brought to: whole numbers as text, objects as JSON. */
type PlainRow = Readonly<Record<string, Json>>;

const plainValue = (value: unknown): Json => {
  if (value === null || value === undefined || typeof value === 'boolean') return value ?? null;
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString();
  // Postgres cannot store U+0000; the read models have U+FFFD in its place.
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD');
  return JSON.parse(JSON.stringify(value).replaceAll('\\u0000', '\uFFFD')) as Json;
};

const plainRow = (row: Readonly<Record<string, unknown>>): PlainRow =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plainValue(value)]));

/** The columns of a table, of a row that may have more. */
const plainColumns = ({ columns }: Table, row: Readonly<Record<string, unknown>>): PlainRow =>
  Object.fromEntries(Object.keys(columns).map((column) => [column, plainValue(row[column])]));

const groupOf = (row: PlainRow): string => {
  const tenant = row['tenant_id'];
  return typeof tenant === 'string' ? tenant : '';
};

const MODULUS = 1n << 256n;

/**
 * Digests by table and, where a table has tenants, by tenant: the sum of the SHA-256 of the rows, mod 2^256,
 * equal for the same rows in any order.
 */
const rowDigests = () => {
  const tables = new Map<string, Map<string, GroupDigest>>();
  const groups = (table: string): Map<string, GroupDigest> => {
    const known = tables.get(table) ?? new Map<string, GroupDigest>();
    tables.set(table, known);
    return known;
  };
  return {
    groups,
    add: (table: string, row: PlainRow): void => {
      const byTenant = groups(table);
      const digest = byTenant.get(groupOf(row)) ?? { rows: 0, sum: 0n };
      digest.rows += 1;
      digest.sum = (digest.sum + BigInt(`0x${sha256(canonicalJson(row))}`)) % MODULUS;
      byTenant.set(groupOf(row), digest);
    },
  };
};

/** Folds each read model up to its own checkpoint. */
const expectedUpTo = (
  { models, snapshot, erased }: Pick<Comparison, 'models' | 'snapshot'> & { readonly erased: Set<string> },
  emit: Emit,
) => {
  const folds = models.flatMap((model) => {
    const found = snapshot.models.find(({ name }) => name === model.name);
    return found === undefined ? [] : [{ fold: model.start(emit, erased), upTo: found.position ?? -1n }];
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
const nameRows = async (
  comparison: Comparison & { readonly erased: Set<string> },
  groups: Groups,
): Promise<void> => {
  const { findings, snapshot } = comparison;
  const keys = new Map(snapshot.models.flatMap(({ tables }) => tables.map(({ name, key }) => [name, key])));
  const [expected, found] = [rowsByKey(groups, keys), rowsByKey(groups, keys)];
  const fold = expectedUpTo(comparison, (table, row) => expected.add(table.name, plainColumns(table, row)));
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
  const erased = new Set(snapshot.erased);
  const fold = expectedUpTo({ models, snapshot, erased }, emitInto(expected));
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
      if (groups.size > 0) await nameRows({ ...comparison, erased }, groups);
    },
  };
};

/** A read model at one moment: all its rows are as of `position`. */
interface SnapshotModel {
  readonly name: string;
  /** Its checkpoint; null when it has applied nothing. */
  readonly position: bigint | null;
  readonly tables: readonly ReadTable[];
}

/** All read models at one moment. Rows can be read again and are the same then. */
export interface ReadModelSnapshot {
  readonly models: readonly SnapshotModel[];
  /** Read models that could not be read, and why. */
  readonly missing: readonly string[];
  /**
   * Documents that are erased, or removed after the request that they came with, as the tables say: nothing is believed
   * of it, only remembered for it.
   */
  readonly erased: readonly string[];
  readonly rows: (table: string) => AsyncIterable<SqlRow>;
}

const ROWS_AT_A_TIME = 2_000;

async function* cursor(tx: SqlTx, from: string): AsyncGenerator<SqlRow> {
  await tx.query(`declare audited no scroll cursor for select * from ${from}`);
  try {
    for (;;) {
      const rows = await tx.query(`fetch ${ROWS_AT_A_TIME} from audited`);
      if (rows.length === 0) return;
      yield* rows;
    }
  } finally {
    await tx.query('close audited');
  }
}

/** The generation of each read model that serves, under the code's own version. */
const servingModels = async (tx: SqlTx, projectors: readonly Projector[]) => {
  const serving = (await hasRegistry(tx)) ? (await generations(tx)).filter(({ serves }) => serves) : [];
  const schemas = new Map<string, string>();
  const models: SnapshotModel[] = [];
  const missing: string[] = [];
  for (const { name, version, tables } of projectors) {
    const generation = serving.find((one) => one.name === name);
    if (generation?.version !== version) {
      missing.push(generation === undefined ? `${name} is not built` : `${name} is of another version`);
      continue;
    }
    const keys = tables.map((table) => ({ name: table.name, key: table.key }));
    models.push({ name, position: generation.position, tables: keys });
    for (const table of tables) schemas.set(table.name, generation.schema);
  }
  return { models, missing, schemas };
};

/** Hands out the read models as they are now, rows and checkpoints of one moment, while `work` runs. */
export const withSnapshot = <T>(
  sql: Sql,
  projectors: readonly Projector[],
  work: (snapshot: ReadModelSnapshot) => Promise<T>,
): Promise<T> =>
  sql.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    const { models, missing, schemas } = await servingModels(tx, projectors);
    const rows = (table: string): AsyncIterable<SqlRow> => {
      const schema = schemas.get(table);
      if (schema === undefined) throw new Error(`${table} is no table of a read model`);
      return cursor(tx, `${schema}.${table}`);
    };
    return work({ models, missing, erased: await erasedIn(tx, schemas.get(documents.name)), rows });
  });

const erasedIn = async (tx: SqlTx, schema: string | undefined): Promise<readonly string[]> => {
  if (schema === undefined) return [];
  const erased = await tx.query(
    `select document_id from ${schema}.documents
     where erased_at is not null or (removed_at is not null and source not in ('upload', 'canonical', 'training'))`,
  );
  return erased.map((row) => String(row['document_id']));
};

const head = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      position: z
        .string()
        .nullable()
        .transform((text) => (text === null ? null : BigInt(text))),
      tables: z.array(z.object({ name: z.string(), key: z.array(z.string()) })),
    }),
  ),
  missing: z.array(z.string()),
  erased: z.array(z.string()).default([]),
});
const rowLine = z.object({ table: z.string(), row: z.record(z.string(), z.unknown()) });
const endLine = z.object({ rows: z.number() });

const line = (value: unknown): string =>
  `${JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? member.toString() : member))}\n`;

/** A snapshot as NDJSON: a head, a line for each row, and an end that says how many rows there were. */
export async function* snapshotLines({
  models,
  missing,
  erased,
  rows,
}: ReadModelSnapshot): AsyncGenerator<string> {
  yield line({ models, missing, erased });
  let count = 0;
  for (const { tables } of models)
    for (const { name } of tables)
      for await (const row of rows(name)) {
        count += 1;
        yield line({ table: name, row });
      }
  yield line({ rows: count });
}

const ROW_OF = /^\{"table":"(\w+)"/;

const rowsIn = async function* (file: string): AsyncGenerator<SqlRow> {
  for await (const text of createInterface({ input: createReadStream(file) }))
    yield rowLine.parse(JSON.parse(text)).row;
};

/** Lines of one table are gathered up to this many characters, and written at once. */
const GATHERED_MAX = 262_144;

/** One file for each table; one is open at a time, because the lines of a table come one after the other. */
const tableFiles = (folder: string) => {
  const names = new Set<string>();
  let current: { readonly table: string; readonly file: FileHandle; text: string } | undefined;
  const fileOf = (table: string): string => join(folder, `${table}.ndjson`);
  const close = async (): Promise<void> => {
    const last = current;
    current = undefined;
    if (last === undefined) return;
    try {
      await last.file.writeFile(last.text);
    } finally {
      await last.file.close();
    }
  };
  return {
    add: async (table: string, text: string): Promise<void> => {
      if (current?.table !== table) {
        await close();
        current = { table, file: await open(fileOf(table), 'a', 0o600), text: '' };
        names.add(table);
      }
      current.text += text;
      if (current.text.length < GATHERED_MAX) return;
      await current.file.writeFile(current.text);
      current.text = '';
    },
    close,
    rowsOf: (table: string) => (names.has(table) ? rowsIn(fileOf(table)) : undefined),
  };
};

async function* noRows(): AsyncGenerator<SqlRow> {
  // A table without rows has no file.
}

/**
 * Keeps the lines of `snapshotLines` in `folder`, a file a table, so that each is read alone. Nothing of it is open
 * after `close`, or `finish`: then the folder may be removed.
 */
export const snapshotStore = (folder: string) => {
  const files = tableFiles(folder);
  let [first, end]: (string | undefined)[] = [];
  let rows = 0;
  return {
    write: async (text: string): Promise<void> => {
      const table = ROW_OF.exec(text)?.[1];
      if (table === undefined) {
        if (first === undefined) first = text;
        else end = text;
        return;
      }
      rows += 1;
      await files.add(table, text);
    },
    close: () => files.close(),
    /** The snapshot; throws when its end is missing. Whole numbers arrive as text where they were bigints. */
    finish: async (): Promise<ReadModelSnapshot> => {
      await files.close();
      if (first === undefined || end === undefined || endLine.parse(JSON.parse(end)).rows !== rows)
        throw new Error('the snapshot of the read models is not whole');
      const { models, missing, erased } = head.parse(JSON.parse(first));
      return { models, missing, erased, rows: (table) => files.rowsOf(table) ?? noRows() };
    },
  };
};
