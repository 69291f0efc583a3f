import { type Findings, findingsKept, type HalfFound } from './findings.ts';
import type { AuditedLog, GivenSeal } from './chains.ts';
import { isPlainData } from '../../domain/plainEvents.ts';
import { HASH_VERSION, hashVersionOf, LOG_DIGEST_START, logDigestAfter } from '../../domain/kernel/chain.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { isJson } from './auditedEvent.ts';
import { rulesCheck } from './auditLog.ts';
import { storedCheck, streamsCheck, textInFile } from './streams.ts';

/** Two words a key. */
type Keys = Uint32Array<ArrayBuffer>;

const FIRST_WORDS = 4096;
/** The two bases of FNV-1a that the words of a key begin with, and its prime. */
const [BASE, OTHER_BASE, PRIME] = [0x811c9dc5, 0x9747b28c, 0x01000193] as const;

/** What a share met by name, 8 bytes each: equal names have equal keys, and different ones nearly never. */
interface KeyBag {
  readonly add: (name: string) => void;
  readonly keys: () => Keys;
}

export const keyBag = (): KeyBag => {
  let words: Keys = new Uint32Array(FIRST_WORDS);
  let used = 0;
  return {
    add: (name) => {
      if (used === words.length) {
        const larger = new Uint32Array(2 * words.length);
        larger.set(words);
        words = larger;
      }
      let [first, second] = [BASE, OTHER_BASE] as [number, number];
      for (let at = 0; at < name.length; at += 1) {
        const code = name.charCodeAt(at);
        first = Math.imul(first ^ code, PRIME);
        second = Math.imul(second ^ code, PRIME) ^ (first >>> 13);
      }
      words[used] = first;
      words[used + 1] = second;
      used += 2;
    },
    keys: () => words.slice(0, used),
  };
};

/** A set of keys. Open addressing, at most half full; a slot of zeros is an empty one. */
const keySet = (most: number) => {
  const slots = new Uint32Array(2 * 2 ** Math.ceil(Math.log2(most + 2)));
  const mask = slots.length / 2 - 1;
  const isEmpty = (slot: number): boolean => slots[slot] === 0 && slots[slot + 1] === 0;
  const isAt = (slot: number, first: number, second: number): boolean =>
    slots[slot] === first && slots[slot + 1] === second;
  /** Index of the slot that has the key, or of the empty one where it belongs. */
  const slotOf = (first: number, second: number): number => {
    let slot = 2 * ((first ^ (second >>> 7)) & mask);
    while (!isAt(slot, first, second) && !isEmpty(slot)) slot = 2 * ((slot / 2 + 1) & mask);
    return slot;
  };
  return {
    has: (first: number, second: number): boolean => !isEmpty(slotOf(first, second)),
    add: (first: number, second: number): void => {
      const slot = slotOf(first, second);
      slots[slot] = first;
      slots[slot + 1] = second;
    },
  };
};

/** Calls `see` with the words of each key. One of zeros, which would pass for an empty slot, has another one's. */
const each = (bag: Keys, see: (first: number, second: number) => void): void => {
  for (let at = 0; at < bag.length; at += 2) {
    const [first, second] = [bag[at] ?? 0, bag[at + 1] ?? 0];
    see(first, first === 0 && second === 0 ? 1 : second);
  }
};

/** Whether no key is in two of the bags. */
export const areApart = (bags: readonly Keys[]): boolean => {
  const seen = keySet(bags.reduce((sum, { length }) => sum + length, 0));
  let apart = true;
  for (const bag of bags) {
    each(bag, (first, second) => {
      if (seen.has(first, second)) apart = false;
    });
    each(bag, seen.add);
  }
  return apart;
};

/** One share of an audit while a thread of its own works on it. */
export interface StartedShare {
  /** The latest time of recording that it read; null: it is not clean. */
  readonly read: Promise<string | null>;
  /** The result, by the latest time of all shares; null: not clean. */
  readonly finish: (latest: string) => Promise<ShareDone | null>;
}

