import { type Failure, type Generation, NOW, resume } from './registry.ts';
import type { Sql, SqlRow, SqlTx } from './ports.ts';
import { bigintOf, flagOf, textOf, textOrNull, wholeOf } from './table.ts';

/** A tenant whose events one read model leaves, from one that it could not apply on. */
export interface ParkedTenant {
  readonly name: string;
  readonly tenant_id: string;
  /** Of the event that could not be applied; as text, for it may be larger than a JSON number. */
  readonly position: string;
  readonly event_id: string;
  readonly reason: string;
  /** When that event was recorded. */
  readonly waiting_since: string | null;
  readonly parked_at: string;
  /** It is to be tried again. */
  readonly retrying: boolean;
}

/**
 * A fault of one event is a fault of its tenant. When as many tenants are parked, the read model itself is at fault:
 * it stops.
 */
export const PARKED_MAX = 50;

const parkedOf = (row: SqlRow): ParkedTenant => ({
  name: textOf(row, 'name'),
  tenant_id: textOf(row, 'tenant_id'),
  position: String(row['position']),
  event_id: textOf(row, 'event_id'),
  reason: textOf(row, 'reason'),
  waiting_since: textOrNull(row, 'waiting_since'),
  parked_at: textOf(row, 'parked_at'),
  retrying: flagOf(row, 'retrying'),
});

/** False before a release that parks tenants has prepared the read models. */
export const canPark = async (sql: SqlTx): Promise<boolean> => {
  const [row] = await sql.query(`select to_regclass('projections.parked') is not null as there`);
  return row !== undefined && flagOf(row, 'there');
};

/** The tenants that are parked in read models that serve. */
export const parkedTenants = async (sql: SqlTx): Promise<readonly ParkedTenant[]> => {
  if (!(await canPark(sql))) return [];
  const rows = await sql.query(
    `select p.* from projections.parked p join projections.registry r using (name, generation)
     where r.serves order by p.name, p.parked_at, p.tenant_id`,
  );
  return rows.map(parkedOf);
};

/**
 * The tenants that one generation has parked, and the events at which it did. To be read after the generation: a
 * change since then moves its `parks`.
 */
export const parkedIn = async (
  sql: SqlTx,
  { name, generation }: Pick<Generation, 'name' | 'generation'>,
): Promise<ReadonlyMap<string, bigint>> => {
  const rows = await sql.query(
    'select tenant_id, position from projections.parked where name = $1 and generation = $2',
    [name, generation],
  );
  return new Map(rows.map((row) => [textOf(row, 'tenant_id'), bigintOf(row, 'position')]));
};

/** Tells runners of a generation that whom they leave has changed: their next checkpoint does not move. */
const changeParks = async (tx: SqlTx, { name, generation }: Generation): Promise<void> => {
  await tx.query('update projections.registry set parks = parks + 1 where name = $1 and generation = $2', [
    name,
    generation,
  ]);
};

/** Parks a tenant, in the transaction that moves the checkpoint past the event that failed. */
export const park = async (
  tx: SqlTx,
  generation: Generation,
  { tenant, since, failure }: { tenant: string; since: string | null; failure: Failure },
): Promise<void> => {
  const { position, eventId, reason } = failure;
  await tx.query(
    `insert into projections.parked
       (name, generation, tenant_id, position, event_id, reason, waiting_since, parked_at, retrying)
     values ($1, $2, $3, $4, $5, $6, $7, ${NOW}, false)`,
    [generation.name, generation.generation, tenant, position, eventId, reason, since],
  );
  await changeParks(tx, generation);
};

/** Ends the parking of a tenant whose rows are whole again. */
export const unpark = async (tx: SqlTx, generation: Generation, tenant: string): Promise<void> => {
  const rows = await tx.query(
    `delete from projections.parked where name = $1 and generation = $2 and tenant_id = $3 returning tenant_id`,
    [generation.name, generation.generation, tenant],
  );
  if (rows.length > 0) await changeParks(tx, generation);
};

/** Asks whichever process has the role `projector` to try parked tenants again. Gives how many there are. */
export const askRetry = async (
  sql: SqlTx,
  { name, tenant }: { readonly name: string; readonly tenant?: string | undefined },
): Promise<number> => {
  if (!(await canPark(sql))) return 0;
  const rows = await sql.query(
    `update projections.parked p set retrying = true from projections.registry r
     where r.name = p.name and r.generation = p.generation and r.serves and p.name = $1
       and ($2::text is null or p.tenant_id = $2) returning p.tenant_id`,
    [name, tenant ?? null],
  );
  return rows.length;
};

/** A tenant that was tried again in vain waits for the next one who asks. */
export const failRetry = async (
  sql: SqlTx,
  { name, tenant_id }: Pick<ParkedTenant, 'name' | 'tenant_id'>,
  reason: string,
): Promise<void> => {
  await sql.query(
    'update projections.parked set retrying = false, reason = $3 where name = $1 and tenant_id = $2',
    [name, tenant_id, reason],
  );
};

const servingRow = async (tx: SqlTx, name: string): Promise<SqlRow | undefined> => {
  const [row] = await tx.query(
    'select generation, state, paused_at from projections.registry where serves and name = $1 for update',
    [name],
  );
  return row;
};

export type PauseOutcome = 'done' | 'was_so' | 'unknown_model';

/**
 * Keeps a read model where it is until it is told to go on, through restarts too. To a process of a release that
 * does not know pauses it has stopped.
 */
export const pauseModel = (sql: Sql, name: string): Promise<PauseOutcome> =>
  sql.transaction(async (tx) => {
    const row = await servingRow(tx, name);
    if (row === undefined) return 'unknown_model';
    if (textOrNull(row, 'paused_at') !== null) return 'was_so';
    // One that has stopped keeps the reason for which it did.
    await tx.query(
      `update projections.registry set paused_at = ${NOW}, state = 'stopped',
         reason = coalesce(reason, 'paused')
       where serves and name = $1`,
      [name],
    );
    return 'done';
  });

/** Lets a paused read model go on from where it is. */
export const resumeModel = (sql: Sql, name: string): Promise<PauseOutcome> =>
  sql.transaction(async (tx) => {
    const row = await servingRow(tx, name);
    if (row === undefined) return 'unknown_model';
    if (textOrNull(row, 'paused_at') === null) return 'was_so';
    await resume(tx, { name, generation: wholeOf(row, 'generation'), serves: true });
    return 'done';
  });
