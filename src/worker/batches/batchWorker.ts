import { asCredits, laterBy } from '../../../domain/kernel/amounts.ts';
import type { BatchCounts, BatchProgress } from '../../../projections/batches.ts';
import type { BatchName } from '../../commands/batches/batches.ts';
import { dropInputs } from '../../commands/operations/operationInput.ts';
import type { OperationName } from '../../commands/operations/operations.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import { each, repeatedly } from '../loops.ts';
import { workAtOnce, type WorkTurns } from '../queue/workAtOnce.ts';
import { feedDocument, type BatchPlace, type FeedDeps } from './feedDocuments.ts';

/** What read models know of batches. They may be late: the streams decide. */
export interface BatchLists {
  /** Those with documents to begin and fewer than so many in the queue; tenants take turns. */
  readonly toBegin: (
    openMax: number,
    limit: number,
  ) => Promise<readonly (BatchName & { readonly open: number })[]>;
  /** Documents begun before `before` of which nothing has come. */
  readonly left: (
    before: string,
    limit: number,
  ) => Promise<readonly (BatchName & { readonly index: number })[]>;
  /** Operations of cancelled batches that nobody has started. */
  readonly toCancel: (limit: number) => Promise<readonly OperationName[]>;
  /** Those whose documents all have their outcome. */
  readonly toEnd: (limit: number) => Promise<readonly BatchName[]>;
  readonly progress: (batchId: string) => Promise<BatchProgress | undefined>;
}

export interface BatchWorkerDeps extends FeedDeps {
  readonly lists: BatchLists;
  /** How often batches are looked at, ms. */
  readonly pollMs?: number;
  /** After this long a document that was begun and came to nothing is anyone's, ms. */
  readonly leftMs?: number;
  /** Whose turn it is to have a document counted; left out: by the time that it took. */
  readonly turns?: WorkTurns;
}

export interface BatchWorker {
  /** One look at all batches: cancels, begins, takes over, feeds, ends. Gives how many things it did. */
  readonly look: () => Promise<number>;
  readonly start: () => void;
  /** Ends after the documents that are being fed. */
  readonly stop: () => Promise<void>;
}

/**
 * Documents of one batch in the queue at once: enough to keep a fleet busy, and few enough that other work of the
 * tenant is not behind a thousand of them, that files are not copied long before they are read, and that a cancelled
 * batch has little to give back.
 */
export const QUEUED_MAX = 50;
/** Documents that are begun by one event: what a worker that dies leaves to others. */
const BEGUN_AT_ONCE = 10;
/**
 * Documents that are counted beside each other, one place of which is for a tenant that has none: a batch of hostile
 * files holds up its own tenant alone.
 */
export const FED_AT_ONCE = 3;
const PAGE = 50;
/** As many as the open batches of a tenant may have in the queue. */
const LEFT_PAGE = 500;
const LEFT_MS = 30_000;

const placeIn = ({ batch_id, index }: BatchPlace): string => `${batch_id}/${String(index)}`;

/** Claims some documents of a batch; undefined: none. */
const beginSome = async (
  deps: BatchWorkerDeps,
  { open, ...name }: BatchName & { readonly open: number },
): Promise<readonly BatchPlace[]> => {
  const meta = systemMeta(deps, name.batch_id);
  const data = { count: Math.min(BEGUN_AT_ONCE, QUEUED_MAX - open) };
  const outcome = await deps.batches.handle(name, { type: 'BeginDocuments', data, meta });
  if (outcome.kind !== 'done') return [];
  if (outcome.position !== undefined) deps.wrote(name.tenant_id, outcome.position);
  return outcome.events.flatMap((event) =>
    event.type === 'BatchDocumentsBegun'
      ? Array.from({ length: event.data.count }, (_, at) => ({ ...name, index: event.data.first + at }))
      : [],
  );
};

/** An operation of a cancelled batch, unless somebody has started it meanwhile. */
const cancelQueued = async (
  { operations, ...deps }: BatchWorkerDeps,
  name: OperationName,
): Promise<boolean> => {
  const { status, attempts } = await operations.streams.stateOf(name.operation_id);
  if (status !== 'queued' || attempts > 0) return false;
  const done = await operations.cancel(name, systemMeta(deps, name.operation_id));
  return done.kind === 'answered' && done.cancelled;
};

