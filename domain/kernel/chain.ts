import { hash as digest } from 'node:crypto';
import { canonicalJson } from './canonicalJson.ts';
import type { RecordedEvent } from '../ports/eventStore.ts';
import type { JsonObject } from './json.ts';

export { canonicalJson } from './canonicalJson.ts';

/** SHA-256, hex. */
export const sha256 = (text: string | Uint8Array): string => digest('sha256', text);

/** What the hash of an event covers: its type, data and metadata, `prev_hash` included, `hash` not. */
export interface Hashed {
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

/** SHA-256 over the canonical JSON of type, data and metadata without `hash`. */
export const chainHash = ({ type, data, metadata }: Hashed): string => {
  if (!('hash' in metadata)) return sha256(canonicalJson({ type, data, metadata }));
  const { hash: _, ...covered } = metadata;
  return sha256(canonicalJson({ type, data, metadata: covered }));
};

/** The first place where a stream's chain does not hold. */
export interface ChainBreak {
  readonly revision: bigint;
  readonly reason: 'revision' | 'prev_hash' | 'hash';
  readonly detail: string;
}

/** Where a chain stands: the next revision, and the hash that its event must name. */
export interface ChainLink {
  readonly nextRevision: bigint;
  readonly hash: string | null;
}

export const CHAIN_START: ChainLink = { nextRevision: 0n, hash: null };

/** Checks one event against the link before it; gives the link after it, or the break. */
export const followChain = (
  link: ChainLink,
  event: RecordedEvent,
):
  | { readonly kind: 'linked'; readonly link: ChainLink }
  | { readonly kind: 'broken'; readonly at: ChainBreak } => {
  const broken = (reason: ChainBreak['reason'], detail: string) =>
    ({ kind: 'broken', at: { revision: event.revision, reason, detail } }) as const;
  if (event.revision !== link.nextRevision)
    return broken('revision', `revision ${link.nextRevision.toString()} is missing`);
  if ((event.metadata['prev_hash'] ?? null) !== link.hash)
    return broken('prev_hash', 'it does not name the hash of the event before it');
  const hash = chainHash(event);
  if (event.metadata['hash'] !== hash) return broken('hash', 'its content does not have the hash it carries');
  return { kind: 'linked', link: { nextRevision: event.revision + 1n, hash } };
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
