import type { DocumentTools, TableLimits } from '@quire/engine/ports/documentTools';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import {
  masterTable,
  masterTableEvent,
  type MasterTableKind,
  type MasterTableState,
  keptBytes,
  tableFolderOf,
  tableKeyOf,
  tableStream,
  type TableVersion,
} from '../../domain/rules/masterTable.ts';
import type { Lookup, PinnedLookup } from '../../domain/rules/checks.ts';
import { digestText } from '../../domain/leased.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import { asideKeyOf } from '../writer/setAside.ts';
import { withSealed, withTexts } from '../writer/vault.ts';
import { dropAll } from './operationInput.ts';
import { KEPT_MS, namedWork } from './queue.ts';
import type { ReceivedFile } from './work.ts';
import { misfit, parseProblem, reused, workProblem, type WorkProblem } from './workProblem.ts';

/** Most of one table. */
export const TABLE_LIMITS: TableLimits = {
  rows: 100_000,
  columns: 100,
  cell_characters: 1_000,
  row_characters: 4_000,
  bytes: 20 * 1024 * 1024,
};

/** Most tables of a tenant. */
export const TABLES_MAX = 100;
/** Most bytes of all versions of a tenant's tables. */
export const TABLES_QUOTA_BYTES = 256 * 1024 * 1024;

/** A workbook of the largest table takes some seconds, ms. */
const READ_MS = 60_000;

export interface TableDeps {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly tools: Pick<DocumentTools, 'tableFile'>;
  readonly wrote: (tenantId: string, position: bigint) => void;
  /** What a tenant has, once the read models have what was written for it. */
  readonly stockOf: (tenantId: string) => Promise<{ readonly tables: number; readonly bytes: number }>;
}

export interface TableRequest {
  readonly tenant_id: string;
  /** The table that gets a new version; null: a new table. */
  readonly table_id: string | null;
  /** Left out: that of the version before, or else that of the file. */
  readonly name: string | undefined;
  readonly file: ReceivedFile;
  readonly idempotency_key: string | null;
  readonly signal: AbortSignal;
}

const rules = { decider: masterTable, codec: eventCodec(masterTableEvent), streamOf: tableStream };

/** The streams of tables. */
const tables = (store: EventStore) => streamsOf<MasterTableKind>(rules, store);

const TABLE_ID = /^tbl_[A-Za-z0-9-]{1,64}$/;

export const tableNotFound = (): WorkProblem =>
  workProblem('table_not_found', 'There is no such table of this tenant.');

/** All of a table from the log, for a tenant (`null`: of any); undefined for another's and for one that was removed. */
const stateOf = async (
  store: EventStore,
  tenantId: string | null,
  tableId: string,
): Promise<MasterTableState | undefined> => {
  if (!TABLE_ID.test(tableId)) return undefined;
  const state = await tables(store).stateOf(tableId);
  const isTheirs = tenantId === null || state.versions[0]?.tenant_id === tenantId;
  return state.versions.length > 0 && state.removed_at === null && isTheirs ? state : undefined;
};

/** A version of a table that is there (left out: the latest), with its texts. */
export const findTable = async (
  { store }: Pick<TableDeps, 'store'>,
  tenantId: string | null,
  { table_id, version }: { readonly table_id: string; readonly version?: number | undefined },
): Promise<TableVersion | undefined> => {
  const state = await stateOf(store, tenantId, table_id);
  const found = version === undefined ? state?.versions.at(-1) : state?.versions[version - 1];
  return found && withTexts(store, found);
};

/** The latest version of a tenant's table; undefined: there is none. */
export interface FindsTables {
  readonly find: (
    tenantId: string,
    table: { readonly table_id: string },
  ) => Promise<Pick<TableVersion, 'version' | 'sha256' | 'header'> | undefined>;
}

/** From here on other versions of the tables do not count: the same document always has the same look-ups. */
export const pinnedLookups = async (
  tables: FindsTables,
  tenantId: string,
  lookups: readonly Lookup[] | null,
): Promise<readonly PinnedLookup[] | undefined> => {
  if (lookups === null) return undefined;
  const found = new Map<string, Pick<PinnedLookup, 'version' | 'sha256'>>();
  for (const { table_id } of lookups) {
    if (found.has(table_id)) continue;
    const { version = null, sha256 = null } = (await tables.find(tenantId, { table_id })) ?? {};
    found.set(table_id, { version, sha256 });
  }
  return lookups.map((one) => ({ ...one, ...(found.get(one.table_id) ?? { version: null, sha256: null }) }));
};

/** Whose table it is, or was; undefined: there never was one. */
export const ownerOfTable = async (
  { store }: Pick<TableDeps, 'store'>,
  tableId: string,
): Promise<string | undefined> =>
  TABLE_ID.test(tableId) ? (await tables(store).stateOf(tableId)).versions[0]?.tenant_id : undefined;

