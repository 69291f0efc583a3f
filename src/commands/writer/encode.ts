import type { CommandMeta, DomainEvent } from '../../../domain/kernel/decider.ts';
import {
  chainHash,
  type ChainLink,
  eventIdOfHash,
  eventText,
  HASH_VERSION,
  type Hashed,
  joinedText,
  sha256,
} from '../../../domain/kernel/chain.ts';
import { type Json, type JsonObject, storableJson } from '../../../domain/kernel/json.ts';
import type { Codec } from '../../../domain/kernel/codec.ts';
import type { NewEvent } from '../../../domain/ports/log.ts';

/** What all events of one stream share. */
export interface Encoding<Event> {
  readonly stream: string;
  readonly tenantId: string | null;
  readonly codec: Codec<Event>;
}

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
 * must not look like a repetition of what is stored, or the chain would go on from the wrong link.
 */
export const encodeEvents = <Event extends DomainEvent>(
  { stream, tenantId, codec }: Encoding<Event>,
  { events, meta }: { readonly events: readonly Event[]; readonly meta: CommandMeta },
  from: ChainLink,
): Chained<Event> => {
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
    const event = hashed({ stream, revision, type, data: clean.data as JsonObject, metadata });
    ({ hash } = event);
    nextRevision += 1n;
    decoded.push(clean);
    encoded.push(event.event);
  }
  return { decoded, events: encoded, link: { nextRevision, hash, hashVersion: HASH_VERSION } };
};

/** An event with its hash, and with its text where that is what was hashed. Adds the hash to `metadata`. */
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
