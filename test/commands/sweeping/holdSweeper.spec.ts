import { expect } from 'chai';
import { accountStream } from '../../../domain/account/messages.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import { holdSweeper, type HoldSweeperDeps } from '../../../src/commands/holds.ts';
import { adjustment, hold, settle } from '../../support/money/accountCommands.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';

const LATER = '2026-01-31T09:00:00.000Z';

const setUp = async (options: Partial<HoldSweeperDeps> = {}) => {
  const store = memoryEventStore();
  const writer = accountWriter({ store });
  await writer.execute(adjustment('t', 100, 'start'));
  const sweeperOn = (own = writer) =>
    holdSweeper({
      writer: own,
      payments: { finishClaim: () => Promise.resolve(undefined) },
      clock: { now: () => LATER },
      openHoldsBefore: () => Promise.resolve([{ tenant_id: 't', hold_id: 'h' }]),
      openClaimsBefore: () => Promise.resolve([]),
      openTransfersBefore: () => Promise.resolve([]),
      ...options,
    });
  return { store, writer, sweeperOn };
};

describe('hold sweeper', () => {
  it('releases a hold that ran out', async () => {
    const { writer, store, sweeperOn } = await setUp();
    await writer.execute(hold('t', 'h', 30));
    expect(await sweeperOn().sweep()).to.deep.equal({
      released: 1,
      finished: 0,
      arrived: 0,
      priced: 0,
      left: 0,
    });
    expect(await writer.stateOf('t')).to.include({ balance: 100, held: 0 });
    const released = (await eventsOf(store, accountStream('t'))).at(-1);
    expect(released?.data).to.include({ hold_id: 'h', reason: 'expired' });
  });

  it('releases as of now, though it stood still since it was told what ran out', async () => {
    let now = LATER;
    const { writer, store, sweeperOn } = await setUp({
      clock: { now: () => now },
      openHoldsBefore: () => {
        now = '2026-01-31T11:00:00.000Z';
        return Promise.resolve([{ tenant_id: 't', hold_id: 'h' }]);
      },
    });
    await writer.execute(hold('t', 'h', 30));
    await sweeperOn().sweep();
    expect((await eventsOf(store, accountStream('t'))).at(-1)?.metadata).to.include({ recorded_at: now });
  });

  it('leaves a hold alone that was settled meanwhile', async () => {
    const { writer, store, sweeperOn } = await setUp();
    await writer.execute(hold('t', 'h', 30));
    await writer.execute(settle('t', 'h', 30));
    expect((await sweeperOn().sweep()).left).to.equal(0);
    expect((await eventsOf(store, accountStream('t'))).at(-1)?.type).to.equal('CreditsBurned');
  });

  it('releases once, however many sweep and settle at the same time', async () => {
    const { writer, store, sweeperOn } = await setUp();
    await writer.execute(hold('t', 'h', 30));
    const sweepers = [1, 2, 3].map(() => sweeperOn(accountWriter({ store })));
    await Promise.all([...sweepers.map((one) => one.sweep()), writer.execute(settle('t', 'h', 10))]);
    const closed = (await eventsOf(store, accountStream('t'))).filter(
      ({ type }) => type === 'HoldReleased' || type === 'CreditsBurned',
    );
    expect(closed).to.have.length(1);
    expect((await writer.stateOf('t', 0)).held).to.equal(0);
  });

  it('goes on after one that fails, and counts it as left', async () => {
    const errors: unknown[] = [];
    const { writer, sweeperOn } = await setUp({
      openClaimsBefore: () => Promise.resolve(['payment-a', 'payment-b']),
      payments: {
        finishClaim: (stream) =>
          stream === 'payment-a' ? Promise.reject(new Error('broken')) : Promise.resolve({ kind: 'busy' }),
      },
      onError: (error) => errors.push(error),
    });
    await writer.execute(hold('t', 'h', 30));
    expect(await sweeperOn().sweep()).to.deep.equal({
      released: 1,
      finished: 0,
      arrived: 0,
      priced: 0,
      left: 2,
    });
    expect(errors).to.have.length(1);
  });

  it('asks only for claims older than a minute', async () => {
    const asked: string[] = [];
    const { sweeperOn } = await setUp({
      openClaimsBefore: (before) => {
        asked.push(before);
        return Promise.resolve([]);
      },
    });
    await sweeperOn().sweep();
    expect(asked).to.deep.equal(['2026-01-31T08:59:00.000Z']);
  });

  it('sweeps at start, and stops', async () => {
    const { writer, sweeperOn } = await setUp();
    await writer.execute(hold('t', 'h', 30));
    const sweeper = sweeperOn();
    sweeper.start();
    await sweeper.stop();
    expect((await writer.stateOf('t')).held).to.equal(0);
  });
});