/** What a sweeper is told of a table: what its versions name stays, all else of it goes. */
export const tableFate = (store: EventStore) => async (tableId: string) => {
  const { versions, removed_at } = await tables(store).stateOf(tableId);
  const [first] = versions;
  if (first === undefined) return { kind: 'unknown' } as const;
  if (removed_at !== null) return { kind: 'ended', at: removed_at, tenant_id: first.tenant_id } as const;
  const named = new Set(versions.map(({ sha256 }) => tableKeyOf(tableId, sha256)));
  return { kind: 'open', stays: 'hours', isNamed: (key: string) => named.has(key) } as const;
};

interface TableIdentity {
  readonly tenant_id: string;
  readonly idempotency_key: string;
  /** From 0: the how many-eth table of this key. */
  readonly generation: number;
}

/** The ID of the table that an Idempotency-Key names. */
const tableIdFor = ({ tenant_id, idempotency_key, generation }: TableIdentity): string =>
  `tbl_${digestText(['table', tenant_id, idempotency_key, String(generation)].join('\u001f'))}`;

const tableIdOf = async (
  { store, clock }: TableDeps,
  { table_id, tenant_id, idempotency_key }: TableRequest,
): Promise<string> => {
  if (table_id !== null) return table_id;
  if (idempotency_key === null) return clock.newId('tbl');
  const { id } = await namedWork<MasterTableState>({
    idOf: (generation) => tableIdFor({ tenant_id, idempotency_key, generation }),
    stateOf: tables(store).stateOf,
    read: ({ versions, removed_at }) => ({
      since: versions[0]?.created_at ?? null,
      isClosed: removed_at !== null,
    }),
    keptMs: KEPT_MS,
    now: clock.now(),
  });
  return id;
};

const failedTable = (outcome: Exclude<Outcome<MasterTableKind>, { readonly kind: 'done' }>): WorkProblem => {
  if (outcome.kind !== 'rejected')
    return workProblem('busy', 'The table could not be written. Send the request again in a moment.');
  return outcome.rejection.code === 'table_not_found' ? tableNotFound() : reused();
};

const beyond = (limit: keyof TableLimits | 'tables', max: number, detail: string): WorkProblem =>
  workProblem('table_beyond_limits', detail, { limit, max });

const tooMany = (): WorkProblem =>
  beyond('tables', TABLES_MAX, `The tenant has ${String(TABLES_MAX)} tables, and may have no more.`);

const full = (used: number): WorkProblem =>
  workProblem(
    'upload_quota_exceeded',
    `All versions of this tenant's tables have ${String(used)} bytes; at most ${String(TABLES_QUOTA_BYTES)} are ` +
      'kept for it. Remove a table, which removes its versions.',
    { used_bytes: used, quota_bytes: TABLES_QUOTA_BYTES },
  );

/** A table as it was read, before it has a name. */
type ReadTable = Extract<Awaited<ReturnType<TableDeps['tools']['tableFile']>>, { readonly kind: 'table' }>;

const tableIn = async (
  { tools }: TableDeps,
  { file, tenant_id, signal }: TableRequest,
): Promise<ReadTable | WorkProblem> => {
  const read = await tools.tableFile({
    path: file.path,
    fileName: file.file_name,
    effort: 'standard',
    pagesMax: Number.MAX_SAFE_INTEGER,
    deadlineMs: READ_MS,
    signal,
    share: tenant_id,
    limits: TABLE_LIMITS,
  });
  switch (read.kind) {
    case 'table':
      return read;
    case 'no_table':
      return misfit(['body', 'file'], read.detail);
    case 'beyond_limits':
      return beyond(read.limit, read.max, read.detail);
    default:
      return parseProblem(read);
  }
};

/** Why the tenant may not keep that much more. */
const beyondStock = async (
  { stockOf }: TableDeps,
  tenantId: string,
  { before, read }: { readonly before: MasterTableState | undefined; readonly read: ReadTable },
): Promise<WorkProblem | undefined> => {
  const { tables: count, bytes } = await stockOf(tenantId);
  if (before === undefined && count >= TABLES_MAX) return tooMany();
  const own = before?.versions ?? [];
  const added = keptBytes([...own, { sha256: read.sha256, bytes: read.lines.length }]) - keptBytes(own);
  return bytes + added > TABLES_QUOTA_BYTES ? full(bytes) : undefined;
};

const NAME_MAX = 200;

/** The name of a file without its ending. */
const nameOf = (fileName: string | null): string | null => {
  const name = (fileName ?? '').replace(/\.[A-Za-z0-9]{1,5}$/, '').trim();
  return name === '' ? null : name.slice(0, NAME_MAX);
};

