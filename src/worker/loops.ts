/** Ends items one by one; one that throws is told, and leaves the others alone. Gives how many ended. */
export const each = async <Item>(
  { onError }: { readonly onError: (error: unknown) => void },
  items: readonly Item[],
  end: (item: Item) => Promise<boolean>,
): Promise<number> => {
  let ended = 0;
  for (const item of items) {
    try {
      if (await end(item)) ended += 1;
    } catch (error) {
      onError(error);
    }
  }
  return ended;
};

/** Calls `work` again and again, one call at a time, `everyMs` after the last has ended. */
export const repeatedly = (
  work: () => Promise<unknown>,
  everyMs: number,
  onError: (error: unknown) => void,
) => {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let stopped = true;
  const round = () => {
    running = work()
      .catch(onError)
      .finally(() => {
        if (!stopped) timer = setTimeout(round, everyMs);
      });
  };
  return {
    start: () => {
      if (!stopped) return;
      stopped = false;
      round();
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};
