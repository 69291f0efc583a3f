/** Values that every driver behind `Sql` takes. Arrays bind to Postgres arrays, bigint to int8. */
export type SqlValue = string | number | bigint | boolean | null | readonly SqlValue[];
/** int8 and numeric arrive as bigint and text; timestamps are stored as text by convention. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A Postgres session's worth of SQL. */
export interface SqlTx {
  /** One statement, with `$1` parameters. */
  query(text: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Several statements without parameters, all or nothing. */
  script(text: string): Promise<void>;
}

/** Postgres, real or embedded. `transaction` commits when `work` resolves, rolls back when it throws. */
export interface Sql extends SqlTx {
  transaction<T>(work: (tx: SqlTx) => Promise<T>): Promise<T>;
  /**
   * Holds a session-wide advisory lock while it can. undefined when another session has it. `lost`
   * resolves when the session that holds the lock is gone.
   */
  tryLock(key: bigint): Promise<SqlLock | undefined>;
  /** Sessions of other processes that hold locks; missing where there is one process only. */
  readonly holders?: LockHolders;
  close(): Promise<void>;
}

export interface SqlLock {
  readonly lost: Promise<void>;
  release(): Promise<void>;
}

/** A frozen process keeps its session, and with it its locks: others may end it. */
export interface LockHolders {
  /** The session that holds an advisory lock now. */
  of(key: bigint): Promise<string | undefined>;
  /**
   * Ends that session if it still holds the lock, and transactions that its process has left open. False
   * when it holds it no more, or when the database role may not end it.
   */
  end(key: bigint, holder: string): Promise<boolean>;
}

/**
 * The database cannot be reached, is shutting down or out of resources: the same work may succeed
 * later. Adapters throw it instead of their driver's error; all other errors are about the statement.
 */
export class SqlUnavailable extends Error {
  override readonly name = 'SqlUnavailable';
}

/** Time for loops that wait: back-off, linger, watchdog. `sleep` resolves early when `signal`
 * aborts; `sleep(0)` lets what is waiting have its turn. */
export interface Timers {
  readonly nowMs: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}
