import type { RangesToHelp, RangeTurn, RangeTurns, RangedWork } from '@quire/engine/ports/extractionEngine';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import {
  pageRanges,
  pageRangesEvent,
  type PageRangesKind,
  pageRangesStream,
  readerMark,
  type RangeReader,
  type TakeRanges,
} from '../../domain/pageRanges.ts';
import { hasEnded } from '../../domain/leased.ts';
import type { OperationState } from '../../domain/operation.ts';
import type { OperationName } from '../commands/operations.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import { leaseMs, repeatedly } from './queue.ts';

/** Who read a range: the owner of its operation, or another worker. */
export type ReadBy = 'owner' | 'helper';

export interface RangesDeps {
  readonly store: EventStore;
  readonly clock: Clock;
  /** Names this worker in the log. */
  readonly worker: string;
  /** How often a reader looks whether its lease has to be renewed, ms. */
  readonly tickMs: number;
  readonly onError: (error: unknown) => void;
  /** Told of ranges that this process has read; left out: nobody is. */
  readonly onRead?: ((by: ReadBy, count: number) => void) | undefined;
}

/** Documents whose readers are watched. */
const WATCHED_MAX = 1_000;
/** Pause before a turn is asked for again that could not be taken, ms. */
const AGAIN_MS = 1_000;

const monotonicOf = ({ clock }: Pick<RangesDeps, 'clock'>): (() => number) =>
  clock.monotonicMs ?? (() => performance.now());

/** Readers of documents, watched by this process's own clock: those of other machines decide nothing. */
const readerWatch = (monotonicMs: () => number) => {
  const documents = new Map<string, ReadonlyMap<string, { readonly since: number; readonly ms: number }>>();
  return {
    see: (operationId: string, readers: readonly RangeReader[]): void => {
      const before = documents.get(operationId);
      const now = monotonicMs();
      const seen = readers.map((one) => {
        const mark = readerMark(one);
        return [mark, before?.get(mark) ?? { since: now, ms: one.lease_ms }] as const;
      });
      documents.delete(operationId);
      documents.set(operationId, new Map(seen));
      const [oldest] = documents.keys();
      if (documents.size > WATCHED_MAX && oldest !== undefined) documents.delete(oldest);
    },
    /** Marks of readers that have stood still for the whole time of their lease. */
    lost: (operationId: string): ReadonlySet<string> =>
      new Set(
        [...(documents.get(operationId) ?? [])]
          .filter(([, { since, ms }]) => monotonicMs() - since >= ms)
          .map(([mark]) => mark),
      ),
  };
};

/** The turns of a reader, and what ends the renewals of its lease. */
interface Reader {
  readonly turns: RangeTurns;
  readonly stop: () => void;
}

interface Reading {
  readonly name: OperationName;
  readonly by: ReadBy;
  /** Aborted: it reads no more, and gives back what it has. */
  readonly signal: AbortSignal;
}

const NOTHING: Awaited<ReturnType<RangeTurns['take']>> = { mine: [], done: new Set() };

/** What all readers of one process have in common. */
const sharedIn = (deps: RangesDeps) => {
  const rules = { decider: pageRanges, codec: eventCodec(pageRangesEvent), streamOf: pageRangesStream };
  const streams = streamsOf<PageRangesKind>(rules, deps.store);
  const monotonicMs = monotonicOf(deps);
  const watch = readerWatch(monotonicMs);
  const look = async (operationId: string) => {
    const state = await streams.stateOf(operationId);
    watch.see(operationId, state?.readers ?? []);
    return state;
  };
  return { ...deps, streams, monotonicMs, watch, look };
};
type Shared = ReturnType<typeof sharedIn>;

/** How a turn is taken. */
type Manner = Pick<TakeRanges['data'], 'most' | 'leaves'>;

