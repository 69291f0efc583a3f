import type { z } from 'zod';
import { operationIdOfReview, type reviewEvent, reviewIdOf } from '../../domain/review.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../../projections/engine/ports.ts';
import { reviewFolderOf } from '../../src/commands/reviews.ts';
import type { WatchDeps } from './told.ts';
import type { SeenReview, started, Work } from './known.ts';
import type { Lists } from './lists.ts';
import { byType } from './readModel.ts';
import { EPOCH_MS } from './scheduler.ts';
import { skewOf } from './worlds.ts';

type ReviewEvent = z.output<typeof reviewEvent>;
type DataOf<Type extends ReviewEvent['type']> = Extract<ReviewEvent, { type: Type }>['data'];

/** By then a sweep has looked at what expired after a day, ms. */
const SWEPT_MS = 40 * 3_600_000;

interface Reading {
  readonly say: (id: string, text: string) => void;
  readonly isErased: (work: Work) => boolean;
  readonly known: () => ReturnType<typeof started>;
}

const isHeldByAnother = ({ heldBy, heldUntil }: SeenReview, by: string, at: string): boolean =>
  heldBy !== '' && heldBy !== by && at < heldUntil;

const NOBODY = { heldBy: '', heldUntil: '' };

const DAY_MS = 24 * 3_600_000;

/** The place of each tenant's first webhook in the log. */
const firstWebhooks = (events: readonly ProjectedEvent[]): ReadonlyMap<string, number> => {
  const since = new Map<string, number>();
  for (const [at, event] of events.entries())
    if (event.type === 'WebhookCreated' && !since.has(event.data.tenant_id))
      since.set(event.data.tenant_id, at);
  return since;
};

const asksOrAnswers = (
  event: ProjectedEvent,
): event is ProjectedEventOf<'OperationSucceeded' | 'ReviewDecided' | 'ReviewRejected'> =>
  event.type === 'ReviewDecided' ||
  event.type === 'ReviewRejected' ||
  (event.type === 'OperationSucceeded' && event.data.review !== undefined);