/** What a version is called: what a request leaves out stays as it was. */
const nameIn = (
  { table_id, name, file }: TableRequest,
  before: MasterTableState | undefined,
): string | null => {
  if (name !== undefined) return name;
  const latest = table_id === null ? undefined : before?.versions.at(-1);
  return latest === undefined ? nameOf(file.file_name) : latest.table_name;
};

export interface PublishedTable {
  readonly kind: 'published';
  readonly version: TableVersion;
  /** Nothing was written: it is as it was. */
  readonly unchanged: boolean;
}

/** One after the other, by tenant: what one takes of the quota the next one sees. */
const inTurns = () => {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(tenantId: string, work: () => Promise<T>): Promise<T> => {
    const mine = (last.get(tenantId) ?? Promise.resolve()).then(work);
    const settled = mine.catch(() => undefined);
    last.set(tenantId, settled);
    try {
      return await mine;
    } finally {
      if (last.get(tenantId) === settled) last.delete(tenantId);
    }
  };
};

/** Writes a table that was read: its rows first, so that no event names rows that are nowhere. */
const written = async (
  deps: TableDeps,
  { request, read }: { readonly request: TableRequest; readonly read: ReadTable },
  meta: CommandMeta,
): Promise<PublishedTable | WorkProblem> => {
  const { store, objects } = deps;
  const { tenant_id } = request;
  const table_id = await tableIdOf(deps, request);
  const before = await stateOf(store, tenant_id, table_id);
  if (request.table_id !== null && before === undefined) return tableNotFound();
  const refused = await beyondStock(deps, tenant_id, { before, read });
  if (refused !== undefined) return refused;
  const { columns, rows, lines, sha256 } = read;
  await objects.put(tableKeyOf(table_id, sha256), lines);
  const data = await withSealed(
    store,
    { tenant_id, stream: tableStream(table_id) },
    {
      table_id,
      tenant_id,
      table_name: nameIn(request, before),
      header: { columns: [...columns] },
      columns: columns.length,
      rows,
      bytes: lines.length,
      sha256,
      update: request.table_id !== null,
    },
  );
  const command = { type: 'PublishTable', data, meta: { ...meta, now: deps.clock.now() } } as const;
  const outcome = await tables(store).handle(table_id, command, tenant_id);
  if (outcome.kind !== 'done') return failedTable(outcome);
  if (outcome.position !== undefined) deps.wrote(tenant_id, outcome.position);
  const version = outcome.state.versions.at(-1);
  if (version === undefined) throw new Error('a table that was published has no version');
  return {
    kind: 'published',
    version: await withTexts(store, version),
    unchanged: outcome.events.length === 0,
  };
};

/** Publishes a table or a new version of one, from a CSV file or a workbook. */
export const publishTable = (deps: TableDeps) => {
  const turn = inTurns();
  return async (request: TableRequest, meta: CommandMeta): Promise<PublishedTable | WorkProblem> => {
    const { tenant_id, table_id } = request;
    if (table_id !== null && (await stateOf(deps.store, tenant_id, table_id)) === undefined)
      return tableNotFound();
    const read = await tableIn(deps, request);
    return read.kind === 'problem' ? read : turn(tenant_id, () => written(deps, { request, read }, meta));
  };
};

/** Removes a table with the rows of all its versions. Look-ups in it fail from then on. */
export const removeTable =
  (deps: Pick<TableDeps, 'store' | 'objects' | 'wrote'>) =>
  async (tableId: string, tenantId: string, meta: CommandMeta): Promise<WorkProblem | undefined> => {
    const outcome = await tables(deps.store).handle(tableId, { type: 'RemoveTable', meta }, tenantId);
    if (outcome.kind !== 'done') return failedTable(outcome);
    if (outcome.position !== undefined) deps.wrote(tenantId, outcome.position);
    await dropAll(deps.objects, tableFolderOf(tableId));
    return undefined;
  };

const NEW_LINE = 0x0a;

/** The lines of what comes in chunks. */
async function* linesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let begun: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEW_LINE, from); end >= 0; end = chunk.indexOf(NEW_LINE, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)]);
      begun = [];
      from = end + 1;
    }
    begun.push(chunk.subarray(from));
  }
}

/** Some rows of a version: the first is that after `after`, from 1. undefined: they are kept no more. */
export const tableRows = async (
  { objects }: Pick<TableDeps, 'objects'>,
  { table_id, sha256 }: Pick<TableVersion, 'table_id' | 'sha256'>,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly (readonly string[])[] | undefined> => {
  const key = tableKeyOf(table_id, sha256);
  const chunks = (await objects.open(key)) ?? (await objects.open(asideKeyOf(key)));
  if (chunks === undefined) return undefined;
  const rows: (readonly string[])[] = [];
  // The names of the columns are line 0.
  let number = 0;
  for await (const line of linesIn(chunks)) {
    if (number > after) rows.push(JSON.parse(line.toString()) as readonly string[]);
    if (rows.length === limit) break;
    number += 1;
  }
  return rows;
};
