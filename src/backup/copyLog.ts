import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import {
  distancesText,
  type EventLogEvent,
  eventLogEvent,
  positionsIn,
} from '../../domain/eventLog/eventLog.ts';
import { digestOfSeal, sealEvent, type SealEvent } from '../../domain/finding.ts';
import { LOG_DIGEST_START, logDigestAfter } from '../../domain/kernel/chain.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { recorder } from '../../domain/kernel/decider.ts';
import { LOG_STREAM, messageOf, SEALS_STREAM } from '../../domain/kernel/json.ts';
import type { AppendResult, Clock, EventFeed, EventStore } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { ownEventsIn } from '../audit/chains.ts';
import { everything } from '../audit/streams.ts';
import { commandHandler } from '../writer/commandHandler.ts';
import { SYSTEM } from '../writer/commandMeta.ts';

/** The log cannot be copied; the sentence says why and what to do. Nothing that was copied is lost. */
export class CannotCopy extends Error {
  override readonly name = 'CannotCopy';
}

/** The target holds another log, or more than the source: it was not touched. */
export class OtherLog extends CannotCopy {}

type Log = EventStore & EventFeed;

export interface LogCopy {
  /** Nobody writes to it meanwhile. */
  readonly source: Log;
  /** Empty, or what an earlier copy of the same log has left. */
  readonly target: Log;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
  /** Appends that may be under way at once. */
  readonly inFlight: number;
  /** Told of the events that are in the target by now. */
  readonly onProgress?: (events: number) => void;
  readonly signal: AbortSignal;
}

/** Copies the objects that the target does not have, under the same keys; gives how many. */
export const copyObjects = async (
  source: Pick<ObjectStore, 'list' | 'get'>,
  target: Pick<ObjectStore, 'list' | 'put'>,
  signal: AbortSignal,
): Promise<number> => {
  const there = new Set<string>();
  for await (const { key } of target.list('')) there.add(key);
  let copied = 0;
  for await (const { key } of source.list('')) {
    signal.throwIfAborted();
    const bytes = there.has(key) ? undefined : await source.get(key);
    if (bytes === undefined) continue;
    await target.put(key, bytes);
    copied += 1;
  }
  return copied;
};

/** The result of a copy. */
export interface CopiedLog {
  readonly events: number;
  /** Of these, what an earlier copy had brought already. */
  readonly found: number;
  /** The digest over all of them, by their first positions: that of the source's next seal. */
  readonly log_digest: string;
}

/** Events of one stream that follow each other in the log are appended together. */
const RUN_EVENTS_MAX = 256;
const RUN_BYTES_MAX = 512 * 1024;
/** A larger run is sent alone. */
const APART_BYTES = 128 * 1024;
const TRIES = 20;
const TRY_AGAIN_MS = 250;

const bytesOf = ({ text, data, metadata }: RecordedEvent): number =>
  text?.bytes ?? Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(metadata));

/** Of a stream, and appended together. */
interface Run {
  readonly events: readonly RecordedEvent[];
  readonly bytes: number;
}

const appendOf = (target: Log, { events: [first, ...rest] }: Run, epoch?: number): Promise<AppendResult> => {
  if (first === undefined) throw new Error('nothing to append');
  const expected = first.revision === 0n ? 'no_stream' : first.revision - 1n;
  const events = [first, ...rest].map(({ id, type, data, metadata, text }) => ({
    id,
    type,
    data,
    metadata,
    text,
  }));
  return target.append(first.stream, expected, events, epoch);
};

/** Gives the position of the last event. */
const appendAlone = async (target: Log, run: Run, signal: AbortSignal): Promise<bigint> => {
  let result = await appendOf(target, run);
  // The identical batch at the same revision: it cannot be written twice.
  for (let tries = 1; result.kind === 'unknown' && tries < TRIES; tries += 1) {
    await pause(TRY_AGAIN_MS, undefined, { signal });
    result = await appendOf(target, run);
  }
  if (result.kind === 'appended') return result.position;
  const why = 'reason' in result ? result.reason : result.kind;
  const [first] = run.events;
  throw new CannotCopy(
    `${first?.stream ?? ''} revision ${String(first?.revision)} could not be appended (${why}). ${NOT_TAKEN}`,
  );
};

const NOT_TAKEN = 'Copy again: it goes on from what is there.';

const OUT_OF_ORDER =
  'The server has taken events in another order than that in which they were sent, so that what is there is no copy. ' +
  'Empty the server and copy again, if need be with --one-by-one, which waits for each append.';

/**
 * Is sent when nothing else is under way: a server may refuse what it accepts of others, by the rights of a stream of
 * its own kind or by size, and what was sent after it would be there without it.
 */
