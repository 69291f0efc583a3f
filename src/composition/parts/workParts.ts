import { activeBillingConfig } from '../../../domain/billingConfig.ts';
import type { ExtractDeps } from '../../commands/extract.ts';
import { guardedObjects } from '../../commands/uploads.ts';
import { resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';
import { CONVERT_DEADLINE_MS, INSPECT_DEADLINE_MS, LONG_PAGES_MAX, PAGES_MAX } from '../workLimits.ts';
import { modelParts } from './modelParts.ts';

/** What work on documents stands on. */
export type WorkDeps = ExtractDeps & { readonly convertDeadlineMs: number };

export const workDeps = (from: Container): WorkDeps => {
  const { log, objects, workers } = resolve(from, t.PARTS);
  const clock = resolve(from, t.CLOCK);
  const reference = resolve(from, t.REFERENCE);
  const reads = resolve(from, t.READS);
  const wrote = (tenantId: string, position: bigint) => reads.note(tenantId, position);
  const { platformModels, localDeadlinesMs } = resolve(from, t.CONFIG);
  return {
    accounts: resolve(from, t.ACCOUNTS),
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
    usage: resolve(from, t.USAGE_LOG),
    slots: resolve(from, t.SLOTS),
    overruns: resolve(from, t.OVERRUNS),
    facts: resolve(from, t.FACTS),
    ...modelParts(from),
    pagesMax: PAGES_MAX,
    longPagesMax: LONG_PAGES_MAX,
    ranged: workers.ranged,
    inspectDeadlineMs: INSPECT_DEADLINE_MS,
    convertDeadlineMs: CONVERT_DEADLINE_MS,
    deadlineMs: resolve(from, t.EXTRACT_DEADLINES),
    localDeadlinesMs,
    platformModels,
    wrote,
  };
};
