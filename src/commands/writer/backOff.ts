/** Waiting times between attempts: doubling from `baseMs` to `capMs`, half of it random. */
export interface Pacing {
  readonly baseMs: number;
  readonly capMs: number;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

/** A switch that ends waiting. Lighter than an AbortSignal: every append listens to it. */
export interface StopSwitch {
  readonly isStopped: () => boolean;
  readonly stop: () => void;
  /** Called once at `stop`. */
  readonly waiters: Set<() => void>;
}

export const stopSwitch = (): StopSwitch => {
  const waiters = new Set<() => void>();
  let stopped = false;
  return {
    isStopped: () => stopped,
    stop: () => {
      stopped = true;
      for (const wake of [...waiters]) wake();
    },
    waiters,
  };
};

/** Waits before attempt `attempt` + 1. Ends early, without an error, at `stop`. */
export const backOff = (attempt: number, pacing: Pacing, stop?: StopSwitch): Promise<void> =>
  new Promise((resolve) => {
    const ceiling = Math.min(pacing.capMs, pacing.baseMs * 2 ** Math.min(attempt - 1, 20));
    const done = () => {
      clearTimeout(timer);
      stop?.waiters.delete(done);
      resolve();
    };
    const timer = setTimeout(done, ceiling * (0.5 + pacing.random() / 2));
    stop?.waiters.add(done);
    if (stop?.isStopped() === true) done();
  });
