import { NO_TRACER } from '../../domain/ports/log.ts';
import type { AnyKind } from '../../domain/kernel/decider.ts';
import { stopSwitch, type StopSwitch } from './append.ts';
import { type Entry, expire, type Mailbox, newMailbox, runTurn, tracedEntry } from './turn.ts';
import { BUSY, type Outcome, type WriterRules } from './decideBatch.ts';
import { savePages } from './historyPages.ts';
import { type Folded, snapshotOf } from './streamFold.ts';

/** Limits of a writer. */
export interface WriterLimits {
  /** Commands waiting for one tenant; more are `busy`. */
  readonly queueMax: number;
  /** Accounts kept in memory; those with work are never dropped. */
  readonly warmMax: number;
  /** A caller waits no longer. */
  readonly callerDeadlineMs: number;
  /** A state older than this is checked against the log before it is answered. */
  readonly stateMaxAgeMs: number;
  /** What `close` waits for work in flight before it gives up on it. */
  readonly closeTimeoutMs: number;
}

/**
 * What a writer must drop of a log that was replaced. `what_agrees`: all but the accounts whose log was
 * found shorter than before; those continue to refuse. `all`: those too, because this is now the log.
 */
export type Forgotten = 'what_agrees' | 'all';

interface Writer<Kind extends AnyKind> {
  readonly rules: WriterRules<Kind>;
  readonly limits: WriterLimits;
  readonly streamOf: (tenantId: string) => string;
  /** Least recently used first. */
  readonly boxes: Map<string, Mailbox<Kind>>;
  /** Those with a turn running. */
  readonly busy: Set<Mailbox<Kind>>;
  readonly saves: Set<Promise<void>>;
  readonly givingUp: StopSwitch;
  /** Those whose turn comes at the end of this turn of the event loop. */
  due: Mailbox<Kind>[];
  clock: NodeJS.Timeout | undefined;
  closing: boolean;
  whenIdle: (() => void) | undefined;
}

const LIMITS: WriterLimits = {
  queueMax: 2048,
  warmMax: 10_000,
  callerDeadlineMs: 10_000,
  stateMaxAgeMs: 1000,
  closeTimeoutMs: 10_000,
};

/** How often deadlines are looked at. */
const TICK_MS = 25;

/** A read that hangs does not keep `close` for longer than this after it gave up. */
const LEAVE_AFTER_MS = 500;

/**
 * The mailboxes of a kind of stream, one per tenant: its commands are decided one after another and appended in
 * batches.
 */
export const streamWriter = <Kind extends AnyKind>(
  rules: WriterRules<Kind>,
  streamOf: (tenantId: string) => string,
  given: Partial<WriterLimits> = {},
) => {
  const limits = { ...LIMITS, ...given };
  const givingUp = stopSwitch();
  const persistence = { ...rules.persistence, stop: givingUp };
  const writer: Writer<Kind> = {
    rules: { ...rules, persistence },
    limits,
    streamOf,
    boxes: new Map(),
    busy: new Set(),
    saves: new Set(),
    givingUp,
    due: [],
    clock: undefined,
    closing: false,
    whenIdle: undefined,
  };
  return {
    execute: (tenantId: string, command: Kind['command']) => enqueue(writer, tenantId, command),
    /** undefined when the log cannot be read now, or the queue is full. */
    stateOf: (tenantId: string, maxAgeMs = limits.stateMaxAgeMs) => stateOf(writer, tenantId, maxAgeMs),
    forget: (what: Forgotten) => forget(writer, what),
    close: () => close(writer),
  };
};

const enqueue = <Kind extends AnyKind>(
  writer: Writer<Kind>,
  tenantId: string,
  command: Kind['command'] | undefined,
): Promise<Outcome<Kind>> => {
  if (writer.closing) return Promise.resolve(BUSY);
  const box = boxOf(writer, tenantId);
  if (box.waiting.length >= writer.limits.queueMax) return Promise.resolve(BUSY);
  return new Promise((answer, fail) => {
    const deadline = performance.now() + writer.limits.callerDeadlineMs;
    const entry: Entry<Kind> = { command, deadline, answer, fail, gone: false };
    box.waiting.push(tracedEntry(writer.rules.store.tracer ?? NO_TRACER, box.stream, entry));
    if (!box.running) start(writer, box);
  });
};

const boxOf = <Kind extends AnyKind>(writer: Writer<Kind>, tenantId: string): Mailbox<Kind> => {
  const { boxes, streamOf, rules } = writer;
  const found = boxes.get(tenantId);
  if (found === undefined) evict(writer);
  else boxes.delete(tenantId);
  const box = found ?? newMailbox(streamOf(tenantId), tenantId, rules.batchMax);
  boxes.set(tenantId, box);
  return box;
};

/** Makes room for one more. An account with work stays, so the limit may be passed for a while. */
const evict = <Kind extends AnyKind>({ boxes, limits }: Writer<Kind>): void => {
  if (boxes.size < limits.warmMax) return;
  for (const [tenantId, box] of boxes) {
    if (box.running || box.halted !== undefined) continue;
    boxes.delete(tenantId);
    if (boxes.size < limits.warmMax) return;
  }
};

