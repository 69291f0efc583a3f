import type { CommandMeta } from '../../../domain/kernel/command.ts';
import { chainHash, eventIdOfHash, HASH_VERSION, type ChainLink } from '../../../domain/kernel/chain.ts';
import type { Codec } from '../../../domain/kernel/codec.ts';
import type { DomainEvent } from '../../../domain/kernel/decider.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { NewEvent } from '../../../domain/ports/eventStore.ts';

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
    const unsigned = metadataOf(meta, { schema_version: codec.versionOf(type), tenantId, prevHash: hash });
    // What decoding makes has its members in the schema's order, always the same: quicker to go on with.
    const clean = codec.decode({ ...NOWHERE, stream, type, data: made as JsonObject, metadata: unsigned });
    const data = clean.data as JsonObject;
    hash = chainHash({ stream, revision: nextRevision, type, data, metadata: unsigned });
    nextRevision += 1n;
    decoded.push(clean);
    encoded.push({ id: eventIdOfHash(hash), type, data, metadata: { ...unsigned, hash } });
  }
  return { decoded, events: encoded, link: { nextRevision, hash, hashVersion: HASH_VERSION } };
};

/** The place of an event that is not in the log yet. */
const NOWHERE = { id: '', revision: -1n, position: -1n };

const metadataOf = (
  { correlation_id, command_id, actor, now, traceparent }: CommandMeta,
  of: {
    readonly schema_version: number;
    readonly tenantId: string | null;
    readonly prevHash: string | null;
  },
) => ({
  schema_version: of.schema_version,
  correlation_id,
  causation_id: command_id,
  actor: { key_id: actor.key_id, role: actor.role },
  tenant_id: of.tenantId,
  recorded_at: now,
  prev_hash: of.prevHash,
  hash_version: HASH_VERSION,
  ...(traceparent !== undefined && { traceparent }),
});

/** Bytes of metadata, keys and quotes that every event has, generously. */
const ENVELOPE_BYTES = 700;

/** No fewer bytes than the event takes in an append. An estimate, for it runs on every event. */
export const bytesAtMost = ({ type, data }: Pick<NewEvent, 'type' | 'data'>): number => {
  let bytes = ENVELOPE_BYTES + 2 * type.length;
  for (const [key, value] of Object.entries(data))
    bytes += key.length + 4 + (typeof value === 'object' ? nestedBytes(value) : scalarBytes(value));
  return bytes;
};

const nestedBytes = (value: object | null): number => (value === null ? 4 : 3 * JSON.stringify(value).length);

/** A character takes at most 3 bytes of UTF-8; a control character 6, which texts hardly have. */
const scalarBytes = (value: unknown): number => (typeof value === 'string' ? 3 * value.length + 2 : 24);
