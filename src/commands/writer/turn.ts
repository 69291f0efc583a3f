import type { AnyKind } from '../../../domain/kernel/decider.ts';
import type { AppendResult } from '../../../domain/ports/log.ts';
import { NO_TRACER } from '../../telemetry/noTracer.ts';
import { backOff } from './backOff.ts';
import { coldLoad } from './trustedSnapshot.ts';
import { decideBatch, type DecidedBatch } from './decideBatch.ts';
import { giveBack, remember, type Entry, type Mailbox } from './mailbox.ts';
import { BUSY, CONTENDED, UNKNOWN } from './outcome.ts';
import { isContradiction, settleAppend } from './settleAppend.ts';
import {
  epochOf,
  foldOn,
  LogContradicts,
  UnreadableStream,
  type Folded,
  type FoldSource,
} from './streamFold.ts';
import { turnReport, type TurnReport } from './turnReport.ts';
import type { WriterRules } from './writerRules.ts';

interface Turn<Kind extends AnyKind> {
  readonly rules: WriterRules<Kind>;
  readonly box: Mailbox<Kind>;
  /** Those still waiting for an answer from this turn, in order. */
  entries: readonly Entry<Kind>[];
  /** Whether the log was read to its end, or appended to, since the turn began. */
  confirmed: boolean;
  readonly report: TurnReport<Kind>;
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
  const turn = { rules, box, entries, confirmed: false, report };
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
  const batch = decide(turn, from);
  return batch.events.length === 0 ? answerUnwritten(turn, batch) : append(turn, from, batch);
};

/** How long a command may wait beyond its caller's patience, ms: its time is earlier than what was written since. */
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

/** Decides the commands that wait, and gives back those for which the batch had no room. */
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
  const encoding = { stream: box.stream, tenantId: box.tenantId, codec: rules.fold.codec };
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
  { events, state, hash, verdicts }: DecidedBatch<Kind>,
  { revision, position }: Extract<AppendResult, { kind: 'appended' }>,
): void => {
  const { box, rules } = turn;
  box.warm = { state, revision, hash, position };
  box.confirmedAt = performance.now();
  box.limit = rules.batchMax;
  for (const [index, verdict] of verdicts.entries())
    if (verdict.kind === 'done' && verdict.events.length > 0) {
      const command = turn.entries[index]?.command;
      if (command !== undefined) remember(box, command.meta.command_id);
    }
  answer(turn, { events, state, hash, verdicts }, position);
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
  if (error instanceof UnreadableLog) {
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
  try {
    const folded = await read();
    turn.box.warm = folded;
    turn.box.epoch = epoch;
    turn.box.confirmedAt = performance.now();
    turn.confirmed = true;
    return folded;
  } catch (error) {
    if (error instanceof UnreadableStream || error instanceof LogContradicts) throw error;
    throw new UnreadableLog(`stream ${turn.box.stream} cannot be read: ${String(error)}`, { cause: error });
  }
};

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
