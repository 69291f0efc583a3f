import { ANY, jsonEvent, type EventStoreDBClient } from '@eventstore/db-client';
import { SNAPSHOT_CATEGORY } from '../../domain/kernel/ownStreams.ts';
import { snapshotFromJson, snapshotToJson } from '../../domain/kernel/snapshotJson.ts';
import type { ReadOptions, RecordedEvent } from '../../domain/ports/eventStore.ts';
import { SNAPSHOT_BYTES_MAX, type SnapshotStore } from '../../domain/ports/snapshotStore.ts';
import { detailOf, outcomeOf } from './outcome.ts';
import { within } from './timeLimit.ts';

const TYPE = 'AccountSnapshot';
/** Streams whose `$maxCount` this process has set; beyond that many it sets them anew. */
const LIMITED_MAX = 10_000;

/** `accountSnapshot-<tenant>` for `account-<tenant>`: a stream of its own beside it. */
const snapshotStream = (stream: string): string => `${SNAPSHOT_CATEGORY}${stream.slice(stream.indexOf('-'))}`;

/** What snapshots need of the log that they lie in. */
interface SnapshotLog {
  readonly read: (stream: string, options: ReadOptions) => AsyncIterable<RecordedEvent>;
  readonly client: () => EventStoreDBClient;
  readonly timeoutMs: number;
  /** As of all appends: a point in time by our clock, far ahead. */
  readonly deadlineMs: number;
}

/**
 * Snapshots as the only event of a stream (`$maxCount` 1). Only here is an append made at any revision: the
 * last one stays, and one that is lost or written twice costs nothing.
 */
export const snapshotsIn = (log: SnapshotLog): SnapshotStore => {
  const limited = new Set<string>();
  const written = async (what: string, work: (client: EventStoreDBClient) => Promise<unknown>) => {
    try {
      await within(work(log.client()), { what, ms: log.timeoutMs });
    } catch (error) {
      const { kind } = outcomeOf(error);
      throw new Error(`${what} was not written (${kind}): ${detailOf(error)}`, { cause: error });
    }
  };
  const options = { expectedRevision: ANY, deadline: log.deadlineMs } as const;

  /** Before its first event: a stream that could not be limited would keep every snapshot. */
  const limit = async (stream: string): Promise<void> => {
    if (limited.has(stream)) return;
    await written(`the limit of ${stream}`, (client) =>
      client.setStreamMetadata(stream, { maxCount: 1 }, options),
    );
    if (limited.size >= LIMITED_MAX) limited.clear();
    limited.add(stream);
  };

  return {
    load: async (stream) => {
      const own = snapshotStream(stream);
      for await (const { data } of log.read(own, { direction: 'backwards', limit: 1 }))
        return snapshotFromJson(data);
      return undefined;
    },
    save: async (snapshot) => {
      const data = snapshotToJson(snapshot);
      if (Buffer.byteLength(JSON.stringify(data)) > SNAPSHOT_BYTES_MAX) return 'too_large';
      const own = snapshotStream(snapshot.stream);
      await limit(own);
      await written(own, (client) => client.appendToStream(own, jsonEvent({ type: TYPE, data }), options));
      return 'saved';
    },
  };
};
