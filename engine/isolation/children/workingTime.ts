/** A deadline of working time: it does not run while the work is paused. */
export interface WorkingTime {
  readonly pause: () => void;
  readonly resume: () => void;
  /** `onOver` is not called any more. */
  readonly stop: () => void;
}

export function workingTime(deadlineMs: number, onOver: () => void): WorkingTime {
  let leftMs = deadlineMs;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined = setTimeout(onOver, leftMs);
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    pause: () => {
      if (timer === undefined) return;
      stop();
      leftMs = Math.max(0, leftMs - (performance.now() - since));
    },
    resume: () => {
      if (timer !== undefined) return;
      since = performance.now();
      timer = setTimeout(onOver, leftMs);
    },
    stop,
  };
}
