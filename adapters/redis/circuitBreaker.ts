interface BreakerOptions {
  readonly failuresMax: number;
  readonly cooldownMs: number;
  readonly nowMs: () => number;
}

/**
 * Spares callers the wait for a part that is down: opens after `failuresMax` failures in a row, and tries again
 * every `cooldownMs`.
 */
export const circuitBreaker = ({ failuresMax, cooldownMs, nowMs }: BreakerOptions) => {
  let failures = 0;
  let tryAgainAt = 0;
  return {
    /** True: try it. While open, one caller a cooldown gets true, to find out whether it is back. */
    mayTry: (): boolean => {
      if (failures < failuresMax) return true;
      const now = nowMs();
      if (now < tryAgainAt) return false;
      tryAgainAt = now + cooldownMs;
      return true;
    },
    succeeded: (): void => {
      failures = 0;
    },
    failed: (): void => {
      failures += 1;
      tryAgainAt = nowMs() + cooldownMs;
    },
  };
};