const forget = <Kind extends AnyKind>({ boxes }: Writer<Kind>, what: Forgotten): void => {
  for (const [tenantId, box] of boxes) {
    if (what === 'all') box.halted = undefined;
    box.outdated = true;
    if (!box.running && box.halted === undefined) boxes.delete(tenantId);
  }
};

/** Runs turns until nobody waits. What arrives in one turn of the event loop goes into one batch. */
const start = <Kind extends AnyKind>(writer: Writer<Kind>, box: Mailbox<Kind>): void => {
  box.running = true;
  writer.busy.add(box);
  writer.clock ??= setInterval(() => tick(writer), TICK_MS);
  callLater(writer, box);
};

/** One call of the event loop for all mailboxes that wait for it: their appends reach the log together. */
const callLater = <Kind extends AnyKind>(writer: Writer<Kind>, box: Mailbox<Kind>): void => {
  if (writer.due.length === 0) setImmediate(runDue, writer);
  writer.due.push(box);
};

const runDue = <Kind extends AnyKind>(writer: Writer<Kind>): void => {
  const { due } = writer;
  writer.due = [];
  for (const box of due) void runTurn(writer.rules, box).then(() => ended(writer, box));
};

const ended = <Kind extends AnyKind>(writer: Writer<Kind>, box: Mailbox<Kind>): void => {
  saveWhenDue(writer, box);
  if (box.waiting.length > 0) callLater(writer, box);
  else stop(writer, box);
};

const stop = <Kind extends AnyKind>(writer: Writer<Kind>, box: Mailbox<Kind>): void => {
  box.running = false;
  writer.busy.delete(box);
  if (writer.busy.size > 0) return;
  writer.whenIdle?.();
};

const tick = <Kind extends AnyKind>(writer: Writer<Kind>): void => {
  if (writer.busy.size === 0) {
    clearInterval(writer.clock);
    writer.clock = undefined;
    return;
  }
  const now = performance.now();
  for (const box of writer.busy) expire(box, now);
};

const stateOf = async <Kind extends AnyKind>(
  writer: Writer<Kind>,
  tenantId: string,
  maxAgeMs: number,
): Promise<Kind['state'] | undefined> => {
  const box = boxOf(writer, tenantId);
  const fresh = performance.now() - box.confirmedAt <= maxAgeMs;
  if (box.warm !== undefined && fresh && !box.outdated) return box.warm.state;
  const outcome = await enqueue(writer, tenantId, undefined);
  if (outcome.kind === 'done' || outcome.kind === 'rejected') return outcome.state;
  // Callers that decide about money read to the end of the log: the memory here may lack others' writes.
  return maxAgeMs > 0 ? box.warm?.state : undefined;
};

const saveWhenDue = <Kind extends AnyKind>({ rules, saves }: Writer<Kind>, box: Mailbox<Kind>): void => {
  const { snapshots } = rules;
  const { warm } = box;
  if (snapshots === undefined || warm === undefined || warm.revision === 'no_stream' || box.saving) return;
  const since = Number(warm.revision - box.snapshotRevision);
  const size = snapshots.sizeOf(warm.state);
  if (since < snapshots.everyEvents || since < size || size > snapshots.sizeMax) return;
  box.saving = true;
  box.snapshotRevision = warm.revision;
  const save = saved({ ...rules, snapshots }, box.stream, warm).finally(() => {
    box.saving = false;
    saves.delete(save);
  });
  saves.add(save);
};

type Saving<Kind extends AnyKind> = WriterRules<Kind> & {
  readonly snapshots: NonNullable<WriterRules<Kind>['snapshots']>;
};

/** A snapshot that cannot be saved is reported; nothing depends on it. */
const saved = async <Kind extends AnyKind>(
  { snapshots, hooks }: Saving<Kind>,
  stream: string,
  warm: Folded<Kind['state']>,
): Promise<void> => {
  try {
    const snapshot = snapshotOf(stream, warm, snapshots);
    if (snapshot === undefined) return;
    const { store, pagesOf } = snapshots;
    // Pages first: a snapshot names those that are there.
    const pages = await savePages(store, snapshot, pagesOf(warm.state));
    if (pages === 'saved' && (await store.save(snapshot)) === 'saved') return;
    hooks.onSnapshot?.({ kind: 'unsaved', stream, reason: 'too_large' });
  } catch (error) {
    hooks.onSnapshot?.({ kind: 'unsaved', stream, reason: 'refused', error });
  }
};

/** Work in flight is finished; what the log does not settle in time is given up and stays unknown. */
const close = async <Kind extends AnyKind>(writer: Writer<Kind>): Promise<void> => {
  const { busy, limits, givingUp, saves } = writer;
  writer.closing = true;
  if (busy.size > 0)
    await new Promise<void>((resolve) => {
      const giveUp = setTimeout(() => givingUp.stop(), limits.closeTimeoutMs);
      const leave = setTimeout(resolve, limits.closeTimeoutMs + LEAVE_AFTER_MS);
      writer.whenIdle = () => {
        clearTimeout(giveUp);
        clearTimeout(leave);
        resolve();
      };
    });
  clearInterval(writer.clock);
  await Promise.all(saves);
};