const outcomesIn = ({ queued: _, running: __, ...ended }: BatchCounts) => ended;

const endOne = async (deps: BatchWorkerDeps, name: BatchName): Promise<boolean> => {
  const progress = await deps.lists.progress(name.batch_id);
  if (progress === undefined) return false;
  const { counts, pages, credits_charged } = progress;
  const data = { ...outcomesIn(counts), pages, credits_charged: asCredits(credits_charged) };
  const meta = systemMeta(deps, name.batch_id);
  const outcome = await deps.batches.handle(name, { type: 'EndBatch', data, meta });
  if (outcome.kind !== 'done' || outcome.state.accepted === null) return false;
  if (outcome.position !== undefined) deps.wrote(name.tenant_id, outcome.position);
  await dropInputs(deps.objects, name.batch_id);
  return true;
};

/** What was tried a while ago may be tried again; what cannot be fed now would else be tried at every look. */
const triedAgo = (tried: Map<string, number>, nowMs: number, leftMs: number) => {
  for (const [document, at] of tried) if (nowMs - at >= leftMs) tried.delete(document);
  return (place: BatchPlace): boolean => {
    if (tried.has(placeIn(place))) return false;
    tried.set(placeIn(place), nowMs);
    return true;
  };
};

/** Documents on their way to the queue, by their place; tenants take turns by the time that theirs take. */
const feeding = (deps: BatchWorkerDeps, shutdown: AbortSignal) => {
  const waiting = new Map<string, BatchPlace>();
  const working = workAtOnce<BatchPlace>({
    idOf: placeIn,
    waiting: () => Promise.resolve([...waiting.values()]),
    run: async (place) => {
      waiting.delete(placeIn(place));
      await feedDocument(deps, place, shutdown).catch(deps.onError);
      return 'ran';
    },
    onError: deps.onError,
    shutdown,
    places: FED_AT_ONCE,
    turns: deps.turns,
  });
  return {
    add: (places: readonly BatchPlace[]): void => {
      for (const place of places) waiting.set(placeIn(place), place);
    },
    takeUp: working.takeUp,
    settled: working.settled,
    ran: working.ran,
  };
};

const looking = (deps: BatchWorkerDeps, feed: ReturnType<typeof feeding>, shutdown: AbortSignal) => {
  const tried = new Map<string, number>();
  const { lists, clock, leftMs = LEFT_MS } = deps;
  return async (): Promise<number> => {
    const now = clock.now();
    const cancelled = await each(deps, await lists.toCancel(PAGE), (one) => cancelQueued(deps, one));
    const left = await lists.left(laterBy(now, -leftMs), LEFT_PAGE);
    feed.add(left.filter(triedAgo(tried, performance.now(), leftMs)));
    const waiting = shutdown.aborted ? [] : await lists.toBegin(QUEUED_MAX, PAGE);
    const begun = await each(deps, waiting, async (one) => {
      const places = await beginSome(deps, one);
      feed.add(places);
      return places.length > 0;
    });
    await feed.takeUp();
    const ended = await each(deps, await lists.toEnd(PAGE), (one) => endOne(deps, one));
    return cancelled + begun + ended;
  };
};

/**
 * Turns documents of batches into operations, a few at a time, and says when a batch has ended. Any number of
 * workers may do so beside each other: each begins other documents, for the batch's stream has an order.
 */
export const batchWorker = (deps: BatchWorkerDeps): BatchWorker => {
  const shutdown = new AbortController();
  const feed = feeding(deps, shutdown.signal);
  const look = looking(deps, feed, shutdown.signal);
  const loop = repeatedly(look, deps.pollMs ?? 1_000, deps.onError);
  return {
    look: async () => {
      const before = feed.ran();
      const done = await look();
      await feed.settled();
      return done + feed.ran() - before;
    },
    start: loop.start,
    stop: async () => {
      shutdown.abort();
      await loop.stop();
      await feed.settled();
    },
  };
};
