import { expect } from 'chai';
import { systemTimers } from '../../../adapters/local/local.ts';
import { keptDays } from '../../../domain/retention.ts';
import { decodeAny } from '../../../domain/catalogue.ts';
import { rebuildReadModels } from '../../../projections/engine/rebuild.ts';
import { prunableDeliveries, webhooksProjector } from '../../../projections/webhooks.ts';
import { pruneDeliveries } from '../../../src/commands/webhooks.ts';
import { ALL_TENANTS } from '../../../src/queries/queries.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { dataOf, startReceiver, type Receiver } from './receiver.ts';
import { until } from '../../../engine/test/support/until.ts';
import { toldTenant, WEBHOOK_ENV } from './toldTenant.ts';

const DAY_MS = 24 * 3_600_000;

describe('deliveries that were kept for as long as they are', () => {
  let api: TestApi;
  let receiver: Receiver;
  before(async () => {
    api = await startApi(WEBHOOK_ENV);
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.stop();
    await api.stop();
  });

  /** A process that prunes what is older than a day, so many days from now, few at a time. */
  const pruner = (days: number) => {
    const prune = pruneDeliveries({
      store: api.log,
      clock: { ...api.deps.clock, now: () => new Date(Date.now() + days * DAY_MS).toISOString() },
      prunable: (what, { pieces }) => prunableDeliveries(api.sql)(what, { piece: 2, pieces }),
    });
    return () => prune(keptDays({ uploads: 0, results: 1, examples: 0, deliveries: 1 }));
  };

  const rebuilt = async () => {
    const deps = { sql: api.sql, feed: api.log, projectors: [webhooksProjector], decode: decodeAny };
    const [only] = await rebuildReadModels({ ...deps, timers: systemTimers }, { names: ['webhooks'] });
    return only?.differences;
  };

  it('are listed no more, however many prune, and a rebuild does not bring them back', async () => {
    receiver.answerWith((message, response) =>
      response.writeHead(dataOf(message)['credits'] === 3 ? 500 : 200).end(),
    );
    const { adjust, sent, deliveries } = await toldTenant(api, receiver.url);
    for (const amount of [1, 2, 3, 4, 5, 6]) await adjust(amount);
    await sent();
    // Pruners write past the routes, which alone note what they wrote: all that the log has is waited for.
    const listed = async () => {
      api.deps.reads.note(ALL_TENANTS, await api.log.head());
      await until(async () => (await api.deps.reads.settleAll()) === undefined);
      return (await deliveries()).map(({ status }) => status);
    };
    // What is sent in the background is told a moment later.
    await until(async () => (await listed()).filter((status) => status === 'delivered').length === 2, 50);
    expect(await pruner(0.9)()).to.equal(0);
    expect(await listed()).to.have.lengthOf(6);
    const pruned = await Promise.all([pruner(1.1)(), pruner(1.1)()]);
    expect(pruned[0] + pruned[1]).to.be.at.least(2);
    // The third is tried again, and those after it wait for it.
    expect(await listed()).to.deep.equal(['pending', 'pending', 'pending', 'pending']);
    expect(await rebuilt()).to.deep.equal([]);
    expect(await listed()).to.have.lengthOf(4);
    receiver.answerWith((_, response) => response.writeHead(200).end());
    api.wait(6_000);
    await sent();
    expect(await listed()).to.deep.equal(['delivered', 'delivered', 'delivered', 'delivered']);
    // As old as those that were pruned before, and settled since: gone by this sweep or a later one.
    let days = 1.2;
    await until(async () => {
      await pruner(days)();
      days += 0.1;
      return (await listed()).length === 0;
    }, 50);
    expect(await rebuilt()).to.deep.equal([]);
    expect(await listed()).to.deep.equal([]);
    await adjust(7);
    await sent();
    expect(await listed()).to.deep.equal(['delivered']);
  });
});
