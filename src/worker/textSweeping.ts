import type { EventFeed } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { tokenParts, tokensIn, withoutTexts } from '../../domain/eventLog/writtenText.ts';
import { keyBeforeAside, setAside } from '../writer/setAside.ts';
import { tokenOfKey, VAULT_PREFIX } from '../writer/vault.ts';

const DAY_MS = 86_400_000;
/** Somewhat less than a day: sweeps come every hour. */
const EVERY_MS = DAY_MS - 3_600_000;

/** 8 MB, however many texts there are: of ten million, one in 25 that no event names looks as if one did. */
const BITS = 2 ** 26;
const PLACES = 5;

/** A Bloom filter of tokens: it has every one that was added, and by mistake a few others, by the seed. */
const tokenFilter = (seed: number) => {
  const bits = new Uint32Array(BITS / 32);
  const places = (token: string): readonly number[] => {
    const { tenant = '', scope = '', text = '' } = tokenParts(token) ?? {};
    const word = (of: string, at: number): number => Number.parseInt(of.slice(8 * at, 8 * at + 8), 16) | 0;
    const first = Math.imul(word(text, 0) ^ word(tenant, 0) ^ seed, 0x9e3779b1) ^ word(text, 1);
    const step = (Math.imul(word(text, 2) ^ word(scope, 0) ^ seed, 0x85ebca6b) ^ word(text, 3)) | 1;
    return Array.from({ length: PLACES }, (_, n) => (first + Math.imul(n, step)) >>> (32 - 26));
  };
  return {
    add: (token: string): void => {
      for (const at of places(token)) bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31));
    },
    has: (token: string): boolean =>
      places(token).every((at) => ((bits[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0),
  };
};

/** Tokens of an event, and those that it has once its texts are moved into the vault. */
const tokensOf = (event: RecordedEvent): readonly string[] => {
  const tokens = [...tokensIn(JSON.stringify(event.data)), ...tokensIn(JSON.stringify(event.metadata))];
  withoutTexts(event, (token) => void tokens.push(token));
  return tokens;
};

/** How far the log was read. */
interface Reached {
  /** Of the event before the last one; undefined: there is none. */
  readonly before: bigint | undefined;
  readonly position: bigint;
  readonly id: string;
}

/** The tokens in a log, each event of which is read once. `seed`: of the filter, another one in each process. */
const namedTexts = (feed: Pick<EventFeed, 'subscribe'>, seed: number) => {
  let filter = tokenFilter(seed);
  let reached: Reached | undefined;
  const take = (event: RecordedEvent): void => {
    for (const token of tokensOf(event)) filter.add(token);
    if (event.position !== reached?.position)
      reached = { before: reached?.position, position: event.position, id: event.id };
  };
  /** False: the end was not reached, or the last event that was taken is not there: the log is another one. */
  const takeOn = async (signal: AbortSignal): Promise<boolean> => {
    let last = reached;
    for await (const item of feed.subscribe({ after: reached?.before, own: true, signal })) {
      if (item.kind === 'checkpoint') continue;
      // Of a log without an event nothing can be told.
      if (item.kind === 'caught_up') return last === undefined && reached !== undefined;
      if (last !== undefined && !isSame(last, item.event)) return false;
      last = undefined;
      take(item.event);
    }
    return false;
  };
  return {
    has: (token: string): boolean => filter.has(token),
    /** Reads on to the log's end; false: it was not reached. */
    readOn: async (signal: AbortSignal): Promise<boolean> => {
      const isRead = await takeOn(signal);
      if (!isRead && !signal.aborted) [filter, reached] = [tokenFilter(seed), undefined];
      return isRead;
    },
  };
};

const isSame = ({ position, id }: Reached, event: RecordedEvent): boolean =>
  position === event.position && id === event.id;

export interface TextSweepDeps {
  readonly feed: Pick<EventFeed, 'subscribe'>;
  readonly objects: Pick<ObjectStore, 'get' | 'list' | 'put' | 'remove'>;
  readonly nowMs: () => number;
  readonly seed: number;
  readonly onError?: ((error: unknown) => void) | undefined;
}

interface Swept {
  readonly removed: number;
  readonly left: number;
}

/**
 * Removes texts that no event names: their event was never written, or was refused. Such a text is set aside a day
 * after it was put, and removed after another day. Both times all of the log was read before. Keys of tenants stay.
 */
export const sweepTexts = ({ feed, objects, nowMs, seed, onError }: TextSweepDeps) => {
  const named = namedTexts(feed, seed);
  let lastMs = -Infinity;
  const look = async (key: string): Promise<number> => {
    const before = keyBeforeAside(key);
    const token = tokenOfKey(before ?? key);
    if (token === undefined || named.has(token)) return 0;
    if (before === undefined) {
      await setAside(objects, key);
      return 0;
    }
    await objects.remove(key);
    return 1;
  };
  return async (signal: AbortSignal): Promise<Swept> => {
    const done = { removed: 0, left: 0 };
    const startedMs = nowMs();
    if (!(await named.readOn(signal)) || startedMs - lastMs < EVERY_MS) return done;
    for await (const { key, modified_at } of objects.list(VAULT_PREFIX)) {
      if (signal.aborted) return done;
      if (Date.parse(modified_at) >= startedMs - DAY_MS) continue;
      try {
        done.removed += await look(key);
      } catch (error) {
        onError?.(error);
        done.left += 1;
      }
    }
    lastMs = startedMs;
    return done;
  };
};
