/** Items pushed by events, taken by a loop. */
export const itemQueue = <T>() => {
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
    push: (item: T): void => {
      if (ended) return;
      items.push(item);
      wake();
    },
    /** No more items; those queued are still delivered, then the loop ends or throws. */
    end: (error?: Error): void => {
      if (ended) return;
      ended = true;
      failure = error;
      wake();
    },
    size: () => items.length - taken,
    /** The next item, undefined at the end. */
    next: async (): Promise<T | undefined> => {
      if (taken === items.length && !ended) await new Promise<void>((resolve) => (wake = resolve));
      if (taken < items.length) return take();
      if (failure !== undefined) throw failure;
      return undefined;
    },
  };
};

export type ItemQueue<T> = ReturnType<typeof itemQueue<T>>;
