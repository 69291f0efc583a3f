import { eventsOf, placeOf, type LogEvent, type EventScope } from '../../api/events.ts';
import type { Fault } from '../../api/faults.ts';

/** What is wrong with an event. */
export type Flaw = 'unreadable' | 'hash' | 'type' | 'moved' | 'id' | 'previous' | 'missing' | 'version';

/** What an event is checked against: the one before it in its stream. */
type Before = Pick<LogEvent, 'hash' | 'revision' | 'hash_version'>;

interface Covered {
  readonly data?: unknown;
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

/** What was hashed; the rest of a line is only said. Of an event whose texts were moved, what is left to be read. */
export const coveredOf = ({
  covered,
  texts_moved,
  type,
  stream,
  revision,
  data,
  metadata,
}: LogEvent): Covered => {
  if (covered !== null) return JSON.parse(covered) as Covered;
  return texts_moved ? { type, stream, revision, data, metadata: metadata ?? {} } : {};
};

/** What is wrong with an event by itself: its content against its hash and its ID. */
export const contentFlawOf = async (event: LogEvent): Promise<Flaw | null> => {
  if (event.covered === null) return event.texts_moved ? null : 'unreadable';
  const hash = hexOf(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(event.covered)));
  if (hash !== event.hash) return 'hash';
  const covered = coveredOf(event);
  if (covered.type !== event.type) return 'type';
  return (covered.metadata?.['hash_version'] ?? 1) === 2 ? placeFlawOf(event, hash) : null;
};

/** What a hash of version 2 covers too. */
const placeFlawOf = (event: LogEvent, hash: string): Flaw | null => {
  const { stream, revision } = coveredOf(event);
  if (stream !== event.stream || revision !== event.revision) return 'moved';
  return event.event_id === idOf(hash) ? null : 'id';
};

const CHAIN_START: Before = { hash: null, revision: '-1', hash_version: 1 };

/** What is wrong with the place of an event in its stream; `before` is left out for the first. */
const linkFlawOf = (event: LogEvent, before = CHAIN_START): Flaw | null => {
  const { metadata = {} } = coveredOf(event);
  if ((metadata['prev_hash'] ?? null) !== before.hash) return 'previous';
  if (BigInt(event.revision) !== BigInt(before.revision) + 1n) return 'missing';
  const version = metadata['hash_version'] === 2 ? 2 : 1;
  return version < (before.hash_version ?? 1) ? 'version' : null;
};

/** The first event of a stream that does not fit; nothing behind it is proven. */
export interface Break {
  readonly stream: string;
  readonly revision: string;
  readonly position: string;
  readonly flaw: Flaw;
}

/** How far the browser has recomputed the chain. */
export interface Verified {
  readonly state: 'running' | 'paused' | 'done' | 'failed';
  readonly checked: number;
  readonly verified: number;
  /** Position of the last event that was looked at. */
  readonly through: bigint | undefined;
  readonly breaks: ReadonlyMap<string, Break>;
  readonly error: unknown;
}

/** What is known of one event. */
export type Verdict =
  | { readonly kind: 'waiting' | 'verified' | 'withheld' }
  | { readonly kind: 'broken'; readonly flaw: Flaw }
  | { readonly kind: 'behind'; readonly first: Break };

/** Events of one request, events that are hashed side by side, and events after which it asks to go on. */
const OF_REQUEST = 5_000;
const OF_SLICE = 100;
const OF_RUN = 200_000;

/** Before the first event. */
export const START: Verified = {
  state: 'running',
  checked: 0,
  verified: 0,
  through: undefined,
  breaks: new Map(),
  error: null,
};

/**
 * Reads a scope of the log from its first event and recomputes each hash by itself. It goes on where it stopped, and
 * keeps of each stream its last event alone.
 */
export class Verifier {
  readonly #scope: EventScope;
  readonly #last = new Map<string, Before>();
  readonly #listeners = new Set<() => void>();
  #now = START;
  #after: string | undefined;

  constructor(scope: EventScope) {
    this.#scope = scope;
  }

  readonly now = (): Verified => this.#now;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Verifies until the end, until a run is full, or until the signal. */
  async go(signal: AbortSignal): Promise<void> {
    this.#tell({ state: 'running', error: null });
    try {
      for (let done = 0; done < OF_RUN; done += OF_REQUEST) {
        const read = await this.#request(signal);
        if (read < OF_REQUEST) {
          this.#tell({ state: 'done' });
          return;
        }
      }
      this.#tell({ state: 'paused' });
    } catch (error) {
      if (!signal.aborted) this.#tell({ state: 'failed', error });
    }
  }

  async #request(signal: AbortSignal): Promise<number> {
    let read = 0;
    let slice: LogEvent[] = [];
    for await (const event of eventsOf({ ...this.#scope, after: this.#after, limit: OF_REQUEST }, signal)) {
      slice.push(event);
      read += 1;
      if (slice.length < OF_SLICE) continue;
      await this.#check(slice, signal);
      slice = [];
    }
    await this.#check(slice, signal);
    return read;
  }

  async #check(slice: readonly LogEvent[], signal: AbortSignal): Promise<void> {
    const flaws = await Promise.all(slice.map(contentFlawOf));
    signal.throwIfAborted();
    const breaks = new Map(this.#now.breaks);
    let verified = this.#now.verified;
    for (const [n, event] of slice.entries()) {
      const { stream, revision, position } = event;
      const flaw = flaws[n] ?? linkFlawOf(event, this.#last.get(stream));
      if (!breaks.has(stream)) {
        if (flaw === null) verified += event.texts_moved ? 0 : 1;
        else breaks.set(stream, { stream, revision, position, flaw });
      }
      this.#last.set(stream, { hash: event.hash, revision, hash_version: event.hash_version });
    }
    const last = slice.at(-1);
    if (last === undefined) return;
    this.#after = placeOf(this.#scope, last);
    const checked = this.#now.checked + slice.length;
    this.#tell({ checked, verified, breaks, through: BigInt(last.position) });
  }

  #tell(change: Partial<Verified>): void {
    this.#now = { ...this.#now, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** What a verification says of one event; `own` is what the event's content says by itself. */
export const verdictOf = (
  { breaks, through }: Verified,
  { event, own }: { readonly event: LogEvent; readonly own: Flaw | null },
): Verdict => {
  const first = breaks.get(event.stream);
  if (first !== undefined) {
    const behind = BigInt(event.revision) - BigInt(first.revision);
    if (behind === 0n) return { kind: 'broken', flaw: first.flaw };
    if (behind > 0n) return { kind: 'behind', first };
  }
  if (own !== null) return { kind: 'broken', flaw: own };
  if (event.texts_moved) return { kind: 'withheld' };
  return { kind: through !== undefined && BigInt(event.position) <= through ? 'verified' : 'waiting' };
};

/** What the page asks of the worker: to begin, or to go on where it stopped. */
export interface Asked {
  readonly scope: EventScope;
}

/** How far the worker is; an error comes as what is shown of it, since its class does not cross over. */
export interface Told {
  readonly verified: Omit<Verified, 'error'>;
  readonly fault: Fault | undefined;
}
