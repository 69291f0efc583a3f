/** Room for work that is heavy on the machine. */
export interface HeavySlots {
  /** undefined when all are taken. Call what it gives exactly once to free the slot. */
  readonly take: () => (() => void) | undefined;
  readonly inUse: () => number;
  /** From now on nothing is admitted. */
  readonly close: () => void;
}

export const heavySlots = (max: number): HeavySlots => {
  let inUse = 0;
  let closed = false;
  return {
    take: () => {
      if (closed || inUse >= max) return undefined;
      inUse += 1;
      let taken = true;
      return () => {
        if (taken) inUse -= 1;
        taken = false;
      };
    },
    inUse: () => inUse,
    close: () => {
      closed = true;
    },
  };
};
