import type { Lists } from './lists.ts';
import type { Work, started } from './known.ts';
import { TENANT } from './process.ts';
import { byType } from './readModel.ts';
import { EPOCH_MS } from './scheduler.ts';
import type { WatchDeps } from './told.ts';
import { KEEPS, skewOf, SWEPT_MS } from './worlds.ts';

const HOUR = 3_600_000;
const DAY_MS = 24 * HOUR;

interface Watched {
  readonly say: (id: string, text: string) => void;
  /** The result of some work, where it can be had. */
  readonly read: (work: Work) => Promise<string | undefined>;
  readonly known: () => ReturnType<typeof started>;
}

/** Every message arrives, and those of one subject in their order; the same one may come again, by its ID. */
export const messages = (
  { told }: Pick<WatchDeps, 'told'>,
  { webhooks }: Lists,
  say: Watched['say'],
): void => {
  const rows = new Map(webhooks.deliveries().map((row) => [row.delivery_id, row]));
  const arrived = new Set(told.delivered.map(({ id }) => id));
  for (const { delivery_id, delivered } of rows.values())
    if (delivered && !arrived.has(delivery_id))
      say('message-lost', `${delivery_id} counts as delivered, and did not arrive`);
  const last = new Map<string, bigint>();
  for (const row of [...arrived].flatMap((id) => rows.get(id) ?? [])) {
    const lane = `${row.webhook_id} ${row.subject}`;
    if (row.position < (last.get(lane) ?? 0n))
      say('message-order', `${row.delivery_id} arrived after a later message of ${lane}`);
    last.set(lane, row.position);
  }
};

/**
 * What is over is gone and counts no more, and nothing else is: results and deliveries of worlds that say for how long
 * they are kept.
 */
export const daysWatch = ({ world, sched, told }: WatchDeps, { say, read, known }: Watched) => {
  /** By so much clocks differ, and for so long a step takes. */
  const skewMs = Math.max(15 * 60_000, 2 * skewOf(world));
  /** By the days of the installation, or those of the tenant where these are fewer. */
  const keptMs = (what: 'results' | 'deliveries', which: 'last' | 'fewest'): number =>
    Math.min((world.keeps ?? KEEPS)[what], known().days[which]) * DAY_MS;

  const resultOf = async (work: Work): Promise<void> => {
    const [age, isThere] = [sched.nowMs() - work.billedAt, (await read(work)) !== undefined];
    const text = `${work.id}, ${(age / HOUR).toFixed(1)} hours after it was billed`;
    if (isThere && age > keptMs('results', 'last') + SWEPT_MS)
      say('kept-too-long', `the result of ${text}, is there`);
    if (!isThere && age > 0 && age < keptMs('results', 'fewest') - skewMs)
      say('result-gone', `the result of ${text}, is gone`);
  };

  const deliveriesOf = ({ webhooks }: Lists): void => {
    const last = sched.nowMs() + EPOCH_MS - keptMs('deliveries', 'last') - SWEPT_MS;
    for (const { delivery_id, created_at, delivered } of webhooks.deliveries())
      if (delivered && Date.parse(created_at) < last)
        say('kept-too-long', `${delivery_id} of ${created_at} is listed`);
  };

  /** Documents of a batch that were accepted and cancelled. */
  const cancelledIn = (batchId: string): number => {
    const { works, batchOf } = known();
    const isOfIt = ({ id }: Work) => batchOf.get(id)?.accepted.batch_id === batchId;
    return [...works.values()].filter((work) => work.ended === 'cancelled' && isOfIt(work)).length;
  };

  return {
    see: byType({
      RetentionSet: ({ data: { tenant_id, days } }) => {
        if (tenant_id !== TENANT) return;
        const last = days.results ?? Infinity;
        known().days = { last, fewest: Math.min(last, known().days.fewest) };
      },
      TenantErasureEnded: ({ data: { ended_at } }) => {
        const { tenantErasedAt } = known();
        if (Date.parse(ended_at) - Date.parse(tenantErasedAt) < HOUR - skewMs)
          say('erasure-ended', `an erasure of ${tenantErasedAt} has ended at ${ended_at}`);
      },
      EvaluationScored: ({ data }) => {
        const cancelled = cancelledIn(data.batch_id);
        if (cancelled > data.left_out)
          say(
            'scored-cancelled',
            `${data.run_id} leaves out ${String(data.left_out)} of ${String(cancelled)}`,
          );
      },
      DeliveriesPruned: ({ data: { before } }) => {
        const first = sched.nowMs() + EPOCH_MS - keptMs('deliveries', 'fewest') + skewMs;
        if (Date.parse(before) > first)
          say('pruned-too-soon', `deliveries from before ${before} are not listed`);
      },
    }),
    look: async (lists: Lists): Promise<void> => {
      if (world.keeps === undefined || told.restoredAt >= 0) return;
      for (const work of known().works.values()) await resultOf(work);
      deliveriesOf(lists);
    },
  };
};
