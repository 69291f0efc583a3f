import { type AnyKind, EventsNeeded } from '../../domain/kernel/decider.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { type FoldSource, hashOf, isLinked, UnreadableStream } from './streamFold.ts';

/** Rounds of reading: a refund finds its sale, and a sale its refunds. More would never end. */
export const ROUNDS_MAX = 4;

const eventAt = async <State, Event>(
  { store, stream, rules }: FoldSource<State, Event>,
  revision: number,
): Promise<Event> => {
  let found: RecordedEvent | undefined;
  for await (const recorded of store.read(stream, { from: BigInt(revision), limit: 1 })) found = recorded;
  if (found?.revision !== BigInt(revision))
    throw new Error(`stream ${stream} does not give its revision ${String(revision)}`);
  if (!isLinked(found, hashOf(found))) throw new UnreadableStream(found, 'it is not what its hash is of');
  return rules.codec.decode(found);
};

/** The state with what the events that are needed say. Throws what the log throws. */
export const recalled = async <State, Event>(
  source: FoldSource<State, Event>,
  state: State,
  needed: EventsNeeded,
): Promise<State> => {
  const { recall } = source.rules;
  const earlier = new Map<number, Event>();
  let error = needed;
  for (let round = 1; recall !== undefined && round <= ROUNDS_MAX; round += 1) {
    for (const revision of error.revisions)
      if (!earlier.has(revision)) earlier.set(revision, await eventAt(source, revision));
    try {
      return recall(state, earlier);
    } catch (again) {
      if (!(again instanceof EventsNeeded)) throw again;
      error = again;
    }
  }
  throw error;
};

/** An answer, and the state that it was found in. */
export interface Answered<State, T> {
  readonly answer: T;
  readonly state: State;
}

/**
 * Asks a question of a folded state. Events that it needs are read from the log again, each by its revision. Throws
 * what the log throws.
 */
export const askWithEarlier = async <Kind extends AnyKind, T>(
  source: FoldSource<Kind['state'], Kind['event']>,
  from: Kind['state'],
  question: (state: Kind['state']) => T,
): Promise<Answered<Kind['state'], T>> => {
  let state = from;
  for (let round = 1; ; round += 1)
    try {
      return { answer: question(state), state };
    } catch (error) {
      if (!(error instanceof EventsNeeded) || round > ROUNDS_MAX) throw error;
      state = await recalled(source, state, error);
    }
};
