import { expect } from 'chai';
import type { FxDay } from '../../domain/fxRates.ts';
import { systemClock } from '../../adapters/local/local.ts';
import { referenceData } from '../../src/commands/reference.ts';
import { importRates } from '../../src/operator/records.ts';
import { eventsOf } from '../support/logs/eventLogs.ts';
import { memoryEventStore } from '../support/logs/memoryEventStore.ts';

const day = (date: string, USD: string): FxDay => ({ date, base: 'EUR', rates: { USD } });

const importing = () => {
  const store = memoryEventStore();
  const clock = systemClock();
  const take = (days: readonly FxDay[], supersede = false) =>
    importRates({ reference: referenceData({ store }), clock }, { days, source: 'ecb', supersede });
  return { store, take };
};

const failure = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing failed',
    (error: unknown) => (error as Error).message,
  );

describe('importing exchange rates', () => {
  it('adds days that are new, and passes over those that are known', async () => {
    const { store, take } = importing();
    const days = [day('2026-01-30', '1.0842'), day('2026-02-02', '1.1')];
    expect(await take(days)).to.include({ days: 2, added: 2, unchanged: 0, first: '2026-01-30' });
    const again = [...days, day('2026-02-03', '1.2')].map((one) => ({
      ...one,
      rates: { USD: `${one.rates['USD']!}0` },
    }));
    expect(await take(again)).to.include({ added: 1, unchanged: 2, superseded: 0 });
    expect(await eventsOf(store, 'fxRates')).to.have.length(3);
  });

  it('refuses a file that says otherwise, whole, unless it supersedes', async () => {
    const { store, take } = importing();
    await take([day('2026-01-30', '1.0842')]);
    const other = [day('2026-01-30', '1.09'), day('2026-02-02', '1.1')];
    expect(await failure(take(other))).to.contain('2026-01-30 USD: 1.0842 is known, the file says 1.09');
    expect(await eventsOf(store, 'fxRates')).to.have.length(1);
    expect(await take(other, true)).to.include({ added: 1, superseded: 1 });
    expect(await take(other)).to.include({ added: 0, unchanged: 2 });
  });

  it('takes many days in several appends', async () => {
    const { store, take } = importing();
    const days = Array.from({ length: 900 }, (_, at) =>
      day(new Date(Date.UTC(2020, 0, 1 + at)).toISOString().slice(0, 10), `1.${String(at + 1)}`),
    );
    expect(await take(days)).to.include({ added: 900 });
    expect(await take(days)).to.include({ unchanged: 900 });
    expect(await eventsOf(store, 'fxRates')).to.have.length(900);
  });
});
