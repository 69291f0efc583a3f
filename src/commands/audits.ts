import type { ObjectStore } from '../../domain/ports/services.ts';
import type { AuditReport } from '../audit/runAudit.ts';
import { messageOf } from '../../domain/kernel/json.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import {
  finding,
  findingEvent,
  type FindingKind,
  findingStream,
  type ReportAudit,
  type ReportDrift,
} from '../../domain/finding.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import { keyIn, keyRow } from '../../projections/engine/cursor.ts';
import { walked, type Page, type RowPage } from '../../projections/engine/query.ts';

/** What an audit was asked to do: as the options of `quire audit`. */
export interface AuditOptions {
  /** Leaves the read models out. */
  readonly log_only: boolean;
  /** Keeps every finding, not only the first ones of each check. */
  readonly all: boolean;
  /** Writes findings into the log, so that webhooks of operators are told. */
  readonly tell: boolean;
}

/** How far an audit has read. */
export interface AuditProgress {
  readonly stage: 'starting' | 'reading_tables' | 'reading_log';
  readonly events: number;
  readonly position: string | null;
  /** Where the log ended when the audit began. */
  readonly end_position: string | null;
}

/** An audit as it is kept: it outlives the process that runs it. */
export interface AuditRecord extends AuditOptions, AuditProgress {
  readonly audit_id: string;
  readonly status: 'running' | 'succeeded' | 'failed' | 'cancelled' | 'interrupted';
  readonly started_at: string;
  readonly started_by: string;
  /** When its process last said that it runs. */
  readonly updated_at: string;
  readonly finished_at: string | null;
  readonly report: AuditReport | null;
  /** Why it could not be made. */
  readonly error: string | null;
}

const PREFIX = 'audits/';
const keyOf = (auditId: string): string => `${PREFIX}${auditId}`;

/** IDs hold the time, so the newest is the last. */
const AUDIT_ID = /^aud_[0-9A-Z]{26}$/;
const LATEST_FIRST = { name: 'audits', order: [{ by: 'audit_id', as: 'text' }] } as const;
/** Records that are kept. */
const KEPT = 100;

/** Audits by their ID, beside the uploads. */
const auditShelf = (objects: Pick<ObjectStore, 'put' | 'get' | 'list' | 'remove'>) => {
  const ids = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const { key } of objects.list(PREFIX)) found.push(key.slice(PREFIX.length));
    return found
      .filter((id) => AUDIT_ID.test(id))
      .sort()
      .reverse();
  };
  const find = async (auditId: string): Promise<AuditRecord | undefined> => {
    if (!AUDIT_ID.test(auditId)) return undefined;
    const bytes = await objects.get(keyOf(auditId));
    return bytes && (JSON.parse(Buffer.from(bytes).toString()) as AuditRecord);
  };
  return {
    put: (record: AuditRecord): Promise<void> =>
      objects.put(keyOf(record.audit_id), Buffer.from(JSON.stringify(record))),
    find,
    /** Newest first. */
    ids,
    /** Removes the oldest if there are too many. */
    prune: async (): Promise<void> => {
      for (const id of (await ids()).slice(KEPT)) await objects.remove(keyOf(id));
    },
  };
};

/** Makes an audit in a place where it delays nobody. */
export type RunAudit = (
  options: AuditOptions,
  watch: { readonly onProgress: (progress: AuditProgress) => void; readonly signal: AbortSignal },
) => Promise<AuditReport>;

interface AuditsDeps {
  readonly run: RunAudit;
  readonly objects: Pick<ObjectStore, 'put' | 'get' | 'list' | 'remove'>;
  readonly clock: Pick<Clock, 'now' | 'newId'>;
  readonly tell: ReturnType<typeof reportAudit>;
  /** An audit whose record could not be written. */
  readonly onError: (error: unknown) => void;
}

/** Audits that are asked for while the service runs, one at a time in each process. */
export type Audits = ReturnType<typeof audits>;

type Shelf = ReturnType<typeof auditShelf>;

/** How often a running audit says that it runs, ms. */
const SAYS_SO_EVERY_MS = 2_000;
/** One that has said nothing for so long has lost its process, ms. */
const SILENT_MS = 60_000;

interface Running {
  record: AuditRecord;
  readonly cancel: AbortController;
  isStopping: boolean;
  saved: Promise<void>;
}

const NOTHING_READ: AuditProgress = { stage: 'starting', events: 0, position: null, end_position: null };

/** The present state of a record: a process that died cannot write it itself. */
const asOf = (record: AuditRecord, now: string): AuditRecord =>
  record.status === 'running' && laterBy(record.updated_at, SILENT_MS) < now
    ? { ...record, status: 'interrupted', finished_at: record.updated_at }
    : record;

const endOf = (
  { isStopping, cancel }: Running,
  error: unknown,
): Pick<AuditRecord, 'status' | 'error' | 'report'> => {
  if (isStopping) return { status: 'interrupted', error: null, report: null };
  if (cancel.signal.aborted) return { status: 'cancelled', error: null, report: null };
  return { status: 'failed', error: messageOf(error), report: null };
};

