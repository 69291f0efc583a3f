import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import type { EventStoreDb } from './eventStoreDb.ts';
import { isDenied, outcomeOf } from './outcome.ts';
import { within } from './timeLimit.ts';

/** What a user has to be allowed, as an operator would say it. */
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