/** Decides turns of one reader, one at a time: a renewal that is late would take again what was given back. */
const turnsIn = (shared: Shared, { name, by }: Reading) => {
  const { clock, worker, monotonicMs, watch } = shared;
  const { operation_id, tenant_id } = name;
  const lease_id = clock.newId('lease');
  const began = monotonicMs();
  /** What it has, and when its lease has to be renewed; undefined: nothing. */
  let held: { readonly turn: RangeTurn; readonly renewAt: number } | undefined;
  let before: Promise<unknown> = Promise.resolve();

  const decided = async (turn: RangeTurn, how: Manner) => {
    await shared.look(operation_id);
    const meta = systemMeta(shared, operation_id);
    const lease_ms = Math.round(leaseMs(monotonicMs() - began));
    const lease = { lease_id, worker, lease_until: laterBy(meta.now, lease_ms), lease_ms };
    const known = { operation_id, tenant_id, lost: watch.lost(operation_id), isOwner: by === 'owner' };
    const data = { ...turn, ...how, ...lease, ...known };
    const outcome = await shared.streams.handle(operation_id, { type: 'TakeRanges', data, meta }, tenant_id);
    if (outcome.kind === 'rejected') return NOTHING;
    if (outcome.kind !== 'done') throw new Error(`ranges of ${operation_id} cannot be taken now`);
    const { readers, done } = outcome.state ?? NOTHING_READ;
    watch.see(operation_id, readers);
    const mine = readers.find((one) => one.lease_id === lease_id)?.ranges ?? [];
    held =
      mine.length === 0 ? undefined : { turn: { ...turn, done: [] }, renewAt: monotonicMs() + lease_ms / 2 };
    return { mine, done };
  };
  const inTurn = (turn: RangeTurn, how: Manner): ReturnType<typeof decided> => {
    const work = () => decided(turn, how);
    const next = before.then(work, work);
    before = next.catch(() => undefined);
    return next;
  };
  const renew = (): void => {
    const own = held;
    if (own === undefined || monotonicMs() < own.renewAt) return;
    held = undefined;
    // One that fails is tried again; until then the lease is as long as it was.
    inTurn(own.turn, { most: 0, leaves: false }).catch(() => (held ??= own));
  };
  return { inTurn, renew };
};

