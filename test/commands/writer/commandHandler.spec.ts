import { expect } from 'chai';
import { payment, paymentCodec, type PaymentCommand } from '../../../domain/payment.ts';
import { commandHandler } from '../../../src/writer/commandHandler.ts';
import { metaOf } from '../../support/money/accountCommands.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { memoryEventStore, type Fault } from '../../support/logs/memoryEventStore.ts';

const INTENT = { type: 'Unreadable', stored: {} } as const;

const claim = (tenant_id: string): PaymentCommand => ({
  type: 'ClaimPayment',
  data: { provider: 'p', provider_txn_id: 'x', tenant_id, kind: 'sale', fingerprint: 'f', intent: INTENT },
  meta: metaOf(),
});

const setUp = (deadlineMs = 30_000) => {
  const store = memoryEventStore();
  const handle = commandHandler({
    decider: payment,
    codec: paymentCodec,
    store,
    tenantOf: () => null,
    options: { deadlineMs, appendTimeoutMs: 20, random: () => 0 },
  });
  return { store, handle };
};

describe('command handler', () => {
  it('lets one of two commands at the same time win; the other sees it', async () => {
    const { store, handle } = setUp();
    const outcomes = await Promise.all(['a', 'b'].map((tenant) => handle('payment-x', claim(tenant))));
    expect(outcomes.map(({ kind }) => kind).sort()).to.deep.equal(['done', 'rejected']);
    expect(await eventsOf(store, 'payment-x')).to.have.length(1);
  });

  it('does nothing for a repeat', async () => {
    const { store, handle } = setUp();
    await handle('payment-x', claim('a'));
    expect(await handle('payment-x', claim('a'))).to.deep.include({ kind: 'done', events: [], position: 1n });
    expect(await eventsOf(store, 'payment-x')).to.have.length(1);
  });

  for (const fault of ['unknown', 'commit_then_unknown', 'commit_then_silence', 'throw'] as const)
    it(`${fault}: appends exactly once`, async () => {
      const { store, handle } = setUp();
      store.script.push(fault);
      expect((await handle('payment-x', claim('a'))).kind).to.equal('done');
      expect(await eventsOf(store, 'payment-x')).to.have.length(1);
    });

  it('is unknown after its deadline', async () => {
    const { store, handle } = setUp(150);
    store.script.push(...Array.from<Fault>({ length: 50 }).fill('silence'));
    expect((await handle('payment-x', claim('a'))).kind).to.equal('unknown');
  });

  it('writes nothing that was decided before its process stood still', async () => {
    const store = memoryEventStore();
    const now = performance.now.bind(performance);
    const handle = commandHandler({
      decider: payment,
      codec: paymentCodec,
      store,
      tenantOf: () => null,
      mayAppend: () => {
        Object.defineProperty(performance, 'now', { value: () => now() + 600_000, configurable: true });
        return Promise.resolve(true);
      },
    });
    try {
      expect((await handle('payment-x', claim('a'))).kind).to.equal('contended');
    } finally {
      Reflect.deleteProperty(performance, 'now');
    }
    expect(await eventsOf(store, 'payment-x')).to.have.length(0);
  });

  it('is busy when the log cannot be read', async () => {
    const { store, handle } = setUp();
    store.readsFail = true;
    expect((await handle('payment-x', claim('a'))).kind).to.equal('busy');
  });
});
