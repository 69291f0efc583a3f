import { expect } from 'chai';
import type { WebhookTransport } from '../../../domain/ports/services.ts';
import { until } from '../../../engine/test/support/until.ts';
import { openLanes, type Lane, type LaneLimits, type Receiver } from '../../../src/worker/webhooks.ts';
import { gate, silent, TAKEN, webhookBench, type WebhookBench } from '../../support/webhookBench.ts';

const SILENT = 'https://silent.example.com';

describe('a sender of webhooks', () => {
  let bench: WebhookBench;
  beforeEach(async () => {
    bench = await webhookBench();
  });
  afterEach(() => bench.dispose());

  /** Some receivers say nothing; what others got is counted. */
  const world = () => {
    let [taken, waiting] = [0, 0];
    const transport: WebhookTransport = async (request) => {
      if (request.url !== SILENT) {
        taken += 1;
        return TAKEN;
      }
      waiting += 1;
      return silent(request).finally(() => (waiting -= 1));
    };
    return { transport, taken: () => taken, waiting: () => waiting };
  };
  const LIMITS: LaneLimits = { quick: 4, quickPerTenant: 4, slow: 4, slowPerTenant: 2, all: 32 };

  it('sends to others while more receivers say nothing than it has lanes for those that answer', async () => {
    for (let at = 0; at < 12; at += 1) await bench.told(`silent-${String(at)}`, { url: SILENT });
    const { transport, taken, waiting } = world();
    const sender = bench.sender(transport, { limits: LIMITS });
    sender.start();
    await until(() => waiting() >= 8);
    for (let at = 0; at < 3; at += 1) await bench.told(`quick-${String(at)}`, { count: 5 });
    await until(() => taken() === 15);
    expect(waiting(), 'they still say nothing').to.be.at.least(8);
    await sender.stop();
    expect(waiting()).to.equal(0);
  });

  it('ends the lane of a webhook that is removed, whatever it waits for', async () => {
    const gone = await bench.told('acme', { url: SILENT });
    const { transport, waiting } = world();
    const sender = bench.sender(transport);
    sender.start();
    await until(() => waiting() === 1);
    await bench.webhooks.remove(gone, bench.meta());
    await until(() => waiting() === 0);
    await sender.stop();
  });

  it('lets what is on its way be answered when it stops, and leaves nothing for its successor', async () => {
    const { messages } = await bench.told('acme');
    const [reached, answer] = [gate(), gate()];
    const sender = bench.sender(async () => {
      reached.open();
      await answer.opened;
      return TAKEN;
    });
    sender.start();
    await reached.opened;
    const stopping = sender.stop();
    answer.open();
    await stopping;
    expect(await bench.deliveries.stateOf(messages[0]!.delivery_id)).to.deep.include({
      delivered: true,
      attempts: 1,
    });
  });

  it('stops when no receiver ever answers', async () => {
    for (let at = 0; at < 5; at += 1) await bench.told('acme', { url: SILENT, count: 4 });
    const { transport, waiting } = world();
    const sender = bench.sender(transport);
    sender.start();
    await until(() => waiting() === 20);
    await sender.stop();
    expect(waiting()).to.equal(0);
  });
});

describe('lanes', () => {
  const LIMITS: LaneLimits = { quick: 6, quickPerTenant: 3, slow: 4, slowPerTenant: 2, all: 9 };
  const receiversOf = (tenant_id: string, count: number): readonly Receiver[] =>
    Array.from({ length: count }, (_, at) => ({ tenant_id, webhook_id: `${tenant_id}-${String(at)}` }));
  const ids = (receivers: readonly Receiver[]) => receivers.map(({ webhook_id }) => webhook_id);

  /** Lanes that end when they are told to. */
  const bench = () => {
    const lanes = openLanes(LIMITS);
    const open = new Map<string, { readonly lane: Lane; readonly end: () => void }>();
    const begin = (receivers: readonly Receiver[]): void => {
      for (const receiver of receivers)
        lanes.open(receiver, (lane) => {
          const { open: end, opened } = gate();
          open.set(receiver.webhook_id, { lane, end });
          return opened;
        });
    };
    const end = async (id: string): Promise<void> => {
      open.get(id)?.end();
      await until(() => !lanes.busy().includes(id));
    };
    return { lanes, begin, end, lane: (id: string) => open.get(id)!.lane };
  };

  it('are given to tenants by turns, to none more than its share', () => {
    const { lanes, begin } = bench();
    begin(lanes.next(receiversOf('a', 2)));
    const found = [...receiversOf('a', 9), ...receiversOf('b', 9), ...receiversOf('c', 9)];
    expect(ids(lanes.next(found))).to.deep.equal(['b-0', 'c-0', 'b-1', 'c-1']);
  });

  it('of receivers that let requests wait take no place of those that answer', async () => {
    const { lanes, begin, lane, end } = bench();
    begin(lanes.next([...receiversOf('a', 3), ...receiversOf('b', 3)]));
    const more = receiversOf('c', 3);
    expect(lanes.next(more)).to.deep.equal([]);
    for (const id of ['a-0', 'a-1', 'a-2']) lane(id).waits();
    expect(ids(lanes.next(more)), 'as many as now wait').to.deep.equal(['c-0', 'c-1', 'c-2']);
    for (const id of ['a-0', 'a-1', 'a-2']) await end(id);
    expect(ids(lanes.next(receiversOf('a', 3))), 'slow ones have fewer').to.deep.equal(['a-0', 'a-1']);
    begin(lanes.next(receiversOf('a', 1)));
    lane('a-0').answered();
    expect(lane('a-0').isSlow()).to.equal(false);
    expect(ids(lanes.next(receiversOf('a', 3)))).to.deep.equal(['a-1', 'a-2']);
  });

  it('are given first to the slow ones that waited longest', async () => {
    const { lanes, begin, lane, end } = bench();
    begin(lanes.next(receiversOf('a', 3)));
    for (const id of ['a-2', 'a-0', 'a-1']) lane(id).waits();
    for (const id of ['a-0', 'a-1', 'a-2']) await end(id);
    expect(ids(lanes.next(receiversOf('a', 3)))).to.deep.equal(['a-2', 'a-0']);
  });

  it('end by themselves when their webhook is gone', () => {
    const { lanes, begin, lane } = bench();
    begin(lanes.next(receiversOf('a', 2)));
    lanes.end('a-0');
    expect([lane('a-0'), lane('a-1')].map(({ signal }) => signal.aborted)).to.deep.equal([true, false]);
    lanes.endAll();
    expect(lane('a-1').signal.aborted).to.equal(true);
  });
});
