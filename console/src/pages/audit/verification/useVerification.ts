import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Verified } from './verifier.ts';
import { VerifierInWorker } from './verifierInWorker.ts';

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
