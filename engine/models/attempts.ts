import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, saysDown, type Fault } from './exchange.ts';

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

export type Attempt<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'fault'; readonly fault: Fault };

interface AttemptPlan {
  /** Attempts after the first. */
  readonly retries: number;
  /** By `nowMs`. */
  readonly deadlineAt: number;
  /** Fires when the caller gives up, and at the deadline. */
  readonly signal: AbortSignal;
  /** Of the two, it was the caller. */
  readonly givenUp: () => boolean;
  readonly breaker: Breaker;
  readonly nowMs: () => number;
  /** 0 to 1. */
  readonly random: () => number;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 20_000;

/** Twice as long each time, a random half of it off, so that many who failed together come back apart. */
const backoffMs = (failed: number, random: () => number): number =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failed - 1)) * (0.5 + random() / 2);

/**
 * Attempts until one succeeds, fails for good, or none is left. A provider that asks for a wait gets it; when
 * it does not fit in the deadline, the last fault is the answer at once.
 */
export async function attemptUntil<T>(
  plan: AttemptPlan,
  once: () => Promise<Attempt<T>>,
): Promise<Attempt<T>> {
  let last: Fault | undefined;
  let malformed = 0;
  for (let failed = 0; ;) {
    if (!plan.breaker.mayTry()) return { kind: 'fault', fault: last ?? { kind: 'circuit_open' } };
    const attempt = plan.signal.aborted ? INTERRUPTED : await once();
    tell(plan, attempt);
    if (attempt.kind === 'ok') return attempt;
    last = attempt.fault;
    failed += 1;
    if (failed > plan.retries || !mayPass(last, malformed)) return attempt;
    if (last.kind === 'malformed') malformed += 1;
    const waitMs = waitAfter(last, failed, plan);
    if (plan.nowMs() + waitMs >= plan.deadlineAt) return attempt;
    await sleep(waitMs, undefined, { signal: plan.signal }).catch(() => undefined);
  }
}

const INTERRUPTED = { kind: 'fault', fault: { kind: 'interrupted' } } as const;

const waitAfter = (fault: Fault, failed: number, { random }: AttemptPlan): number =>
  (fault.kind === 'status' ? fault.retryAfterMs : null) ?? backoffMs(failed, random);

/** A caller that gives up says nothing about the provider. */
function tell<T>({ breaker, givenUp }: AttemptPlan, attempt: Attempt<T>): void {
  if (attempt.kind === 'fault' && saysDown(attempt.fault)) {
    if (!givenUp()) breaker.failed();
  } else if (attempt.kind === 'ok' || 'status' in attempt.fault) breaker.answered();
}
