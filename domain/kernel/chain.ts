import { hash as digest } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, isOwn, type Json, type JsonObject } from './json.ts';
import type { EventText, ExpectedRevision, NewEvent, RecordedEvent, Snapshot } from './recorded.ts';

/** EventStoreDB's own limit of one append (`MaxAppendSize`); `APPEND_BYTES_MAX` stays below it. */
export const SERVER_APPEND_BYTES_MAX = 1024 * 1024;

/** An event with its JSON as text, ready for a log. */
export interface EncodedEvent {
  /** Lower case. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
  /** As the metadata says it; empty where it says none. */
  readonly hash: string;
}

/** What a log makes of a batch before it looks at the stream. */
type EncodedBatch =
  | { readonly kind: 'encoded'; readonly events: readonly EncodedEvent[]; readonly bytes: number }
  | { readonly kind: 'rejected'; readonly reason: 'too_large' | 'invalid'; readonly detail: string };

/** A batch as a caller hands it to `EventStore.append`. */
export interface Batch {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True when `value` is what JSON carries exactly; a bigint, NaN, Date or undefined is not. */
const isPlainJson = (value: unknown): boolean => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return value === null || isPlainContainer(value);
    default:
      return false;
  }
};

const isPlainContainer = (value: object): boolean => {
  if (Array.isArray(value)) return value.every(isPlainJson);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.values(value).every(isPlainJson);
};

const isRevision = (expected: ExpectedRevision): boolean => expected === 'no_stream' || expected >= 0n;

const flaw = ({ stream, expected, events }: Batch): string | undefined => {
  if (stream === '' || (stream.startsWith('$') && !isOwn(stream)))
    return `"${stream}" is not a name for a stream of ours`;
  if (!isRevision(expected)) return `revision ${String(expected)} cannot be expected`;
  if (events.length === 0) return 'an append needs at least one event';
  for (const event of events) {
    const detail = eventFlaw(event);
    if (detail !== undefined) return detail;
  }
  return undefined;
};

const isPlainEvent = ({ data, metadata, text }: NewEvent): boolean =>
  text !== undefined || (isPlainJson(data) && isPlainJson(metadata));

const eventFlaw = (event: NewEvent): string | undefined => {
  const { id, type } = event;
  if (!UUID.test(id.toLowerCase())) return `event ID "${id}" is not a UUID`;
  if (type === '' || type.startsWith('$')) return `"${type}" is not an event type of ours`;
  if (!isPlainEvent(event)) return `${type} holds a value that JSON cannot carry`;
  return undefined;
};

/** Checks a batch and turns its events to text, so that every log refuses the same batches. */
export const encodeBatch = (batch: Batch): EncodedBatch => {
  const detail = flaw(batch);
  if (detail !== undefined) return { kind: 'rejected', reason: 'invalid', detail };

  const events: EncodedEvent[] = [];
  let bytes = 0;
  for (const event of batch.events) {
    const { id, type, metadata, text = textOf(event) } = event;
    const hash = typeof metadata['hash'] === 'string' ? metadata['hash'] : '';
    events.push({ id: id.toLowerCase(), type, data: text.data, metadata: text.metadata, hash });
    bytes += text.bytes + 2 * type.length;
  }
  if (bytes <= SERVER_APPEND_BYTES_MAX) return { kind: 'encoded', events, bytes };
  return { kind: 'rejected', reason: 'too_large', detail: `the append has ${String(bytes)} bytes` };
};

const textOf = ({ data, metadata }: NewEvent): EventText =>
  eventText(JSON.stringify(data), JSON.stringify(metadata));

/** The JSON of an event, measured. */
export const eventText = (data: string, metadata: string): EventText => ({
  data,
  metadata,
  bytes: Buffer.byteLength(data) + Buffer.byteLength(metadata),
});

/** What an event takes of an append. */
export const bytesOfEvent = (event: NewEvent): number =>
  (event.text ?? textOf(event)).bytes + 2 * event.type.length;