/** All known audits, whichever process made them. */
const readingOf = (
  shelf: Shelf,
  { running, now }: { readonly running: () => AuditRecord | undefined; readonly now: () => string },
) => {
  const find = async (auditId: string): Promise<AuditRecord | undefined> => {
    const own = running();
    if (own?.audit_id === auditId) return own;
    const record = await shelf.find(auditId);
    return record && asOf(record, now());
  };
  return {
    find,
    /** Newest first. */
    list: async (asked: Page): Promise<RowPage<AuditRecord>> => {
      const page = await walked(LATEST_FIRST, asked, {
        find: async ({ limit, place }) => {
          const ids = await shelf.ids();
          const from =
            place === undefined ? ids.slice(asked.offset) : ids.filter((id) => id < String(place.key[0]));
          return { rows: from.slice(0, limit).map(keyRow), total: place?.total ?? ids.length };
        },
        read: keyIn,
      });
      const found = await Promise.all(page.items.map(find));
      return { ...page, items: found.filter((record) => record !== undefined) };
    },
    /** The last audit with a report; undefined if there is none among those kept. */
    lastReported: async (): Promise<AuditRecord | undefined> => {
      for (const id of await shelf.ids()) {
        const record = await find(id);
        if (record?.report != null) return record;
      }
      return undefined;
    },
  };
};

type WorkingDeps = Omit<AuditsDeps, 'objects'> & { readonly shelf: Shelf };

/** Makes an audit, and keeps how far it is and what it came to. */
const workingOf = ({ run, tell, onError, clock, shelf }: WorkingDeps, onEnd: () => void) => {
  /** One after the other: what an audit came to is written last. */
  const save = (one: Running, end: Partial<AuditRecord> = {}): Promise<void> => {
    one.saved = one.saved
      .then(() => shelf.put({ ...one.record, ...end, updated_at: clock.now() }))
      .catch(onError);
    return one.saved;
  };

  const tellFound = async (report: AuditReport): Promise<void> => {
    const checks = report.checks.filter(({ findings }) => findings > 0).map(({ check }) => check);
    if (report.total > 0) await tell({ findings: report.total, checks });
  };

  const work = async (one: Running): Promise<void> => {
    const saying = setInterval(() => void save(one), SAYS_SO_EVERY_MS).unref();
    const onProgress = (progress: AuditProgress) => {
      one.record = { ...one.record, ...progress };
    };
    const { record, cancel } = one;
    const made = async (): Promise<Pick<AuditRecord, 'status' | 'error' | 'report'>> => {
      const report = await run(record, { onProgress, signal: cancel.signal });
      if (record.tell) await tellFound(report);
      return { status: 'succeeded', error: null, report };
    };
    const end = await made().catch((error: unknown) => endOf(one, error));
    clearInterval(saying);
    await save(one, { ...end, finished_at: clock.now() });
    // Until now it counts as running: a caller that sees its end can start another.
    onEnd();
  };
  return { save, work };
};

/** Opens the audits of this process; nothing is read before one is started. */
export const audits = ({ run, objects, clock, tell, onError }: AuditsDeps) => {
  const shelf = auditShelf(objects);
  let running: Running | undefined;
  let ended: Promise<void> = Promise.resolve();

  const { save, work } = workingOf({ run, tell, onError, clock, shelf }, () => {
    running = undefined;
  });
  const reading = readingOf(shelf, { running: () => running?.record, now: clock.now });
  const { find } = reading;

  return {
    /** Begins one; if one is running, gives that instead. */
    start: async (
      options: AuditOptions,
      started_by: string,
    ): Promise<{ readonly kind: 'started' | 'runs_already'; readonly record: AuditRecord }> => {
      if (running !== undefined) return { kind: 'runs_already', record: running.record };
      const now = clock.now();
      const record: AuditRecord = {
        audit_id: clock.newId('aud'),
        status: 'running',
        ...options,
        ...NOTHING_READ,
        started_at: now,
        started_by,
        updated_at: now,
        finished_at: null,
        report: null,
        error: null,
      };
      const one = { record, cancel: new AbortController(), isStopping: false, saved: Promise.resolve() };
      running = one;
      await save(one);
      await shelf.prune().catch(onError);
      ended = work(one);
      return { kind: 'started', record: one.record };
    },
    ...reading,
    /** Stops one that this process runs, and waits for its end; others stay as they are. */
    cancel: async (auditId: string): Promise<AuditRecord | undefined> => {
      if (running?.record.audit_id === auditId) {
        running.cancel.abort();
        await ended;
      }
      return find(auditId);
    },
    /** The one that runs is said to be interrupted. */
    close: async (): Promise<void> => {
      if (running !== undefined) {
        running.isStopping = true;
        running.cancel.abort();
      }
      await ended;
    },
  };
};

interface FindingDeps {
  readonly store: EventStore;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
}

const rules = { decider: finding, codec: eventCodec(findingEvent), streamOf: findingStream };

/** Writes down what a check of all balances found, where that differs from the check before. */
export const reportDrift =
  ({ store, clock }: FindingDeps) =>
  (data: ReportDrift['data']): Promise<Outcome<FindingKind>> =>
    streamsOf<FindingKind, 'drift' | 'audit'>(rules, store).handle(
      'drift',
      { type: 'ReportDrift', data, meta: systemMeta({ clock }, 'drift') },
      null,
    );

/** Writes down that an audit found something. */
export const reportAudit =
  ({ store, clock }: FindingDeps) =>
  (data: ReportAudit['data']): Promise<Outcome<FindingKind>> =>
    streamsOf<FindingKind, 'drift' | 'audit'>(rules, store).handle(
      'audit',
      { type: 'ReportAudit', data, meta: systemMeta({ clock }, 'audit') },
      null,
    );