const isApart = ({ events: [first], bytes }: Run): boolean =>
  first === undefined || first.stream.startsWith('$') || bytes > APART_BYTES;

/** What was sent, in its order, and the answers that are still to come. */
const pipeline = ({ target, inFlight, signal }: LogCopy) => {
  let sent: { readonly run: Run; readonly answer: Promise<AppendResult | undefined> }[] = [];
  /** Of the connection that takes what is sent; undefined: the last answer does not say that it is there. */
  let epoch: { readonly of: number | undefined } | undefined;
  let last = -1n;
  const confirm = (position: bigint): void => {
    if (position <= last) throw new CannotCopy(OUT_OF_ORDER);
    last = position;
  };
  /** One by one, once nothing is under way any more: what is lost of them is lost from its first on. */
  const alone = async (runs: readonly Run[]): Promise<void> => {
    for (const run of runs) confirm(await appendAlone(target, run, signal));
    epoch = { of: target.epoch?.() };
  };
  const again = async (): Promise<void> => {
    await Promise.all(sent.map(({ answer }) => answer));
    const runs = sent.map(({ run }) => run);
    sent = [];
    await alone(runs);
  };
  const settle = async (): Promise<void> => {
    const [first] = sent;
    const result = await first?.answer;
    if (result?.kind !== 'appended') return again();
    sent = sent.slice(1);
    confirm(result.position);
  };
  const end = async (): Promise<void> => {
    while (sent.length > 0) await settle();
  };
  return {
    end,
    add: async (run: Run): Promise<void> => {
      signal.throwIfAborted();
      const isAlone = isApart(run);
      if (isAlone) await end();
      while (sent.length >= inFlight) await settle();
      if (epoch === undefined || isAlone || inFlight === 1) return alone([run]);
      // A failed call is an append without an answer: it is looked at in its turn.
      const answer = appendOf(target, run, epoch.of).catch(() => undefined);
      sent.push({ run, answer });
    },
  };
};

/** Appends in the order of the source. */
const appender = (copy: LogCopy) => {
  const line = pipeline(copy);
  let [events, bytes]: [RecordedEvent[], number] = [[], 0];
  const flush = async (): Promise<void> => {
    const run = { events, bytes };
    [events, bytes] = [[], 0];
    if (run.events.length > 0) await line.add(run);
  };
  return {
    add: async (event: RecordedEvent): Promise<void> => {
      const isOther = events[0] !== undefined && events[0].stream !== event.stream;
      const size = bytesOf(event);
      if (isOther || events.length >= RUN_EVENTS_MAX || bytes + size > RUN_BYTES_MAX) await flush();
      events.push(event);
      bytes += size;
    },
    end: async (): Promise<void> => {
      await flush();
      await line.end();
    },
  };
};

const isSame = (a: RecordedEvent, b: RecordedEvent): boolean =>
  a.id === b.id && a.stream === b.stream && a.revision === b.revision;

const OTHER =
  'The target holds events that are not those of the source in their order: copy into an empty one. What is there ' +
  'was not touched.';

/** What a copy writes after the events of its source. */
const OF_A_COPY = ['PositionsKept', 'LogCopied', 'LogSealed'];

/** Positions of the source's events, where each lay first, and the digest over them. */
interface Copying {
  readonly events: number;
  readonly found: number;
  readonly distances: readonly bigint[];
  readonly log_digest: string;
  /** What the target holds after the source's events. */
  readonly after: readonly RecordedEvent[];
}

const hashOf = ({ stream, revision, metadata }: RecordedEvent): string => {
  if (typeof metadata['hash'] === 'string') return metadata['hash'];
  throw new CannotCopy(
    `${stream} revision ${String(revision)} has no hash: run quire audit on the source first.`,
  );
};

const copyEvents = async (copy: LogCopy): Promise<Copying> => {
  const { source, target, signal, onProgress } = copy;
  const first = positionsIn((await ownEventsIn(source)).origins);
  const there = everything(target, signal);
  const appending = appender(copy);
  const distances: bigint[] = [];
  let [events, found, last, log_digest] = [0, 0, 0n, LOG_DIGEST_START];
  let known = await there.next();
  for await (const event of everything(source, signal)) {
    const position = first.next().value ?? event.position;
    distances.push(position - last);
    log_digest = logDigestAfter(log_digest, position, hashOf(event));
    [events, last] = [events + 1, position];
    if (known.done === true) await appending.add(event);
    else {
      if (!isSame(known.value, event)) throw new OtherLog(OTHER);
      found += 1;
      known = await there.next();
    }
    if (events % 1000 === 0) onProgress?.(events);
  }
  signal.throwIfAborted();
  await appending.end();
  const after: RecordedEvent[] = [];
  for (; known.done !== true; known = await there.next()) after.push(known.value);
  if (!after.every(({ type }) => OF_A_COPY.includes(type))) throw new OtherLog(OTHER);
  return { events, found, distances, log_digest, after };
};