/** One reader of a document: an owner of its operation, or a helper. */
const readerIn = (shared: Shared, reading: Reading): Reader => {
  const { onError, onRead, tickMs } = shared;
  const { by, signal } = reading;
  const { inTurn, renew } = turnsIn(shared, reading);
  const take: RangeTurns['take'] = async ({ most, ...turn }) => {
    if (turn.done.length > 0) onRead?.(by, turn.done.length);
    for (;;) {
      try {
        return await inTurn(turn, { most, leaves: false });
      } catch (error) {
        onError(error);
        if (signal.aborted) return NOTHING;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  };
  const renewal = setInterval(renew, tickMs);
  renewal.unref();
  return {
    turns: {
      take,
      // What cannot be given back now is free once its lease was watched for its time.
      leave: (turn) => inTurn(turn, { most: 0, leaves: true }).then(() => undefined, onError),
    },
    stop: () => clearInterval(renewal),
  };
};

/** Ranges of long documents as one process takes them, by the log: each is read by one worker at a time. */
export const rangesOf = (deps: RangesDeps) => {
  const shared = sharedIn(deps);
  const { look, watch, worker } = shared;
  return {
    reader: (reading: Reading): Reader => readerIn(shared, reading),
    /** What is left for a helper to take; undefined: nothing, or this worker reads the document already. */
    partToHelp: async (operationId: string): Promise<string | undefined> => {
      const state = await look(operationId);
      if (state === null || state.readers.some((one) => one.worker === worker)) return undefined;
      const lost = watch.lost(operationId);
      const live = state.readers.filter((one) => !lost.has(readerMark(one)));
      const busy = live.reduce((sum, { ranges }) => sum + ranges.length, 0);
      return state.done.size + busy < state.ranges ? state.part : undefined;
    },
  };
};

/** Of a document that nobody has begun. */
const NOTHING_READ = { readers: [] as readonly RangeReader[], done: new Set<number>() };

/** What a helper reads a document with, and what puts it away. */
interface FileToHelp extends Pick<RangesToHelp, 'path' | 'password' | 'shelf'> {
  readonly discard: () => Promise<void>;
}

export interface HelpDeps extends Pick<RangesDeps, 'tickMs' | 'onError'> {
  readonly operations: { readonly stateOf: (id: string) => Promise<OperationState> };
  /** Operations that somebody works on and that have more pages than are read in one piece. May be late. */
  readonly longRunning: (limit: number) => Promise<readonly OperationName[]>;
  readonly ranged: Pick<RangedWork, 'help'>;
  readonly fileOf: (accepted: NonNullable<OperationState['accepted']>) => Promise<FileToHelp>;
  /** False while work that waits needs all places of this worker. */
  readonly hasPlace: () => boolean;
}

/** Documents that are looked at for ranges to take, at once. */
const LOOKED_AT = 20;
/** How often, ms. */
const LOOK_MS = 1_000;
/** Documents that this process could not help with. */
const FAILED_MAX = 1_000;

/** Works as long as an operation has not ended, whatever becomes of it, and its process is not shut down. */
const whileOpen = async (
  { operations, tickMs }: Pick<HelpDeps, 'operations' | 'tickMs'>,
  { id, shutdown }: { readonly id: string; readonly shutdown: AbortSignal },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const over = new AbortController();
  const check = async (): Promise<void> => {
    if (hasEnded(await operations.stateOf(id))) over.abort();
  };
  // A log that is away for a moment is asked again.
  const timer = setInterval(() => void check().catch(() => undefined), tickMs);
  timer.unref();
  try {
    await work(AbortSignal.any([over.signal, shutdown]));
  } finally {
    clearInterval(timer);
  }
};

/**
 * Reads ranges of documents whose operations others own, one document at a time, while this worker has a place that
 * no waiting work needs.
 */
export const rangeHelper = (ranges: ReturnType<typeof rangesOf>, deps: HelpDeps) => {
  const shutdown = new AbortController();
  const failed = new Set<string>();
  const help = async (name: OperationName, part: string): Promise<void> => {
    const { operation_id, tenant_id: share } = name;
    const state = await deps.operations.stateOf(operation_id);
    if (state.accepted === null || hasEnded(state)) return;
    const { discard, ...file } = await deps.fileOf(state.accepted);
    try {
      await whileOpen(deps, { id: operation_id, shutdown: shutdown.signal }, async (signal) => {
        const { turns, stop } = ranges.reader({ name, by: 'helper', signal });
        // Work that waits goes first: then nothing more is taken.
        const giving: RangeTurns = {
          ...turns,
          take: ({ most, ...turn }) => turns.take({ ...turn, most: deps.hasPlace() ? most : 0 }),
        };
        const failure = await deps.ranged.help({ ...file, turns: giving, part, share, signal }).finally(stop);
        if (failure !== undefined && failure.kind !== 'aborted') noteFailed(operation_id);
      });
    } finally {
      await discard();
    }
  };
  const noteFailed = (id: string): void => {
    failed.add(id);
    const [oldest] = failed;
    if (failed.size > FAILED_MAX && oldest !== undefined) failed.delete(oldest);
  };
  /** Helps with the first document that has something to take. */
  const look = async (): Promise<void> => {
    if (!deps.hasPlace() || shutdown.signal.aborted) return;
    for (const name of await deps.longRunning(LOOKED_AT)) {
      const { operation_id } = name;
      const part = failed.has(operation_id) ? undefined : await ranges.partToHelp(operation_id);
      if (part === undefined) continue;
      await help(name, part).catch((error: unknown) => {
        noteFailed(operation_id);
        deps.onError(error);
      });
      return;
    }
  };
  const loop = repeatedly(look, LOOK_MS, deps.onError);
  return {
    look,
    start: loop.start,
    /** Gives back what it has. */
    stop: async (): Promise<void> => {
      shutdown.abort();
      await loop.stop();
    },
  };
};
