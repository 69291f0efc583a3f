/** What a stream says of the work that an identity may name. */
interface NamedState {
  /** When it was accepted; null for work that never was. */
  readonly since: string | null;
  /** Its identity is used up: nothing can be accepted under it any more. */
  readonly isClosed: boolean;
}

interface Naming<State> {
  /** The ID of the n-th use of the identity, from 0. */
  readonly idOf: (generation: number) => string;
  readonly stateOf: (id: string) => Promise<State>;
  readonly read: (state: State) => NamedState;
  /** How long the identity names the same work, ms. */
  readonly keptMs: number;
  readonly now: string;
}

/**
 * The work that a caller's identity names: what was accepted lately, or a free ID. An identity that is used again
 * later, or whose first request was given up, has a further generation. The number of generations is doubled, then
 * halved, so a key that was used a thousand times costs twenty reads.
 */
export const namedWork = async <State>({
  idOf,
  stateOf,
  read,
  keptMs,
  now,
}: Naming<State>): Promise<{ readonly id: string; readonly state: State }> => {
  const at = async (generation: number) => {
    const id = idOf(generation);
    const state = await stateOf(id);
    const { since, isClosed } = read(state);
    const isPast = since !== null && Date.parse(now) - Date.parse(since) >= keptMs;
    return { id, state, isUsedUp: isClosed || isPast };
  };
  let found = await at(0);
  if (!found.isUsedUp) return found;
  let [used, free] = [0, 1];
  for (found = await at(free); found.isUsedUp; found = await at(free)) [used, free] = [free, free * 2];
  while (free - used > 1) {
    const middle = Math.floor((used + free) / 2);
    const one = await at(middle);
    if (one.isUsedUp) used = middle;
    else [free, found] = [middle, one];
  }
  return found;
};