/** So many distances are one event: at most some 200 KB. */
const DISTANCES_AN_EVENT = 20_000;

/** Writes an event of the copy itself. */
const recordIn = async <Event extends EventLogEvent | SealEvent>(
  { target, clock }: LogCopy,
  {
    stream,
    union,
    data,
  }: { readonly stream: string; readonly union: z.ZodType<Event>; readonly data: Event },
): Promise<void> => {
  const handle = commandHandler({
    decider: recorder<Event>(() => false),
    codec: eventCodec(union),
    store: target,
    tenantOf: () => null,
  });
  const meta = { now: clock.now(), actor: SYSTEM, correlation_id: 'log copy', command_id: clock.uuid() };
  const { kind } = await handle(stream, { type: 'Record', data, meta }).catch((error: unknown) => {
    throw new CannotCopy(`${data.type} could not be appended: ${messageOf(error)}. ${NOT_TAKEN}`);
  });
  if (kind !== 'done') throw new CannotCopy(`${data.type} could not be appended (${kind}). ${NOT_TAKEN}`);
};

/** Writes where the events lay first, what of it is not there yet, and that the copy is whole. */
const keepPositions = async (
  copy: LogCopy,
  { events, distances, log_digest, after }: Copying,
): Promise<void> => {
  const record = (data: EventLogEvent) => recordIn(copy, { stream: LOG_STREAM, union: eventLogEvent, data });
  for (let at = after.length * DISTANCES_AN_EVENT; at < distances.length; at += DISTANCES_AN_EVENT) {
    const part = distancesText(distances.slice(at, at + DISTANCES_AN_EVENT));
    await record({ type: 'PositionsKept', data: { first: at + 1, distances: part } });
  }
  await record({ type: 'LogCopied', data: { events, log_digest, copied_at: copy.clock.now() } });
};

/** Where a log ends. */
interface End {
  readonly position: bigint;
  readonly events: number;
  readonly log_digest: string;
}

/**
 * Reads back what was copied: the digest over what the target has, by the first positions, is that of the source.
 * Gives the end of it.
 */
const readBack = async ({ target, signal }: LogCopy, copied: Copying): Promise<End> => {
  let [events, position, first, log_digest] = [0, 0n, 0n, LOG_DIGEST_START];
  for await (const event of everything(target, signal)) {
    first += copied.distances[events] ?? 0n;
    log_digest = logDigestAfter(log_digest, first, hashOf(event));
    ({ position } = event);
    events += 1;
    if (events === copied.events) break;
  }
  if (log_digest !== copied.log_digest) throw new CannotCopy(OUT_OF_ORDER);
  return { position, events, log_digest };
};

/** Seals the copy, so that the next seal goes on from a position of the target. */
const seal = async (copy: LogCopy, end: End): Promise<void> => {
  const { target, clock, signal } = copy;
  let { events, log_digest, position } = end;
  for await (const event of everything(target, signal, end.position)) {
    ({ position } = event);
    [events, log_digest] = [events + 1, logDigestAfter(log_digest, position, hashOf(event))];
  }
  const last = (await ownEventsIn(target)).seals.at(-1)?.seal;
  const made_at = clock.now();
  const sealed: SealEvent['data']['seal'] = {
    seal_version: 2,
    made_at,
    position: position.toString(),
    events,
    log_digest,
    previous: last === undefined ? null : digestOfSeal(last),
  };
  const data: SealEvent = { type: 'LogSealed', data: { seal: sealed, object: null } };
  await recordIn(copy, { stream: SEALS_STREAM, union: sealEvent, data });
};

/**
 * Copies every event of a log in its order, with its ID, revision and hash, and records where each was: chains, seals
 * and identity of the copy are those of the source. An interrupted copy continues from its present end.
 * Throws CannotCopy.
 */
export const copyLog = async (copy: LogCopy): Promise<CopiedLog> => {
  const copied = await copyEvents(copy);
  const { events, found, log_digest } = copied;
  if (events === 0) throw new CannotCopy('The source is empty: there is nothing to copy.');
  const isDone = (type: string): boolean => copied.after.some((event) => event.type === type);
  if (!isDone('LogSealed')) {
    const end = await readBack(copy, copied);
    if (!isDone('LogCopied')) await keepPositions(copy, copied);
    await seal(copy, end);
  }
  return { events, found, log_digest };
};
