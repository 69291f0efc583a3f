/** Waiting times between attempts: doubling from `baseMs` to `capMs`, half of it random. */
export interface Pacing {
  readonly baseMs: number;
  readonly capMs: number;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

/** Waits before attempt `attempt` + 1. Ends early, without an error, when `signal` aborts. */
export const backOff = (attempt: number, pacing: Pacing, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const ceiling = Math.min(pacing.capMs, pacing.baseMs * 2 ** Math.min(attempt - 1, 20));
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ceiling * (0.5 + pacing.random() / 2));
    signal?.addEventListener('abort', done, { once: true });
    if (signal?.aborted === true) done();
  });
