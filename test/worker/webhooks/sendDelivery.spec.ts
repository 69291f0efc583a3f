import { expect } from 'chai';
import { attemptWatch, sendDelivery, type DueDelivery, type SendDeps } from '../../../src/worker/webhooks.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { gate, TAKEN, webhookBench, type WebhookBench } from '../../support/webhookBench.ts';

const NEVER = new AbortController().signal;
const GONE = { error: 'status', response_status: 410, retryAfterMs: 0 } as const;

describe('a message that is sent', () => {
  let bench: WebhookBench;
  let message: DueDelivery;
  beforeEach(async () => {
    bench = await webhookBench();
    [message] = (await bench.told('acme')).messages as [DueDelivery];
  });
  afterEach(() => bench.dispose());

  /** A process that sends, with what its requests come to. */
  const process = (transport: SendDeps['transport'], parts: Partial<SendDeps> = {}) => {
    const deps = {
      ...bench.sendDeps(transport),
      isLeft: attemptWatch(() => bench.time.monotonicMs),
      ...parts,
    };
    return { send: (signal = NEVER) => sendDelivery(deps, message, signal) };
  };
  const typesOf = async () =>
    (await eventsOf(bench.store, `webhookDelivery-${message.delivery_id}`)).map(({ type, data }) => [
      type.replace('WebhookDelivery', ''),
      data['attempt'],
    ]);
  const change = (url: string) =>
    bench.webhooks.change(message, { ...bench.settings(url), enabled: true }, bench.meta());
  const webhook = async () => (await bench.streams.stateOf(message.webhook_id)).webhook!;

  it('is sent by one of two senders, and recorded as one attempt', async () => {
    let requests = 0;
    const [reached, answer] = [gate(), gate()];
    const one = process(async () => {
      requests += 1;
      reached.open();
      await answer.opened;
      return TAKEN;
    });
    const other = process(() => {
      requests += 1;
      return Promise.resolve(TAKEN);
    });
    const sending = one.send();
    await reached.opened;
    expect(await other.send()).to.deep.equal({ kind: 'skipped' });
    answer.open();
    expect((await sending).kind).to.equal('delivered');
    expect(await other.send()).to.deep.equal({ kind: 'skipped' });
    expect(requests).to.equal(1);
    expect(await typesOf()).to.deep.equal([
      ['Started', 1],
      ['Attempted', 1],
    ]);
  });

  it('is sent by one of two senders that begin at once', async () => {
    let requests = 0;
    const senders = Array.from({ length: 4 }, () =>
      process(() => {
        requests += 1;
        return Promise.resolve(TAKEN);
      }),
    );
    const outcomes = await Promise.all(senders.map(({ send }) => send()));
    expect(outcomes.filter(({ kind }) => kind === 'delivered')).to.have.lengthOf(1);
    expect(requests).to.equal(1);
  });

  it('of a sender that says nothing is taken over by the watcher’s own clock, and both attempts count', async () => {
    const [reached, answer] = [gate(), gate()];
    const paused = process(async () => {
      reached.open();
      await answer.opened;
      return { error: 'timeout', response_status: null, retryAfterMs: 0 };
    });
    const sending = paused.send();
    await reached.opened;
    const successor = process(() => Promise.resolve(TAKEN));
    bench.time.now = '2026-02-01T08:00:00.000Z';
    expect((await successor.send()).kind, 'a day later by the clock of another machine').to.equal('skipped');
    bench.time.monotonicMs += 29_999;
    expect((await successor.send()).kind).to.equal('skipped');
    bench.time.monotonicMs += 1;
    expect((await successor.send()).kind).to.equal('delivered');
    answer.open();
    await sending;
    expect(await typesOf()).to.deep.equal([
      ['Started', 1],
      ['Started', 2],
      ['Attempted', 2],
      ['Attempted', 1],
    ]);
    const state = await bench.deliveries.stateOf(message.delivery_id);
    expect(state).to.deep.include({ attempts: 2, delivered: true, next_attempt_at: null });
  });

  it('is not sent by one that was overtaken between its look and its request', async () => {
    let requests = 0;
    const [reached, go] = [gate(), gate()];
    const late = process(
      () => {
        requests += 1;
        return Promise.resolve(TAKEN);
      },
      {
        objects: {
          ...bench.sendDeps(() => Promise.resolve(TAKEN)).objects,
          get: async (key) => {
            reached.open();
            await go.opened;
            return bench.sendDeps(() => Promise.resolve(TAKEN)).objects.get(key);
          },
        },
      },
    );
    const sending = late.send();
    await reached.opened;
    await process(() => Promise.resolve(TAKEN)).send();
    go.open();
    expect((await sending).kind).to.equal('skipped');
    expect(requests).to.equal(0);
  });

  it('to a URL that answers 410 disables the webhook where it is still told there', async () => {
    await process(async () => {
      await change('https://elsewhere.example.com');
      return GONE;
    }).send();
    expect(await webhook()).to.deep.include({ enabled: true, disabled_reason: null });
    bench.time.now = '2026-02-01T08:00:00.000Z';
    await process(() => Promise.resolve(GONE)).send();
    expect(await webhook()).to.deep.include({ enabled: false, disabled_reason: 'gone' });
  });

  it('that fails once since the webhook was enabled again does not disable it', async () => {
    const since = bench.time.now;
    bench.time.now = '2026-02-05T08:00:00.000Z';
    await change('https://elsewhere.example.com');
    const failing = process(
      () => Promise.resolve({ error: 'timeout', response_status: null, retryAfterMs: 0 }),
      {
        failingSince: () => Promise.resolve({ failing_since: since }),
      },
    );
    await failing.send();
    expect(await webhook()).to.deep.include({ enabled: true });
    bench.time.now = '2026-02-08T08:00:00.000Z';
    await failing.send();
    expect(await webhook()).to.deep.include({ enabled: false, disabled_reason: 'failing' });
  });
});
