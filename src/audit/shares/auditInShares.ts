import type { Findings } from '../findings.ts';
import type { AuditedLog } from '../log/chainsCheck.ts';
import type { GivenSeal } from '../seals/seal.ts';
import { areApart } from './keyBag.ts';
import type { ShareDone, ShareWork } from './shareAudit.ts';

/** One share of an audit while a thread of its own works on it. */
export interface StartedShare {
  /** The latest time of recording that it read; null: it is not clean. */
  readonly read: Promise<string | null>;
  /** What it came to, by the latest time of all shares; null: it is not clean. */
  readonly finish: (latest: string) => Promise<ShareDone | null>;
}

/** All shares of an audit while they are at work. */
export interface StartedShares {
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
