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
import { bind, resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';

const factsOf = (from: Container): KeptFacts => {
  const reference = resolve(from, t.REFERENCE);
  const reads = resolve(from, t.READS);
  const logger = resolve(from, t.LOGGER);
  const usage = resolve(from, t.USAGE_LOG);
  const logCall = logModelCall({
    llmCosts: resolve(from, t.LLM_COSTS),
    prices: async () => (await reference.modelPrices()).prices,
    clock: resolve(from, t.CLOCK),
    wrote: (tenantId, position) => reads.note(tenantId, position),
  });
  return keptFacts({
    shelf: factShelf(guardedObjects(resolve(from, t.PARTS).objects)),
    append: (fact) => (fact.kind === 'model_call' ? logCall(fact) : usage.ended(fact)),
    onError: (err) => logger.error({ msg: 'a usage event or a model call has to wait', err }),
  });
};

const sweeperOf = (from: Container): UnfinishedSweeper => {
  const { log, sql } = resolve(from, t.PARTS);
  const logger = resolve(from, t.LOGGER);
  const count = resolve(from, t.COUNT_SWEPT);
  return unfinishedSweeper({
    facts: resolve(from, t.FACTS),
    accounts: resolve(from, t.ACCOUNTS),
    store: log,
    abandonedBefore: abandonedWorkBefore(sql),
    checkLog: () => log.head(),
    unrecordedBefore: unrecordedWorkBefore(sql),
    clock: resolve(from, t.CLOCK),
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
export const bindUnfinished = (container: Container): void => {
  bind(container, t.USAGE_LOG, (from) => {
    const reads = resolve(from, t.READS);
    return usageLog({
      store: resolve(from, t.PARTS).log,
      clock: resolve(from, t.CLOCK),
      wrote: (tenantId, position) => reads.note(tenantId, position),
    });
  });
  bind(container, t.FACTS, factsOf);
  bind(container, t.UNFINISHED_SWEEPER, sweeperOf);
};
