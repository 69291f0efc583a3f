import { followChain, type ChainLink } from '../../../domain/kernel/chain.ts';
import type { Codec } from '../../../domain/kernel/codec.ts';
import type { EventStore, ExpectedRevision, RecordedEvent } from '../../../domain/ports/log.ts';

/** A stream's state as of `revision`, with what the next append needs. */
export interface Folded<State> {
  readonly state: State;
  readonly revision: ExpectedRevision;
  /** Hash of the last event; null before the first. */
  readonly hash: string | null;
  /** Of the last event, where it was read; see `ChainLink`. */
  readonly hashVersion?: number | undefined;
  /** Position of the last event in the whole log, where known. */
  readonly position: bigint | undefined;
}

/** What is needed to read a stream and to believe it. */
export interface FoldRules<State, Event> {
  readonly initialState: State;
  /** As of a decider. */
  readonly saysAll?: boolean | undefined;
  readonly evolve: (state: State, event: Event) => State;
  readonly codec: Codec<Event>;
}

/** A stream that cannot be folded; names the first event that cannot be believed. */
export class UnreadableStream extends Error {
  override readonly name = 'UnreadableStream';
  readonly stream: string;
  readonly revision: bigint;
  constructor(recorded: RecordedEvent, reason: string, cause?: unknown) {
    super(`stream ${recorded.stream}, revision ${String(recorded.revision)}: ${reason}`, { cause });
    this.stream = recorded.stream;
    this.revision = recorded.revision;
  }
}

export const nothingYet = <State>(initialState: State): Folded<State> => ({
  state: initialState,
  revision: 'no_stream',
  hash: null,
  position: undefined,
});

/** Where the chain of a folded stream goes on. */
export const linkAfter = ({
  revision,
  hash,
  hashVersion,
}: Pick<Folded<unknown>, 'revision' | 'hash' | 'hashVersion'>): ChainLink => ({
  nextRevision: revision === 'no_stream' ? 0n : revision + 1n,
  hash,
  hashVersion,
});

/** Where the last event of a stream goes on from, as itself says: the events before it are not needed. */
const beforeLast = async <State, Event>(
  { rules, store, stream }: FoldSource<State, Event>,
  nothing: Folded<State>,
): Promise<Folded<State>> => {
  for await (const { revision, metadata } of store.read(stream, { direction: 'backwards', limit: 1 })) {
    const { prev_hash } = metadata;
    if (revision > 0n && typeof prev_hash === 'string')
      return { ...nothingYet(rules.initialState), revision: revision - 1n, hash: prev_hash };
  }
  return nothing;
};

/**
 * Folds what lies after `from`, checking each link of the chain. Returns `from` itself when there is
 * nothing new. `seen` is told of each event's command.
 */
export const foldForward = async <State, Event>(
  source: FoldSource<State, Event>,
  from: Folded<State>,
): Promise<Folded<State>> => {
  const { rules, store, stream, seen } = source;
  const epoch = epochOf(store);
  const isCold = rules.saysAll === true && from.revision === 'no_stream';
  let folded = isCold ? await beforeLast(source, from) : from;
  const start = folded.revision === 'no_stream' ? 0n : folded.revision + 1n;
  for await (const recorded of store.read(stream, { from: start })) {
    folded = foldOne(rules, folded, recorded);
    if (seen !== undefined) seen(causationOf(recorded));
  }
  noteSeen(store, { stream, folded, epoch });
  return folded;
};

/** The connection to the log now. */
export const epochOf = ({ epoch }: Pick<EventStore, 'epoch'>): number => epoch?.() ?? 0;

interface Read {
  readonly stream: string;
  readonly folded: Folded<unknown>;
  readonly epoch: number;
}

/** What is folded may be remembered: it is noted that this process knows it. */
const noteSeen = ({ seen }: EventStore, { stream, folded, epoch }: Read): void => {
  const { revision, hash, position } = folded;
  if (seen === undefined || revision === 'no_stream' || hash === null || position === undefined) return;
  seen.note({ stream, revision, position, hash }, epoch);
};

/** The state of a stream as the log has it now. */
export const stateIn = async <State, Event>(
  store: EventStore,
  stream: string,
  rules: FoldRules<State, Event>,
): Promise<State> => (await foldForward({ rules, store, stream }, nothingYet(rules.initialState))).state;

/** The log does not have an event that this process knows: it was replaced, or a node that is behind answers. */
export class LogContradicts extends Error {
  override readonly name = 'LogContradicts';
  constructor(stream: string, revision: bigint) {
    super(`stream ${stream} does not have revision ${String(revision)} as this process knows it`);
  }
}

/** As `foldForward`, after making sure that the log still has the last event that was folded. */
export const foldOn = async <State, Event>(
  { rules, store, stream, seen }: FoldSource<State, Event>,
  from: Folded<State>,
): Promise<Folded<State>> => {
  const { revision } = from;
  if (revision === 'no_stream') return foldForward({ rules, store, stream, ...(seen && { seen }) }, from);
  let folded = from;
  const epoch = epochOf(store);
  let isKnown = false;
  for await (const recorded of store.read(stream, { from: revision })) {
    if (isKnown) {
      folded = foldOne(rules, folded, recorded);
      seen?.(causationOf(recorded));
    } else if (recorded.revision !== revision || hashOf(recorded) !== from.hash)
      throw new LogContradicts(stream, revision);
    isKnown = true;
  }
  if (!isKnown) throw new LogContradicts(stream, revision);
  noteSeen(store, { stream, folded, epoch });
  return folded;
};

export interface FoldSource<State, Event> {
  readonly rules: FoldRules<State, Event>;
  readonly store: EventStore;
  readonly stream: string;
  readonly seen?: (commandId: string) => void;
}

const foldOne = <State, Event>(
  rules: FoldRules<State, Event>,
  folded: Folded<State>,
  recorded: RecordedEvent,
): Folded<State> => {
  const step = followChain(linkAfter(folded), recorded);
  if (step.kind === 'broken')
    throw new UnreadableStream(recorded, `the hash chain is broken: ${step.at.detail}`);
  return {
    state: stateAfter(rules, folded.state, recorded),
    revision: recorded.revision,
    hash: step.link.hash,
    hashVersion: step.link.hashVersion,
    position: recorded.position,
  };
};

const stateAfter = <State, Event>(
  rules: FoldRules<State, Event>,
  state: State,
  recorded: RecordedEvent,
): State => {
  try {
    return rules.evolve(state, rules.codec.decode(recorded));
  } catch (error) {
    throw new UnreadableStream(recorded, `the event cannot be read: ${String(error)}`, error);
  }
};

/** The chain hash that an event carries; empty text when it carries none. */
export const hashOf = ({ metadata }: Pick<RecordedEvent, 'metadata'>): string =>
  typeof metadata['hash'] === 'string' ? metadata['hash'] : '';

const causationOf = ({ metadata }: RecordedEvent): string =>
  typeof metadata['causation_id'] === 'string' ? metadata['causation_id'] : '';
