import { type AnyKind, type CommandMeta, EventsNeeded } from '../../domain/kernel/decider.ts';
import {
  NO_TRACER,
  type AppendResult,
  type Span,
  type TextSealer,
  type Tracer,
} from '../../domain/ports/log.ts';
import {
  BUSY,
  CONTENDED,
  decideBatch,
  type DecidedBatch,
  type Outcome,
  UNKNOWN,
  type WriterHooks,
  type WriterRules,
} from './decideBatch.ts';
import {
  coldLoad,
  epochOf,
  type Folded,
  foldOn,
  type FoldSource,
  LogContradicts,
  UnreadableStream,
} from './streamFold.ts';
import { categoryOf } from '../../domain/kernel/chain.ts';
import { recalled, ROUNDS_MAX } from './earlier.ts';
import { backOff, type Encoding, isContradiction, NeedsSealer, settleAppend } from './append.ts';

/** A caller waiting for its command's outcome. `command` undefined: it only asks for the state. */
export interface Entry<Kind extends AnyKind> {
  readonly command: Kind['command'] | undefined;
  /** On the clock of `performance.now`. */
  readonly deadline: number;
  readonly answer: (outcome: Outcome<Kind>) => void;
  readonly fail: (error: unknown) => void;
  /** Of its command, where a trace is recorded. */
  readonly span?: Span;
  /** Its deadline passed: it was answered, and is not decided again. */
  gone: boolean;
}

/** The queue of one stream, and what its writer knows. At most one turn runs at a time. */
export interface Mailbox<Kind extends AnyKind> {
  readonly stream: string;
  readonly tenantId: string | null;
  /** In the order of arrival, and so of deadlines. */
  waiting: Entry<Kind>[];
  inFlight: readonly Entry<Kind>[];
  /** The committed state; undefined until loaded. */
  warm: Folded<Kind['state']> | undefined;
  /** When the log last confirmed `warm`. */
  confirmedAt: number;
  /** The connection over which it did; see `EventStore.epoch`. */
  epoch: number;
  /** Commands known to be in the stream, the latest few. */
  readonly recent: Set<string>;
  readonly recentMax: number;
  running: boolean;
  /** The remembered state may be of another log: the next turn reads again. */
  outdated: boolean;
  /** Set when going on would not be safe; every command fails with it. */
  halted: Error | undefined;
  /** Commands a turn may take; halved while the log refuses a batch as too large. */
  limit: number;
  snapshotRevision: bigint;
  saving: boolean;
}

/** Commands of a stream that a mailbox which stays in memory remembers. */
const RECENT_MAX = 512;

export const newMailbox = <Kind extends AnyKind>(
  stream: string,
  tenantId: string | null,
  limit: number,
): Mailbox<Kind> => ({
  stream,
  tenantId,
  waiting: [],
  inFlight: [],
  warm: undefined,
  confirmedAt: -Infinity,
  epoch: 0,
  recent: new Set(),
  recentMax: RECENT_MAX,
  running: false,
  outdated: false,
  halted: undefined,
  limit,
  snapshotRevision: -1n,
  saving: false,
});

/** Remembers that a command is in the stream, and forgets the oldest. */
const remember = (
  { recent, recentMax }: Pick<Mailbox<AnyKind>, 'recent' | 'recentMax'>,
  commandId: string,
): void => {
  recent.add(commandId);
  if (recent.size <= recentMax) return;
  for (const oldest of recent) {
    recent.delete(oldest);
    return;
  }
};

/**
 * Answers those whose time is up. One still in the queue was not touched: `busy`. One in flight stays
 * with its frozen batch, whatever becomes of it: `unknown`.
 */
export const expire = <Kind extends AnyKind>(box: Mailbox<Kind>, now: number): void => {
  for (const entry of box.inFlight) {
    if (entry.gone || entry.deadline > now) continue;
    entry.gone = true;
    entry.answer(UNKNOWN);
  }
  const first = box.waiting[0];
  if (first === undefined || first.deadline > now) return;
  const late = box.waiting.filter(({ deadline }) => deadline <= now);
  box.waiting = box.waiting.slice(late.length);
  for (const entry of late) {
    entry.gone = true;
    entry.answer(BUSY);
  }
};

