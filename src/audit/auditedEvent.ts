import type { Columns, Exact, Row, Sum, Table } from '../../projections/engine/table.ts';
import type { AnyEvent } from '../../domain/catalogue.ts';
import { contentOf, type RecordedEvent } from '../../domain/kernel/recorded.ts';

/** What columns are in rows that the auditor computes: objects stand for jsonb. */
interface Audited {
  readonly whole: number | bigint;
  readonly big: bigint;
  readonly json: object;
}

/** A row as the auditor computes it; of further members nothing is compared. */
export type ExpectedRow<T extends Table> = Row<T, Audited>;
/** A row that is being summed up. */
export type ExpectedSum<T extends Table> = Sum<T, Exact>;
export type Emit = <T extends Table>(table: T, row: ExpectedRow<T>) => void;

/** The rows of one read model, made from events and from nothing else. */
interface ExpectedFold {
  /** Emits rows that will not change any more, and remembers the others. */
  readonly apply: (event: AuditedEvent) => void;
  /** Emits what was remembered, as it is after the last event. */
  readonly finish: () => void;
}

/**
 * The required content of a read model. On purpose it shares only the definitions of tables with the projectors'
 * code: a mistake of theirs must not be repeated here.
 */
export interface ExpectedModel {
  /** The name of the read model in the registry. */
  readonly name: string;
  readonly tables: readonly Table[];
  /**
   * `erased`: documents whose rows will change once more, as they are erased or removed, so that the others need not be
   * remembered. One that is missing in it makes a difference, and is added: a second fold knows it.
   */
  readonly start: (emit: Emit, erased: Set<string>) => ExpectedFold;
}

type NullableIn<C extends Columns> = {
  [Name in keyof C]: C[Name] extends `${string}?${string}` ? Name : never;
}[keyof C];

/** null in each column that may be null, to be overwritten by what events say. */
export const noneOf = <C extends Columns>(columns: C) =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, kind]) => (kind.includes('?') ? [[name, null]] : [])),
  ) as { readonly [Name in NullableIn<C>]: null };

/** Rows of a table by a key, as long as they may change. */
export const keptRows = <T extends Table, R extends ExpectedRow<T> = ExpectedRow<T>>(
  table: T,
  emit: Emit,
) => {
  const rows = new Map<string, R>();
  return {
    get: (key: string) => rows.get(key),
    set: (key: string, row: R): void => void rows.set(key, row),
    /** The row of a key, created if missing. */
    at: (key: string, fresh: () => R): R => {
      const row = rows.get(key) ?? fresh();
      rows.set(key, row);
      return row;
    },
    /** Changes some columns of a row that is there. */
    change: (key: string, columns: Partial<ExpectedRow<T>>): void => {
      const row = rows.get(key);
      if (row !== undefined) rows.set(key, { ...row, ...columns });
    },
    /** Forgets a row, and gives it. */
    take: (key: string): R | undefined => {
      const row = rows.get(key);
      rows.delete(key);
      return row;
    },
    values: () => rows.values(),
    emitAll: (): void => {
      for (const row of rows.values()) emit(table, row);
    },
  };
};

type AsRecorded<Event> = Event extends AnyEvent ? Omit<RecordedEvent, 'type' | 'data'> & Event : never;

/** An event as the auditor decoded it, with its place in the log. */
export type AuditedEvent = AsRecorded<AnyEvent>;
export type AuditedEventOf<Type extends AnyEvent['type']> = Extract<AuditedEvent, { type: Type }>;

/** Puts what was decoded in the place where it was recorded. */
export const auditedEvent = (recorded: RecordedEvent, { type, data }: AnyEvent): AuditedEvent =>
  ({
    id: recorded.id,
    stream: recorded.stream,
    revision: recorded.revision,
    position: recorded.position,
    metadata: contentOf(recorded).metadata,
    stored: recorded.stored,
    type,
    data,
  }) as AuditedEvent;

/** Stores hand out data and metadata as they lie there, and parse them when they are looked at. */
export const isJson = (recorded: RecordedEvent): boolean => {
  try {
    return typeof recorded.data === 'object' && typeof recorded.metadata === 'object';
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
};

const ACCOUNT = 'account-';

/** The tenant whose account a stream is; undefined for other streams. */
export const accountOf = (stream: string): string | undefined => {
  if (stream.startsWith(ACCOUNT)) return stream.slice(ACCOUNT.length);
  return stream === 'account' ? '' : undefined;
};

/** When the command was given that made an event; empty where the metadata does not say. */
export const recordedAt = ({ metadata }: Pick<RecordedEvent, 'metadata'>): string => {
  const at = metadata['recorded_at'];
  return typeof at === 'string' ? at : '';
};

/** Where the books are open, as the log goes on. */
export const openBooks = () => {
  let opensAt: string | undefined;
  return {
    /** Takes up what closes a month or opens it again. */
    see: ({ type, data }: Pick<AuditedEvent, 'type' | 'data'>): void => {
      if ((type === 'MonthCutOff' || type === 'MonthReopened') && 'opens_at' in data)
        opensAt = data.opens_at ?? '';
    },
    /** Empty: no month is closed; undefined: none ever was. */
    opensAt: (): string | undefined => opensAt,
    /** When something is booked that has this time. */
    bookedAt: (time: string): string => (opensAt !== undefined && opensAt > time ? opensAt : time),
  };
};

/** What is done with events, by their type. */
export type Handlers<Context extends readonly unknown[]> = {
  readonly [Type in AuditedEvent['type']]?: (event: AuditedEventOf<Type>, ...context: Context) => void;
};

/** Hands each event to the handler of its type; others are passed over. */
export const byType =
  <Context extends readonly unknown[] = []>(handlers: Handlers<Context>) =>
  (event: AuditedEvent, ...context: Context): void => {
    const handle = handlers[event.type] as ((event: AuditedEvent, ...context: Context) => void) | undefined;
    handle?.(event, ...context);
  };
