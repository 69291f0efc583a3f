import type { SealEvent } from '../../../domain/finding.ts';
import { sealLog, type SealDeps } from './sealLog.ts';
import { sweeperOf, type Sweeper } from '../sweeping/sweeper.ts';

interface LogSealerDeps extends SealDeps {
  readonly everyMs: number;
  /** As in `SealWish`. */
  readonly retainDays: number | null;
  readonly onSeal: (sealed: SealEvent['data']) => void;
  readonly onError: (error: unknown) => void;
}

export type LogSealer = Sweeper<SealEvent['data'] | undefined>;

/** Seals the log every so often. Several may run: a seal that another has just made is enough. */
export const logSealer = (deps: LogSealerDeps): LogSealer => {
  const { everyMs, retainDays, onSeal, onError } = deps;
  const stopping = new AbortController();
  const sealOnce = async () => {
    const unlessYoungerMs = everyMs / 2;
    const sealed = await sealLog(deps, { retainDays, unlessYoungerMs, signal: stopping.signal });
    if (sealed !== undefined) onSeal(sealed);
    return sealed;
  };
  const sealer = sweeperOf(sealOnce, {
    everyMs,
    onError: (error) => {
      if (!stopping.signal.aborted) onError(error);
    },
  });
  return {
    ...sealer,
    stop: () => {
      stopping.abort();
      return sealer.stop();
    },
  };
};
