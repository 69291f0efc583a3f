import { activeBillingConfig } from '../../../domain/billingConfig.ts';
import type { ExtractDeps } from '../../commands/extract.ts';
import { guardedObjects } from '../../commands/uploads.ts';
import type { Context } from '../context.ts';
import { CONVERT_DEADLINE_MS, INSPECT_DEADLINE_MS, LONG_PAGES_MAX, PAGES_MAX } from '../workLimits.ts';
import { modelParts } from './modelParts.ts';

/** What work on documents stands on. */
export type WorkDeps = ExtractDeps & { readonly convertDeadlineMs: number };

export const workDeps = (from: Context): WorkDeps => {
  const { log, objects, workers } = from.parts;
  const clock = from.clock;
  const reference = from.reference;
  const reads = from.reads;
  const wrote = (tenantId: string, position: bigint) => reads.note(tenantId, position);
  const { platformModels, localDeadlinesMs } = from.config;
  return {
    accounts: from.accounts,
    billingConfig: async () => {
      const active = activeBillingConfig(await reference.billingConfig());
      if (active === undefined) throw new Error('there is no billing config yet');
      return active;
    },
    clock,
    store: log,
    objects: guardedObjects(objects),
    parser: workers.parser,
    engine: workers.localEngine,
    usage: from.usageLog,
    slots: from.slots,
    overruns: from.overruns,
    facts: from.facts,
    ...modelParts(from),
    pagesMax: PAGES_MAX,
    longPagesMax: LONG_PAGES_MAX,
    ranged: workers.ranged,
    inspectDeadlineMs: INSPECT_DEADLINE_MS,
    convertDeadlineMs: CONVERT_DEADLINE_MS,
    deadlineMs: from.extractDeadlines,
    localDeadlinesMs,
    platformModels,
    wrote,
  };
};
