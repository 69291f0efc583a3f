import { z } from 'zod';
import { type Findings, findingsKept, type HalfFound, wrong } from './findings.ts';
import { isPlainData } from '../../domain/plainEvents.ts';
import { LOG_DIGEST_START, logDigestAfter, sha256 } from '../../domain/kernel/chain.ts';
import type { EventFeed } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { isJson } from './auditedEvent.ts';
import { readThrough, storedCheck, type StreamHead, streamsCheck, textInFile } from './streams.ts';
import { type EventLogEvent, keptPositions, positionsIn } from '../../domain/eventLog/eventLog.ts';
import { isOwn, jsonIn } from '../../domain/kernel/json.ts';
import { digestOfSeal, type SealEvent, shortSeal, type ShortSeal } from '../../domain/finding.ts';
import { type AnyEvent, decodeAny } from '../../domain/catalogue.ts';
import { UndecodableEvent } from '../../domain/kernel/codec.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';

/** The items by a text that each has. */
const grouped = <T>(items: readonly T[], by: (item: T) => string): ReadonlyMap<string, readonly T[]> => {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(by(item)) ?? [];
    group.push(item);
    groups.set(by(item), group);
  }
  return groups;
};

export interface SealCheck {
  readonly watcher: Required<StoredWatcher>;
  readonly finish: (audited: Pick<AuditedChains, 'heads'>) => void;
}

/** Verifies that the last event of every sealed stream is still in the log, as it was. */
const headsCheck = (
  all: Findings,
  { heads, made_at }: Seal,
): SealCheck & { readonly isBroken: () => boolean } => {
  let broken = false;
  const findings: Pick<Findings, 'add' | 'checked'> = {
    checked: all.checked,
    add: (finding) => {
      broken = true;
      all.add(finding);
    },
  };
  const open = new Map(
    heads.map(([stream, revision, hash]) => [stream, { revision: BigInt(revision), hash }]),
  );
  findings.checked('seal', heads.length);
  return {
    isBroken: () => broken,
    watcher: {
      stored: (event, hash) => {
        const { stream, revision } = event;
        const sealed = open.get(stream);
        if (sealed?.revision !== revision) return;
        open.delete(stream);
        if (sealed.hash === hash) return;
        wrong(findings, 'seal', event)(
          `${stream} revision ${revision} is not the event that was sealed at ${made_at}: the stream was rewritten.`,
          sealed.hash.slice(0, 16),
          hash.slice(0, 16),
        );
      },
    },
    finish: (audited) => {
      if (open.size === 0) return;
      const ends = new Map<string, bigint>();
      for (const [stream, { revision }] of audited.heads()) if (open.has(stream)) ends.set(stream, revision);
      for (const [stream, { revision }] of open) {
        const end = ends.get(stream);
        findings.add({
          check: 'seal',
          stream,
          revision: revision.toString(),
          message: `${stream} has lost events: it had revision ${revision} when it was sealed at ${made_at}.`,
          expected: `revision ${revision}`,
          found: end === undefined ? 'no such stream' : `ends at revision ${end}`,
        });
      }
    },
  };
};

/** A seal by its digest over the whole log. */
export interface Sealed {
  /** In the log that was sealed. */
  readonly position: string;
  readonly events: number;
  readonly made_at: string;
  readonly log_digest: string;
  readonly from: string;
}

const sealedAs = ({ made_at, log_digest }: Pick<Sealed, 'made_at' | 'log_digest'>) => ({
  made_at,
  log_digest,
});

export const digested = ({ seal, from }: GivenSeal): readonly Sealed[] =>
  seal.seal_version === 1 || seal.position === null
    ? []
    : [{ position: seal.position, events: seal.events, ...sealedAs(seal), from }];

/** By how much of the log they are of: a copy of a log has positions of its own. */
const inOrder = (a: Sealed, b: Sealed): number => a.events - b.events;

/**
 * Verifies the digests over the whole log. One wrong digest breaks every later
 * seal: for each place with seals the first wrong one is reported, with the last one before it that holds.
 */
