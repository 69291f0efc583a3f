import {
  bigintOrNull,
  ddlOf,
  flagOf,
  type Projector,
  READ_SCHEMA,
  textOf,
  textOrNull,
  wholeOf,
} from './table.ts';
import type { Sql, SqlRow, SqlTx, SqlValue } from './ports.ts';
import { type LastDelivered, textOfWitness, witnessAt } from './arrivals.ts';

/**
 * `building`: a new version catches up before it serves. `rebuilding`: `rebuild.ts` fills it. `stopped`:
 * an event could not be applied. `retired`: replaced; its tables are gone or will be.
 */
type GenerationState = 'live' | 'building' | 'rebuilding' | 'stopped' | 'retired';

/** More would wait for the database, and each reads the whole log. */
export const SHARES_MAX = 32;

/** Some of the tenants: those whose places are in a range, its start included. `at` of `of`, which begin at 0. */
export interface Share {
  readonly at: number;
  readonly of: number;
  readonly from: number;
  readonly to: number;
}

/** One set of tables of one read model. */
export interface Generation {
  readonly name: string;
  readonly version: number;
  readonly generation: number;
  readonly schema: string;
  readonly position: bigint | null;
  readonly state: GenerationState;
  /** True for the one that the views point at. */
  readonly serves: boolean;
  readonly reason: string | null;
  /** The log that the rows are from; null: not known, or none yet. */
  readonly logId: string | null;
  /** The last event that was delivered up to `position`. */
  readonly witness: LastDelivered;
  /** How often the tenants that it has parked have changed. */
  readonly parks: bigint;
  /** It is to stay where it is until it is told to go on. */
  readonly isPaused: boolean;
  /** The share of tenants whose events `position` says of that they were applied; left out: all tenants. */
  readonly share?: Share;
}

