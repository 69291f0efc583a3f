/** Spares requests the wait for a provider that is down. */
export interface Breaker {
  /** True: ask it. While open, one request a cooldown gets true, to find out whether it is back. */
  readonly mayTry: () => boolean;
  readonly answered: () => void;
  readonly failed: () => void;
}

interface State {
  failures: number;
  tryAgainAt: number;
}

const FAILURES_MAX = 5;
const COOLDOWN_MS = 30_000;
const BREAKERS_MAX = 1_000;

/**
 * A breaker for each name, made when it is first asked for. It opens after five failures in a row and lets
 * one request through every half minute. Of those beyond the most, the longest unused are forgotten.
 */
export const openBreakers = (nowMs: () => number): ((name: string) => Breaker) => {
  const states = new Map<string, State>();
  const stateOf = (name: string): State => {
    const state = states.get(name) ?? { failures: 0, tryAgainAt: 0 };
    states.delete(name);
    states.set(name, state);
    const [oldest] = states.keys();
    if (states.size > BREAKERS_MAX && oldest !== undefined) states.delete(oldest);
    return state;
  };
  return (name) => breakerOf(stateOf(name), nowMs);
};

const breakerOf = (state: State, nowMs: () => number): Breaker => ({
  mayTry: () => {
    if (state.failures < FAILURES_MAX) return true;
    const now = nowMs();
    if (now < state.tryAgainAt) return false;
    state.tryAgainAt = now + COOLDOWN_MS;
    return true;
  },
  answered: () => {
    state.failures = 0;
  },
  failed: () => {
    state.failures += 1;
    state.tryAgainAt = nowMs() + COOLDOWN_MS;
  },
});