export const digestsCheck = (findings: Findings, seals: readonly Sealed[]): SealCheck => {
  const byPosition = grouped(seals, ({ position }) => position);
  const held = new Set<Sealed>();
  if (seals.length > 0) findings.checked('seal', seals.length);
  return {
    watcher: {
      stored: ({ position }, _, digest) => {
        for (const sealed of byPosition.get(position.toString()) ?? [])
          if (sealed.log_digest === digest) held.add(sealed);
      },
    },
    finish: () => {
      for (const [from, kept] of grouped(seals, ({ from }) => from)) {
        const sorted = [...kept].sort(inOrder);
        const broken = sorted.find((sealed) => !held.has(sealed));
        if (broken === undefined) continue;
        const before = sorted.filter((sealed) => held.has(sealed) && inOrder(sealed, broken) < 0).at(-1);
        const since =
          before === undefined
            ? ''
            : ` The seal of ${before.made_at}, up to position ${before.position}, holds.`;
        findings.add({
          check: 'seal',
          position: broken.position,
          message:
            `Up to position ${broken.position} the log differs from the one sealed at ` +
            `${broken.made_at} (${from}): events were changed, moved, inserted or removed.${since}`,
          expected: broken.log_digest.slice(0, 16),
        });
      }
    },
  };
};

/** Verifies the log against every seal that there is. */
export const sealsCheck = (findings: Findings, given: readonly GivenSeal[]): SealCheck => {
  const heads = given.flatMap(({ seal }) => ('heads' in seal ? [headsCheck(findings, seal)] : []));
  const digests = digestsCheck(findings, given.flatMap(digested));
  const watchers = [...heads, digests].map(({ watcher }) => watcher);
  return {
    watcher: {
      stored: (event, hash, digest) => {
        for (const watcher of watchers) watcher.stored(event, hash, digest);
      },
    },
    finish: (audited) => {
      for (const { finish } of heads) finish(audited);
      // If streams are already named, the digest adds nothing.
      if (!heads.some(({ isBroken }) => isBroken())) digests.finish(audited);
    },
  };
};

/** Something else that looks at every event as it is stored. */
export interface StoredWatcher {
  /** Also one that cannot be decoded, with the hash of its content and the digest over the log up to it. */
  readonly stored?: (event: RecordedEvent, hash: string, digest: string) => void;
}

/** The result for all streams. */
interface AuditedChains {
  readonly streams: number;
  /** Over positions and hashes of all events. */
  readonly digest: string;
  readonly heads: () => IterableIterator<readonly [string, StreamHead]>;
}

/** The log as far as it was read. */
export interface LogFacts {
  readonly events: number;
  readonly streams: number;
  readonly tenants: number;
  readonly position: string | null;
  /** Times of recording; null in an empty log. */
  readonly first_at: string | null;
  readonly last_at: string | null;
}

/** The result of reading a log once. */
export interface AuditedLog extends Pick<AuditedChains, 'heads' | 'digest'> {
  readonly facts: LogFacts;
}

interface ChainsOptions {
  /** Positions of this log have no gaps: it is the embedded one. */
  readonly dense: boolean;
  readonly watchers: readonly StoredWatcher[];
  /** Where events of a copied log lay first (`keptPositions`); none: here. */
  readonly origins?: readonly string[] | undefined;
}

/** While nothing is wrong, the digest in the file and the one that is due are the same step. */
const lastStepKept = (): typeof logDigestAfter => {
  let [last, next] = [[] as unknown[], ''];
  return (before, position, hash) => {
    if (last[0] === before && last[1] === position && last[2] === hash) return next;
    last = [before, position, hash];
    next = logDigestAfter(before, position, hash);
    return next;
  };
};

/**
 * The half of an audit that needs no meaning of events: places, hashes, bytes. It shares nothing with the rules,
 * so that each half can have a thread of its own.
 */
export const chainsCheck = (findings: Findings, { dense, watchers, origins = [] }: ChainsOptions) => {
  const first = positionsIn(origins);
  /** The event as it was sealed: at the position that it had first. */
  const sealed = (recorded: RecordedEvent): RecordedEvent => {
    const { value: position } = first.next();
    return position === undefined ? recorded : { ...recorded, position };
  };
  const streams = streamsCheck(findings, { dense, ids: 'all' });
  const digestAfter = lastStepKept();
  const inFile = storedCheck(findings, digestAfter);
  let digest = LOG_DIGEST_START;
  return {
    look: (recorded: RecordedEvent): void => {
      const before = sealed(recorded);
      if (!isJson(recorded)) {
        streams.skip(recorded);
        inFile.skip(recorded);
        digest = logDigestAfter(digest, before.position, '');
        return;
      }
      const text = textInFile(recorded, isPlainData(recorded));
      const hash = streams.follow(recorded, text);
      inFile.see(recorded, text !== undefined);
      digest = digestAfter(digest, before.position, hash);
      for (const watcher of watchers) watcher.stored?.(before, hash, digest);
    },
    result: (): AuditedChains => {
      streams.finish();
      return { streams: streams.count(), digest, heads: streams.heads };
    },
  };
};