/** Another process, or a rebuild, has moved the checkpoint: this process has to read the registry again. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved';
}

/** The database's clock, as times are kept. */
export const NOW = `to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const REGISTRY = `
  create schema if not exists projections;
  create schema if not exists ${READ_SCHEMA};
  create table if not exists projections.registry (
    name text not null,
    version int4 not null,
    generation int4 not null,
    schema_name text not null,
    position int8,
    state text not null,
    serves boolean not null,
    reason text,
    failed_position int8,
    failed_event_id text,
    events_applied int8 not null default 0,
    log_id text,
    witness text,
    updated_at text not null,
    parks int8 not null default 0,
    paused_at text,
    tenant_id text,
    primary key (name, generation)
  ) with (fillfactor = 50);
  create table if not exists projections.parked (
    name text not null,
    generation int4 not null,
    tenant_id text not null,
    position int8 not null,
    event_id text not null,
    reason text not null,
    waiting_since text,
    parked_at text not null,
    retrying boolean not null,
    primary key (name, generation, tenant_id)
  );
  create table if not exists projections.shares (
    name text not null,
    generation int4 not null,
    share int4 not null,
    shares int4 not null,
    from_place int4 not null,
    to_place int4 not null,
    position int8,
    events_applied int8 not null default 0,
    log_id text,
    witness text,
    primary key (name, generation, share)
  ) with (fillfactor = 50)`;

/** Columns that the registry of an older release lacks. */
const ADDED = `
  alter table projections.registry
    add column if not exists log_id text, add column if not exists witness text,
    add column if not exists parks int8 not null default 0, add column if not exists paused_at text,
    add column if not exists tenant_id text`;

/** How far rows are, and of which log. */
export const placeIn = (row: SqlRow): Pick<Generation, 'position' | 'logId' | 'witness'> => ({
  position: bigintOrNull(row, 'position'),
  // Missing where an older release made the registry, until this one has prepared it.
  logId: textOrNull({ log_id: null, ...row }, 'log_id'),
  witness: witnessAt(bigintOrNull(row, 'position'), textOrNull({ witness: null, ...row }, 'witness')),
});

const generationOf = (row: SqlRow): Generation => ({
  ...placeIn(row),
  name: textOf(row, 'name'),
  version: wholeOf(row, 'version'),
  generation: wholeOf(row, 'generation'),
  schema: textOf(row, 'schema_name'),
  state: textOf(row, 'state') as GenerationState,
  serves: flagOf(row, 'serves'),
  reason: textOrNull(row, 'reason'),
  parks: bigintOrNull({ parks: 0n, ...row }, 'parks') ?? 0n,
  isPaused: textOrNull({ paused_at: null, ...row }, 'paused_at') !== null,
});

/** Rows of one tenant that are made anew beside the read model: nobody else follows them. */
const isOfOneTenant = (row: SqlRow): boolean => textOrNull({ tenant_id: null, ...row }, 'tenant_id') !== null;

const PREPARE_LOCK = 0x70726570n;

/**
 * Makes the registry if it is missing, and keeps others from making generations until the transaction
 * ends: two processes may start at once.
 */
export const lockRegistry = async (tx: SqlTx): Promise<void> => {
  await tx.query('select pg_advisory_xact_lock($1)', [PREPARE_LOCK]);
  // A session remembers which names it did not find; opening a catalog tells it what others have made.
  await tx.query('select count(*) as schemas from pg_catalog.pg_namespace');
  await tx.script(REGISTRY);
  if (!(await hasAllColumns(tx))) await tx.script(ADDED);
};

/** False before any process has prepared the read models. */
export const hasRegistry = async (sql: SqlTx): Promise<boolean> => {
  const [row] = await sql.query(`select to_regclass('projections.registry') is not null as there`);
  return row !== undefined && flagOf(row, 'there');
};

/** False before a release that parks tenants has prepared the read models. */
export const hasAllColumns = async (sql: SqlTx): Promise<boolean> => {
  const rows = await sql.query(
    `select 1 as there from pg_catalog.pg_attribute
     where attrelid = to_regclass('projections.registry') and attname = 'tenant_id' and not attisdropped`,
  );
  return rows.length > 0;
};

/** All generations that are not retired, or those of one read model. */
export const generations = async (sql: SqlTx, name?: string): Promise<readonly Generation[]> => {
  const rows = await sql.query(
    `select * from projections.registry
     where state <> 'retired' and ($1::text is null or name = $1) order by name, generation`,
    [name ?? null],
  );
  return rows.filter((row) => !isOfOneTenant(row)).map(generationOf);
};

/** Sets of tables for the rows of one tenant, unfinished. */
export const tenantGenerations = async (
  sql: SqlTx,
  name: string,
  tenant: string,
): Promise<readonly Generation[]> => {
  const rows = await sql.query(
    `select * from projections.registry where state = 'rebuilding' and name = $1 and tenant_id = $2`,
    [name, tenant],
  );
  return rows.map(generationOf);
};

const viewStatements = ({ tables }: Projector, schema: string): readonly string[] =>
  tables.flatMap(({ name }) => [
    `drop view if exists ${READ_SCHEMA}.${name}`,
    `create view ${READ_SCHEMA}.${name} as select * from ${schema}.${name}`,
  ]);

/** Points the views at a generation's tables. */
export const pointViews = async (tx: SqlTx, projector: Projector, schema: string): Promise<void> => {
  for (const statement of viewStatements(projector, schema)) await tx.query(statement);
};

/** Makes empty tables for a new generation, under `lockRegistry`. The very first one serves at once. */
export const createGeneration = async (
  sql: SqlTx,
  projector: Projector,
  state: GenerationState,
): Promise<Generation> => {
  const [last] = await sql.query(
    'select coalesce(max(generation), 0) as generation from projections.registry where name = $1',
    [projector.name],
  );
  const generation = (last === undefined ? 0 : wholeOf(last, 'generation')) + 1;
  const schema = `rm_${projector.name}_v${String(projector.version)}_g${String(generation)}`;
  const serves = state === 'live';
  await sql.script(`
    drop schema if exists ${schema} cascade;
    create schema ${schema};
    ${ddlOf(projector.tables, schema)};
    ${serves ? `${viewStatements(projector, schema).join(';')};` : ''}
    insert into projections.registry (name, version, generation, schema_name, state, serves, updated_at)
    values ('${projector.name}', ${String(projector.version)}, ${String(generation)}, '${schema}', '${state}',
      ${String(serves)}, ${NOW})`);
  const { name, version } = projector;
  return {
    name,
    version,
    generation,
    schema,
    position: null,
    state,
    serves,
    reason: null,
    logId: null,
    witness: null,
    parks: 0n,
    isPaused: false,
  };
};

/** One checkpoint to move, from the position last known. */
export interface CheckpointMove {
  readonly generation: Generation;
  readonly to: bigint;
  readonly applied: number;
  /** The last event delivered up to `to`. */
  readonly witness: LastDelivered;
}

const MOVE = `
  update projections.registry r
  set position = u.to_position, events_applied = r.events_applied + u.applied, updated_at = ${NOW},
    log_id = coalesce(u.log_id, r.log_id), witness = u.witness
  from unnest($1::text[], $2::int4[], $3::int8[], $4::int8[], $5::int8[], $6::text[], $7::text[],
      $8::int8[])
    as u(name, generation, from_position, to_position, applied, log_id, witness, parks)
  where r.name = u.name and r.generation = u.generation and r.position is not distinct from u.from_position
    and r.state in ('live', 'building', 'rebuilding') and r.parks = u.parks
  returning r.name`;

/**
 * Moves checkpoints by compare-and-set. Call it first in the transaction that applies the events: it
 * locks the rows, so that of two runners the later one finds them moved. Throws CheckpointMoved then.
 */
export const moveCheckpoints = async (tx: SqlTx, moves: readonly CheckpointMove[]): Promise<void> => {
  if (moves.length === 0) return;
  const moved = await tx.query(MOVE, [
    moves.map(({ generation }) => generation.name),
    moves.map(({ generation }) => generation.generation),
    moves.map(({ generation }) => generation.position),
    moves.map(({ to }) => to),
    moves.map(({ applied }) => applied),
    moves.map(({ generation }) => generation.logId),
    moves.map(({ to, witness }) => textOfWitness(to, witness)),
    moves.map(({ generation }) => generation.parks),
  ]);
  if (moved.length !== moves.length) {
    throw new CheckpointMoved(`moved ${String(moved.length)} of ${String(moves.length)} checkpoints`);
  }
};

/** Why a projector stopped. */
export interface Failure {
  readonly position: bigint;
  readonly eventId: string;
  readonly reason: string;
}

/** Stops one generation where it is. */
export const markStopped = async (sql: SqlTx, { name, generation }: Generation, failure: Failure) => {
  await sql.query(
    `update projections.registry set state = 'stopped', reason = $3, failed_position = $4, failed_event_id = $5,
       updated_at = ${NOW}
     where name = $1 and generation = $2 and state in ('live', 'building')`,
    [name, generation, failure.reason, failure.position, failure.eventId],
  );
};

/** Lets a stopped generation try again from where it stopped. */
export const resume = async (
  sql: SqlTx,
  { name, generation, serves }: Pick<Generation, 'name' | 'generation' | 'serves'>,
): Promise<void> => {
  await sql.query(
    `update projections.registry set state = $3, reason = null, failed_position = null, failed_event_id = null,
       paused_at = null
     where name = $1 and generation = $2 and state = 'stopped'`,
    [name, generation, serves ? 'live' : 'building'],
  );
};

/** Retires the generations for which a condition holds: nothing reads them from now on. */
export const retire = async (sql: SqlTx, where: string, values: readonly SqlValue[]): Promise<void> => {
  const retired = `state = 'retired', serves = false, updated_at = ${NOW}`;
  await sql.query(`update projections.registry set ${retired} where ${where}`, values);
};

/**
 * Makes `next` the generation that serves. Retires the one that did, and unfinished builds of its version or an
 * older one. A read model that is paused stays so. Call it in a transaction that holds `lockRegistry`. Throws
 * CheckpointMoved where another process has retired it.
 */
export const promote = async (tx: SqlTx, projector: Projector, next: Generation): Promise<void> => {
  const [before] = await tx.query('select paused_at from projections.registry where name = $1 and serves', [
    next.name,
  ]);
  const pausedAt = before === undefined ? null : textOrNull(before, 'paused_at');
  await retire(
    tx,
    `name = $1 and generation <> $2 and (serves or (state in ('building', 'stopped') and version <= $3))`,
    [next.name, next.generation, next.version],
  );
  const promoted = await tx.query(
    `update projections.registry set state = case when $3::text is null then 'live' else 'stopped' end,
       reason = case when $3::text is null then null else 'paused' end, paused_at = $3, serves = true,
       updated_at = ${NOW}
     where name = $1 and generation = $2 and state <> 'retired' returning name`,
    [next.name, next.generation, pausedAt],
  );
  // Its tables may be dropped at any moment.
  if (promoted.length === 0)
    throw new CheckpointMoved(`the new rows of ${next.name} were given up meanwhile`);
  // The new rows have the events of those who were parked in the old ones.
  await tx.query('delete from projections.parked where name = $1 and generation <> $2', [
    next.name,
    next.generation,
  ]);
  await pointViews(tx, projector, next.schema);
};

/** A projector and a generation of its read model. */
export interface Slot {
  readonly projector: Projector;
  readonly generation: Generation;
}

const missingIn = async (sql: SqlTx, projectors: readonly Projector[]): Promise<readonly Projector[]> => {
  const serving = (await generations(sql)).filter(({ serves }) => serves);
  return projectors.filter((projector) => !serving.some(({ name }) => name === projector.name));
};

/**
 * Makes what is missing: the registry, and tables and views of each read model, so that queries have
 * something to read. Several processes may do it at once. A process whose database role may not create
 * anything passes where nothing is missing. A read model that serves in another version is left as it
 * is: `upgrade.ts` builds the new one beside it.
 */
export const prepareReadModels = async (sql: Sql, projectors: readonly Projector[]): Promise<void> => {
  if ((await hasRegistry(sql)) && (await missingIn(sql, projectors)).length === 0) return;
  await sql.transaction(async (tx) => {
    await lockRegistry(tx);
    for (const projector of await missingIn(tx, projectors)) await createGeneration(tx, projector, 'live');
  });
};

const DROP_LOCK = 0x64726f70n;

const dropOne = (sql: Sql, schema: string): Promise<void> =>
  sql.transaction(async (tx) => {
    const [row] = await tx.query('select pg_try_advisory_xact_lock($1) as got', [DROP_LOCK]);
    if (row !== undefined && flagOf(row, 'got')) await tx.script(`drop schema if exists ${schema} cascade`);
  });

/**
 * Drops the tables of generations that nothing reads any more. While another process is at it, it leaves
 * them to that one: two drops of one schema would fail each other.
 */
export const dropRetired = async (sql: Sql): Promise<void> => {
  const rows = await sql.query(
    `select schema_name from projections.registry
     where state = 'retired' and to_regnamespace(schema_name) is not null`,
  );
  for (const row of rows) await dropOne(sql, textOf(row, 'schema_name'));
};

/**
 * Generations whose checkpoints have been still for an hour: half-built ones of newer versions, and the rows of one
 * tenant whose rebuild was interrupted and not begun again.
 */
export const leftBehind = async (
  sql: SqlTx,
  name: string,
  version: number,
): Promise<readonly Generation[]> => {
  const rows = await sql.query(
    `select * from projections.registry
     where name = $1 and not serves
       and (version > $2 and state in ('building', 'stopped')
         or state = 'rebuilding' and (to_jsonb(registry) ->> 'tenant_id') is not null)
       and updated_at < to_char(now() at time zone 'utc' - interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS')`,
    [name, version],
  );
  return rows.map(generationOf);
};

