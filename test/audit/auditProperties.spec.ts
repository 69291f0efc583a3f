import { expect } from 'chai';
import fc from 'fast-check';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { balancesAt } from '../../src/audit/accounts.ts';
import { runAudit } from '../../src/audit/runAudit.ts';
import { anyCommand } from '../support/money/accountArbitrary.ts';
import { adjust, dispute, hold, NOW, release, sell } from '../support/money/moneyCommands.ts';
import { tradedLog, type TradedLog } from './tradedLog.ts';

const TENANTS = ['a', 'b'] as const;

/** What two tenants do one after the other; operations are a tenant's own. */
const trades = fc.array(fc.tuple(fc.constantFrom(...TENANTS), anyCommand), { maxLength: 60 });

type History = typeof trades extends fc.Arbitrary<infer T> ? T : never;

const traded = (history: History): TradedLog => {
  const log = tradedLog();
  for (const [tenant, command] of history) {
    if (command.type !== 'HoldCredits') log.execute(tenant, command);
    else {
      const operation_id = `${tenant}_${command.data.operation_id}`;
      log.execute(tenant, { ...command, data: { ...command.data, operation_id } });
    }
  }
  return log;
};

/** Another operation takes the ID of a hold that was released just before. */
const REUSED_ID: History = [
  ['b', hold(0, { hold_id: 'h5', operation_id: 'o1' })],
  ['b', release({ hold_id: 'h5' })],
  ['b', hold(1, { hold_id: 'h5', operation_id: 'o2' })],
];

/** One transaction of two providers is a dispute of one tenant's sale and of another's. */
const TWO_PROVIDERS: History = [
  ['a', sell({ provider_txn_id: 't4' })],
  ['b', sell({ provider_txn_id: 't3' })],
  ['a', dispute({}, { provider_txn_id: 't2', original_provider_txn_id: 't4' })],
  ['b', dispute({}, { provider: 'manual', provider_txn_id: 't2', original_provider_txn_id: 't3' })],
];

const audited = async (log: TradedLog) => (await runAudit({ feed: log, dense: true })).report;

describe('the audit of random trading', () => {
  it('finds nothing in what the rules of the account allow', async () => {
    await fc.assert(
      fc.asyncProperty(trades, async (history) => {
        const report = await audited(traded(history));
        expect(report.findings).to.deep.equal([]);
      }),
      { numRuns: 300, examples: [[REUSED_ID], [TWO_PROVIDERS]] },
    );
  });

  it('adds up the balances that the accounts have', async () => {
    await fc.assert(
      fc.asyncProperty(trades, async (history) => {
        const log = traded(history);
        for (const row of await balancesAt(log, { at: NOW })) {
          const state = log.stateOf(row.tenant_id);
          expect(row).to.include({
            plan: state.plan,
            balance_credits: String(state.balance),
            held_credits: String(state.held),
            free_pages_used: String(state.free_pages_used),
            free_pages_held: String(state.free_pages_held),
          });
        }
      }),
      { numRuns: 100 },
    );
  });

  it('finds every event that is taken out of it, changed in it, or changes places', async () => {
    const tampering = fc.constantFrom('drop', 'change', 'swap');
    await fc.assert(
      fc.asyncProperty(trades, fc.nat(), tampering, async (history, at, how) => {
        const log = traded(history);
        const { events } = log;
        const index = at % (events.length - 1);
        const [one, next] = [events[index]!, events[index + 1]!];
        const as = (event: RecordedEvent, place: RecordedEvent): RecordedEvent => ({
          ...place,
          type: event.type,
          data: event.data,
          metadata: event.metadata,
        });
        if (how === 'drop') events.splice(index, 1);
        else if (how === 'change') events[index] = { ...one, data: { ...one.data, note: 'changed' } };
        else events.splice(index, 2, as(next, one), as(one, next));
        expect((await audited(log)).total).to.be.greaterThan(0);
      }),
      { numRuns: 200 },
    );
  });

  it('says what a tenant had at a moment, and nothing of what came later', async () => {
    const log = tradedLog();
    for (const tenant of TENANTS) log.execute(tenant, adjust(500));
    expect(await balancesAt(log, { at: '2026-01-01T00:00:00.000Z' })).to.deep.equal([]);
    expect(await balancesAt(log, { at: NOW })).to.have.length(2);
    const [one, ...others] = await balancesAt(log, { at: NOW, tenant: 'a' });
    expect(one).to.include({ tenant_id: 'a', balance_credits: '500', adjusted_credits: '500' });
    expect(others).to.be.empty;
  });
});
