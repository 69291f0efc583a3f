import { abandonedWorkBefore, unrecordedWorkBefore } from '../../../projections/usageEvents.ts';
import { guardedObjects } from '../../commands/uploads.ts';
import { logModelCall } from '../../commands/llmCosts.ts';
import {
  factShelf,
  keptFacts,
  type KeptFacts,
  unfinishedSweeper,
  type UnfinishedSweeper,
  usageLog,
} from '../../commands/usageLog.ts';
import type { Context, SomeFactories } from '../context.ts';

const factsOf = (from: Context): KeptFacts => {
  const reference = from.reference;
  const reads = from.reads;
  const logger = from.logger;
  const usage = from.usageLog;
  const logCall = logModelCall({
    llmCosts: from.llmCosts,
    prices: async () => (await reference.modelPrices()).prices,
    clock: from.clock,
    wrote: (tenantId, position) => reads.note(tenantId, position),
  });
  return keptFacts({
    shelf: factShelf(guardedObjects(from.parts.objects)),
    append: (fact) => (fact.kind === 'model_call' ? logCall(fact) : usage.ended(fact)),
    onError: (err) => logger.error({ msg: 'a usage event or a model call has to wait', err }),
  });
};

const sweeperOf = (from: Context): UnfinishedSweeper => {
  const { log, sql } = from.parts;
  const logger = from.logger;
  const count = from.countSwept;
  return unfinishedSweeper({
    facts: from.facts,
    accounts: from.accounts,
    store: log,
    abandonedBefore: abandonedWorkBefore(sql),
    checkLog: () => log.head(),
    unrecordedBefore: unrecordedWorkBefore(sql),
    clock: from.clock,
    onSweep: (report) => {
      count('model_call', 'settled', report.model_calls);
      count('usage_event', 'settled', report.usage_events);
      count('model_call_or_usage_event', 'left', report.left);
      if (report.model_calls + report.usage_events + report.left > 0)
        logger.info({ msg: 'sweep of unfinished work', ...report });
    },
    onError: (err) => logger.error({ msg: 'sweep of unfinished work failed', err }),
  });
};

/** What work did and the log does not know yet. */
export const unfinishedParts = {
  usageLog: (from) => {
    const reads = from.reads;
    return usageLog({
      store: from.parts.log,
      clock: from.clock,
      wrote: (tenantId, position) => reads.note(tenantId, position),
    });
  },
  facts: factsOf,
  unfinishedSweeper: sweeperOf,
} satisfies SomeFactories;
