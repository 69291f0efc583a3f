import { type ClientHttp2Session, connect } from 'node:http2';
import { ANY, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { LogUnavailable } from '../../domain/ports/log.ts';
import { detailOf, disposed, type EventStoreDb, isDenied, outcomeOf } from './eventStoreDb.ts';
import { fromLeader } from './leader.ts';
import { within } from './reads.ts';

// What is asked of a server before a service starts on it: whether its user may do what it needs, and whether a copy
// into it is whole.

/** A right that the user needs, in an operator's words. */
export type Right = 'read $all' | 'subscribe to $all' | `append to ${ProbedStream}` | `read ${ProbedStream}`;

/** One stream stands for those that users own; the others are the system's, and closed to them by default. */
type ProbedStream = 'account-…' | '$quire' | '$seals';

/** A revision that no stream has: an append there is refused by right or by revision, and writes nothing. */
const NO_SUCH_REVISION = 4_000_000_000n;

const PROBED: Readonly<Record<ProbedStream, string>> = {
  'account-…': 'account-quire_doctor',
  $quire: '$quire',
  $seals: '$seals',
};

/** Asks the server itself: the port refuses streams of the system before it asks. */
const mayAppend = async (client: EventStoreDBClient, stream: string): Promise<boolean> => {
  const probe = jsonEvent({ type: 'Probe', data: {} });
  try {
    await client.appendToStream(stream, probe, { expectedRevision: NO_SUCH_REVISION });
    return true;
  } catch (error) {
    if (outcomeOf(error).kind === 'conflict') return true;
    throw error;
  }
};

const first = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items) return;
};

/** False when the server says that the user may not; throws what else goes wrong. */
const allowed = async (work: () => Promise<unknown>): Promise<boolean> => {
  try {
    return (await work()) !== false;
  } catch (error) {
    if (isDenied(error)) return false;
    throw error;
  }
};

const PROBE_MS = 5_000;

/** The rights that the user of a connection string lacks. Writes nothing. */
export const rightsMissing = async (
  log: EventStoreDb,
  connectionString: string,
  signal: AbortSignal,
): Promise<readonly Right[]> => {
  const client = EventStoreDBClient.connectionString(connectionString);
  const streams = Object.entries(PROBED) as [ProbedStream, string][];
  const asked: readonly (readonly [Right, () => Promise<unknown>])[] = [
    ['read $all', () => log.head()],
    ['subscribe to $all', () => first(log.subscribe({ signal }))],
    ...streams.map(
      ([name, stream]) => [`read ${name}`, () => first(log.read(stream, { limit: 1 }))] as const,
    ),
    ...streams.map(([name, stream]) => [`append to ${name}`, () => mayAppend(client, stream)] as const),
  ];
  const missing: Right[] = [];
  try {
    for (const [right, work] of asked)
      if (!(await allowed(() => within(work(), { what: `the right to ${right}`, ms: PROBE_MS }))))
        missing.push(right);
  } finally {
    await client.dispose();
  }
  return missing;
};

/** Its metadata says that a copy into the log has begun and not ended. No feed delivers it. */
const COPY_STREAM = '$quire-copy';

/** Marks a log while it is copied into: a service does not start on one that is not whole. Needs an admin. */
export const markCopy = async (connectionString: string, isOpen: boolean): Promise<void> => {
  const client = EventStoreDBClient.connectionString(connectionString);
  try {
    const marking = client.setStreamMetadata(COPY_STREAM, { copying: isOpen }, { expectedRevision: ANY });
    await within(marking, { what: 'the mark of a copy', ms: PROBE_MS });
  } catch (error) {
    throw new LogUnavailable(`EventStoreDB does not take the mark of a copy: ${detailOf(error)}`, {
      cause: error,
    });
  } finally {
    await disposed(client);
  }
};

/** Whether a copy into the log was begun and not ended. A user who may not ask sees none. */
export const isCopyOpen = async (connectionString: string): Promise<boolean> => {
  const client = EventStoreDBClient.connectionString(connectionString);
  try {
    const asked = () =>
      client.getStreamMetadata<{ readonly copying?: boolean }>(COPY_STREAM, { requiresLeader: true });
    const { metadata } = await within(fromLeader(asked), { what: 'the mark of a copy', ms: PROBE_MS });
    return metadata?.copying === true;
  } catch (error) {
    if (isDenied(error)) return false;
    throw new LogUnavailable(`EventStoreDB cannot be read: ${detailOf(error)}`, { cause: error });
  } finally {
    await disposed(client);
  }
};

const dateFrom = (session: ClientHttp2Session, signal: AbortSignal): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    session.once('error', reject);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
    const asked = session.request({ ':method': 'GET', ':path': '/health/live' });
    asked.once('response', ({ date }) => resolve(date));
    asked.once('error', reject);
    asked.resume();
    asked.end();
  });

/**
 * Asks a server, by its HTTP address, for the time by the header that every answer may have. undefined where it has
 * none: then nothing is known. `skewMs`: its clock minus ours; a whole second is all that it tells, so smaller ones
 * mean nothing.
 */
export const serverClock = async (
  url: string,
  signal: AbortSignal,
): Promise<{ readonly skewMs: number } | undefined> => {
  const session = connect(url);
  try {
    const before = Date.now();
    const date = await dateFrom(session, signal);
    const middle = (before + Date.now()) / 2;
    const theirs = date === undefined ? NaN : Date.parse(date);
    // The header is cut to the second: on average half of one is missing.
    return Number.isNaN(theirs) ? undefined : { skewMs: Math.round(theirs + 500 - middle) };
  } finally {
    session.destroy();
  }
};