/** All shares of an audit while they are at work. */
interface StartedShares {
  readonly upTo: bigint;
  readonly shares: readonly StartedShare[];
  readonly stop: () => Promise<unknown>;
}

/** Starts the shares; undefined where threads cost more than they save. `onProgress`: events that all have read. */
export type StartShares = (
  wanted: ShareWork['wanted'],
  onProgress: (events: number) => void,
) => Promise<StartedShares | undefined>;

/** Every position from the first to the last is in one share, and in one only. */
const areAllThere = (parts: readonly Uint8Array[], upTo: bigint): boolean => {
  const last = Number(upTo);
  for (let position = 1; position <= last; position += 1) {
    let times = 0;
    for (const part of parts) times += ((part[position >>> 3] ?? 0) >>> (position & 7)) & 1;
    if (times !== 1) return false;
  }
  return true;
};

/** The shares are the whole log, and nothing that a rule looks at is in two of them. */
const areWhole = (done: readonly ShareDone[], upTo: bigint): boolean =>
  areAllThere(
    done.map(({ positions }) => positions),
    upTo,
  ) && areApart(done.map(({ keys }) => keys));

const isThere = <T>(value: T | null): value is T => value !== null;

/** What each share says; undefined as soon as one of them is not clean. */
const allOr = async <T>(answers: readonly Promise<T | null>[]): Promise<readonly T[] | undefined> => {
  const unclean = new Promise<undefined>((resolve, reject) => {
    for (const answer of answers) answer.then((said) => said === null && resolve(undefined), reject);
  });
  return Promise.race([unclean, Promise.all(answers).then((all) => (all.every(isThere) ? all : undefined))]);
};

const summed = (done: readonly ShareDone[], of: 'events' | 'streams' | 'tenants'): number =>
  done.reduce((sum, share) => sum + share[of], 0);

/** Seals by their digests: those of the log at the same positions. */
const hold = (seals: readonly GivenSeal[], digestAt: (position: string) => string | undefined): boolean =>
  seals.every(({ seal }) =>
    seal.seal_version === 1 || seal.position === null ? false : digestAt(seal.position) === seal.log_digest,
  );

const inThreads = (): never => {
  throw new Error('a seal needs an audit by one thread: the heads of streams stay in those of the shares');
};

