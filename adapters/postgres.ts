import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import {
  COMPOSED,
  type LockHolders,
  type Sql,
  type SqlLock,
  type SqlRow,
  type SqlTx,
  SqlUnavailable,
  type SqlValue,
} from '../projections/engine/ports.ts';
import { codeOf } from '../domain/kernel/json.ts';

/** Sessions that hold an advisory lock with a key of 64 bits, which Postgres shows in two halves. */
const HOLDERS = `
  select a.pid, a.application_name, a.pid::text || ' since ' || a.backend_start::text as holder
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::int8 << 32) | l.objid::int8 = $1`;

/**
 * The frozen process may have stopped in the middle of a batch: its open transaction keeps rows locked,
 * and would keep them from the process that takes over.
 */
const END = `
  with holding as (${HOLDERS})
  select pg_terminate_backend(a.pid) as ended
  from holding h join pg_stat_activity a
    on a.pid = h.pid or (a.application_name = h.application_name and a.datname = current_database()
      and a.state like 'idle in transaction%' and a.state_change < now() - interval '5 seconds')
  where h.holder = $2`;

/** Sees and ends sessions of the same database role. */
export const lockHolders = (sql: Pick<SqlTx, 'query'>): LockHolders => ({
  of: async (key) => {
    const [row] = await sql.query(HOLDERS, [key]);
    return row === undefined ? undefined : String(row['holder']);
  },
  end: async (key, holder) => {
    const rows = await sql.query(END, [key, holder]);
    return rows.some(({ ended }) => ended === true);
  },
});

/** A statement was sent in a transaction that an earlier statement had ended. */
const TRANSACTION_ENDED = '25P02';
/** Serialisation failure, deadlock, statement completion unknown: another try may well succeed. */
const CONFLICTS: readonly string[] = ['40001', '40P01', '40003'];

/** Classes 08 connection, 53 resources, 57 operator, 58 system; the driver's own errors have no SQLSTATE. */
export const isConnectionLost = (error: unknown): boolean => {
  const code = codeOf(error);
  if (/^(08|53|57|58)...$/.test(code)) return true;
  if (/^E[A-Z]+$/.test(code)) return true;
  // The driver's own errors have no code and no class.
  // eslint-disable-next-line house/no-telling-errors-by-text -- translated into SqlUnavailable below
  return error instanceof Error && /^(Connection terminated|timeout exceeded|Client)/i.test(error.message);
};

/** The server has rolled the transaction back for the sake of another: the same work may run again at once. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/** The error that ended the transaction, where `error` only says that one did. */
export const causeOf = (error: unknown, first: unknown): unknown =>
  codeOf(error) === TRANSACTION_ENDED && first !== undefined ? first : error;

/** SqlUnavailable for what may succeed later: a conflict that outlasted all tries is no fault of the statement. */
export const translated = (error: unknown): unknown =>
  error instanceof Error && (isConnectionLost(error) || CONFLICTS.includes(codeOf(error)))
    ? new SqlUnavailable(`Postgres is not available: ${error.message}`, { cause: error })
    : error;

/** Runs `work` and throws its errors translated. */
export const orUnavailable = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw translated(error);
  }
};

export interface PostgresOptions {
  readonly url: string;
  readonly poolMax?: number;
  readonly connectTimeoutMs?: number;
  /** What a composed statement may take, ms: a list in an order of its caller's, or a search. */
  readonly composedTimeoutMs?: number;
}

const TRANSACTION_ATTEMPTS_MAX = 5;
const STATEMENTS_MAX = 400;
/** Types that the driver would make Dates of: kept as text, as all that is not named elsewhere. */
const TEXT_TYPES = new Set([1082, 1114, 1184]);
const STALE_PLAN = '0A000';
const INT8 = 20;
const INT8_ARRAY = 1016;
const TEXT_ARRAY = 1009;

type ParseText = (text: string) => unknown;
const driverParser = pg.types.getTypeParser as (oid: number, format?: string) => ParseText;

const parseBigints: ParseText = (text) =>
  (driverParser(TEXT_ARRAY)(text) as readonly (string | null)[]).map((n) => (n === null ? null : BigInt(n)));

const typeParser = (oid: number, format?: string): ParseText => {
  if (oid === INT8) return BigInt;
  if (oid === INT8_ARRAY) return parseBigints;
  if (TEXT_TYPES.has(oid)) return (text) => text;
  return driverParser(oid, format);
};

interface StatementNames {
  readonly of: (text: string) => string | undefined;
  /** The plan kept under the old name has other columns than the tables now: use another name. */
  readonly renew: (text: string) => void;
}

/** Statements with parameters are prepared once a connection, under a name kept by their text, but composed ones. */
export const statementNames = (): StatementNames => {
  const names = new Map<string, string>();
  let made = 0;
  const renew = (text: string) => {
    made += 1;
    names.set(text, `q${String(made)}`);
  };
  return {
    of: (text) => {
      if (text.startsWith(COMPOSED)) return undefined;
      if (!names.has(text) && made < STATEMENTS_MAX) renew(text);
      return names.get(text);
    },
    renew,
  };
};

type Queryable = Pick<pg.ClientBase, 'query'>;

