import type { EventStore } from '../../../domain/ports/log.ts';
import { foldOn, LogContradicts, nothingYet, type Folded, type FoldRules } from './streamFold.ts';

/** The state of one small stream that everyone reads. */
interface CachedStream<State> {
  /** As of the log at most `maxAgeMs` ago. Readers share one read. */
  current(): Promise<State>;
  /** Reads forward now. */
  refresh(): Promise<State>;
  /** Reads from the start next time: the log is another one. */
  forget(): void;
}

export const cachedStream = <State, Event>(
  {
    store,
    stream,
    maxAgeMs,
  }: { readonly store: EventStore; readonly stream: string; readonly maxAgeMs: number },
  rules: FoldRules<State, Event>,
): CachedStream<State> => {
  let folded: Folded<State> = nothingYet(rules.initialState);
  let readAt = -Infinity;
  let reading: Promise<State> | undefined;

  let age = 0;

  const read = async (): Promise<State> => {
    const [startedAt, asOf] = [performance.now(), age];
    const found = await foldOn({ rules, store, stream }, folded).catch((error: unknown) => {
      if (error instanceof LogContradicts) folded = nothingYet(rules.initialState);
      throw error;
    });
    if (asOf === age) [folded, readAt] = [found, startedAt];
    return found.state;
  };
  const share = (): Promise<State> => {
    if (reading !== undefined) return reading;
    const begun = read().finally(() => {
      if (reading === begun) reading = undefined;
    });
    reading = begun;
    return begun;
  };
  return {
    current: () => (performance.now() - readAt <= maxAgeMs ? Promise.resolve(folded.state) : share()),
    refresh: async () => {
      // A read under way may have begun before what the caller wants to see.
      await reading?.catch(() => undefined);
      return share();
    },
    forget: () => {
      age += 1;
      [folded, readAt, reading] = [nothingYet(rules.initialState), -Infinity, undefined];
    },
  };
};
