import type { RecordedEvent } from '../ports/eventStore.ts';
import { canonicalJson } from './canonicalJson.ts';
import { sha256Hex } from './digest.ts';

export { canonicalJson } from './canonicalJson.ts';

/** SHA-256 over the canonical JSON of a value, hex. */
export const digestOf = (value: unknown): string => sha256Hex(canonicalJson(value));

/** What a link of the chain covers. A `hash` in the metadata is left out. */
export interface Hashed {
  readonly type: string;
  readonly data: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Hash of one event: SHA-256, hex, over the canonical JSON of type, data and metadata without `hash`. */
export const chainHash = ({ type, data, metadata }: Hashed): string =>
  digestOf({ data, metadata: 'hash' in metadata ? { ...metadata, hash: undefined } : metadata, type });

/** The last link known to be good: where a verification starts, and what it returns. */
export interface ChainEnd {
  readonly revision: bigint;
  readonly hash: string;
}

export type ChainFault =
  | 'revision_missing'
  | 'revision_repeated'
  | 'other_stream'
  | 'hash_missing'
  | 'previous_hash_differs'
  | 'content_differs';

export type ChainVerdict =
  | { readonly kind: 'intact'; readonly end: ChainEnd | undefined }
  | {
      readonly kind: 'broken';
      readonly stream: string;
      readonly revision: bigint;
      readonly fault: ChainFault;
    };

/**
 * Checks consecutive events of one stream, from its start or after a known good link. A change, a
 * removal or a swap is found at the first revision that it touches. What was cut off at the end leaves
 * no trace in the rest: compare `end` with a link kept elsewhere (a snapshot, a read model, a seal).
 */
export const verifyChain = (events: Iterable<RecordedEvent>, after?: ChainEnd): ChainVerdict => {
  let end = after;
  let stream: string | undefined;
  for (const event of events) {
    stream ??= event.stream;
    const fault = event.stream === stream ? faultOf(event, end) : 'other_stream';
    if (fault !== undefined) return { kind: 'broken', stream, revision: firstTouched(event, end), fault };
    end = { revision: event.revision, hash: hashIn(event) ?? '' };
  }
  return { kind: 'intact', end };
};

/** What is wrong with an event as the successor of `end`; undefined when it is its true successor. */
export const faultOf = (event: RecordedEvent, end: ChainEnd | undefined): ChainFault | undefined => {
  const expected = end === undefined ? 0n : end.revision + 1n;
  if (event.revision > expected) return 'revision_missing';
  if (event.revision < expected) return 'revision_repeated';
  const hash = hashIn(event);
  if (hash === undefined) return 'hash_missing';
  if (event.metadata['prev_hash'] !== (end?.hash ?? null)) return 'previous_hash_differs';
  return chainHash(event) === hash ? undefined : 'content_differs';
};

const firstTouched = (event: RecordedEvent, end: ChainEnd | undefined): bigint => {
  const expected = end === undefined ? 0n : end.revision + 1n;
  return event.revision > expected ? expected : event.revision;
};

const hashIn = ({ metadata }: RecordedEvent): string | undefined =>
  typeof metadata['hash'] === 'string' ? metadata['hash'] : undefined;