const statementsOn = (client: Queryable, names: StatementNames): SqlTx => ({
  query: async (text: string, values?: readonly SqlValue[]) => {
    const name = values === undefined ? undefined : names.of(text);
    const config = { text, values: [...(values ?? [])], ...(name === undefined ? {} : { name }) };
    try {
      const { rows } = await client.query<SqlRow & pg.QueryResultRow>(config);
      return rows;
    } catch (error) {
      // Also within a transaction, which cannot go on, and is begun again: the plan would stay as it is.
      if (name !== undefined && codeOf(error) === STALE_PLAN) names.renew(text);
      throw error;
    }
  },
  script: async (text) => {
    await client.query(text);
  },
});

interface Turns extends SqlTx {
  /** The error of the first statement that failed. */
  readonly firstError: () => unknown;
}

/** The driver wants the answer to one query before it is given the next. */
const oneAtATime = (statements: SqlTx): Turns => {
  let last: Promise<unknown> = Promise.resolve();
  let first: unknown;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch((error: unknown) => (first ??= error));
    return turn;
  };
  return {
    firstError: () => first,
    query: (text, values) => inTurn(() => statements.query(text, values)),
    script: (text) => inTurn(() => statements.script(text)),
  };
};

/** A swapped view changes the columns behind a prepared statement: prepare it afresh, once. */
const retryingStalePlans = (statements: SqlTx): SqlTx => ({
  query: async (text, values) => {
    try {
      return await statements.query(text, values);
    } catch (error) {
      if (codeOf(error) !== STALE_PLAN) throw error;
      return statements.query(text, values);
    }
  },
  script: (text) => statements.script(text),
});

const attempt = async <T>(client: pg.PoolClient, statements: Turns, work: (tx: SqlTx) => Promise<T>) => {
  await client.query('begin');
  try {
    const result = await work(statements);
    const { command } = await client.query('commit');
    if (command === 'ROLLBACK') throw new Error('the transaction was aborted by an earlier error');
    return result;
  } catch (error) {
    await client.query('rollback');
    // Statements of one transaction run side by side: the one that reports may only have met its end.
    throw causeOf(error, statements.firstError());
  }
};

const retrying = async <T>(once: () => Promise<T>): Promise<T> => {
  for (let tries = 1; tries < TRANSACTION_ATTEMPTS_MAX; tries += 1) {
    try {
      return await once();
    } catch (error) {
      if (!isConflict(error) && codeOf(error) !== STALE_PLAN) throw error;
      await wait(2 ** tries * (5 + Math.random() * 5));
    }
  }
  return once();
};

const transactionOn =
  (pool: pg.Pool, names: StatementNames) =>
  async <T>(work: (tx: SqlTx) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    let broken = false;
    // The query in hand reports a lost connection; without a listener the event would end the process.
    const ignore = () => undefined;
    client.on('error', ignore);
    const once = () => attempt(client, oneAtATime(statementsOn(client, names)), work);
    try {
      return await retrying(once);
    } catch (error) {
      broken = isConnectionLost(error);
      throw error;
    } finally {
      client.off('error', ignore);
      client.release(broken);
    }
  };

const lockOn = async (config: pg.ClientConfig, key: bigint): Promise<SqlLock | undefined> => {
  const client = new pg.Client(config);
  const lost = new Promise<void>((resolve) => {
    client.on('error', () => resolve());
    client.on('end', () => resolve());
  });
  let isHeld = false;
  try {
    await client.connect();
    const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [key]);
    isHeld = rows[0]?.got === true;
  } finally {
    if (!isHeld) await client.end().catch(() => undefined);
  }
  return isHeld ? { lost, release: () => client.end() } : undefined;
};

/** A Postgres server through a pool of connections. Locks have a connection of their own each. */
export const postgresSql = ({
  url,
  poolMax = 10,
  connectTimeoutMs = 5_000,
  composedTimeoutMs = 30_000,
}: PostgresOptions): Sql => {
  const config = {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    // One for each process, so that its leftovers can be told from the work of others.
    application_name: `quire ${randomUUID().slice(0, 8)}`,
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
  };
  const pool = new pg.Pool({ ...config, max: poolMax });
  // An idle connection that breaks is replaced at the next use; without a listener it would throw.
  pool.on('error', () => undefined);
  const names = statementNames();
  const transaction = transactionOn(pool, names);
  const statements = retryingStalePlans(statementsOn(pool, names));
  /** Callers choose their order and filters: what takes too long is ended, and its connection is free again. */
  const limited = (text: string, values?: readonly SqlValue[]) =>
    transaction(async (tx) => {
      await tx.script(`set local statement_timeout = ${String(composedTimeoutMs)}`);
      return tx.query(text, values);
    });
  const query = (text: string, values?: readonly SqlValue[]) =>
    text.startsWith(COMPOSED) ? limited(text, values) : statements.query(text, values);
  let closing: Promise<void> | undefined;
  return {
    query: (text, values) => orUnavailable(() => query(text, values)),
    transaction: (work) => orUnavailable(() => transaction(work)),
    script: (text) => orUnavailable(() => statements.script(text)),
    tryLock: (key) => orUnavailable(() => lockOn(config, key)),
    holders: lockHolders({ query: (text, values) => orUnavailable(() => statements.query(text, values)) }),
    close: () => (closing ??= pool.end()),
  };
};
