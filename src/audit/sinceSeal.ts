import { paymentStream } from '../../domain/account/messages.ts';
import { BOOKS_STREAM } from '../../domain/books.ts';
import { usageIdOfOperation } from '../../domain/operation.ts';
import { suffixOf } from '../../domain/leased.ts';
import { eventAt, positionsIn } from '../../domain/eventLog/eventLog.ts';
import { categoryOf, chainHash, logDigestAfter } from '../../domain/kernel/chain.ts';
import type { Json, JsonObject } from '../../domain/kernel/json.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import { isPlainData } from '../../domain/plainEvents.ts';
import { isJson } from './auditedEvent.ts';
import { rulesCheck } from './auditLog.ts';
import { type AuditedLog, digested, digestsCheck, type GivenSeal, type Seal, type Sealed } from './chains.ts';
import { type Check, type Finding, type Findings } from './findings.ts';
import { PUBLISHED } from './margin.ts';
import { everything, type Reading, readThrough, storedCheck, streamsCheck, textInFile } from './streams.ts';

/** There is no seal that an audit could begin at; the sentence says what to do. */
export class NoSuchSeal extends Error {
  override readonly name = 'NoSuchSeal';
}

const NEVER_SEALED =
  'No seal of this log was found, so there is none to begin at. Run quire seal and then quire audit, once over the ' +
  'whole log: later audits can begin at that seal.';

/** Seals by which a log can be audited, and what is known of the log. */
interface SealsThere {
  /** All, also those of files. */
  readonly seals: readonly GivenSeal[];
  /** Those of the log and of its object store. */
  readonly kept: readonly GivenSeal[];
  readonly dense: boolean;
  readonly origins: readonly string[];
}

/** How many events a copied log brought along: seals of these speak of the positions that they had first. */
const copiedIn = (origins: readonly string[]): number => {
  let copied = 0;
  for (const _ of positionsIn(origins)) copied += 1;
  return copied;
};

const NOT_OF_THE_COPY =
  'All seals were made before the log was copied, by positions of the log that it is a copy of. Run quire seal.';

const cutOff = ({ position, made_at }: Sealed): string =>
  `The log ends before position ${position}, which was sealed at ${made_at}: events were cut off, or it is another ` +
  'log. Run quire audit over the whole log.';

/** The last seal that fits. Throws NoSuchSeal with what `why` says of those that there are. */
const lastOf = (
  seals: readonly Sealed[],
  isFit: (seal: Sealed) => boolean,
  why: (first: Sealed, last: Sealed) => string,
): Sealed => {
  const fit = seals.findLast(isFit);
  if (fit !== undefined) return fit;
  const [first, last] = [seals[0], seals.at(-1)];
  throw new NoSuchSeal(first === undefined || last === undefined ? NEVER_SEALED : why(first, last));
};

/**
 * The seal that an audit begins at: the last one, or the last one that was made until a time, of those that do not
 * reach beyond the end of the log. Throws NoSuchSeal.
 */
export const sealToBeginAt = (
  { seals, kept, dense, origins }: SealsThere,
  { until, end = 0n }: { readonly until?: string | undefined; readonly end?: bigint | undefined },
): Sealed => {
  // A server does not tell whether a seal of a file is of its log.
  const sorted = (dense ? seals : kept).flatMap(digested).sort((a, b) => a.events - b.events);
  const copied = copiedIn(origins);
  const isHere = ({ events }: Sealed): boolean => events > copied;
  lastOf(sorted, isHere, () => NOT_OF_THE_COPY);
  const here = sorted.filter(isHere);
  const isNamed = ({ made_at }: Sealed): boolean => until === undefined || made_at <= until;
  lastOf(
    here,
    isNamed,
    (first, last) =>
      `No seal was made until ${String(until)}: the first is of ${first.made_at}, the last of ${last.made_at}. ` +
      'Name a later time.',
  );
  return lastOf(here.filter(isNamed), ({ position }) => BigInt(position) <= end, cutOff);
};

