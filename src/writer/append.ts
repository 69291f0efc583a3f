import type { CommandMeta, DomainEvent } from '../../domain/kernel/decider.ts';
import {
  chainHash,
  type ChainLink,
  eventIdOfHash,
  eventText,
  HASH_VERSION,
  type Hashed,
  joinedText,
  sha256,
} from '../../domain/kernel/chain.ts';
import { type Json, type JsonObject, storableJson } from '../../domain/kernel/json.ts';
import type { Codec } from '../../domain/kernel/codec.ts';
import {
  type AppendResult,
  type EventStore,
  LogUnavailable,
  type TextSealer,
} from '../../domain/ports/log.ts';
import type { ExpectedRevision, NewEvent, RecordedEvent } from '../../domain/kernel/recorded.ts';
import { withWritten } from '../../domain/eventLog/writtenText.ts';
import { knownAt } from '../../domain/eventLog/eventLog.ts';
import { epochOf, hashOf, LogContradicts } from './streamFold.ts';

/** Waiting times between attempts: doubling from `baseMs` to `capMs`, half of it random. */
export interface Pacing {
  readonly baseMs: number;
  readonly capMs: number;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

/** A switch that ends waiting. Lighter than an AbortSignal: every append listens to it. */
export interface StopSwitch {
  readonly isStopped: () => boolean;
  readonly stop: () => void;
  /** Called once at `stop`. */
  readonly waiters: Set<() => void>;
}

export const stopSwitch = (): StopSwitch => {
  const waiters = new Set<() => void>();
  let stopped = false;
  return {
    isStopped: () => stopped,
    stop: () => {
      stopped = true;
      for (const wake of [...waiters]) wake();
    },
    waiters,
  };
};

/** Waits before attempt `attempt` + 1. Ends early, without an error, at `stop`. */
export const backOff = (attempt: number, pacing: Pacing, stop?: StopSwitch): Promise<void> =>
  new Promise((resolve) => {
    const ceiling = Math.min(pacing.capMs, pacing.baseMs * 2 ** Math.min(attempt - 1, 20));
    const done = () => {
      clearTimeout(timer);
      stop?.waiters.delete(done);
      resolve();
    };
    const timer = setTimeout(done, ceiling * (0.5 + pacing.random() / 2));
    stop?.waiters.add(done);
    if (stop?.isStopped() === true) done();
  });

/** What all events of one stream share. */
export interface Encoding<Event> {
  readonly stream: string;
  readonly tenantId: string | null;
  readonly codec: Codec<Event>;
  /** Puts tokens in the place of written text; `later`: it has to be had first. Left out: text stays. */
  readonly texts?: TextSealer | 'later' | undefined;
}

/** An event has text that people write, and what gives tokens for it is not at hand. */
export class NeedsSealer extends Error {
  override readonly name = 'NeedsSealer';
}

/** The data of an event as the log is to have it. */
const asStored = <Event>({ stream, texts }: Encoding<Event>, type: string, data: JsonObject): JsonObject =>
  texts === undefined
    ? data
    : withWritten(type, data, (text) => {
        if (texts === 'later') throw new NeedsSealer();
        return texts.token(stream, text);
      });

/** Events ready to append, and the link that the next one is chained to. */
export interface Chained<Event> {
  /** The events as a reader would decode them. */
  readonly decoded: readonly Event[];
  readonly events: readonly NewEvent[];
  readonly link: ChainLink;
}

/**
 * Encodes the events of one command, each chained to the one before. Throws when an event does not fit
 * its own schema: once in the log it could never be read. An ID is made from the event's hash: the log
 * takes equal IDs for equal events, so the same command decided at another time, or on another state,
 * must not look like a repetition of a stored event, or the chain would continue from the wrong link.
 */
export const encodeEvents = <Event extends DomainEvent>(
  encoding: Encoding<Event>,
  { events, meta }: { readonly events: readonly Event[]; readonly meta: CommandMeta },
  from: ChainLink,
): Chained<Event> => {
  const { stream, tenantId, codec } = encoding;
  const encoded: NewEvent[] = [];
  const decoded: Event[] = [];
  let { nextRevision, hash } = from;
  for (const { type, data: made } of events) {
    const metadata = metadataOf(meta, { schema_version: codec.versionOf(type), tenantId, prevHash: hash });
    const revision = nextRevision;
    // Members one by one: an object that is spread into one with more members costs more than its hash.
    const unplaced = { id: '', stream, revision, position: -1n, type, data: made as JsonObject, metadata };
    // What decoding makes has its members in the schema's order, always the same: quicker to go on with.
    const clean = codec.decode(unplaced);
    const data = asStored(encoding, type, clean.data as JsonObject);
    const event = hashed({ stream, revision, type, data, metadata });
    ({ hash } = event);
    nextRevision += 1n;
    // Only strings of it are others: it fits its schema as it did.
    decoded.push(data === clean.data ? clean : { ...clean, data });
    encoded.push(event.event);
  }
  return { decoded, events: encoded, link: { nextRevision, hash, hashVersion: HASH_VERSION } };
};

/** An event with its hash, and with its text if that was hashed. Adds the hash to `metadata`. */
const hashed = (covered: Hashed & { readonly metadata: Metadata }) => {
  const { type, data, metadata } = covered;
  const texts = textsOf(covered);
  const hash = texts === undefined ? chainHash(covered) : sha256(joinedText(covered, texts));
  const text = texts && eventText(texts.data, withHash(texts.metadata, hash));
  metadata['hash'] = hash;
  return { hash, event: { id: eventIdOfHash(hash), type, data, metadata, text } };
};

type Metadata = Record<string, Json>;

const textsOf = (covered: Hashed) => {
  const data = storableJson(covered.data);
  const metadata = storableJson(covered.metadata);
  return data === undefined || metadata === undefined ? undefined : { data, metadata };
};

/** In canonical order `hash` comes right before it. No text has it inside: there its quotes are escaped. */
const AFTER_HASH = '"hash_version":';

const withHash = (metadata: string, hash: string): string => {
  const at = metadata.indexOf(AFTER_HASH);
  return `${metadata.slice(0, at)}"hash":"${hash}",${metadata.slice(at)}`;
};

const metadataOf = (
  { correlation_id, command_id, actor, now, traceparent }: CommandMeta,
  of: {
    readonly schema_version: number;
    readonly tenantId: string | null;
    readonly prevHash: string | null;
  },
): Metadata => {
  const metadata: Metadata = {
    schema_version: of.schema_version,
    correlation_id,
    causation_id: command_id,
    actor: { key_id: actor.key_id, role: actor.role },
    tenant_id: of.tenantId,
    recorded_at: now,
    prev_hash: of.prevHash,
    hash_version: HASH_VERSION,
  };
  if (traceparent !== undefined) metadata['traceparent'] = traceparent;
  return metadata;
};

/** Events for one stream at one revision. Never changed once it was sent. */
interface FrozenBatch {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
  /** The connection over which was read what they follow on; see `EventStore.epoch`. */
  readonly epoch: number;
}

/** How to go on when the log does not say what happened. */
export interface Persistence extends Pacing {
  /** A log silent for so long is asked again. */
  readonly appendTimeoutMs: number;
  /** Gives up: the batch stays unknown. */
  readonly stop?: StopSwitch | undefined;
  readonly onUnknown?: ((stream: string, reason: string) => void) | undefined;
}

/** The log is shorter than it was: a restored backup or a lost leader. Deciding on would double money. */
export class LogWentBack extends Error {
  override readonly name = 'LogWentBack';
  constructor(batch: FrozenBatch, actual: ExpectedRevision) {
    super(
      `stream ${batch.stream} ends at ${String(actual)}, before revision ${String(batch.expected)} that it had`,
    );
  }
}

/** Whether the log was found to be another one than this process remembers, or a shorter one. */
export const isContradiction = (error: unknown): boolean =>
  error instanceof LogWentBack || error instanceof LogContradicts;

/**
 * Appends a batch and stays with it until its fate is known: an unknown outcome is settled by the same
 * batch again at the same revision, for a log answers that with `appended` if it has it and with
 * `conflict` if it never will. Answers `unknown` only at `stop`, and `moved` only where it was never sent.
 */
export const settleAppend = async (
  store: EventStore,
  batch: FrozenBatch,
  persistence: Persistence,
): Promise<AppendResult> => {
  let { epoch } = batch;
  for (let attempt = 1; ; attempt += 1) {
    const sent = store.append(batch.stream, batch.expected, batch.events, epoch);
    const result = await answerWithin(persistence, sent);
    const isLost = result.kind === 'moved' && attempt > 1;
    if (!isLost && (await isSettled(store, batch, result))) return result;
    if (isLost) epoch = await comparedAnew(store, batch, epoch);
    const reason = reasonOf(result);
    persistence.onUnknown?.(batch.stream, reason);
    await backOff(attempt, persistence, persistence.stop);
    if (persistence.stop?.isStopped() === true) return { kind: 'unknown', reason };
  }
};

/** Whether a result says what became of the batch. Throws LogWentBack. */
const isSettled = async (store: EventStore, batch: FrozenBatch, result: AppendResult): Promise<boolean> =>
  result.kind === 'conflict' ? !(await endsBefore(store, batch, result.actual)) : result.kind !== 'unknown';

const REASONS: Readonly<Record<string, string>> = {
  moved: 'the connection was lost',
  conflict: 'a node that is behind has answered',
};

const reasonOf = (result: AppendResult): string =>
  result.kind === 'unknown' ? result.reason : (REASONS[result.kind] ?? result.kind);

/**
 * Makes sure that a log which is reached over another connection has the event that a batch follows on. Gives that
 * connection; the one before while the log cannot be read. Throws LogContradicts.
 */
const comparedAnew = async (store: EventStore, batch: FrozenBatch, before: number): Promise<number> => {
  const { stream, expected, events } = batch;
  const epoch = epochOf(store);
  if (expected === 'no_stream') return epoch;
  try {
    const there = await knownAt(store, { stream, revision: expected }, (found) => found !== undefined);
    const hash = events[0]?.metadata['prev_hash'];
    if (there === undefined || hashOf(there) !== hash) throw new LogContradicts(stream, expected);
    return epoch;
  } catch (error) {
    if (error instanceof LogUnavailable) return before;
    throw error;
  }
};

/**
 * Whether a stream ends before the event that a batch follows on only for the node that answered, or nobody can tell:
 * the batch is sent again. Throws LogWentBack where the log does not have that event.
 */
const endsBefore = async (
  store: EventStore,
  batch: FrozenBatch,
  actual: ExpectedRevision,
): Promise<boolean> => {
  const { stream, expected, events } = batch;
  if (expected === 'no_stream' || (actual !== 'no_stream' && actual >= expected)) return false;
  if (store.unlessBehind === undefined) throw new LogWentBack(batch, actual);
  const hash = events[0]?.metadata['prev_hash'];
  const isKnown = (found: RecordedEvent | undefined) => found !== undefined && hashOf(found) === hash;
  try {
    if (isKnown(await knownAt(store, { stream, revision: expected }, isKnown))) return true;
  } catch (error) {
    if (error instanceof LogUnavailable) return true;
    throw error;
  }
  throw new LogWentBack(batch, actual);
};

/** A store that throws, or is silent for too long or past `stop`, has left the outcome unknown. */
const answerWithin = (
  { appendTimeoutMs, stop }: Persistence,
  sent: Promise<AppendResult>,
): Promise<AppendResult> =>
  new Promise((resolve) => {
    const finish = (result: AppendResult) => {
      clearTimeout(timer);
      stop?.waiters.delete(giveUp);
      resolve(result);
    };
    const giveUp = () => finish({ kind: 'unknown', reason: 'given up' });
    const timer = setTimeout(
      () => finish({ kind: 'unknown', reason: `no answer within ${appendTimeoutMs} ms` }),
      appendTimeoutMs,
    );
    stop?.waiters.add(giveUp);
    sent.then(finish, (error: unknown) => finish({ kind: 'unknown', reason: String(error) }));
  });
