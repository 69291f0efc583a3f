import type { EventStore } from '../../domain/ports/eventStore.ts';
import { foldForward, nothingYet, type Folded, type FoldRules } from './streamFold.ts';

/** The state of one small stream that everyone reads. */
export interface CachedStream<State> {
  /** As of the log at most `maxAgeMs` ago. Readers share one read. */
  current(): Promise<State>;
  /** Reads forward now. */
  refresh(): Promise<State>;
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

  const read = async (): Promise<State> => {
    const startedAt = performance.now();
    folded = await foldForward({ rules, store, stream }, folded);
    readAt = startedAt;
    return folded.state;
  };
  const share = (): Promise<State> => {
    reading ??= read().finally(() => (reading = undefined));
    return reading;
  };
  return {
    current: () => (performance.now() - readAt <= maxAgeMs ? Promise.resolve(folded.state) : share()),
    refresh: async () => {
      // A read under way may have begun before what the caller wants to see.
      await reading?.catch(() => undefined);
      return share();
    },
  };
};
