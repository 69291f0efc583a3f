/** Spares callers the wait for a part that is down. */
export interface CircuitBreaker {
  /** True: try it. While open, one caller a cooldown gets true, to find out whether it is back. */
  readonly mayTry: () => boolean;
  readonly succeeded: () => void;
  readonly failed: () => void;
}

interface BreakerOptions {
  readonly failuresMax: number;
  readonly cooldownMs: number;
  readonly nowMs: () => number;
}

/** Opens after `failuresMax` failures in a row; tries again every `cooldownMs`. */
export const circuitBreaker = ({ failuresMax, cooldownMs, nowMs }: BreakerOptions): CircuitBreaker => {
  let failures = 0;
  let tryAgainAt = 0;
  return {
    mayTry: () => {
      if (failures < failuresMax) return true;
      const now = nowMs();
      if (now < tryAgainAt) return false;
      tryAgainAt = now + cooldownMs;
      return true;
    },
    succeeded: () => {
      failures = 0;
    },
    failed: () => {
      failures += 1;
      tryAgainAt = nowMs() + cooldownMs;
    },
  };
};
