import { bigintOrNull, type Projector, READ_SCHEMA, textOf, wholeOf } from './table.ts';
import { createGeneration, hasRegistry, lockRegistry, pointViews, retire } from './registry.ts';
import { canPark } from './parking.ts';
import type { Sql, SqlRow, SqlTx, Timers } from './ports.ts';
import type { RunningSlot } from './apply.ts';

const POLL_MS = 20;

/** Wakes all waiters at each change. */
interface Changes {
  readonly next: () => Promise<void>;
  readonly fire: () => void;
}

export const changes = (): Changes => {
  let fire: () => void = () => undefined;
  let next: Promise<void> | undefined;
  return {
    next: () => (next ??= new Promise((resolve) => (fire = resolve))),
    fire: () => {
      next = undefined;
      fire();
    },
  };
};

/** Whether all read models named have reached a position; `never` when one has stopped or is being built. */
type Reached = 'yes' | 'not_yet' | 'never';

interface Checkpoint {
  readonly position: bigint | null;
  readonly state: string;
}

const reachedBy = (checkpoints: readonly Checkpoint[] | undefined, position: bigint): Reached => {
  if (checkpoints === undefined) return 'not_yet';
  if (checkpoints.every((at) => at.position !== null && at.position >= position)) return 'yes';
  const stuck = checkpoints.some(
    (at) => at.state !== 'live' && (at.position === null || at.position < position),
  );
  return stuck ? 'never' : 'not_yet';
};

/** The checkpoint of a read model as one tenant has it that is parked there: it will not be reached. */
const parkedBefore = (position: bigint): Checkpoint => ({ position: position - 1n, state: 'parked' });

interface RegistryCheckpoint extends Checkpoint {
  readonly name: string;
  readonly version: number;
}

const CHECKPOINTS = `
  select name, version, position, state, null::int8 as parked_at from projections.registry
  where serves and name = any($1::text[])`;

/** $2: a tenant. */
const CHECKPOINTS_OF = `
  select r.name, r.version, r.position, r.state, p.position as parked_at
  from projections.registry r left join projections.parked p
    on p.name = r.name and p.generation = r.generation and p.tenant_id = $2
  where r.serves and r.name = any($1::text[])`;

const registryRows = async (
  sql: SqlTx,
  names: readonly string[],
  tenant: string | undefined,
): Promise<readonly SqlRow[]> => {
  if (tenant === undefined) return (await hasRegistry(sql)) ? sql.query(CHECKPOINTS, [names]) : [];
  if (await canPark(sql)) return sql.query(CHECKPOINTS_OF, [names, tenant]);
  // A registry of an older release parks nobody.
  return registryRows(sql, names, undefined);
};

/** undefined while some read model has no tables yet. */
const registryCheckpoints = async (
  sql: SqlTx,
  { projectors: names = [], tenant }: Pick<WaitOptions, 'projectors' | 'tenant'>,
): Promise<readonly RegistryCheckpoint[] | undefined> => {
  if (names.length === 0) return [];
  const rows = await registryRows(sql, names, tenant);
  if (rows.length < names.length) return undefined;
  return rows.map((row) => {
    const parkedAt = bigintOrNull(row, 'parked_at');
    return {
      name: textOf(row, 'name'),
      version: wholeOf(row, 'version'),
      position: bigintOrNull(row, 'position'),
      state: textOf(row, 'state'),
      ...(parkedAt !== null && parkedBefore(parkedAt)),
    };
  });
};

/** Checkpoints of read models that the lease holder does not follow: an older version moves only by being upgraded. */
const unfollowed = (
  checkpoints: readonly RegistryCheckpoint[] | undefined,
  projectors: readonly Projector[],
): readonly Checkpoint[] | undefined =>
  checkpoints?.map(({ name, version, position, state }) => ({
    position,
    state: projectors.some((one) => one.name === name && one.version > version) ? 'building' : state,
  }));

interface CheckpointWaitDeps {
  readonly sql: SqlTx;
  readonly timers: Timers;
  readonly projectors: readonly Projector[];
  /** The running slots while this process projects, else undefined. */
  readonly slots: () => readonly RunningSlot[] | undefined;
  readonly changes: Changes;
  /** Called when a caller begins to wait. */
  readonly onWait: () => void;
}

export interface WaitOptions {
  readonly timeoutMs: number;
  /** Names of read models; all by default. */
  readonly projectors?: readonly string[];
  /** Whose rows are wanted: false at once where a read model has parked this tenant before the position. */
  readonly tenant?: string | undefined;
}