/** What an audit that began at a seal has read, and what it began at. */
export interface SinceSeal {
  readonly made_at: string;
  readonly position: string;
  /** Where the seal was found. */
  readonly from: string;
  /** Events after it. */
  readonly events: number;
  /** Earlier events that were read, because their streams moved since or later events name them. */
  readonly earlier_events: number;
}

export interface AuditedSince extends AuditedLog {
  readonly since: SinceSeal;
}

export interface SinceWork extends Omit<Reading, 'feed' | 'after' | 'upTo'> {
  readonly feed: EventFeed & Pick<EventStore, 'read'>;
  readonly findings: Findings;
  readonly dense: boolean;
  readonly origins?: readonly string[] | undefined;
  readonly seals: readonly GivenSeal[];
  readonly seal: Sealed;
}

/** An operation's ID does not say which kind of work it is, and whether it was queued. */
const ANY_WORK = 'work of any kind';
const WORKS = ['extraction', 'conversion', 'classification', 'split', 'trainingJob'] as const;
const QUEUED = ['operation', 'pageRanges'] as const;

/** The streams that work may have, by the ID of its operation or of its usage: both end alike. */
const streamsOfWork = (id: string): readonly string[] => {
  const queued = `op_${suffixOf(id)}`;
  const ids = new Set([id, queued, usageIdOfOperation(queued)]);
  return [
    ...QUEUED.map((category) => `${category}-${queued}`),
    ...WORKS.flatMap((category) => [...ids].map((one) => `${category}-${one}`)),
  ];
};

/** Members that name one stream of each of these categories. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  tenant_id: ['account', 'topUp'],
  to_tenant_id: ['account'],
  from_tenant_id: ['account'],
  operation_id: [ANY_WORK],
  work_id: [ANY_WORK],
  extraction_id: ['extraction'],
  conversion_id: ['conversion'],
  classification_id: ['classification'],
  split_id: ['split'],
  document_id: ['document'],
  config_id: ['config'],
  table_id: ['table'],
  batch_id: ['batch'],
  then_batch_id: ['batch'],
  job_id: ['trainingJob', 'examples'],
  artifact_id: ['artifact'],
  previous_artifact_id: ['artifact'],
  set_id: ['set'],
  run_id: ['evaluation'],
  review_id: ['review'],
  webhook_id: ['webhook'],
  delivery_id: ['webhookDelivery'],
};

const PAYMENTS = ['provider_txn_id', 'original_provider_txn_id', 'refund_provider_txn_id'];

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPayment = (provider: Json | undefined, member: string): provider is string =>
  typeof provider === 'string' && PAYMENTS.includes(member);

/** Streams that members name, also those of objects in them. */
function* namedBy(members: JsonObject): Generator<string, void, void> {
  const { provider } = members;
  for (const [member, value] of Object.entries(members)) {
    if (isObject(value)) yield* namedBy(value);
    if (typeof value !== 'string') continue;
    for (const category of NAMED[member] ?? []) yield `${category}-${value}`;
    if (isPayment(provider, member)) yield paymentStream({ provider, provider_txn_id: value });
  }
}

/** Streams that an event names: rules relate it to what they say. One that is no JSON any more names none. */
function* namesIn(event: RecordedEvent): Generator<string, void, void> {
  if (!isJson(event)) return;
  yield* namedBy(event.data);
  const { tenant_id: tenant } = event.metadata;
  if (typeof tenant === 'string') yield `account-${tenant}`;
}

/** What lies after the seal: how far it goes, where each stream goes on, and which others it names. */
interface Tail {
  readonly upTo: bigint;
  readonly began: ReadonlyMap<string, bigint>;
  readonly named: ReadonlySet<string>;
}