/** What the chains are checked against, in any thread. */
export interface ChainsWork {
  readonly dense: boolean;
  readonly seals: readonly GivenSeal[];
  readonly sealFlaws: readonly string[];
  readonly origins?: readonly string[] | undefined;
  /** Findings kept of each check. */
  readonly keep: number;
}

/** What became of the chains. The heads of all streams stay in the thread: there are too many to hand over. */
export interface ChainsDone extends Omit<AuditedChains, 'heads'> {
  readonly events: number;
  readonly found: HalfFound;
}

/** The chains half of an audit while it runs in a thread of its own. */
export interface StartedChains {
  /** Both halves look at the log up to here. */
  readonly upTo: bigint;
  readonly done: Promise<ChainsDone>;
  readonly stop: () => Promise<unknown>;
}

/** Starts the half; undefined where a thread costs more than it saves. */
export type StartChains = (work: ChainsWork) => Promise<StartedChains | undefined>;

interface Seals {
  readonly watchers: readonly StoredWatcher[];
  readonly finish: (chains: Pick<AuditedChains, 'heads'>) => void;
}

/** Checks what was sealed. */
export const sealsOf = (
  { seals = [], sealFlaws = [] }: Partial<Pick<ChainsWork, 'seals' | 'sealFlaws'>>,
  findings: Findings,
): Seals => {
  for (const message of sealFlaws) findings.add({ check: 'seal', message });
  if (seals.length === 0) return { watchers: [], finish: () => undefined };
  const { watcher, finish } = sealsCheck(findings, seals);
  return { watchers: [watcher], finish };
};

/** The chains half of an audit, alone. */
export const auditChains = async (
  { dense, keep, origins, ...sealed }: ChainsWork,
  feed: Pick<EventFeed, 'subscribe'>,
  upTo: bigint,
): Promise<ChainsDone> => {
  const findings = findingsKept(keep);
  const seals = sealsOf(sealed, findings);
  const chains = chainsCheck(findings, { dense, origins, watchers: seals.watchers });
  const { events } = await readThrough({ feed, upTo }, chains.look);
  const { heads, ...result } = chains.result();
  seals.finish({ heads });
  return { ...result, events, found: findings.half() };
};

const heads = z.array(z.tuple([z.string(), z.string(), z.string()]));

const headsSeal = {
  made_at: z.string(),
  /** Position of the last event; null of an empty log. */
  position: z.string().nullable(),
  events: z.number(),
  streams: z.number(),
  /** SHA-256 over the lines `stream revision hash`, sorted by stream. */
  digest: z.string(),
  heads,
};

const sealWithHeads = z.union([
  z.strictObject({ ...headsSeal, seal_version: z.literal(1) }),
  /** Version 2 also has the digest over the whole log. */
  z.strictObject({ ...headsSeal, seal_version: z.literal(2), log_digest: z.string() }),
]);

/** The end of every stream at a moment. Kept outside of the log, it later shows what was removed. */
export type Seal = z.output<typeof sealWithHeads>;

/** A seal of either kind, and where the audit has it from. */
export interface GivenSeal {
  readonly seal: Seal | ShortSeal;
  readonly from: string;
}

/** The file is no seal, or was changed. */
export class UnreadableSeal extends Error {
  override readonly name = 'UnreadableSeal';
}

const digestOf = (heads: Seal['heads']): string =>
  sha256(heads.map((head) => `${head.join(' ')}\n`).join(''));

/** Seals the log as it was audited. */
export const sealOf = ({ facts, heads, digest }: AuditedLog, made_at: string): Seal => {
  const sorted = [...heads()]
    .map(([stream, { revision, hash }]): Seal['heads'][number] => [stream, revision.toString(), hash])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const { position, events, streams } = facts;
  const head = { seal_version: 2, made_at, position, events, streams, log_digest: digest } as const;
  return { ...head, digest: digestOf(sorted), heads: sorted };
};

/** Reads a seal with the end of every stream. Throws UnreadableSeal if it is none, or was changed. */
export const parseSeal = (text: string): Seal => {
  const read = sealWithHeads.safeParse(jsonIn(text));
  if (!read.success) throw new UnreadableSeal('The file is not a seal.');
  if (digestOf(read.data.heads) === read.data.digest) return read.data;
  throw new UnreadableSeal('The seal does not have its own digest: the file was changed.');
};

