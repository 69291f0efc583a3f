import { randomUUID } from 'node:crypto';
import { erasuresIn } from '../../domain/erasure.ts';
import {
  lastMove,
  movedTextsEvent,
  TEXTS_STREAM,
  type TextsMoved,
} from '../../domain/eventLog/movedTexts.ts';
import { categoryOf } from '../../domain/kernel/chain.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { recorder } from '../../domain/kernel/decider.ts';
import type { EventFeed, EventStore, SnapshotStore } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { withoutTexts } from '../../domain/eventLog/writtenText.ts';
import { commandHandler } from '../writer/commandHandler.ts';
import { SYSTEM } from '../writer/commandMeta.ts';
import type { TextMover } from '../writer/vault.ts';
import { everything } from '../audit/streams.ts';
import { exportedEvents } from './log.ts';
import { OperatorError } from '../clientConfig.ts';

export interface MoveTextsDeps {
  /** Nobody else writes to it meanwhile. */
  readonly log: EventStore & EventFeed;
  readonly snapshots: SnapshotStore;
  readonly move: TextMover;
  readonly now: () => string;
  /** Told of the events that were looked at by now. */
  readonly onProgress?: (events: number) => void;
  readonly signal: AbortSignal;
}

/** The result of a move. */
export interface MovedTexts extends Omit<TextsMoved['data'], 'moved_at'> {
  /** Texts that were not in the vault before. */
  readonly kept: number;
  /** Of the event that says so, now or since an earlier move; null: no event has a text in it. */
  readonly position: bigint | null;
}

/** Tells of an event whether its document or tenant was erased since: nothing of it is kept again. */
const erasedIn = async ({ log, signal }: MoveTextsDeps) => {
  const tenants = await erasuresIn(log);
  const documents = new Set<string>();
  for await (const { type, stream } of exportedEvents(log, { category: 'document' }, signal))
    if (type === 'DocumentErased') documents.add(stream);
  return ({ stream, position }: RecordedEvent, tenantId: string): boolean =>
    documents.has(stream) || position <= (tenants.get(tenantId)?.position ?? -1n);
};

const TEXTS_AT_ONCE = 500;
const TOLD_EVERY = 1_000;

/** Texts by tenant, handed over some hundreds at a time. */
const handing = ({ move }: MoveTextsDeps) => {
  const waiting = new Map<string, Map<string, string>>();
  let [size, kept] = [0, 0];
  const flush = async (): Promise<number> => {
    for (const [tenantId, texts] of waiting) kept += await move(tenantId, texts);
    waiting.clear();
    size = 0;
    return kept;
  };
  return {
    add: async (tenantId: string, texts: ReadonlyMap<string, string>): Promise<void> => {
      const theirs = waiting.get(tenantId) ?? new Map<string, string>();
      waiting.set(tenantId, theirs);
      for (const [token, text] of texts) theirs.set(token, text);
      size += texts.size;
      if (size >= TEXTS_AT_ONCE) await flush();
    },
    flush,
  };
};

/** The result of reading the log. */
interface Looked extends Omit<MovedTexts, 'position'> {
  /** Accounts whose events have texts, and so perhaps their snapshots. */
  readonly accounts: ReadonlySet<string>;
  /** Of the last event that has a text in it. */
  readonly last: bigint | undefined;
}

const textsOf = (recorded: RecordedEvent): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>();
  withoutTexts(recorded, (token, text) => void texts.set(token, text));
  return texts;
};

/** Keeps the texts of all events in the vault, but of those that somebody had erased. */
const keepTexts = async (deps: MoveTextsDeps): Promise<Looked> => {
  const isErased = await erasedIn(deps);
  const { add, flush } = handing(deps);
  const counts = { events: 0, texts: 0, erased: 0 };
  const accounts = new Set<string>();
  let [looked, last]: [number, bigint | undefined] = [0, undefined];
  for await (const recorded of everything(deps.log, deps.signal)) {
    looked += 1;
    if (looked % TOLD_EVERY === 0) deps.onProgress?.(looked);
    const texts = textsOf(recorded);
    const { stream, position, metadata } = recorded;
    const { tenant_id: tenantId } = metadata;
    if (texts.size === 0 || typeof tenantId !== 'string') continue;
    counts.events += 1;
    last = position;
    if (categoryOf(stream) === 'account') accounts.add(stream);
    if (isErased(recorded, tenantId)) counts.erased += texts.size;
    else {
      counts.texts += texts.size;
      await add(tenantId, texts);
    }
  }
  deps.signal.throwIfAborted();
  return { ...counts, kept: await flush(), accounts, last };
};

/** Snapshots of accounts have what their events said: an empty one, which nobody reads, takes their place. */
const emptySnapshots = async ({ snapshots }: MoveTextsDeps, accounts: ReadonlySet<string>): Promise<void> => {
  for (const stream of accounts) {
    const snapshot = await snapshots.load(stream).catch(() => undefined);
    if (snapshot !== undefined) await snapshots.save({ ...snapshot, reducer_version: 0, state: {} });
  }
};

const MEANWHILE = 'Something was written to the log meanwhile: stop what uses it, and run the command again.';

/** Says in the log that texts are moved; gives where. */
const markMoved = async ({ log, now }: MoveTextsDeps, data: TextsMoved['data']): Promise<bigint> => {
  const handle = commandHandler({
    decider: recorder<TextsMoved>(() => false),
    codec: eventCodec(movedTextsEvent),
    store: log,
    tenantOf: () => null,
  });
  const meta = { now: now(), actor: SYSTEM, correlation_id: 'vault move', command_id: randomUUID() };
  const command = { type: 'Record', data: { type: 'TextsMoved', data }, meta } as const;
  const outcome = await handle(TEXTS_STREAM, command);
  if (outcome.kind !== 'done' || outcome.position === undefined)
    throw new OperatorError(`The log did not take the mark (${outcome.kind}): run the command again.`);
  return outcome.position;
};

/**
 * Moves the texts of old events into the vault, and then says so in the log: from that event on they are no longer
 * read from the old events. The next run continues after a crash; a run that finds nothing changes nothing.
 * Throws OperatorError.
 */
export const moveTexts = async (deps: MoveTextsDeps): Promise<MovedTexts> => {
  const head = await deps.log.head();
  const { accounts, last, ...counts } = await keepTexts(deps);
  const before = await lastMove(deps.log);
  if (last === undefined || (before !== undefined && last < before.position))
    return { ...counts, position: before?.position ?? null };
  await emptySnapshots(deps, accounts);
  if ((await deps.log.head()) !== head) throw new OperatorError(MEANWHILE);
  const { events, texts, erased } = counts;
  return { ...counts, position: await markMoved(deps, { events, texts, erased, moved_at: deps.now() }) };
};