const tailOf = async ({ feed, seal, signal }: SinceWork): Promise<Tail> => {
  const after = BigInt(seal.position);
  const [began, named] = [new Map<string, bigint>(), new Set<string>()];
  let upTo = after;
  for await (const event of everything(feed, signal, after)) {
    upTo = event.position;
    if (!began.has(event.stream)) began.set(event.stream, event.revision);
    for (const name of namesIn(event)) named.add(name);
  }
  signal?.throwIfAborted();
  return { upTo, began, named };
};

/** Streams of these categories are long, and what they name is not needed to judge what they say. */
const NAMES_NOTHING = new Set([
  'account',
  'llmCost',
  'rateLimits',
  'apiKey',
  'webhook',
  'sighting',
  'places',
]);

const CHUNK = 64;

/** The part of a stream up to a position, in pieces: many streams are open at a time. */
async function* upToSeal({ feed }: Pick<SinceWork, 'feed'>, stream: string, through: bigint) {
  let from = 0n;
  for (;;) {
    let read = 0;
    for await (const event of feed.read(stream, { from, limit: CHUNK })) {
      if (event.position > through) return;
      read += 1;
      from = event.revision + 1n;
      yield event;
    }
    if (read < CHUNK) return;
  }
}

interface OpenStream {
  readonly next: () => Promise<RecordedEvent | undefined>;
  head: RecordedEvent;
}

/** Hands out the events of several streams in the order of the log: a heap by the position of the next of each. */
const merged = () => {
  const heap: OpenStream[] = [];
  const at = (n: number): bigint => heap[n]?.head.position ?? -1n;
  const swap = (a: number, b: number): void => {
    const [one, other] = [heap[a], heap[b]];
    if (one !== undefined && other !== undefined) [heap[a], heap[b]] = [other, one];
  };
  const sink = (): void => {
    for (let n = 0; ;) {
      const left = 2 * n + 1;
      if (left >= heap.length) return;
      const least = left + 1 < heap.length && at(left + 1) < at(left) ? left + 1 : left;
      if (at(n) <= at(least)) return;
      swap(n, least);
      n = least;
    }
  };
  return {
    add: (open: OpenStream): void => {
      heap.push(open);
      for (let n = heap.length - 1; n > 0;) {
        const up = (n - 1) >> 1;
        if (at(up) <= at(n)) return;
        swap(n, up);
        n = up;
      }
    },
    take: async (): Promise<RecordedEvent | undefined> => {
      const [top] = heap;
      if (top === undefined) return undefined;
      const { head } = top;
      const next = await top.next();
      if (next === undefined) {
        const last = heap.pop();
        if (last !== undefined && last !== top) heap[0] = last;
      } else top.head = next;
      sink();
      return head;
    },
  };
};

const nextOf = (events: AsyncGenerator<RecordedEvent, void, void>) => async () => {
  const { value, done } = await events.next();
  return done === true ? undefined : value;
};

/** Every publication up to a position: there are few, and any event may be priced by them. */
async function* publications({ feed, signal }: Pick<SinceWork, 'feed' | 'signal'>, through: bigint) {
  for await (const item of feed.subscribe({ categories: PUBLISHED, ...(signal && { signal }) })) {
    if (item.kind === 'caught_up') return;
    if (item.kind === 'checkpoint' && item.position >= through) return;
    if (item.kind === 'event' && item.event.position > through) return;
    if (item.kind === 'event') yield item.event.stream;
  }
}

/** The streams that a name stands for, as far as anything of them may lie before the seal. */
const streamsNamed = (name: string, began: Tail['began']): readonly string[] => {
  if (!name.startsWith(ANY_WORK)) return began.get(name) === 0n ? [] : [name];
  const streams = streamsOfWork(name.slice(ANY_WORK.length + 1));
  // Most work began since, and nothing of it lies before.
  return streams.some((stream) => began.get(stream) === 0n) ? [] : streams;
};

/** What the part of a stream before the seal names. */
const namedInStream = async (work: SinceWork, stream: string): Promise<ReadonlySet<string>> => {
  const names = new Set<string>();
  if (NAMES_NOTHING.has(categoryOf(stream))) return names;
  for await (const event of upToSeal(work, stream, BigInt(work.seal.position)))
    for (const name of namesIn(event)) names.add(name);
  return names;
};

