import { bytesOfEvent, type ChainLink } from '../../domain/kernel/chain.ts';
import { type AnyKind, type CommandMeta, type Decider, EventsNeeded } from '../../domain/kernel/decider.ts';
import {
  APPEND_BYTES_MAX,
  type AppendResult,
  type EventStore,
  type NewEvent,
} from '../../domain/ports/log.ts';
import {
  type Chained,
  encodeEvents,
  type Encoding,
  NeedsSealer,
  type Pacing,
  type Persistence,
} from './append.ts';
import {
  type Folded,
  type FoldRules,
  linkAfter,
  type SnapshotFlaw,
  type SnapshotRules,
} from './streamFold.ts';
import type { Codec } from '../../domain/kernel/codec.ts';

/** The result of one command if the batch is appended. */
type Verdict<Kind extends AnyKind> =
  | { readonly kind: 'done'; readonly events: readonly Kind['event'][]; readonly state: Kind['state'] }
  | { readonly kind: 'rejected'; readonly rejection: Kind['rejection']; readonly state: Kind['state'] }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Commands decided one after another. `verdicts[i]` is of command i; those beyond did not fit. */
export interface DecidedBatch<Kind extends AnyKind> {
  readonly verdicts: readonly Verdict<Kind>[];
  readonly events: readonly NewEvent[];
  readonly state: Kind['state'];
  readonly hash: string | null;
  /** The latest time of recording in the stream, these events among them. */
  readonly recordedAt: string | undefined;
}

/** What deciding needs to know besides state and commands. */
interface BatchRules<Kind extends AnyKind> {
  readonly decider: Decider<Kind>;
  readonly encoding: Encoding<Kind['event']>;
  /** Whether an event of this command is in the stream already. */
  readonly isKnown: (commandId: string) => boolean;
}

/**
 * The command as of its stream: a clock that was set back, or another process's, does not record anything before what
 * is there. Times have one form in the log, so that texts compare as times do.
 */
const notBefore = <Command extends { readonly meta: CommandMeta }>(
  recordedAt: string | undefined,
  command: Command,
): Command =>
  recordedAt === undefined || command.meta.now >= recordedAt
    ? command
    : { ...command, meta: { ...command.meta, now: recordedAt } };

/**
 * Decides commands in order, each on what those before it leave, and encodes what they say. Throws NeedsSealer, and
 * EventsNeeded for the first command; a later one that needs events ends the batch before it.
 */
export const decideBatch = <Kind extends AnyKind>(
  rules: BatchRules<Kind>,
  from: Folded<Kind['state']>,
  commands: readonly Kind['command'][],
): DecidedBatch<Kind> => {
  const verdicts: Verdict<Kind>[] = [];
  const encoded: NewEvent[] = [];
  const ids = new Set<string>();
  let { state, recordedAt } = from;
  let link = linkAfter(from);
  let bytes = 0;
  for (const asked of commands) {
    const command = notBefore(recordedAt, asked);
    const { command_id } = command.meta;
    const judged = judge(rules, { state, link, ids, isFirst: verdicts.length === 0 }, command);
    if (judged === undefined) break;
    const { verdict, chained } = judged;
    if (verdict.kind === 'done' && chained !== undefined) {
      for (const event of chained.events) bytes += bytesOfEvent(event);
      if (bytes > APPEND_BYTES_MAX && encoded.length > 0) break;
      for (const event of chained.events) encoded.push(event);
      ({ link } = chained);
      ({ state } = verdict);
      recordedAt = command.meta.now;
      ids.add(command_id);
    }
    verdicts.push(verdict);
  }
  return { verdicts, events: encoded, state, hash: link.hash, recordedAt };
};

interface Judged<Kind extends AnyKind> {
  readonly verdict: Verdict<Kind>;
  /** undefined: nothing to append. */
  readonly chained: Chained<Kind['event']> | undefined;
}

interface Judging<Kind extends AnyKind> {
  readonly state: Kind['state'];
  readonly link: ChainLink;
  /** Commands of this batch that have events. */
  readonly ids: ReadonlySet<string>;
  readonly isFirst: boolean;
}

/** undefined: it needs earlier events, and waits until it is the first of a batch. */
const judge = <Kind extends AnyKind>(
  rules: BatchRules<Kind>,
  { state, link, ids, isFirst }: Judging<Kind>,
  command: Kind['command'],
): Judged<Kind> | undefined => {
  const { command_id } = command.meta;
  if (ids.has(command_id) || rules.isKnown(command_id))
    return { verdict: { kind: 'done', events: [], state }, chained: undefined };
  try {
    return verdictOn(rules, { state, link }, command);
  } catch (error) {
    if (isFirst || !(error instanceof EventsNeeded)) throw error;
    return undefined;
  }
};