/** Puts entries back in front of those that wait: their batch had no room for them. */
const giveBack = <Kind extends AnyKind>(box: Mailbox<Kind>, entries: readonly Entry<Kind>[]): void => {
  if (entries.length > 0) box.waiting = [...entries, ...box.waiting];
};

type Commanded = { readonly meta: CommandMeta };

const nameOf = (command: object): string =>
  'type' in command && typeof command.type === 'string' ? command.type : 'command';

/** The span of one command, from its arrival to its outcome: waiting, deciding and appending. */
export const beginCommand = (tracer: Tracer, stream: string, command: object): Span =>
  tracer.begin(`command ${nameOf(command)}`, { facts: { 'quire.category': categoryOf(stream) } });

/** The span of one append that carries a command's events; undefined where nobody records. */
const beginAppend = (tracer: Tracer, stream: string, command: Span | undefined): Span | undefined =>
  command?.traceparent === undefined
    ? undefined
    : tracer.begin('append', {
        parent: command.traceparent,
        kind: 'producer',
        facts: { 'quire.category': categoryOf(stream) },
      });

/** The command as its events are to tell of their append. */
const stamped = <Command extends Commanded>(command: Command, append: Span | undefined): Command =>
  append?.traceparent === undefined
    ? command
    : { ...command, meta: { ...command.meta, traceparent: append.traceparent } };

/** Does a command within its span, which ends with what became of it. */
export const withinCommand = async <Outcome extends { readonly kind: string }>(
  tracer: Tracer,
  span: Span,
  work: () => Promise<Outcome>,
): Promise<Outcome> => {
  try {
    const outcome = await tracer.within(span, work);
    span.end({ 'quire.outcome': outcome.kind });
    return outcome;
  } catch (error) {
    span.end({ 'quire.outcome': 'failed' }, 'failed');
    throw error;
  }
};

/** Reports of one turn of a mailbox: its batches to metrics, its appends to traces. */
interface TurnReport<Kind extends AnyKind> {
  /** The command of an entry as it is to be decided: its events will name the append. */
  readonly commandOf: (entry: Entry<Kind>, command: Kind['command']) => Kind['command'];
  /** What became of a batch that `entries` were decided for, in order. */
  readonly tell: (
    entries: readonly Entry<Kind>[],
    batch: DecidedBatch<Kind>,
    outcome: AppendResult['kind'] | 'nothing',
  ) => void;
}

/** `stream`, and who is told. */
interface ReportedTurn {
  readonly stream: string;
  readonly hooks: WriterHooks;
  readonly tracer: Tracer;
}

/** The turn begins now. */
const turnReport = <Kind extends AnyKind>({ stream, hooks, tracer }: ReportedTurn): TurnReport<Kind> => {
  const startedAt = performance.now();
  const appends = new Map<Entry<Kind>, Span>();
  return {
    commandOf: (entry, command) => {
      const append = beginAppend(tracer, stream, entry.span);
      if (append !== undefined) appends.set(entry, append);
      return stamped(command, append);
    },
    tell: (entries, { verdicts, events }, outcome) => {
      const commands = entries.length;
      hooks.onBatch?.({ commands, events: events.length, outcome, ms: performance.now() - startedAt });
      if (appends.size === 0) return;
      for (const [index, entry] of entries.entries()) {
        const verdict = verdicts[index];
        const isWritten = verdict?.kind === 'done' && verdict.events.length > 0;
        if (!isWritten || outcome === 'nothing') continue;
        const facts = { 'quire.outcome': outcome, 'quire.batch.commands': commands };
        appends.get(entry)?.end({
          ...facts,
          'quire.events': verdict.events.length,
          'quire.batch.events': events.length,
        });
      }
      appends.clear();
    },
  };
};

/** An entry whose command is a span until it is answered; itself where nobody records. */
export const tracedEntry = <Kind extends AnyKind>(
  tracer: Tracer,
  stream: string,
  entry: Entry<Kind>,
): Entry<Kind> => {
  if (entry.command === undefined) return entry;
  const span = beginCommand(tracer, stream, entry.command);
  if (span.traceparent === undefined) return entry;
  return {
    ...entry,
    span,
    answer: (outcome) => {
      span.end({ 'quire.outcome': outcome.kind });
      entry.answer(outcome);
    },
    fail: (error) => {
      span.end({ 'quire.outcome': 'failed' }, 'failed');
      entry.fail(error);
    },
  };
};

