/** Items pushed by events, taken by a loop. */
export interface ItemQueue<T> {
  readonly push: (item: T) => void;
  /** No more items; those queued are still delivered, then the loop ends or throws. */
  readonly end: (error?: Error) => void;
  readonly size: () => number;
  /** The next item, undefined at the end. */
  readonly next: () => Promise<T | undefined>;
}

export const itemQueue = <T>(): ItemQueue<T> => {
  let items: T[] = [];
  let taken = 0;
  let ended = false;
  let failure: Error | undefined;
  let wake: () => void = () => undefined;

  const take = (): T | undefined => {
    const item = items[taken];
    taken += 1;
    if (taken < items.length && taken < 1024) return item;
    items = items.slice(taken);
    taken = 0;
    return item;
  };
  return {
    push: (item) => {
      if (ended) return;
      items.push(item);
      wake();
    },
    end: (error) => {
      if (ended) return;
      ended = true;
      failure = error;
      wake();
    },
    size: () => items.length - taken,
    next: async () => {
      if (taken === items.length && !ended) await new Promise<void>((resolve) => (wake = resolve));
      if (taken < items.length) return take();
      if (failure !== undefined) throw failure;
      return undefined;
    },
  };
};
