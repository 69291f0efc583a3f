import type { Decider } from '../../../domain/kernel/decider.ts';
import type { Codec } from '../../../domain/kernel/codec.ts';
import type { AppendResult, EventStore } from '../../../domain/ports/eventStore.ts';
import type { Span } from '../../../domain/ports/tracer.ts';
import { tracerOf } from '../../telemetry/tracedStore.ts';
import { backOff, stopSwitch, type StopSwitch } from './backOff.ts';
import { decideBatch, type Verdict } from './decideBatch.ts';
import type { DomainEvent } from './encode.ts';
import { BUSY, CONTENDED, UNKNOWN, type Outcome } from './outcome.ts';
import { settleAppend, type Persistence } from './settleAppend.ts';
import { foldForward, nothingYet, UnreadableStream, type Folded } from './streamFold.ts';
import { beginAppend, beginCommand, endAppend, stamped, withinCommand } from './traceCommand.ts';
import type { Commanded } from './turn.ts';
import { DEFAULT_CONFLICT_PACING, DEFAULT_PERSISTENCE } from './writerDefaults.ts';

/** The rules of one kind of stream, where it is kept, and how long a caller waits. */
export interface HandlerRules<State, Command, Event, Rejection> {
  readonly decider: Decider<State, Command, Event, Rejection>;
  readonly codec: Codec<Event>;
  readonly store: EventStore;
  readonly tenantOf: (command: Command) => string | null;
  /**
   * Asked when a command was decided and before its events are appended, at the very revision that it was
   * decided on: false leaves it `contended`.
   */
  readonly mayAppend?: (command: Command) => Promise<boolean>;
  readonly options?: HandlerOptions;
}

export interface HandlerOptions {
  readonly attemptsMax?: number;
  /** After this long an append without an answer is `unknown`. */
  readonly deadlineMs?: number;
  readonly appendTimeoutMs?: number;
  readonly random?: () => number;
}

/** Handles one command on one stream. */
export type CommandHandler<State, Command, Event, Rejection> = (
  stream: string,
  command: Command,
) => Promise<Outcome<State, Event, Rejection>>;

/**
 * Read, fold, decide, append. On a concurrent append it decides afresh: what the old state allowed, the
 * new one may not. An append without an answer is sent again, unchanged, until the deadline; after that
 * the caller asks again, and the exact revision keeps a late commit from being doubled.
 */
export const commandHandler =
  <State, Command extends Commanded, Event extends DomainEvent, Rejection>(
    rules: HandlerRules<State, Command, Event, Rejection>,
  ): CommandHandler<State, Command, Event, Rejection> =>
  (stream, command) => {
    const tracer = tracerOf(rules.store);
    const span = beginCommand(tracer, stream, command);
    return withinCommand(tracer, span, () => attemptAll(rules, stream, { command, span }));
  };

const attemptAll = async <State, Command extends Commanded, Event extends DomainEvent, Rejection>(
  rules: HandlerRules<State, Command, Event, Rejection>,
  stream: string,
  given: Pick<Attempt<Command>, 'command' | 'span'>,
): Promise<Outcome<State, Event, Rejection>> => {
  const { attemptsMax = 8, deadlineMs = 5000, random = Math.random } = rules.options ?? {};
  const deadline = stopSwitch();
  const timer = setTimeout(deadline.stop, deadlineMs);
  try {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const outcome = await attemptOnce(rules, stream, { ...given, deadline });
      if (outcome !== 'conflict') return outcome;
      await backOff(attempt, { ...DEFAULT_CONFLICT_PACING, random }, deadline);
    }
    return CONTENDED;
  } finally {
    clearTimeout(timer);
  }
};

interface Attempt<Command> {
  readonly command: Command;
  readonly span: Span;
  readonly deadline: StopSwitch;
}

const attemptOnce = async <State, Command extends Commanded, Event extends DomainEvent, Rejection>(
  rules: HandlerRules<State, Command, Event, Rejection>,
  stream: string,
  { command, span, deadline }: Attempt<Command>,
): Promise<Outcome<State, Event, Rejection> | 'conflict'> => {
  const known = new Set<string>();
  const past = await foldAll(rules, stream, (commandId) => known.add(commandId));
  if (past === undefined) return BUSY;
  const encoding = { stream, tenantId: rules.tenantOf(command), codec: rules.codec };
  const isKnown = (commandId: string) => known.has(commandId);
  const append = beginAppend(tracerOf(rules.store), stream, span);
  const commands = [stamped(command, append)];
  const batch = decideBatch({ decider: rules.decider, encoding, isKnown }, past, commands);
  const [verdict] = batch.verdicts;
  if (verdict === undefined) throw new Error(`stream ${stream}: a command was not decided`);
  if (verdict.kind === 'failed') throw verdict.error;
  if (verdict.kind === 'rejected') return verdict;
  if (batch.events.length === 0) return { ...verdict, position: past.position };
  if ((await rules.mayAppend?.(command)) === false) return CONTENDED;

  const frozen = { stream, expected: past.revision, events: batch.events };
  const result = await settleAppend(rules.store, frozen, persistenceUntil(deadline, rules.options));
  endAppend(append, result.kind, batch.events.length);
  return afterAppend(stream, verdict, result);
};

type Done<State, Event, Rejection> = Extract<Verdict<State, Event, Rejection>, { kind: 'done' }>;

const afterAppend = <State, Event, Rejection>(
  stream: string,
  verdict: Done<State, Event, Rejection>,
  result: AppendResult,
): Outcome<State, Event, Rejection> | 'conflict' => {
  switch (result.kind) {
    case 'appended':
      return { ...verdict, position: result.position };
    case 'conflict':
      return 'conflict';
    case 'unknown':
      return UNKNOWN;
    case 'rejected':
      throw new Error(`stream ${stream}: the log refuses an append, ${result.reason}: ${result.detail}`);
  }
};

const persistenceUntil = (stop: StopSwitch, options: HandlerOptions = {}): Persistence => {
  const { appendTimeoutMs = DEFAULT_PERSISTENCE.appendTimeoutMs, random = Math.random } = options;
  return { ...DEFAULT_PERSISTENCE, appendTimeoutMs, random, stop };
};

/** undefined when the log cannot be read; throws when what it says cannot be believed. */
const foldAll = async <State, Command, Event, Rejection>(
  { decider, codec, store }: HandlerRules<State, Command, Event, Rejection>,
  stream: string,
  seen: (commandId: string) => void,
): Promise<Folded<State> | undefined> => {
  const fold = { initialState: decider.initialState, evolve: decider.evolve, codec };
  try {
    return await foldForward({ rules: fold, store, stream, seen }, nothingYet(decider.initialState));
  } catch (error) {
    if (error instanceof UnreadableStream) throw error;
    return undefined;
  }
};