/** The part of a stream's name before the first hyphen, or the whole name. */
export const categoryOf = (stream: string): string => {
  const hyphen = stream.indexOf('-');
  return hyphen === -1 ? stream : stream.slice(0, hyphen);
};

/** Namespace of Quire's event IDs, a constant UUID. */
const NAMESPACE = Buffer.from('6f1d8c1e7b8a4c0f9d3e51f0a2c4b697', 'hex');

/** The variant bits of RFC 9562 in a hex digit. */
export const VARIANT = '89ab89ab89ab89ab';

/** UUID version 5 (RFC 9562) of a name in Quire's namespace. */
export const uuidOfName = (name: string): string => {
  const hex = digest('sha1', Buffer.concat([NAMESPACE, Buffer.from(name)]));
  const variant = VARIANT.charAt(Number.parseInt(hex.charAt(16), 16));
  return (
    `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}` +
    `${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  );
};

/** The ID of the `index`-th event that a command yields in a stream: the same command, the same IDs. */
export const deterministicEventId = (stream: string, commandId: string, index: number): string =>
  uuidOfName(`${stream}\u001f${commandId}\u001f${index}`);

export { canonicalJson } from './json.ts';

/** SHA-256, hex. */
export const sha256 = (text: string | Uint8Array): string => digest('sha256', text);

/** What new events are hashed by. Version 1 covers type, data and metadata; 2 the place of the event too. */
export const HASH_VERSION = 2;

/** What the hash of an event covers. Version 1 leaves `stream` and `revision` out. */
export interface Hashed {
  readonly stream: string;
  /** Its number in the stream, from 0. */
  readonly revision: bigint;
  readonly type: string;
  readonly data: JsonObject;
  /** `prev_hash` included; `hash` is left out of what is covered. */
  readonly metadata: JsonObject;
}

/** The version that an event says it is hashed by; undefined for one that this program does not know. */
export const hashVersionOf = ({ metadata }: Pick<Hashed, 'metadata'>): 1 | 2 | undefined => {
  const version = metadata['hash_version'];
  if (version === undefined) return 1;
  return version === 1 || version === HASH_VERSION ? version : undefined;
};

const withoutHash = (metadata: JsonObject): JsonObject => {
  if (!('hash' in metadata)) return metadata;
  const { hash: _, ...covered } = metadata;
  return covered;
};

/** What a hash of version 2 is over, of an event whose `data` and `metadata` (without `hash`) are canonical JSON. */
export const joinedText = (
  { stream, revision, type }: Pick<Hashed, 'stream' | 'revision' | 'type'>,
  { data, metadata }: { readonly data: string; readonly metadata: string },
): string =>
  `{"data":${data},"metadata":${metadata},"revision":"${revision.toString()}",` +
  `"stream":${canonicalJson(stream)},"type":${canonicalJson(type)}}`;

/** What the hash of an event is over: the canonical JSON of what its `hash_version` covers. */
export const coveredText = (event: Hashed): string => {
  const { type, data } = event;
  const metadata = withoutHash(event.metadata);
  return metadata['hash_version'] === HASH_VERSION
    ? joinedText(event, { data: canonicalJson(data), metadata: canonicalJson(metadata) })
    : canonicalJson({ type, data, metadata });
};

/** SHA-256 over what the event's `hash_version` covers. */
export const chainHash = (event: Hashed): string => sha256(coveredText(event));

/**
 * The event ID that belongs to a hash of version 2: its first 128 bits as a UUID of version 8 (RFC 9562).
 * So an event has one digest for both, and nobody can change the ID without the hash.
 */
export const eventIdOfHash = (hash: string): string => {
  const variant = VARIANT.charAt(Number.parseInt(hash.charAt(16), 16));
  return (
    `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}` +
    `${hash.slice(17, 20)}-${hash.slice(20, 32)}`
  );
};

/** The first place where a stream's chain does not hold. */
interface ChainBreak {
  readonly revision: bigint;
  readonly reason: 'revision' | 'prev_hash' | 'hash_version' | 'hash' | 'id';
  readonly detail: string;
}

/** Where a chain stands: the next revision, and the hash that its event must name. */
export interface ChainLink {
  readonly nextRevision: bigint;
  readonly hash: string | null;
  /** Of the last event; undefined: not known, so not checked. */
  readonly hashVersion?: number | undefined;
}

export const CHAIN_START: ChainLink = { nextRevision: 0n, hash: null };

/** What is wrong with the hash of an event by itself; undefined: nothing. */
export const flawOfHash = (
  event: Hashed & Pick<RecordedEvent, 'id'>,
  hash: string,
): Pick<ChainBreak, 'reason' | 'detail'> | undefined => {
  const version = hashVersionOf(event);
  if (version === undefined)
    return { reason: 'hash_version', detail: 'its hash_version is none that this program knows' };
  if (event.metadata['hash'] !== hash)
    return { reason: 'hash', detail: 'its content does not have the hash it carries' };
  if (version === HASH_VERSION && event.id.toLowerCase() !== eventIdOfHash(hash))
    return { reason: 'id', detail: 'its event ID is not the one of its hash' };
  return undefined;
};

/** Checks one event against the link before it; gives the link after it, or the break. */
export const followChain = (
  link: ChainLink,
  event: RecordedEvent,
):
  | { readonly kind: 'linked'; readonly link: ChainLink & { readonly hash: string } }
  | { readonly kind: 'broken'; readonly at: ChainBreak } => {
  const { revision, metadata } = event;
  const broken = (reason: ChainBreak['reason'], detail: string) =>
    ({ kind: 'broken', at: { revision, reason, detail } }) as const;
  if (revision !== link.nextRevision)
    return broken('revision', `revision ${link.nextRevision.toString()} is missing`);
  if ((metadata['prev_hash'] ?? null) !== link.hash)
    return broken('prev_hash', 'it does not name the hash of the event before it');
  const hashVersion = hashVersionOf(event);
  if (hashVersion !== undefined && hashVersion < (link.hashVersion ?? 1))
    return broken('hash_version', 'its hash_version is lower than that of the event before it');
  const hash = chainHash(event);
  const flaw = flawOfHash(event, hash);
  if (flaw !== undefined) return broken(flaw.reason, flaw.detail);
  return { kind: 'linked', link: { nextRevision: revision + 1n, hash, hashVersion } };
};

/** Checks a whole stream from its start; null when the chain holds. */
export const verifyChain = (events: Iterable<RecordedEvent>): ChainBreak | null => {
  let link = CHAIN_START;
  for (const event of events) {
    const step = followChain(link, event);
    if (step.kind === 'broken') return step.at;
    ({ link } = step);
  }
  return null;
};

/**
 * Digest of what a caller asked for: equal for equal requests, whatever the order of members. Only
 * members that the caller supplied belong in it, never an ID or a time made here.
 */
export const fingerprintOf = (request: Json): string => sha256(canonicalJson(request));

/** Before the first event that a digest over a whole log covers. */
export const LOG_DIGEST_START = '';

/**
 * One step of a digest over a whole log: SHA-256 of the step before, the event's position and its hash. So
 * events of different streams cannot change places; the chains of streams alone would not tell.
 */
export const logDigestAfter = (before: string, position: bigint | number, hash: string): string =>
  sha256(`${before} ${position.toString()} ${hash}`);

const storedSnapshot = z.strictObject({
  stream: z.string(),
  /** Text: JSON has no 64-bit integers. */
  revision: z.string().regex(/^\d{1,19}$/),
  hash: z.string(),
  reducer_version: z.int(),
  state: z.record(z.string(), z.unknown()),
  state_hash: z.string(),
});

/** A snapshot as logs keep it. */
export const snapshotToJson = (snapshot: Snapshot): JsonObject => ({
  ...snapshot,
  revision: snapshot.revision.toString(),
});

/** The inverse of `snapshotToJson`; throws on whatever else it is given. */
export const snapshotFromJson = (json: unknown): Snapshot => {
  const { revision, state, ...rest } = storedSnapshot.parse(json);
  return { ...rest, revision: BigInt(revision), state: state as JsonObject };
};
