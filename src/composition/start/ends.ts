/** What a process has opened, to be closed when it ends. */
export interface Ends {
  /** Throws where the process was told to end meanwhile: what is opened after that would be opened for nothing. */
  readonly add: (end: () => unknown) => void;
  /** Closes what was opened last first; throws the first error, after all have had their turn. */
  readonly close: () => Promise<void>;
}

/** One end that fails keeps no other from its own. */
export const newEnds = (told?: AbortSignal): Ends => {
  const ends: (() => unknown)[] = [];
  return {
    add: (end) => {
      ends.unshift(end);
      told?.throwIfAborted();
    },
    close: async () => {
      const failures: unknown[] = [];
      for (const end of ends.splice(0)) {
        try {
          await end();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
};