interface Turn<Kind extends AnyKind> {
  readonly rules: WriterRules<Kind>;
  readonly box: Mailbox<Kind>;
  /** Those still waiting for an answer from this turn, in order. */
  entries: readonly Entry<Kind>[];
  /** Whether the log was read to its end, or appended to, since the turn began. */
  confirmed: boolean;
  readonly report: TurnReport<Kind>;
  /** Of the tenant; undefined until an event has text that people write. */
  sealer: TextSealer | undefined;
}

/**
 * Takes what is waiting, decides it and appends it as one batch, and answers. It decides again after a
 * conflict. Whatever goes wrong, each caller gets an answer and the mailbox can go on.
 */
export const runTurn = async <Kind extends AnyKind>(
  rules: WriterRules<Kind>,
  box: Mailbox<Kind>,
): Promise<void> => {
  const entries = box.waiting.splice(0, box.limit);
  box.inFlight = entries;
  const told = { stream: box.stream, hooks: rules.hooks, tracer: rules.store.tracer ?? NO_TRACER };
  const report = turnReport<Kind>(told);
  const turn: Turn<Kind> = { rules, box, entries, confirmed: false, report, sealer: undefined };
  try {
    if (box.halted !== undefined) throw box.halted;
    for (let attempt = 1; attempt <= rules.attemptsMax; attempt += 1) {
      const next = await attemptTurn(turn);
      if (next === 'over') return;
      if (next === 'conflict') await backOff(attempt, rules.conflictPacing, rules.persistence.stop);
    }
    answerAll(turn, CONTENDED);
  } catch (error) {
    failTurn(turn, error);
  } finally {
    box.inFlight = [];
  }
};

/**
 * `again`: the log held more than was known, or is reached over another connection. `conflict`: another process wrote
 * at the same time.
 */
type Next = 'over' | 'again' | 'conflict';

const attemptTurn = async <Kind extends AnyKind>(turn: Turn<Kind>): Promise<Next> => {
  const { box } = turn;
  if (box.outdated) forgetIn(box);
  const from = box.warm ?? (await load(turn));
  dropGone(turn);
  if (turn.entries.length === 0) return 'over';
  const { batch, on } = await decideWithEarlier(turn, from);
  return batch.events.length === 0 ? answerUnwritten(turn, batch) : append(turn, on, batch);
};

/** How long a command may wait beyond its caller's patience, ms: its time is before that of later writes. */
const STALE_MS = 60_000;

/** Its process was stopped in between: its callers are gone, and the time that its commands name is long over. */
const isStale = <Kind extends AnyKind>({ entries }: Turn<Kind>): boolean => {
  const before = performance.now() - STALE_MS;
  return entries.some(({ deadline }) => deadline < before);
};

/** Appends what was decided on `from`, and answers where that settles it. */
const append = async <Kind extends AnyKind>(
  turn: Turn<Kind>,
  from: Folded<Kind['state']>,
  batch: DecidedBatch<Kind>,
): Promise<Next> => {
  const { rules, box } = turn;
  await reached(turn, () => turn.sealer?.keep());
  if ((await rules.mayAppend?.()) === false || isStale(turn)) {
    answerAll(turn, CONTENDED);
    return 'over';
  }
  const frozen = { stream: box.stream, expected: from.revision, events: batch.events, epoch: box.epoch };
  const result = await settleAppend(rules.store, frozen, rules.persistence);
  turn.report.tell(turn.entries, batch, result.kind);
  switch (result.kind) {
    case 'appended':
      appended(turn, batch, result);
      return 'over';
    case 'conflict':
      await catchUp(turn, from);
      return 'conflict';
    case 'moved':
      await catchUp(turn, from);
      return 'again';
    case 'unknown':
      box.warm = undefined;
      answerAll(turn, UNKNOWN);
      return 'over';
    case 'rejected':
      return refused(turn, batch, `${result.reason}: ${result.detail}`);
  }
};

const forgetIn = <Kind extends AnyKind>(box: Mailbox<Kind>): void => {
  box.outdated = false;
  box.warm = undefined;
  box.snapshotRevision = -1n;
  box.recent.clear();
};

/** Where texts cannot be kept now, nothing is done. */
const reached = async <Kind extends AnyKind, T>(
  { box }: Turn<Kind>,
  work: () => Promise<T> | undefined,
): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    throw new UnreachedTexts(`texts of stream ${box.stream} cannot be kept: ${String(error)}`, {
      cause: error,
    });
  }
};

