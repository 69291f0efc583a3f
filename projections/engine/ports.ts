import type { AnyEvent } from '../../domain/catalogue.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';

/** The events that read models can be made of: all there are. */
export type DomainEvent = AnyEvent;

type AsRecorded<Event> = Event extends DomainEvent ? Omit<RecordedEvent, 'type' | 'data'> & Event : never;

/** An event as a projector gets it: decoded and upcast, with its place in the log. */
export type ProjectedEvent = AsRecorded<DomainEvent>;
export type ProjectedEventOf<Type extends DomainEvent['type']> = Extract<ProjectedEvent, { type: Type }>;

/** Turns a stored event into its current form; throws when it cannot. */
export type DecodeEvent = (recorded: RecordedEvent) => DomainEvent;

const ACCOUNT_PREFIX = 'account-';

/** Whose account an event of a stream `account-<tenant_id>` moves. */
export const tenantOf = ({ stream }: { readonly stream: string }): string => {
  if (!stream.startsWith(ACCOUNT_PREFIX)) throw new Error(`${stream} is not the stream of an account`);
  return stream.slice(ACCOUNT_PREFIX.length);
};

/** Narrows a batch to some types of event. */
export const only = <const Type extends DomainEvent['type']>(
  events: readonly ProjectedEvent[],
  ...types: readonly Type[]
): readonly ProjectedEventOf<Type>[] => {
  const wanted = new Set<string>(types);
  return events.filter((event): event is ProjectedEventOf<Type> => wanted.has(event.type));
};

/** Values that every driver behind `Sql` takes. Arrays bind to Postgres arrays, bigint to int8. */
export type SqlValue = string | number | bigint | boolean | null | readonly SqlValue[];
/** int8 and numeric arrive as bigint and text; timestamps are stored as text by convention. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Begins a statement that is composed of what somebody asks. There are more of them than a connection can keep
 * prepared: kept are those that are always the same.
 */
export const COMPOSED = '/* composed */ ';

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
   * if it no longer holds it, or if the database role may not end it.
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
