import { z } from 'zod';
import { LOG_STREAM } from '../kernel/json.ts';
import type { EventStore } from '../ports/log.ts';
import type { RecordedEvent } from '../kernel/recorded.ts';
import { event, recorder } from '../kernel/decider.ts';
import { instant } from '../kernel/amounts.ts';

/**
 * Names a log for ever: the first event of `$quire`, written when the log is made. A log of an older release
 * gets it when this one opens it first.
 */
const logOpened = event('LogOpened', {
  log_id: z.uuid(),
  opened_at: instant,
});

/**
 * Where events of a log that was copied lay in the log that first had them, in its order: the distance of each from
 * the one before, `distance*times` where several are alike. Seals speak of these positions.
 */
const positionsKept = event('PositionsKept', {
  /** Which event of the log the first distance is of, from 1. */
  first: z.int().min(1),
  distances: z.string().regex(/^\d+(?:\*\d+)?(?: \d+(?:\*\d+)?)*$/),
});

/** The log was copied here up to its end; what follows was written here. Its positions are in the events before. */
const logCopied = event('LogCopied', {
  /** How many there were. */
  events: z.int().min(1),
  /** The digest over all of them, by their first positions. */
  log_digest: z.string().regex(/^[0-9a-f]{64}$/),
  copied_at: instant,
});

/**
 * The events of a stretch of the log are in files of the object store, and may be taken out of the log's own file.
 * They keep their positions, revisions and hashes, and are read as before.
 */
const logArchived = event('LogArchived', {
  /** The last UTC day that it is of, by the time of recording. */
  until: z.iso.date(),
  /** Positions of the first and the last of them, as text. */
  first: z.string().regex(/^[1-9]\d*$/),
  through: z.string().regex(/^[1-9]\d*$/),
  events: z.int().min(1),
  files: z.int().min(1),
  /** What names the files with their digests. */
  manifest: z.strictObject({ key: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  /** Until when nobody can remove the files; null: the store has no lock. */
  retained_until: instant.nullable(),
  archived_at: instant,
});

export type LogArchived = z.output<typeof logArchived>['data'];

export const eventLogEvent = z.discriminatedUnion('type', [logOpened, positionsKept, logCopied, logArchived]);

export type EventLogEvent = z.output<typeof eventLogEvent>;

/** Writes distances between positions down, runs of equal ones as one. */
export const distancesText = (distances: readonly bigint[]): string => {
  const runs: [distance: bigint, times: number][] = [];
  for (const distance of distances) {
    const last = runs.at(-1);
    if (last?.[0] === distance) last[1] += 1;
    else runs.push([distance, 1]);
  }
  return runs.map(([distance, times]) => `${distance}${times === 1 ? '' : `*${times}`}`).join(' ');
};

/** Reads them again as positions, one for each event in the order of the log. */
export function* positionsIn(texts: readonly string[]): Generator<bigint, void, void> {
  let position = 0n;
  for (const text of texts)
    for (const run of text.split(' ')) {
      const [distance = '0', times = '1'] = run.split('*');
      for (let left = Number(times); left > 0; left -= 1) yield (position += BigInt(distance));
    }
}

/** The distances of the last copy that was made of this log, from its own events; none: it is no copy. */
export const keptPositions = (own: Iterable<EventLogEvent>): readonly string[] => {
  let [kept, open]: [string[], string[]] = [[], []];
  for (const { type, data } of own) {
    if (type === 'PositionsKept') open.push(data.distances);
    if (type === 'LogCopied') [kept, open] = [open, []];
  }
  return kept;
};

type Readable = Pick<EventStore, 'read'>;

/** Which log this is; undefined for one that no release with identities has opened for writing yet. */
export const identityOf = async (log: Readable): Promise<string | undefined> => {
  for await (const { type, data } of log.read(LOG_STREAM, { limit: 1 }))
    if (type === 'LogOpened' && typeof data['log_id'] === 'string') return data['log_id'];
  return undefined;
};

/** The event at a revision of a stream; undefined when there is none. */
export const eventAt = async (
  log: Readable,
  stream: string,
  revision: bigint,
): Promise<RecordedEvent | undefined> => {
  for await (const event of log.read(stream, { from: revision, limit: 1 }))
    if (event.revision === revision) return event;
  return undefined;
};

/**
 * The event at a revision at which this process knows one. A node that does not have it, or another one, is asked
 * again for a while: it may be behind.
 */
export const knownAt = async (
  log: Pick<EventStore, 'read' | 'unlessBehind'>,
  { stream, revision }: { readonly stream: string; readonly revision: bigint },
  isKnown: (found: RecordedEvent | undefined) => boolean,
): Promise<RecordedEvent | undefined> => {
  const look = () => eventAt(log, stream, revision);
  return log.unlessBehind === undefined ? look() : log.unlessBehind(look, isKnown);
};

/** A log is named once; a second name does nothing. */
export const eventLog = recorder<EventLogEvent>(() => true);