/** Waits for checkpoints: by notification while this process projects, else by asking the registry. */
export const checkpointWaits = ({ sql, timers, projectors: known, slots, ...deps }: CheckpointWaitDeps) => {
  const { changes: changed, onWait } = deps;
  const names = known.map(({ name }) => name);
  let waiting = 0;

  const checkpoints = async ({
    projectors: wanted = names,
    tenant,
  }: Pick<WaitOptions, 'projectors' | 'tenant'>): Promise<readonly Checkpoint[] | undefined> => {
    const running = slots();
    if (running === undefined) return registryCheckpoints(sql, { projectors: wanted, tenant });
    const own = running.filter(({ projector }) => wanted.includes(projector.name));
    const rest = wanted.filter((name) => !own.some(({ projector }) => projector.name === name));
    const others = unfollowed(await registryCheckpoints(sql, { projectors: rest, tenant }), known);
    if (others === undefined) return undefined;
    const parkedAt = ({ parked }: RunningSlot) => (tenant === undefined ? undefined : parked?.get(tenant));
    const reached = own.map((slot): Checkpoint => {
      const at = parkedAt(slot);
      return at === undefined ? slot.generation : parkedBefore(at);
    });
    return [...reached, ...others];
  };

  const pause = async (leftMs: number): Promise<void> => {
    if ((slots()?.length ?? 0) < known.length) return timers.sleep(Math.min(leftMs, POLL_MS));
    const woken = new AbortController();
    await Promise.race([changed.next(), timers.sleep(leftMs, woken.signal)]);
    woken.abort();
  };

  const wait = async (position: bigint, { timeoutMs, ...wanted }: WaitOptions): Promise<boolean> => {
    const deadline = timers.nowMs() + timeoutMs;
    for (;;) {
      const reached = reachedBy(await checkpoints(wanted), position);
      if (reached !== 'not_yet') return reached === 'yes';
      const leftMs = deadline - timers.nowMs();
      if (leftMs <= 0) return false;
      await pause(leftMs);
    }
  };

  return {
    isAwaited: () => waiting > 0,
    waitFor: async (position: bigint, options: WaitOptions): Promise<boolean> => {
      waiting += 1;
      onWait();
      try {
        return await wait(position, options);
      } finally {
        waiting -= 1;
      }
    },
  };
};

/** What queries of one read model need and is not there. */
interface MissingTables {
  readonly projector: Projector;
  readonly generation: number;
  readonly schema: string;
  /** Tables of the generation that serves; their rows are gone. */
  readonly tables: readonly string[];
  /** Views that queries read. A view goes with its table. */
  readonly views: readonly string[];
}

const MISSING = `
  select r.name, r.generation, r.schema_name, t.table_name,
    to_regclass(r.schema_name || '.' || t.table_name) is null as no_table
  from projections.registry r
  join unnest($1::text[], $2::int4[], $3::text[]) as t(name, version, table_name)
    on t.name = r.name and t.version = r.version
  where r.serves and (to_regclass(r.schema_name || '.' || t.table_name) is null
    or to_regclass('${READ_SCHEMA}.' || t.table_name) is null)
  order by r.name, t.table_name`;

/** Looked up in the catalog: nothing is read from the tables. Read models of other versions are left out. */
export const missingTables = async (
  sql: SqlTx,
  projectors: readonly Projector[],
): Promise<readonly MissingTables[]> => {
  if (!(await hasRegistry(sql))) return [];
  const tables = projectors.flatMap((projector) =>
    projector.tables.map(({ name }) => ({ projector, table: name })),
  );
  const rows = await sql.query(MISSING, [
    tables.map(({ projector }) => projector.name),
    tables.map(({ projector }) => projector.version),
    tables.map(({ table }) => table),
  ]);
  return projectors.flatMap((projector) => {
    const own = rows.filter((row) => textOf(row, 'name') === projector.name);
    const [first] = own;
    if (first === undefined) return [];
    const gone = own.filter((row) => row['no_table'] === true);
    return {
      projector,
      generation: wholeOf(first, 'generation'),
      schema: textOf(first, 'schema_name'),
      tables: gone.map((row) => textOf(row, 'table_name')),
      views: own.map((row) => textOf(row, 'table_name')),
    };
  });
};

/** Read models that were replaced, and of which no row has been written since. */
export const unfilled = async (sql: SqlTx, projectors: readonly Projector[]): Promise<readonly string[]> => {
  if (!(await hasRegistry(sql))) return [];
  const rows = await sql.query(
    `select name from projections.registry
     where serves and position is null and generation > 1 and name = any($1::text[]) order by name`,
    [projectors.map(({ name }) => name)],
  );
  return rows.map((row) => textOf(row, 'name'));
};

/**
 * Puts an empty generation in the place of one that has lost a table: the runner finds it and fills it from
 * the start of the log. A view that was dropped by itself is made again. Gives what was missing. Several
 * processes may do it at once: they take turns, and the later one finds nothing.
 */
export const replaceMissing = async (
  sql: Sql,
  projectors: readonly Projector[],
): Promise<readonly MissingTables[]> => {
  if ((await missingTables(sql, projectors)).length === 0) return [];
  return sql.transaction(async (tx) => {
    await lockRegistry(tx);
    const missing = await missingTables(tx, projectors);
    for (const one of missing) {
      if (one.tables.length === 0) await pointViews(tx, one.projector, one.schema);
      else {
        await retire(tx, 'name = $1 and generation = $2', [one.projector.name, one.generation]);
        await createGeneration(tx, one.projector, 'live');
      }
    }
    return missing;
  });
};
