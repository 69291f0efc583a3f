import { randomUUID } from 'node:crypto';
import { eventLog, eventLogEvent, identityOf } from '../../domain/eventLog/eventLog.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { isOwn, LOG_STREAM, SEALS_STREAM } from '../../domain/kernel/json.ts';
import { type Clock, type EventFeed, type EventStore, LogUnavailable } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { SYSTEM } from '../writer/commandMeta.ts';
import { commandHandler } from '../writer/commandHandler.ts';
import { chainHash, LOG_DIGEST_START, logDigestAfter } from '../../domain/kernel/chain.ts';
import {
  accept,
  type CommandMeta,
  type Decider,
  type RecordCommand,
  reject,
  type StreamKind,
} from '../../domain/kernel/decider.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import type { LockedObjects } from '../../domain/ports/services.ts';
import { digestOfSeal, sealEvent, type SealEvent, type ShortSeal } from '../../domain/finding.ts';
import { type Sweeper, sweeperOf } from '../writer/sweeper.ts';

const REFUSED =
  `the user that EVENTSTORE_URL names may not write to ${LOG_STREAM}: use ` +
  'an administrator, or give it the right to (docs/how-to/harden.md)';

/**
 * Which log this is. One that has no name gets one: of several processes that start at once the first names
 * it, and all read that.
 */
export const openedLog = async (store: EventStore, now: string): Promise<string> => {
  const known = await identityOf(store);
  if (known !== undefined) return known;
  const handle = commandHandler({
    decider: eventLog,
    codec: eventCodec(eventLogEvent),
    store,
    tenantOf: () => null,
  });
  const data = { type: 'LogOpened', data: { log_id: randomUUID(), opened_at: now } } as const;
  const meta = { now, actor: SYSTEM, correlation_id: 'log', command_id: randomUUID() };
  const { kind } = await handle(LOG_STREAM, { type: 'Record', data, meta }).catch((error: unknown) => {
    throw new LogUnavailable(`the log cannot be named; ${REFUSED}`, { cause: error });
  });
  const named = await identityOf(store);
  if (named === undefined) throw new LogUnavailable(`the log could not be named: ${kind}`);
  return named;
};

/** Where seals are in the object store. */
export const SEALS_PREFIX = 'seals/';

export interface SealDeps {
  readonly log: EventStore & EventFeed;
  readonly locked: LockedObjects;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
}

interface SealWish {
  /** Days for which the seal is also kept in the object store, where nobody can change it; null: it is not. */
  readonly retainDays: number | null;
  /** Make none where nothing but seals was written since the last one, or that is younger than this, ms. */
  readonly unlessYoungerMs?: number;
  /** A person who asks for it; left out: the service does it by itself. */
  readonly actor?: CommandMeta['actor'];
  /** How long the event may take; left out: as long as a command of a caller. */
  readonly deadlineMs?: number;
  readonly signal: AbortSignal;
}

/** The log cannot be sealed; the sentence says why and what to do. */
export class CannotSeal extends Error {
  override readonly name = 'CannotSeal';
}

const codec = eventCodec(sealEvent);

/** The last seal in the log; undefined: it was never sealed. */
const lastSeal = async (log: EventStore): Promise<SealEvent['data'] | undefined> => {
  for await (const last of log.read(SEALS_STREAM, { direction: 'backwards', limit: 1 }))
    return codec.decode(last).data;
  return undefined;
};

interface Reached {
  readonly position: string;
  readonly events: number;
  readonly log_digest: string;
  /** Something else than a seal was written. */
  readonly isNew: boolean;
}

/** A log that does not fit its own hashes is for the audit to tell about; a seal would hide when it began. */
const hashIn = (event: RecordedEvent): string => {
  const hash = chainHash(event);
  if (event.metadata['hash'] === hash) return hash;
  throw new CannotSeal(
    `${event.stream} revision ${event.revision.toString()} does not have the hash that it carries: run quire audit.`,
  );
};

const startOf = (last: ShortSeal | undefined): Omit<Reached, 'position'> => ({
  events: last?.events ?? 0,
  log_digest: last?.log_digest ?? LOG_DIGEST_START,
  isNew: false,
});

const withEvent = (
  { events, log_digest, isNew }: Omit<Reached, 'position'>,
  event: RecordedEvent,
): Reached => ({
  position: event.position.toString(),
  events: events + 1,
  log_digest: logDigestAfter(log_digest, event.position, hashIn(event)),
  isNew: isNew || !isOwn(event.stream),
});

/** Goes on from the last seal, so that each event is looked at once. */
const readOn = async (
  log: EventFeed,
  last: ShortSeal | undefined,
  signal: AbortSignal,
): Promise<Reached | undefined> => {
  const after = last === undefined ? undefined : BigInt(last.position);
  let reached: Reached | undefined;
  for await (const item of log.subscribe({ after, own: true, signal })) {
    if (item.kind === 'caught_up') return reached;
    if (item.kind === 'event') reached = withEvent(reached ?? startOf(last), item.event);
  }
  signal.throwIfAborted();
  throw new CannotSeal('The event log stopped sending before its end was reached: try again.');
};

