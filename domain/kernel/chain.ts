import { hash as digest } from 'node:crypto';
import { canonicalJson } from './canonicalJson.ts';
import { VARIANT } from './eventId.ts';
import type { RecordedEvent } from '../ports/eventStore.ts';
import type { JsonObject } from './json.ts';

export { canonicalJson } from './canonicalJson.ts';

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

/** The variant bits of RFC 9562 in a hex digit. */

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
  /** Of the last event; undefined where it is not known, and then not checked. */
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
