import type { AnyKind, Decider } from '../../domain/kernel/decider.ts';
import type { Codec } from '../../domain/kernel/codec.ts';
import { NO_TRACER, type EventStore } from '../../domain/ports/log.ts';
import { stopSwitch } from './append.ts';
import { beginCommand, type Entry, newMailbox, runTurn, withinCommand } from './turn.ts';
import { type Outcome, writerRules } from './decideBatch.ts';
import { stateIn } from './streamFold.ts';

/** The rules of one kind of stream, where it is kept, and how long a caller waits. */
interface HandlerRules<Kind extends AnyKind> {
  readonly decider: Decider<Kind>;
  readonly codec: Codec<Kind['event']>;
  readonly store: EventStore;
  readonly tenantOf: (command: Kind['command']) => string | null;
  /** As in `WriterRules`. */
  readonly mayAppend?: (command: Kind['command']) => Promise<boolean>;
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
export type CommandHandler<Kind extends AnyKind> = (
  stream: string,
  command: Kind['command'],
) => Promise<Outcome<Kind>>;

/**
 * Read, fold, decide, append: one turn of a mailbox that nobody keeps. On a concurrent append it decides
 * afresh: what the old state allowed, the new one may not. An append without an answer is sent again,
 * unchanged, until the deadline; after that the caller asks again, and the exact revision keeps a late commit
 * from being doubled.
 */
export const commandHandler =
  <Kind extends AnyKind>(rules: HandlerRules<Kind>): CommandHandler<Kind> =>
  (stream, command) => {
    const tracer = rules.store.tracer ?? NO_TRACER;
    const span = beginCommand(tracer, stream, command);
    const { mayAppend, options: { deadlineMs = DEADLINE_MS, ...options } = {} } = rules;
    return withinCommand(tracer, span, async () => {
      const deadline = stopSwitch();
      const turn = writerRules<Kind>(rules, {
        attemptsMax: ATTEMPTS_MAX,
        batchMax: 1,
        ...options,
        stop: deadline,
        mayAppend: mayAppend && (() => mayAppend(command)),
      });
      const timer = setTimeout(deadline.stop, deadlineMs);
      try {
        return await new Promise<Outcome<Kind>>((answer, fail) => {
          const until = performance.now() + deadlineMs;
          const entry: Entry<Kind> = { command, deadline: until, answer, fail, span, gone: false };
          const box = newMailbox<Kind>(stream, rules.tenantOf(command), 1);
          box.waiting.push(entry);
          void runTurn(turn, { ...box, recentMax: Infinity });
        });
      } finally {
        clearTimeout(timer);
      }
    });
  };

const DEADLINE_MS = 5000;
const ATTEMPTS_MAX = 8;

/** What all streams of one kind share. `Id` names one of them. */
interface StreamsRules<Kind extends AnyKind, Id> {
  readonly decider: Decider<Kind>;
  readonly codec: Codec<Kind['event']>;
  readonly streamOf: (id: Id) => string;
}

/** The streams of one kind: their commands, and their states as the log has them. */
interface Streams<Kind extends AnyKind, Id> {
  /** `tenantId`: whose its events are; null: nobody's. */
  readonly handle: (id: Id, command: Kind['command'], tenantId: string | null) => Promise<Outcome<Kind>>;
  readonly stateOf: (id: Id) => Promise<Kind['state']>;
}

export const streamsOf = <Kind extends AnyKind, Id = string>(
  { decider, codec, streamOf }: StreamsRules<Kind, Id>,
  store: EventStore,
  options: HandlerOptions = {},
): Streams<Kind, Id> => ({
  handle: (id, command, tenantId) =>
    commandHandler<Kind>({ store, codec, decider, tenantOf: () => tenantId, options })(streamOf(id), command),
  stateOf: (id) => stateIn(store, streamOf(id), { ...decider, codec }),
});
