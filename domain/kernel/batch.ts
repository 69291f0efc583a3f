import { isOwn } from './ownStreams.ts';
import type { EventText, ExpectedRevision, NewEvent } from '../ports/eventStore.ts';

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
