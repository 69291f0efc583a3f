import { type AuditedEventOf, byType } from './auditedEvent.ts';
import { wrong } from './findings.ts';
import type { Books } from './rules.ts';
import { compactSet } from './streams.ts';

/** A review as the auditor has seen it, until it expires. */
interface Seen {
  readonly tenant_id: string;
  generation: number;
  /** Or rejected. */
  decided: boolean;
  held_by: string;
  lease_until: string;
}

type ReviewMove = AuditedEventOf<
  'ReviewLeased' | 'ReviewDecided' | 'ReviewRejected' | 'ReviewReopened' | 'ReviewExpired'
>;

/** As the service names the review of an operation. */
const reviewOf = (operationId: string): string => operationId.replace(/^[a-z]+_/, 'rev_');

/** Only what was decided or rejected is opened again, and nothing else is done with it. */
const checkDecided = (
  say: (text: string) => void,
  { decided }: Seen,
  { isReopened, review_id }: { readonly isReopened: boolean; readonly review_id: string },
): void => {
  if (decided !== isReopened)
    say(
      decided
        ? `${review_id} was decided or rejected already.`
        : `${review_id} was not decided or rejected before.`,
    );
};

/** Reviews: of operations that need one, held by one person at a time, decided or rejected once in each generation. */
export const reviewsCheck = ({ findings, touch }: Pick<Books, 'findings' | 'touch'>) => {
  const reviews = new Map<string, Seen>();
  const expired = compactSet();

  /** The review that an event moves; undefined, with a finding: there is none that may move so. */
  const moved = (event: ReviewMove, { at, by }: { readonly at: string; readonly by: string | null }) => {
    const { review_id, generation, tenant_id } = event.data;
    const say = wrong(findings, 'review', event);
    findings.checked('review');
    touch(`review ${review_id}`);
    if (expired.has(review_id)) {
      say(`${review_id} has expired before.`);
      return undefined;
    }
    const review = reviews.get(review_id);
    if (review === undefined || review.tenant_id !== tenant_id) {
      say(`${review_id} is of no operation of this tenant that needs a review.`);
      return undefined;
    }
    const isReopened = event.type === 'ReviewReopened';
    const due = review.generation + (isReopened ? 1 : 0);
    if (generation !== due) say(`${review_id} is in another generation.`, due, generation);
    if (event.type !== 'ReviewExpired') checkDecided(say, review, { isReopened, review_id });
    if (by !== null && review.held_by !== by && review.lease_until > at)
      say(`${review_id} was held by somebody else.`, review.held_by, by);
    return review;
  };

  const decide = (event: ReviewMove, who: { readonly at: string; readonly by: string }): void => {
    const review = moved(event, who);
    if (review !== undefined) Object.assign(review, { decided: true, held_by: '', lease_until: '' });
  };

  return byType({
    OperationSucceeded: ({ data: { operation_id, tenant_id, review } }) => {
      if (review === undefined) return;
      const review_id = reviewOf(operation_id);
      touch(`review ${review_id}`);
      const fresh = { generation: 1, decided: false, held_by: '', lease_until: '' };
      if (!reviews.has(review_id) && !expired.has(review_id)) reviews.set(review_id, { tenant_id, ...fresh });
    },
    ReviewLeased: (event) => {
      const { held_by, leased_at, lease_until } = event.data;
      const review = moved(event, { at: leased_at, by: held_by });
      if (review !== undefined) Object.assign(review, { held_by, lease_until });
    },
    ReviewDecided: (event) => decide(event, { at: event.data.decided_at, by: event.data.decided_by }),
    ReviewRejected: (event) => decide(event, { at: event.data.rejected_at, by: event.data.rejected_by }),
    ReviewReopened: (event) => {
      const { reopened_at: at, generation } = event.data;
      const review = moved(event, { at, by: null });
      if (review !== undefined)
        Object.assign(review, { decided: false, generation, held_by: '', lease_until: '' });
    },
    ReviewExpired: (event) => {
      const { review_id, expired_at: at } = event.data;
      if (moved(event, { at, by: null }) === undefined) return;
      reviews.delete(review_id);
      expired.add(review_id);
    },
  });
};
