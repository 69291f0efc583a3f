/** Requests that began before the shutdown, while they run. */
export interface RunningRequests {
  /** Called when a request begins; gives what to call when it has ended. */
  readonly begin: () => () => void;
  /** Resolves when those have ended that had begun; later ones are refused or probes, and not waited for. */
  readonly ended: () => Promise<void>;
}

const nothing = (): void => undefined;

export const runningRequests = (isDraining: () => boolean): RunningRequests => {
  let running = 0;
  let onIdle: (() => void) | undefined;
  const end = (): void => {
    running -= 1;
    if (running === 0) onIdle?.();
  };
  return {
    begin: () => {
      if (isDraining()) return nothing;
      running += 1;
      return end;
    },
    ended: () =>
      running === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            onIdle = resolve;
          }),
  };
};