interface Shared {
  readonly seals: readonly GivenSeal[];
  readonly findings: Findings;
  readonly onProgress?: ((events: number, position: bigint) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const joined = (
  done: readonly ShareDone[],
  { upTo, latest }: { readonly upTo: bigint; readonly latest: string },
  { seals, findings }: Shared,
): AuditedLog | undefined => {
  const digests = new Map(done.flatMap((share) => [...share.digests]));
  if (!areWhole(done, upTo) || !hold(seals, (position) => digests.get(position))) return undefined;
  for (const { found } of done) findings.takeIn(found);
  if (seals.length > 0) findings.checked('seal', seals.length);
  const [first_at = null] = done.flatMap((share) => share.first_at ?? []).sort();
  const facts = {
    events: summed(done, 'events'),
    streams: summed(done, 'streams'),
    tenants: summed(done, 'tenants'),
    position: upTo.toString(),
    first_at,
    last_at: latest,
  };
  return { facts, digest: digests.get(upTo.toString()) ?? '', heads: inThreads };
};

/**
 * Audits a log by shares, each some of the tenants, side by side. The rules that look at several streams look at
 * those of one tenant while nothing is wrong; where they do not, or where anything is to be told, the answer is
 * undefined, and one thread has to go through the log. Seals with the heads of streams need that thread too.
 */
export const auditInShares = async (start: StartShares, shared: Shared): Promise<AuditedLog | undefined> => {
  const { seals, onProgress, signal } = shared;
  if (seals.some(({ seal }) => 'heads' in seal)) return undefined;
  const wanted = seals.flatMap(({ seal }) => seal.position ?? []);
  // The log has no gaps: as many events lie before a position as it says.
  const started = await start(wanted, (events) => onProgress?.(events, BigInt(events)));
  if (started === undefined) return undefined;
  const { upTo, shares, stop } = started;
  const stopNow = (): void => void stop();
  signal?.addEventListener('abort', stopNow, { once: true });
  try {
    const times = await allOr(shares.map(({ read }) => read));
    const latest = times?.toSorted().at(-1) ?? '';
    const done = latest === '' ? undefined : await allOr(shares.map(({ finish }) => finish(latest)));
    return done && joined(done, { upTo, latest }, shared);
  } finally {
    signal?.removeEventListener('abort', stopNow);
    signal?.throwIfAborted();
    await stop();
  }
};

/** Events that a share reads: those of its own tenants and those for all tenants, in the order of the log. */
interface SharedEvent {
  readonly event: RecordedEvent;
  /** false: another share checks it. */
  readonly isOwn: boolean;
  /** The digest that the file has with the event before it in the log; null before the first one. */
  readonly digestBefore: string | null;
}

/** Something is wrong, or worth a note: one thread has to tell it, in the order of the log. */
export class NotClean extends Error {
  override readonly name = 'NotClean';
}

const notClean = (): never => {
  throw new NotClean();
};

/** The result of a share in which nothing is wrong. Plain data: it is passed between threads. */
export interface ShareDone {
  readonly events: number;
  readonly streams: number;
  readonly tenants: number;
  readonly first_at: string | null;
  readonly found: HalfFound;
  /** A bit for each position that it looked at. */
  readonly positions: Uint8Array;
  /** Of all that may be in one share only. */
  readonly keys: Uint32Array<ArrayBuffer>;
  /** Digests over the log at the wanted positions that are its own. */
  readonly digests: ReadonlyMap<string, string>;
}

export interface ShareWork {
  /** The last position that is looked at. */
  readonly upTo: bigint;
  /** Positions whose digests are asked for. */
  readonly wanted: readonly string[];
}

/**
 * Audits some of the tenants of a log by the rules of all audits. It throws NotClean as soon as one of them says
 * anything. IDs are not compared with one another: each is its event's hash, which covers stream and revision.
 */
export const shareAudit = ({ upTo, wanted }: ShareWork) => {
  const findings = { ...findingsKept(1), add: notClean, note: notClean };
  const bag = keyBag();
  const streams = streamsCheck(findings, { dense: false, ids: 'by_hash' });
  const inFile = storedCheck(findings, logDigestAfter);
  const rules = rulesCheck(findings, [], bag.add);
  const positions = new Uint8Array(Math.ceil((Number(upTo) + 1) / 8));
  const asked = new Set(wanted.map(BigInt));
  const digests = new Map<string, string>();
  let events = 0;

  const count = ({ position, stored }: RecordedEvent): void => {
    events += 1;
    const at = Number(position);
    const byte = Math.floor(at / 8);
    positions[byte] = (positions[byte] ?? 0) | (1 << (at % 8));
    if (asked.has(position)) digests.set(position.toString(), stored?.log_digest ?? LOG_DIGEST_START);
  };

  const check = ({ event, digestBefore }: SharedEvent): void => {
    if (hashVersionOf(event) !== HASH_VERSION) notClean();
    if (digestBefore === null && event.position > 1n) notClean();
    if (event.revision === 0n) bag.add(event.stream);
    const isPlain = isPlainData(event);
    const text = textInFile(event, isPlain);
    streams.follow(event, text);
    inFile.goOnFrom(digestBefore);
    inFile.see(event, text !== undefined);
    rules.look(event, isPlain);
  };

  return {
    look: (shared: SharedEvent): void => {
      const { event, isOwn } = shared;
      if (!isJson(event)) notClean();
      if (isOwn) {
        count(event);
        check(shared);
      } else rules.learn(event);
    },
    events: () => events,
    /** The latest time of recording, when all was looked at. */
    latest: rules.latest,
    /** Looks at what is still open at the end; `latest` of all shares. */
    finish: (latest: string): ShareDone => {
      streams.finish();
      const { tenants, first_at } = rules.finish(latest);
      const [keys, found] = [bag.keys(), findings.half()];
      return { events, streams: streams.count(), tenants, first_at, found, positions, keys, digests };
    },
  };
};