/** A command that cannot be decided, evolved or encoded fails alone. Throws NeedsSealer and EventsNeeded. */
const verdictOn = <Kind extends AnyKind>(
  { decider: { decide, evolve }, encoding }: BatchRules<Kind>,
  { state, link }: { readonly state: Kind['state']; readonly link: ChainLink },
  command: Kind['command'],
): Judged<Kind> => {
  try {
    const decision = decide(state, command);
    if (decision.kind === 'rejected')
      return { verdict: { kind: 'rejected', rejection: decision.rejection, state }, chained: undefined };
    if (decision.events.length === 0)
      return { verdict: { kind: 'done', events: [], state }, chained: undefined };
    const chained = encodeEvents(encoding, { events: decision.events, meta: command.meta }, link);
    const events = chained.decoded;
    return { verdict: { kind: 'done', events, state: events.reduce(evolve, state) }, chained };
  } catch (error) {
    if (error instanceof NeedsSealer || error instanceof EventsNeeded) throw error;
    return { verdict: { kind: 'failed', error }, chained: undefined };
  }
};

/**
 * What became of a command. `contended`: others kept writing first. `busy`: nothing was done, there was
 * no room or no log. `unknown`: it may or may not have taken effect; asking again with the same identity
 * tells.
 */
export type Outcome<Kind extends AnyKind> =
  | {
      readonly kind: 'done';
      /** The appended events; empty for a repeat. */
      readonly events: readonly Kind['event'][];
      /** The state right after the command. */
      readonly state: Kind['state'];
      /** Where a reader has to be to see it. */
      readonly position: bigint | undefined;
    }
  | { readonly kind: 'rejected'; readonly rejection: Kind['rejection']; readonly state: Kind['state'] }
  | NotNow;

/** There is no result, and asking again may give one. */
export interface NotNow {
  readonly kind: 'contended' | 'busy' | 'unknown';
}

/** The outcomes that carry nothing. */
export const CONTENDED = { kind: 'contended' } as const;
export const BUSY = { kind: 'busy' } as const;
export const UNKNOWN = { kind: 'unknown' } as const;

/** One batch, for metrics. A conflict or an unknown outcome that was settled later is reported as such. */
export interface BatchReport {
  readonly commands: number;
  readonly events: number;
  /** `nothing`: only rejections and repeats. */
  readonly outcome: AppendResult['kind'] | 'nothing';
  /** From the moment the batch was drained. */
  readonly ms: number;
}

/** A snapshot that did not serve. Nothing is lost by it but time. */
export type SnapshotNotice =
  | { readonly kind: 'ignored'; readonly stream: string; readonly reason: SnapshotFlaw }
  | {
      readonly kind: 'unsaved';
      readonly stream: string;
      readonly reason: 'too_large' | 'refused';
      readonly error?: unknown;
    };

/** The reports of a writer. */
export interface WriterHooks {
  readonly onBatch?: (report: BatchReport) => void;
  /** An append without an answer; it is sent again until it has one. */
  readonly onUnknown?: (stream: string, reason: string) => void;
  /** A stream that failed its commands. */
  readonly onError?: (error: unknown, stream: string) => void;
  readonly onSnapshot?: (notice: SnapshotNotice) => void;
}

/** All that one kind of writer needs. */
export interface WriterRules<Kind extends AnyKind> {
  readonly store: EventStore;
  readonly decider: Decider<Kind>;
  readonly fold: FoldRules<Kind['state'], Kind['event']>;
  readonly snapshots: SnapshotRules<Kind['state'], Kind['event']> | undefined;
  readonly persistence: Persistence;
  /**
   * Asked when a batch was decided and before it is appended, at the very revision that it was decided on:
   * false leaves it `contended`.
   */
  readonly mayAppend?: (() => Promise<boolean>) | undefined;
  readonly conflictPacing: Pacing;
  readonly hooks: WriterHooks;
  /** Decisions on one batch before its callers are told `contended`. */
  readonly attemptsMax: number;
  /** Commands in one batch. */
  readonly batchMax: number;
}

/** Options of a writer beside its kind of stream, with defaults. */
export interface WriterOptions<Kind extends AnyKind> extends Partial<
  Pick<WriterRules<Kind>, 'snapshots' | 'mayAppend' | 'hooks' | 'attemptsMax' | 'batchMax'>
> {
  /** How long one append may be silent before it is sent again. */
  readonly appendTimeoutMs?: number | undefined;
  /** Jitter; 0 ≤ x < 1. */
  readonly random?: (() => number) | undefined;
  readonly stop?: Persistence['stop'];
}

/** The rules of a kind of stream in a store. */
export const writerRules = <Kind extends AnyKind>(
  of: { readonly store: EventStore; readonly decider: Decider<Kind>; readonly codec: Codec<Kind['event']> },
  options: WriterOptions<Kind> = {},
): WriterRules<Kind> => {
  const { store, decider, codec } = of;
  const { random = Math.random, appendTimeoutMs = 3000, stop, hooks = {} } = options;
  return {
    store,
    decider,
    fold: {
      initialState: decider.initialState,
      evolve: decider.evolve,
      codec,
      saysAll: decider.saysAll,
      recall: decider.recall,
    },
    snapshots: options.snapshots,
    persistence: { baseMs: 50, capMs: 5000, random, appendTimeoutMs, stop, onUnknown: hooks.onUnknown },
    mayAppend: options.mayAppend,
    conflictPacing: { baseMs: 2, capMs: 250, random },
    hooks,
    attemptsMax: options.attemptsMax ?? 12,
    batchMax: options.batchMax ?? 256,
  };
};
