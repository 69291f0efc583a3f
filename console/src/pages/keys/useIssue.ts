import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Issued } from './keys.ts';

/** A call whose answer holds a secret. */
export interface Issue {
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly run: (call: () => Promise<Issued>) => Promise<void>;
}

/**
 * Runs a call that answers with a key. Its answer goes to `onIssued` alone: a mutation would keep it in the
 * cache of calls for minutes.
 */
export const useIssue = (onIssued: (issued: Issued) => void): Issue => {
  const cache = useQueryClient();
  const isRunning = useRef(false);
  const [state, set] = useState<{ error: unknown; isBusy: boolean }>({ error: null, isBusy: false });
  const run = async (call: () => Promise<Issued>): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    set({ error: null, isBusy: true });
    try {
      const { key, key_id, name } = await call();
      set({ error: null, isBusy: false });
      onIssued({ key, key_id, name });
      await cache.invalidateQueries({ queryKey: ['listApiKeys'] });
    } catch (error) {
      set({ error, isBusy: false });
    } finally {
      isRunning.current = false;
    }
  };
  return { ...state, run };
};
