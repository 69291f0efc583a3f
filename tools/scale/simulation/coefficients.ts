import { readFileSync } from 'node:fs';

/** What was measured of one real part. Every time is in milliseconds, every size in bytes. */
export interface Coefficients {
  readonly measured_at: string;
  readonly machine: string;
  /** Of the account writer, on the thread that answers requests. */
  readonly writer: {
    /** Each turn of a mailbox, whatever it takes. */
    readonly turn_ms: number;
    /** Each command: decided, checked against its schema, hashed, encoded, answered. */
    readonly command_ms: number;
    /** Each answer of the embedded log's thread, however many appends it is for. */
    readonly group_ms: number;
    /** Processor time of the thread between two collections of garbage, and how long those took (quantiles). */
    readonly gc_every_ms: number;
    readonly gc_pauses_ms: readonly number[];
    /** Read forward after a conflict: once, and each event. */
    readonly read_ms: number;
    readonly fold_event_ms: number;
  };
  /** Of the embedded log's thread. */
  readonly commit: {
    /** One append of one event, durable: quantiles from 0.5 % to 99.5 %. */
    readonly single_ms: readonly number[];
    /** Each further append, and each further event, of a group. */
    readonly append_ms: number;
    readonly event_ms: number;
    /** To the thread and back. */
    readonly handoff_ms: number;
  };
  readonly projector: {
    /** A batch of one event, and each further event, in the projecting process. */
    readonly batch_ms: number;
    readonly event_ms: number;
    /** The same of PostgreSQL, without the sync of its commit. */
    readonly database_batch_ms: number;
    readonly database_event_ms: number;
  };
  /** Processor time of the service process for a request, its append included. */
  readonly http: { readonly burn_ms: number; readonly balance_ms: number };
  readonly pages: { readonly text_ms: number; readonly scan_ms: number };
  readonly log: {
    readonly bytes_per_event: number;
    readonly events: number;
    readonly streams: number;
    readonly by_type: Readonly<
      Record<string, { readonly count: number; readonly data: number; readonly metadata: number }>
    >;
    readonly index_share: number;
    readonly audit_events_per_second: number;
    readonly audit_bytes_per_stream: number;
  };
  readonly read_models: {
    readonly events: number;
    readonly tenants: number;
    readonly rebuild_events_per_second: number;
    readonly tables: readonly TableSize[];
  };
  readonly memory: {
    readonly warm_account: number;
    readonly open_hold: number;
    readonly keyed_charge: number;
    readonly sale: number;
    readonly cached_key: number;
  };
  readonly cold_load: readonly ColdLoad[];
  readonly snapshot: { readonly bytes_small: number; readonly bytes_per_entry: number };
  /** Processor time until a service is healthy. */
  readonly start_cpu_ms: { readonly empty: number; readonly with_log: number; readonly log_events: number };
}

/** One table of a read model. `table_bytes` with what belongs to it but indexes. */
export interface TableSize {
  readonly table: string;
  readonly rows: number;
  readonly table_bytes: number;
  readonly index_bytes: number;
}

/** How long an account takes to come into memory. */
export interface ColdLoad {
  readonly events: number;
  readonly kind: 'hold and settle' | 'keyed charge';
  readonly from_log_ms: number;
  /** null: the state is too large to be saved. */
  readonly from_snapshot_ms: number | null;
  readonly snapshot_bytes: number | null;
}

/** The coefficients that the documentation shows. */
export const COEFFICIENTS_PATH = 'docs/explanation/scale.coefficients.json';

export const readCoefficients = (path = COEFFICIENTS_PATH): Coefficients =>
  JSON.parse(readFileSync(path, 'utf8')) as Coefficients;