/**
 * Decides; where the first command needs earlier events, once more with what they say. That is remembered, and nothing
 * else is new in it.
 */
const decideWithEarlier = async <Kind extends AnyKind>(
  turn: Turn<Kind>,
  from: Folded<Kind['state']>,
): Promise<{ readonly batch: DecidedBatch<Kind>; readonly on: Folded<Kind['state']> }> => {
  let on = from;
  for (let round = 1; ; round += 1)
    try {
      return { batch: await decideWithTexts(turn, on), on };
    } catch (error) {
      if (!(error instanceof EventsNeeded) || round > ROUNDS_MAX) throw error;
      const { state } = on;
      on = await readable(turn, async () => ({
        ...from,
        state: await recalled(sourceOf(turn), state, error),
      }));
      turn.box.warm = on;
    }
};

/** Decides; where an event has text that people write, once more with what gives tokens for it. */
const decideWithTexts = async <Kind extends AnyKind>(
  turn: Turn<Kind>,
  from: Folded<Kind['state']>,
): Promise<DecidedBatch<Kind>> => {
  try {
    return decide(turn, from);
  } catch (error) {
    if (!(error instanceof NeedsSealer)) throw error;
    const { rules, box } = turn;
    turn.sealer = await reached(turn, () => rules.store.vault?.sealer(box.tenantId ?? ''));
    return decide(turn, from);
  }
};

/** Nobody's texts are nobody's to erase: they stay in their events. */
const textsOf = <Kind extends AnyKind>({ rules, box, sealer }: Turn<Kind>): Encoding<unknown>['texts'] =>
  rules.store.vault === undefined || box.tenantId === null ? undefined : (sealer ?? 'later');

/**
 * Decides the commands that wait, and gives back those for which the batch had no room. Throws NeedsSealer, and has
 * changed nothing then.
 */
const decide = <Kind extends AnyKind>(turn: Turn<Kind>, from: Folded<Kind['state']>): DecidedBatch<Kind> => {
  const { rules, box } = turn;
  const commands: Kind['command'][] = [];
  const readers: Entry<Kind>[] = [];
  const writers: Entry<Kind>[] = [];
  for (const entry of turn.entries) {
    if (entry.command === undefined) readers.push(entry);
    else {
      writers.push(entry);
      commands.push(turn.report.commandOf(entry, entry.command));
    }
  }
  const { stream, tenantId } = box;
  const encoding = { stream, tenantId, codec: rules.fold.codec, texts: textsOf(turn) };
  const isKnown = (commandId: string) => box.recent.has(commandId);
  const batch = decideBatch({ decider: rules.decider, encoding, isKnown }, from, commands);
  giveBack(box, writers.splice(batch.verdicts.length));
  turn.entries = [...writers, ...readers];
  box.inFlight = turn.entries;
  return batch;
};

/**
 * Nothing to append, only rejections and repeats. They hold only if no other process has written since,
 * so the log is asked first.
 */
const answerUnwritten = async <Kind extends AnyKind>(
  turn: Turn<Kind>,
  batch: DecidedBatch<Kind>,
): Promise<Next> => {
  const { box } = turn;
  const { warm } = box;
  if (warm === undefined) return 'again';
  if (!turn.confirmed && (await catchUp(turn, warm)) !== warm) return 'again';
  turn.report.tell(turn.entries, batch, 'nothing');
  answer(turn, batch, warm.position);
  return 'over';
};

const appended = <Kind extends AnyKind>(
  turn: Turn<Kind>,
  batch: DecidedBatch<Kind>,
  { revision, position }: Extract<AppendResult, { kind: 'appended' }>,
): void => {
  const { box, rules } = turn;
  const { state, hash, verdicts, recordedAt } = batch;
  box.warm = { state, revision, hash, position, recordedAt };
  box.confirmedAt = performance.now();
  box.limit = rules.batchMax;
  for (const [index, verdict] of verdicts.entries())
    if (verdict.kind === 'done' && verdict.events.length > 0) {
      const command = turn.entries[index]?.command;
      if (command !== undefined) remember(box, command.meta.command_id);
    }
  answer(turn, batch, position);
};

