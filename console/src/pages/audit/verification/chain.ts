import type { LogEvent } from '../../../api/events.ts';

/** What is wrong with an event. */
export type Flaw = 'unreadable' | 'hash' | 'type' | 'moved' | 'id' | 'previous' | 'missing' | 'version';

/** What an event is checked against: the one before it in its stream. */
export type Before = Pick<LogEvent, 'hash' | 'revision' | 'hash_version'>;

interface Covered {
  readonly type?: unknown;
  readonly stream?: unknown;
  readonly revision?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const hexOf = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The event ID of a hash: a UUID of version 8. */
const idOf = (hash: string): string => {
  const variant = ((parseInt(hash.charAt(16), 16) & 3) | 8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    variant + hash.slice(17, 20),
    hash.slice(20, 32),
  ].join('-');
};

/** What was hashed; the rest of a line is only said. */
export const coveredOf = ({ covered }: LogEvent): Covered =>
  covered === null ? {} : (JSON.parse(covered) as Covered);

/** What is wrong with an event by itself: its content against its hash and its ID. */
export const contentFlawOf = async (event: LogEvent): Promise<Flaw | null> => {
  if (event.covered === null) return 'unreadable';
  const hash = hexOf(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(event.covered)));
  if (hash !== event.hash) return 'hash';
  const { type, stream, revision, metadata } = coveredOf(event);
  if (type !== event.type) return 'type';
  if ((metadata?.['hash_version'] ?? 1) !== 2) return null;
  if (stream !== event.stream || revision !== event.revision) return 'moved';
  return event.event_id === idOf(hash) ? null : 'id';
};

const CHAIN_START: Before = { hash: null, revision: '-1', hash_version: 1 };

/** What is wrong with the place of an event in its stream; `before` is left out for the first. */
export const linkFlawOf = (event: LogEvent, before = CHAIN_START): Flaw | null => {
  const { metadata = {} } = coveredOf(event);
  if ((metadata['prev_hash'] ?? null) !== before.hash) return 'previous';
  if (BigInt(event.revision) !== BigInt(before.revision) + 1n) return 'missing';
  const version = metadata['hash_version'] === 2 ? 2 : 1;
  return version < (before.hash_version ?? 1) ? 'version' : null;
};