/** Streams that moved since the seal and began before it, and those that are named. */
const streamsBefore = async (work: SinceWork, { began, named }: Tail): Promise<ReadonlySet<string>> => {
  const streams = new Set<string>();
  const add = (name: string): void => {
    for (const stream of streamsNamed(name, began)) streams.add(stream);
  };
  for (const [stream, revision] of began) if (revision > 0n) streams.add(stream);
  for await (const stream of publications(work, BigInt(work.seal.position))) add(stream);
  for (const name of named) add(name);
  // What is added meanwhile is visited too.
  for (const stream of streams) for (const name of await namedInStream(work, stream)) add(name);
  return streams;
};

/** The events of these streams, from the first of each on. */
async function* earlier(work: SinceWork, tail: Tail): AsyncGenerator<RecordedEvent, void, void> {
  const order = merged();
  for (const stream of await streamsBefore(work, tail)) {
    const next = nextOf(upToSeal(work, stream, BigInt(work.seal.position)));
    const head = await next();
    if (head !== undefined) order.add({ head, next });
  }
  for (let event = await order.take(); event !== undefined; event = await order.take()) yield event;
}

/**
 * Checks that need only what is read whole: the stream itself, and publications. What others say of an event before
 * the seal needs streams that are not read, so only what they say of later ones is told.
 */
const BY_ITSELF: ReadonlySet<Check> = new Set<Check>([
  'schema',
  'owner',
  'balance',
  'available',
  'hold',
  'rate',
  'price',
  'refund',
]);

const ofRules = (findings: Findings, through: bigint): Findings => ({
  ...findings,
  add: (finding: Finding): void => {
    const { check, position } = finding;
    if (position === undefined || BigInt(position) > through || BY_ITSELF.has(check)) findings.add(finding);
  },
});

const firstAfter = async (feed: EventFeed, after?: bigint): Promise<RecordedEvent | undefined> => {
  for await (const event of everything(feed, undefined, after)) return event;
  return undefined;
};

/** The digest that the file has at a position; undefined: this log has none that goes on from its first event. */
const digestAt = async (
  { feed, dense, origins = [] }: SinceWork,
  position: bigint,
): Promise<string | undefined> => {
  if (!dense || origins.length > 0) return undefined;
  const first = await firstAfter(feed);
  if (typeof first?.stored?.log_digest !== 'string') return undefined;
  const there = await firstAfter(feed, position - 1n);
  return there?.position === position ? String(there.stored?.log_digest) : 'no such event';
};

/** The digest at the sealed position is that of the seal: what lies before was the same, in the same order. */
const checkSealed = async (work: SinceWork): Promise<void> => {
  const { findings, seal, seals } = work;
  findings.checked('seal');
  const compare = (found: string, where: string): void => {
    if (found === seal.log_digest) return;
    findings.add({
      check: 'seal',
      position: seal.position,
      message:
        `Up to position ${seal.position} the log differs from the one sealed at ${seal.made_at} (${seal.from}): ` +
        'events were changed, moved, inserted or removed. Audit the whole log.',
      expected: seal.log_digest.slice(0, 16),
      found: `${found.slice(0, 16)}${where}`,
    });
  };
  for (const { events, log_digest, from } of seals.flatMap(digested))
    if (events === seal.events) compare(log_digest, ` in ${from}`);
  const found = await digestAt(work, BigInt(seal.position));
  if (found !== undefined) compare(found, '');
  else
    findings.note(
      'This log has no digest from its first event on that the seal could be compared with: only a full audit ' +
        'compares them.',
    );
};

/** The hash of an event's content, as seals have it. */
const headIn = (event: RecordedEvent | undefined): string => {
  if (event === undefined) return 'no such event';
  return isJson(event) ? chainHash(event) : 'no JSON';
};