/** Retires a generation that will not be finished. */
export const abandon = (sql: SqlTx, { name, generation }: Generation): Promise<void> =>
  retire(sql, 'name = $1 and generation = $2 and not serves', [name, generation]);

/** A read model that a newer release serves. `known`: the version of this process; null: it knows none. */
export interface NewerModel {
  readonly name: string;
  readonly version: number;
  readonly known: number | null;
}

/** What a process does with each read model, by the versions in the registry. */
export interface VersionPlan {
  /** Served in the version that this process knows: it may keep them up with the log. */
  readonly followed: readonly Slot[];
  /** Upgrades that are due; the generation is the one that serves. */
  readonly due: readonly Slot[];
  /** Not empty: this process is of an older release than the one that serves, and stands aside. */
  readonly newer: readonly NewerModel[];
}

/** Read models of one release, and the names of those that it no longer has. */
export interface KnownModels {
  readonly projectors: readonly Projector[];
  readonly dropped?: readonly string[];
}

const newerIn = (serving: readonly Generation[], { projectors, dropped = [] }: KnownModels) =>
  serving.flatMap(({ name, version, position }): readonly NewerModel[] => {
    const known = projectors.find((projector) => projector.name === name)?.version ?? null;
    // An empty read model does not count: the release that brings it may still be building it.
    const isForeign = known === null && position !== null && !dropped.includes(name);
    return isForeign || (known !== null && version > known) ? [{ name, version, known }] : [];
  });