/** Looks at reviews: one holder at a time, one decision in each generation, kept and told, and nothing left. */
export const reviewWatch = (
  { world, sched, shared, raw, told }: WatchDeps,
  { say, isErased, known }: Reading,
) => {
  const decisionOf = async (review_id: string, digest: string) => {
    const bytes = await raw.get(`${reviewFolderOf(review_id)}${digest}`);
    return bytes && (JSON.parse(Buffer.from(bytes).toString('utf8')) as { readonly result: JsonObject });
  };
  const seenOf = (review_id: string): SeenReview => {
    const { reviews } = known();
    const seen = reviews.get(review_id) ?? { ...NOBODY, expired: false, decided: new Map<number, string>() };
    reviews.set(review_id, seen);
    return seen;
  };

  const leased = ({ review_id, held_by, leased_at, lease_until }: DataOf<'ReviewLeased'>): void => {
    const seen = seenOf(review_id);
    if (isHeldByAnother(seen, held_by, leased_at)) say('two-holders', `${review_id} was held by two at once`);
    Object.assign(seen, { heldBy: held_by, heldUntil: lease_until });
  };

  /** A day after its result was stored, if nobody has decided it. */
  const isLate = ({ expired: isOver, decided: known_ }: SeenReview, opened: string, at: string): boolean =>
    isOver || (known_.size === 0 && Date.parse(at) - Date.parse(opened) > DAY_MS + 2 * skewOf(world));

  const decided = (data: DataOf<'ReviewDecided'>): void => {
    const { review_id, generation, operation_id, decision_sha256, decided_by, decided_at } = data;
    const seen = seenOf(review_id);
    const work = known().works.get(operation_id);
    if (isHeldByAnother(seen, decided_by, decided_at))
      say('decided-by-another', `${review_id} was decided by somebody who did not hold it`);
    if (isLate(seen, work?.success?.succeeded_at ?? decided_at, decided_at))
      say('decided-late', `${review_id} was decided when its time was over`);
    if (seen.decided.has(generation))
      say('decided-twice', `${review_id} was decided twice in one generation`);
    if (work?.success?.review === undefined)
      say('review-without-work', `${review_id} was decided, and nobody had to look at it`);
    seen.decided.set(generation, decision_sha256);
    Object.assign(seen, NOBODY);
    void decisionOf(review_id, decision_sha256).then((decision) => {
      if (decision === undefined && work !== undefined && !isErased(work))
        say('decision-lost', `${review_id} was decided when its decision could not be had`);
    });
  };

  const rejected = ({ review_id, generation, ...data }: DataOf<'ReviewRejected'>): void => {
    const seen = seenOf(review_id);
    const work = known().works.get(data.operation_id);
    if (isHeldByAnother(seen, data.rejected_by, data.rejected_at))
      say('rejected-by-another', `${review_id} was rejected by somebody who did not hold it`);
    if (seen.decided.has(generation))
      say('decided-twice', `${review_id} was decided and rejected in one generation`);
    if (work?.success?.review === undefined)
      say('review-without-work', `${review_id} was rejected, and nobody had to look at it`);
    seen.decided.set(generation, '');
    Object.assign(seen, NOBODY);
  };

  /** What a person was told holds, and is kept with its document. */
  const promised = async ({
    review_id,
    generation,
    says,
  }: WatchDeps['told']['decided'][number]): Promise<void> => {
    const digest = known().reviews.get(review_id)?.decided.get(generation);
    if (digest === undefined) {
      say('ack-lost', `the decision ${String(generation)} of ${review_id} is not in the log`);
      return;
    }
    const decision = await decisionOf(review_id, digest);
    const work = known().works.get(operationIdOfReview(review_id));
    if (decision !== undefined && decision.result['says'] !== says)
      say('decided-otherwise', `${review_id} was decided otherwise than its reviewer was told`);
    if (decision === undefined && work !== undefined && !isErased(work))
      say('decision-gone', `the decision of ${review_id} is gone`);
  };

  /** Of what nobody decided in time nothing is left. */
  const expired = async ({ id, success }: Work): Promise<void> => {
    const review_id = reviewIdOf(id);
    const isKept = [...seenOf(review_id).decided.values()].some((digest) => digest !== '');
    if (success?.review === undefined || isKept) return;
    if (sched.nowMs() + EPOCH_MS - Date.parse(success.succeeded_at) < SWEPT_MS) return;
    for (const folder of [`reviews/${review_id}/`, `operations/${id}/`])
      for await (const { key } of raw.list(folder)) say('review-left', `${key} is of a review that expired`);
  };

  /** Whoever is told of reviews is told of each. */
  const messages = ({ webhooks }: Lists): void => {
    const rows = webhooks.deliveries();
    const events = shared.events as unknown as readonly ProjectedEvent[];
    const since = firstWebhooks(events);
    const cuts = events.flatMap((event) => (event.type === 'DeliveriesPruned' ? [event.data.before] : []));
    const pruned = cuts.sort().at(-1) ?? '';
    for (const [at, event] of events.entries()) {
      if (!asksOrAnswers(event)) continue;
      if (at < (since.get(event.metadata['tenant_id'] as string) ?? Infinity)) continue;
      // What was pruned is not asked after.
      if ((event.metadata['recorded_at'] as string) < pruned) continue;
      if (!rows.some((row) => row.event_id === event.id && row.delivered))
        say('message-lost', `nobody was told of the ${event.type} of ${event.data.operation_id}`);
    }
  };

  return {
    see: byType({
      ReviewLeased: ({ data }) => leased(data),
      ReviewDecided: ({ data }) => decided(data),
      ReviewExpired: ({ data }) => void (seenOf(data.review_id).expired = true),
      ReviewRejected: ({ data }) => rejected(data),
      ReviewReopened: ({ data }) => void Object.assign(seenOf(data.review_id), NOBODY),
    }),
    look: async (lists: Lists): Promise<void> => {
      messages(lists);
      for (const one of told.decided) if (one.at > told.restoredAt) await promised(one);
      for (const work of known().works.values()) await expired(work);
    },
  };
};
