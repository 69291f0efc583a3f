import type { BudgetReached } from '../../domain/account/budgetMessages.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { WorkProblem } from '../commands/workProblem.ts';

/** A document of a batch, by its place in the list. */
export interface BatchPlace {
  readonly tenant_id: string;
  readonly batch_id: string;
  readonly index: number;
}

export const placeIn = ({ batch_id, index }: Omit<BatchPlace, 'tenant_id'>): string =>
  `${batch_id}/${String(index)}`;

/** Why a document came to nothing. */
export interface Refusal {
  readonly code: string;
  /** Left out where the code says it all. */
  readonly problem?: WorkProblem;
}

type BudgetRefusal = Pick<
  BudgetReached,
  'resets_at' | 'limit_credits' | 'used_credits' | 'held_credits' | 'required_credits'
>;

/** How long a batch waits before it asks its budget again, ms: what is held may come back, or its limit be raised. */
const ASKED_AGAIN_MS = 30_000;
/** So many documents after each other that do not fit, and none of the batch is tried before it asks again. */
const MISSES_MAX = 3;
/** A batch that is not asked for again after this time has ended in another process, ms: it lasts a day. */
const REMEMBERED_MS = 2 * 86_400_000;

/** A document that waits, and how it was refused. */
interface Waiting {
  readonly required: number;
  readonly refusal: Refusal;
}

/** Documents of one batch. */
interface Pause {
  /** Until then those that wait are not tried. */
  until: string;
  /** The smallest that was refused since it asked last: what needs as much does not fit either. */
  least: number;
  /** Documents that were refused after each other. */
  misses: number;
  /** Nothing is left of the budget, or too many did not fit. */
  isWhole: boolean;
  readonly documents: Map<number, Waiting>;
}

const newPause = (): Pause => ({
  until: '',
  least: Infinity,
  misses: 0,
  isWhole: false,
  documents: new Map(),
});

const refusedBy = ({ problem }: Refusal): BudgetRefusal | undefined =>
  problem?.code === 'budget_reached' ? (problem.members as BudgetRefusal) : undefined;

const pauseOf = (pauses: Map<string, Pause>, batchId: string): Pause => {
  const pause = pauses.get(batchId) ?? newPause();
  pauses.set(batchId, pause);
  return pause;
};

/** Documents that are known to need little come first: where such a one does not fit, the others need not try. */
const inOrder =
  (pauses: ReadonlyMap<string, Pause>) =>
  <Place extends BatchPlace>(places: readonly Place[]): readonly Place[] => {
    const required = ({ batch_id, index }: Place): number =>
      pauses.get(batch_id)?.documents.get(index)?.required ?? 0;
    return places.toSorted((a, b) => required(a) - required(b));
  };

/**
 * Documents of batches that wait for a budget: those that do not fit, while smaller ones go on. Only this process knows
 * of them: another one that takes over asks the budget itself.
 */
export const budgetPauses = ({ clock }: { readonly clock: Pick<Clock, 'now'> }) => {
  const pauses = new Map<string, Pause>();

  const waits = ({ batch_id, index }: Omit<BatchPlace, 'tenant_id'>): boolean => {
    const pause = pauses.get(batch_id);
    if (pause === undefined || pause.until <= clock.now()) return false;
    return pause.isWhole || (pause.documents.get(index)?.required ?? 0) >= pause.least;
  };

  /** What the queries leave out: batches by their ID, documents by their place. */
  const names = (): readonly string[] => {
    const now = clock.now();
    return [...pauses].flatMap(([batch_id, pause]) => {
      if (pause.until > now)
        return pause.isWhole
          ? [batch_id]
          : [...pause.documents.keys()]
              .map((index) => ({ batch_id, index }))
              .filter(waits)
              .map(placeIn);
      if (laterBy(pause.until, REMEMBERED_MS) < now) pauses.delete(batch_id);
      return [];
    });
  };

  return {
    waits,
    names,
    /**
     * Whether a document that was refused waits: for room which comes while documents of the batch may still be begun,
     * because the budget begins anew.
     */
    refused: (
      { batch_id, index }: Omit<BatchPlace, 'tenant_id'>,
      expiresAt: string,
      refusal: Refusal,
    ): boolean => {
      const by = refusedBy(refusal);
      if (by === undefined) return false;
      const { resets_at, limit_credits: limit, required_credits: required } = by;
      if (resets_at === null || resets_at >= expiresAt || required > limit) return false;
      const now = clock.now();
      const known = pauseOf(pauses, batch_id);
      if (known.until <= now) {
        const again = laterBy(now, ASKED_AGAIN_MS);
        const until = again < resets_at ? again : resets_at;
        Object.assign(known, { ...newPause(), until, documents: known.documents });
      }
      known.documents.set(index, { required, refusal });
      known.least = Math.min(known.least, required);
      known.misses += 1;
      known.isWhole ||= known.misses >= MISSES_MAX || limit - by.used_credits - by.held_credits <= 0;
      return true;
    },
    /** A document that waits no more; the refusal that it waited with. */
    over: ({ batch_id, index }: Omit<BatchPlace, 'tenant_id'>): Refusal | undefined => {
      const pause = pauses.get(batch_id);
      const waiting = pause?.documents.get(index);
      pause?.documents.delete(index);
      if (pause !== undefined) pause.misses = 0;
      return waiting?.refusal;
    },
    inOrder: inOrder(pauses),
  };
};

export type BudgetPauses = ReturnType<typeof budgetPauses>;