/** A read model that came with this release has no rows yet, while the others have. */
const isNew = ({ position }: Generation, serving: readonly Generation[]): boolean =>
  position === null && serving.some((other) => other.position !== null);

/** A build of the version of `projector` that has stopped, and waits for a rebuild or a restart. */
export const stoppedBuild = (all: readonly Generation[], projector: Projector): Generation | undefined =>
  all.find(
    ({ name, version, serves, state }) =>
      name === projector.name && version === projector.version && !serves && state === 'stopped',
  );

/**
 * Versions decide, never the time of a start: a process follows what serves in its own version, builds
 * what serves in a lower one unless a still higher one is registered, and stands aside when anything
 * serves in a version higher than it knows.
 */
export const versionPlanOf = (all: readonly Generation[], known: KnownModels): VersionPlan => {
  const serving = all.filter(({ serves }) => serves);
  const slots = known.projectors.flatMap((projector): readonly Slot[] => {
    const generation = serving.find(({ name }) => name === projector.name);
    return generation === undefined ? [] : [{ projector, generation }];
  });
  const isOwn = ({ projector, generation }: Slot) => generation.version === projector.version;
  const isHighest = ({ projector }: Slot) =>
    all.every(({ name, version }) => name !== projector.name || version <= projector.version);
  return {
    followed: slots.filter((slot) => isOwn(slot) && !isNew(slot.generation, serving)),
    due: slots.filter((slot) => isHighest(slot) && (!isOwn(slot) || isNew(slot.generation, serving))),
    newer: newerIn(serving, known),
  };
};
