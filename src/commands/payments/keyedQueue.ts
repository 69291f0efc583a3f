/** Runs work one after another for each key. */
export interface KeyedQueue {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export const keyedQueue = (): KeyedQueue => {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: async (key, work) => {
      const before = last.get(key) ?? Promise.resolve();
      const mine = before.then(work, work);
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
  };
};
