import type { FactShelf } from './factShelf.ts';
import { nameOfFact, type WorkFact } from './workFact.ts';

interface KeptFactsDeps {
  readonly shelf: FactShelf;
  /** Appends a fact; one that the log has already changes nothing. Throws when the log did not take it. */
  readonly append: (fact: WorkFact) => Promise<void>;
  /** Told of a fact that has to wait. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

interface FactSweep {
  readonly model_calls: number;
  readonly work_ends: number;
  readonly left: number;
}

/** Facts on their way to the log. */
export interface KeptFacts {
  /**
   * Writes a fact to the log, or keeps it for the sweeper. A call of a model is kept first, since its
   * process may die before the log answers. Throws for a call that neither the log nor the object store
   * took: then only this process knows it, and each of its sweeps tries again.
   */
  readonly record: (fact: WorkFact) => Promise<void>;
  /** Writes all that was kept, by whichever process, and that the log takes now. */
  readonly finish: () => Promise<FactSweep>;
  /** A last try for what only this process knows. */
  readonly close: () => Promise<void>;
}

/** Repeats are harmless, so neither a crash between two steps nor two processes at once double anything. */
export const keptFacts = ({ shelf, append, onError }: KeptFactsDeps): KeptFacts => {
  /** What neither the log nor the object store took. */
  const unsaved = new Map<string, WorkFact>();

  /** Whether it was done; a failure is told of. */
  const tried = async (work: Promise<unknown>): Promise<boolean> => {
    try {
      await work;
      return true;
    } catch (error) {
      onError?.(error);
      return false;
    }
  };

  const keep = async (fact: WorkFact): Promise<boolean> => {
    const kept = await tried(shelf.put(fact));
    if (!kept) unsaved.set(nameOfFact(fact), fact);
    return kept;
  };

  /** An object that stays behind is found by the next sweep, and the log has its fact already. */
  const written = async (fact: WorkFact): Promise<void> => {
    await append(fact);
    unsaved.delete(nameOfFact(fact));
    await tried(shelf.remove(fact));
  };

  const recordCall = async (fact: WorkFact): Promise<void> => {
    const kept = await keep(fact);
    if (kept) await tried(written(fact));
    else await written(fact);
  };

  const recordEnd = async (fact: WorkFact): Promise<void> => {
    if (!(await tried(append(fact)))) await keep(fact);
  };

  const kept = async function* (): AsyncGenerator<() => Promise<WorkFact | undefined>> {
    for (const fact of [...unsaved.values()]) yield () => Promise.resolve(fact);
    for await (const key of shelf.keys()) yield () => shelf.read(key);
  };

  const finishOne = async (read: () => Promise<WorkFact | undefined>): Promise<WorkFact['kind'] | 'gone'> => {
    const fact = await read();
    if (fact === undefined) return 'gone';
    await written(fact);
    return fact.kind;
  };

  return {
    record: (fact) => (fact.kind === 'model_call' ? recordCall(fact) : recordEnd(fact)),
    finish: async () => {
      const done = { model_call: 0, work_end: 0, gone: 0, left: 0 };
      for await (const read of kept()) {
        const became = await finishOne(read).catch((error: unknown) => {
          onError?.(error);
          return 'left' as const;
        });
        done[became] += 1;
      }
      return { model_calls: done.model_call, work_ends: done.work_end, left: done.left };
    },
    close: async () => {
      await Promise.all(
        [...unsaved.values()].map(async (fact) => (await keep(fact)) || tried(written(fact))),
      );
    },
  };
};