/** Reads a short seal. Throws UnreadableSeal if it is none. */
const parseShortSeal = (text: string): ShortSeal => {
  const read = shortSeal.safeParse(jsonIn(text));
  if (read.success) return read.data;
  throw new UnreadableSeal('The file is not a seal.');
};

/** Reads a file with a seal of `quire audit --seal`, or with a line for each seal of `quire seal --file`. */
export const parseSeals = (text: string): readonly (Seal | ShortSeal)[] => {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const isShort = lines.length > 0 && lines.every((line) => line.startsWith('{') && line.endsWith('}'));
  if (!isShort) return [parseSeal(text)];
  return lines.map((line) => (line.includes('"heads"') ? parseSeal(line) : parseShortSeal(line)));
};

/** An event of the log about itself; undefined for others, and for one that cannot be read. */
const toldBy = (event: RecordedEvent): AnyEvent | undefined => {
  if (!isOwn(event.stream)) return undefined;
  try {
    return decodeAny(event);
  } catch (error) {
    if (error instanceof UndecodableEvent || error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** The log's own description, as far as it can be read; the audit reports the rest. */
export const ownEventsIn = async (
  feed: Pick<EventFeed, 'subscribe'>,
): Promise<{ readonly seals: readonly SealEvent['data'][]; readonly origins: readonly string[] }> => {
  const seals: SealEvent['data'][] = [];
  const told: EventLogEvent[] = [];
  for await (const item of feed.subscribe({ categories: [], own: true })) {
    if (item.kind === 'caught_up') break;
    const event = item.kind === 'event' ? toldBy(item.event) : undefined;
    if (event?.type === 'LogSealed') seals.push(event.data);
    if (event?.type === 'PositionsKept' || event?.type === 'LogCopied') told.push(event);
  }
  return { seals, origins: keptPositions(told) };
};

interface Kept {
  readonly key: string;
  readonly seal: ShortSeal;
}

/** Keys begin with the time of the seal. */
const keysUnder = async ({ list }: Pick<ObjectStore, 'list'>, prefix: string): Promise<readonly string[]> => {
  const keys: string[] = [];
  for await (const { key } of list(prefix)) keys.push(key);
  return keys.sort();
};

/** undefined for an object that is no seal. */
const readSeal = async ({ get }: Pick<ObjectStore, 'get'>, key: string): Promise<ShortSeal | undefined> => {
  const bytes = await get(key);
  try {
    return parseShortSeal(Buffer.from(bytes ?? []).toString());
  } catch (error) {
    if (error instanceof UnreadableSeal) return undefined;
    throw error;
  }
};

/**
 * A seal names the one before it; if that is in neither the store nor the log, it was removed. The first may name one
 * from before the bucket.
 */
const brokenLinks = (kept: readonly Kept[], inLog: readonly ShortSeal[]): readonly string[] => {
  const known = new Set([...inLog, ...kept.map(({ seal }) => seal)].map(digestOfSeal));
  return kept
    .slice(1)
    .filter(({ seal }) => seal.previous !== null && !known.has(seal.previous))
    .map(({ key }) => `${key} names a seal before it that is neither in the object store nor in the log.`);
};

interface SealsPlace {
  readonly prefix: string;
  /** Seals of the log: not all of them are in the store too. */
  readonly inLog: readonly ShortSeal[];
}

/** Every seal under a prefix of the object store, and the flaws of their files. */
export const sealsInStore = async (
  objects: Pick<ObjectStore, 'list' | 'get'>,
  { prefix, inLog }: SealsPlace,
): Promise<{
  readonly seals: readonly GivenSeal[];
  readonly keys: readonly string[];
  readonly flaws: readonly string[];
}> => {
  const kept: Kept[] = [];
  const flaws: string[] = [];
  const keys = await keysUnder(objects, prefix);
  for (const key of keys) {
    const seal = await readSeal(objects, key);
    if (seal === undefined)
      flaws.push(`${key} in the object store is no seal: it was changed, or put there by another.`);
    else kept.push({ key, seal });
  }
  const seals = kept.map(({ seal }) => ({ seal, from: 'the object store' }));
  return { seals, keys, flaws: [...flaws, ...brokenLinks(kept, inLog)] };
};
