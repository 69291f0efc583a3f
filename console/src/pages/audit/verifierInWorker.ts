import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import { ToldFaultError } from '../../api/faults.ts';
import type { EventScope } from '../../api/events.ts';
import { START, type Asked, type Told, type Verified } from './verifier.ts';

/** The same verifier in a thread of its own: the page stays free however long the log is. */
class VerifierInWorker {
  readonly #scope: EventScope;
  readonly #listeners = new Set<() => void>();
  #worker: Worker | undefined;
  #now = START;

  constructor(scope: EventScope) {
    this.#scope = scope;
  }

  readonly now = (): Verified => this.#now;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Begins, or goes on where it stopped. */
  go(): void {
    this.#tell({ ...this.#now, state: 'running', error: null });
    this.#worker ??= this.#started();
    this.#worker.postMessage({ scope: this.#scope } satisfies Asked);
  }

  /** Ends the thread; what it knew is gone, and the next one begins anew. */
  close(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#now = START;
  }

  #started(): Worker {
    const worker = new Worker(new URL('./verifier.worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data: { verified, fault } }: MessageEvent<Told>) => {
      this.#tell({ ...verified, error: fault === undefined ? null : new ToldFaultError(fault) });
    });
    // its file was not loaded, or it failed where nothing should
    worker.addEventListener('error', (event) => {
      this.#worker = undefined;
      this.#tell({ ...START, state: 'failed', error: new Error(event.message) });
    });
    return worker;
  }

  #tell(now: Verified): void {
    this.#now = now;
    for (const listener of this.#listeners) listener();
  }
}

/** The chain of a scope as this browser recomputes it, and a way to go on with it. */
export const useVerification = (
  stream: string | undefined,
  tenantId: string | undefined,
): readonly [Verified, () => void] => {
  const verifier = useMemo(() => new VerifierInWorker({ stream, tenant_id: tenantId }), [stream, tenantId]);
  const go = useCallback(() => verifier.go(), [verifier]);
  useEffect(() => {
    go();
    return () => verifier.close();
  }, [go, verifier]);
  return [useSyncExternalStore(verifier.subscribe, verifier.now), go];
};