const DAY_MS = 86_400_000;

/** Stores the seal where nobody can change it. Throws CannotSeal where the store has no lock. */
const putAway = async (
  { locked }: SealDeps,
  seal: ShortSeal,
  retainDays: number,
): Promise<SealEvent['data']['object']> => {
  const refusal = await locked.refusal();
  if (refusal !== null) throw new CannotSeal(refusal);
  const key = `${SEALS_PREFIX}${seal.made_at.replaceAll(/[-:.]/g, '')}-${seal.position}.json`;
  const retained_until = laterBy(seal.made_at, retainDays * DAY_MS);
  await locked.putLocked(key, Buffer.from(`${JSON.stringify(seal)}\n`), retained_until);
  return { key, retained_until };
};

const SEALER: CommandMeta['actor'] = { key_id: 'sealer', role: 'system' };

const metaOf = (
  { clock }: SealDeps,
  { now, actor = SEALER }: Pick<CommandMeta, 'now'> & Pick<SealWish, 'actor'>,
): CommandMeta => {
  const command_id = clock.uuid();
  return {
    now,
    actor,
    correlation_id: `seal-${command_id}`,
    command_id,
  };
};

const isYoung = (last: ShortSeal | undefined, now: string, ms: number | undefined): boolean =>
  last !== undefined && ms !== undefined && Date.parse(now) - Date.parse(last.made_at) < ms;

/** `last`: digest of the last seal; null before the first. */
type SealsKind = StreamKind<
  { readonly last: string | null },
  RecordCommand<SealEvent>,
  SealEvent,
  'not_the_next'
>;

/** Each seal names the last one, so that none can be taken out; one that was made beside another is refused. */
const seals: Decider<SealsKind> = {
  initialState: { last: null },
  saysAll: true,
  decide: ({ last }, { data }) =>
    data.data.seal.previous === last ? accept(data) : reject('not_the_next' as const),
  evolve: (_, { data }) => ({ last: digestOfSeal(data.seal) }),
};

/** undefined: there is nothing to seal. */
const nextSeal = async (
  { log, clock }: SealDeps,
  { unlessYoungerMs, signal }: SealWish,
): Promise<ShortSeal | undefined> => {
  const last = (await lastSeal(log))?.seal;
  const now = clock.now();
  if (isYoung(last, now, unlessYoungerMs)) return undefined;
  const reached = await readOn(log, last, signal);
  if (reached === undefined || (!reached.isNew && unlessYoungerMs !== undefined)) return undefined;
  const { isNew: _, ...upTo } = reached;
  const previous = last === undefined ? null : digestOfSeal(last);
  return { seal_version: 2, made_at: now, ...upTo, previous };
};

const ATTEMPTS_MAX = 20;

/**
 * Seals the log as it is: first into the object store, if asked for, then as an event of `$seals`. If another seal
 * came first, it begins again after that one.
 * undefined: there was nothing to seal. Throws CannotSeal.
 */
export const sealLog = async (deps: SealDeps, wish: SealWish): Promise<SealEvent['data'] | undefined> => {
  const { retainDays, actor, deadlineMs } = wish;
  const options = deadlineMs === undefined ? {} : { deadlineMs };
  const handle = commandHandler({ decider: seals, codec, store: deps.log, tenantOf: () => null, options });
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const seal = await nextSeal(deps, wish);
    if (seal === undefined) return undefined;
    const object = retainDays === null ? null : await putAway(deps, seal, retainDays);
    const event = { type: 'LogSealed', data: { seal, object } } as const;
    const now = seal.made_at;
    const meta = metaOf(deps, actor === undefined ? { now } : { now, actor });
    const { kind } = await handle(SEALS_STREAM, { type: 'Record', data: event, meta });
    if (kind === 'done') return event.data;
    if (kind !== 'rejected') break;
  }
  throw new CannotSeal('The event log did not take the seal in time: try again.');
};

/** Seals the log of a service. */
export type SealLog = (wish: SealWish) => ReturnType<typeof sealLog>;

interface LogSealerDeps extends SealDeps {
  readonly everyMs: number;
  /** As in `SealWish`. */
  readonly retainDays: number | null;
  readonly onSeal: (sealed: SealEvent['data']) => void;
  readonly onError: (error: unknown) => void;
}

export type LogSealer = Sweeper<SealEvent['data'] | undefined>;

/** Seals the log every so often. Several may run: a seal that another has just made is enough. */
export const logSealer = (deps: LogSealerDeps): LogSealer => {
  const { everyMs, retainDays, onSeal, onError } = deps;
  const stopping = new AbortController();
  const sealOnce = async () => {
    const unlessYoungerMs = everyMs / 2;
    const sealed = await sealLog(deps, { retainDays, unlessYoungerMs, signal: stopping.signal });
    if (sealed !== undefined) onSeal(sealed);
    return sealed;
  };
  const sealer = sweeperOf(sealOnce, {
    everyMs,
    onError: (error) => {
      if (!stopping.signal.aborted) onError(error);
    },
  });
  return {
    ...sealer,
    stop: () => {
      stopping.abort();
      return sealer.stop();
    },
  };
};