/** Seals with the last event of each stream: every one is looked up, also of streams that are not read. */
const checkHeads = async ({ feed, findings, signal }: SinceWork, { heads, made_at }: Seal): Promise<void> => {
  findings.checked('seal', heads.length);
  for (const [stream, revision, sealed] of heads) {
    signal?.throwIfAborted();
    const found = headIn(await eventAt(feed, stream, BigInt(revision)));
    if (found === sealed) continue;
    findings.add({
      check: 'seal',
      stream,
      revision,
      message:
        `${stream} revision ${revision} is not the event that was sealed at ${made_at}: the stream was rewritten ` +
        'or has lost events.',
      expected: sealed.slice(0, 16),
      found: found.slice(0, 16),
    });
  }
};

/** Both halves of the audit, of events before the seal and after it. */
const looks = ({ findings, dense, origins = [], seals, seal }: SinceWork) => {
  const after = BigInt(seal.position);
  const isLater = ({ events }: Sealed): boolean => events > seal.events;
  const later = digestsCheck(findings, seals.flatMap(digested).filter(isLater));
  const streams = streamsCheck(findings, { dense, after, ids: 'all' });
  const inFile = storedCheck(findings, logDigestAfter);
  const rules = rulesCheck(ofRules(findings, after), []);
  let [digest, isFirst] = [seal.log_digest, true];
  /** undefined: it is no JSON any more. */
  const followed = (event: RecordedEvent) => {
    if (!isJson(event)) {
      streams.skip(event);
      return undefined;
    }
    const text = textInFile(event, isPlainData(event));
    return { hash: streams.follow(event, text), isInForm: text !== undefined };
  };
  return {
    before: (event: RecordedEvent): void => {
      const of = followed(event);
      if (of === undefined) return;
      inFile.seeApart(event, of.isInForm);
      rules.look(event);
    },
    after: (event: RecordedEvent): void => {
      if (isFirst) inFile.goOnFrom(dense && origins.length === 0 ? seal.log_digest : null);
      isFirst = false;
      const of = followed(event);
      digest = logDigestAfter(digest, event.position, of?.hash ?? '');
      if (of === undefined) {
        inFile.skip(event);
        return;
      }
      inFile.see(event, of.isInForm);
      later.watcher.stored(event, of.hash, digest);
      rules.look(event);
    },
    finish: () => {
      streams.finish();
      later.finish({ heads: streams.heads });
      return { ...rules.finish(), streams: streams.count(), heads: streams.heads, digest };
    },
  };
};

/**
 * Checks all that was recorded since a seal, and before it only the streams that moved since, or that later events
 * name: these from their first event on. Everything else before the seal is taken on trust.
 */
export const auditSince = async (work: SinceWork): Promise<AuditedSince> => {
  const { feed, findings, seals, seal, onProgress, signal } = work;
  const [after, look] = [BigInt(seal.position), looks(work)];
  await checkSealed(work);
  const tail = await tailOf(work);
  let earlierEvents = 0;
  for await (const event of earlier(work, tail)) {
    signal?.throwIfAborted();
    earlierEvents += 1;
    look.before(event);
    if (earlierEvents % 10_000 === 0) onProgress?.(earlierEvents, event.position);
  }
  const { events } = await readThrough({ feed, after, upTo: tail.upTo, onProgress, signal }, look.after);
  const { streams, tenants, first_at, last_at, heads, digest } = look.finish();
  for (const { seal: given } of seals) if ('heads' in given) await checkHeads(work, given);
  if (tail.began.has(BOOKS_STREAM))
    findings.note(
      'Months were closed or opened since the seal: only a full audit computes their figures again.',
    );
  const facts = {
    events: seal.events + events,
    streams,
    tenants,
    position: tail.upTo.toString(),
    first_at,
    last_at,
  };
  const { made_at, position, from } = seal;
  return { facts, heads, digest, since: { made_at, position, from, events, earlier_events: earlierEvents } };
};