/** A batch the log will never take. Halves until the one command is found that cannot be written. */
const refused = <Kind extends AnyKind>(turn: Turn<Kind>, batch: DecidedBatch<Kind>, detail: string): Next => {
  const { box, entries } = turn;
  if (batch.verdicts.length <= 1)
    throw new Error(`stream ${box.stream}: the log refuses an append, ${detail}`);
  box.limit = Math.max(1, Math.floor(batch.verdicts.length / 2));
  turn.entries = [];
  giveBack(box, entries);
  return 'over';
};

const answer = <Kind extends AnyKind>(
  { entries, box }: Turn<Kind>,
  { verdicts }: DecidedBatch<Kind>,
  position: bigint | undefined,
): void => {
  box.inFlight = [];
  for (const [index, entry] of entries.entries()) {
    if (entry.gone) continue;
    const verdict = verdicts[index];
    if (verdict?.kind === 'failed') entry.fail(verdict.error);
    else if (verdict?.kind === 'rejected') entry.answer(verdict);
    else if (verdict !== undefined)
      entry.answer({ kind: 'done', events: verdict.events, state: verdict.state, position });
    else if (box.warm !== undefined)
      entry.answer({ kind: 'done', events: [], state: box.warm.state, position });
  }
};

const answerAll = <Kind extends AnyKind>(
  { entries }: Turn<Kind>,
  outcome: typeof CONTENDED | typeof BUSY | typeof UNKNOWN,
): void => {
  for (const entry of entries) if (!entry.gone) entry.answer(outcome);
};

/**
 * The stream cannot be believed: its commands fail. The log cannot be read: nothing was done. It is not the one that
 * is remembered: nothing more is decided until it was compared.
 */
const failTurn = <Kind extends AnyKind>(turn: Turn<Kind>, error: unknown): void => {
  const { box, rules, entries } = turn;
  box.warm = undefined;
  rules.hooks.onError?.(error, box.stream);
  if (error instanceof UnreadableLog || error instanceof UnreachedTexts) {
    answerAll(turn, BUSY);
    return;
  }
  if (error instanceof Error && isContradiction(error)) box.halted = error;
  for (const entry of entries) if (!entry.gone) entry.fail(error);
};

const dropGone = <Kind extends AnyKind>(turn: Turn<Kind>): void => {
  if (turn.entries.some(({ gone }) => gone)) turn.entries = turn.entries.filter(({ gone }) => !gone);
};

const load = <Kind extends AnyKind>(turn: Turn<Kind>) =>
  confirm(turn, async () => {
    const { box, rules } = turn;
    const { folded, snapshot, flaw } = await coldLoad(sourceOf(turn), rules.snapshots);
    box.snapshotRevision = snapshot ?? -1n;
    if (flaw !== undefined) rules.hooks.onSnapshot?.({ kind: 'ignored', stream: box.stream, reason: flaw });
    return folded;
  });

const catchUp = <Kind extends AnyKind>(turn: Turn<Kind>, from: Folded<Kind['state']>) =>
  confirm(turn, () => foldOn(sourceOf(turn), from));

/** Reads the log, and takes what it says as the state. */
const confirm = async <Kind extends AnyKind>(
  turn: Turn<Kind>,
  read: () => Promise<Folded<Kind['state']>>,
): Promise<Folded<Kind['state']>> => {
  const epoch = epochOf(turn.rules.store);
  const folded = await readable(turn, read);
  turn.box.warm = folded;
  turn.box.epoch = epoch;
  turn.box.confirmedAt = performance.now();
  turn.confirmed = true;
  return folded;
};

/** Reads the log; what keeps it from being read is told apart from what is wrong in it. */
const readable = async <Kind extends AnyKind>(
  turn: Turn<Kind>,
  read: () => Promise<Folded<Kind['state']>>,
): Promise<Folded<Kind['state']>> => {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UnreadableStream || error instanceof LogContradicts) throw error;
    throw new UnreadableLog(`stream ${turn.box.stream} cannot be read: ${String(error)}`, { cause: error });
  }
};

class UnreachedTexts extends Error {
  override readonly name = 'UnreachedTexts';
}

class UnreadableLog extends Error {
  override readonly name = 'UnreadableLog';
}

const sourceOf = <Kind extends AnyKind>({
  rules,
  box,
}: Turn<Kind>): FoldSource<Kind['state'], Kind['event']> => ({
  rules: rules.fold,
  store: rules.store,
  stream: box.stream,
  seen: (commandId) => remember(box, commandId),
});
