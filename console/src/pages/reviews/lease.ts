import { isProblem, type Review } from '@quire/client';
import { useEffect, useRef, useState } from 'react';
import { useChange } from '../../api/connection.ts';
import { connection } from '../../api/send.ts';

const MINUTE_MS = 60_000;
/** A lease lasts 15 minutes. */
const RENEW_MS = 5 * MINUTE_MS;
/** While somebody else has it. */
const LOOK_MS = 10_000;
/** Of a lease that ended, by another clock than ours. */
const ENDED_MS = 1_000;

interface Lease {
  /** Somebody else has it; undefined: it is ours, or will be. */
  readonly theirs: Review['lease'];
  readonly error: unknown;
}

/** Says that one looks at it no longer; where that is lost, the lease ends by itself. */
const leave = (reviewId: string): void => {
  // the page may be closing, and the answer is nobody's
  const request = { method: 'DELETE', keepalive: true };
  connection
    .fetch(`${connection.url}/v1/reviews/${reviewId}/lease`, request)
    .catch((): undefined => undefined);
};

/** Whether somebody decided or rejected it, or it has expired. */
export const isOver = (error: unknown): boolean =>
  isProblem(error, 'review_decided') || isProblem(error, 'review_expired');

/** How long until it is asked for again, that is somebody else's until then; they may leave it earlier. */
const waitMs = (until: string): number =>
  Math.min(LOOK_MS, Math.max(ENDED_MS, Date.parse(until) - Date.now() + ENDED_MS));

/** What was given last, for what goes on between two drawings. */
const useLatest = <Value>(value: Value): { readonly current: Value } => {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
};

/** Says that one looks at it, for as long as one does; takes it over once nobody else has it. */
export const useLease = ({ review_id }: Review, isOpen: boolean, onChanged: () => void): Lease => {
  const { mutateAsync } = useChange('leaseReview');
  const [lease, tell] = useState<Lease>({ theirs: null, error: null });
  const changed = useLatest(onChanged);
  useEffect(() => {
    if (!isOpen) return;
    let timer = 0;
    let isGone = false;
    let isOurs = false;
    let seen: string | undefined;
    const askAfter = (ms: number): void => {
      timer = window.setTimeout(() => void ask(), ms);
    };
    const ask = async (): Promise<void> => {
      const answer = await mutateAsync({ path: { review_id } }).catch((error: unknown) => ({ error }));
      isOurs = !('error' in answer);
      if (isGone) {
        if (isOurs) leave(review_id);
        return;
      }
      if (!('error' in answer)) {
        tell({ theirs: null, error: null });
        askAfter(RENEW_MS);
        return;
      }
      const { error } = answer;
      if (!isProblem(error, 'review_leased')) {
        // one that was just decided or has just expired shows how it stands now
        tell({ theirs: null, error: isOver(error) ? null : error });
        changed.current();
        return;
      }
      const { lease_until = new Date().toISOString() } = error.problem;
      tell({ theirs: { held_by: '', lease_until }, error: null });
      if (seen !== lease_until) changed.current();
      seen = lease_until;
      askAfter(waitMs(lease_until));
    };
    const go = (): void => {
      if (isOurs) leave(review_id);
    };
    const comeBack = ({ persisted }: PageTransitionEvent): void => {
      if (!persisted) return;
      clearTimeout(timer);
      void ask();
    };
    void ask();
    window.addEventListener('pagehide', go);
    window.addEventListener('pageshow', comeBack);
    return () => {
      isGone = true;
      clearTimeout(timer);
      window.removeEventListener('pagehide', go);
      window.removeEventListener('pageshow', comeBack);
      go();
    };
  }, [review_id, isOpen, mutateAsync, changed]);
  return lease;
};
