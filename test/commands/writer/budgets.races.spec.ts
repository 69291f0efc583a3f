import { expect } from 'chai';
import { budgetIn } from '../../../domain/account/budgetTotals.ts';
import { accountStream } from '../../../domain/account/messages.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { accountCodec, accountWriter } from '../../../src/writer/accountWriter.ts';
import { budgetFindings } from '../../audit/budgetFindings.ts';
import { adjustment, charge, hold, metaOf, release, settle } from '../../support/money/accountCommands.ts';
import { budget } from '../../support/money/moneyCommands.ts';
import { eventsOf, LOGS } from '../../support/logs/eventLogs.ts';

/** 200 by hand: `npm run spec -- test/commands/writer/budgets.races.spec.ts --rounds`. */
const ROUNDS = process.argv.includes('--rounds') ? 200 : 10;
const [CALLS, WRITERS, ROOM, EACH] = [50, 3, 10, 40];

for (const { name, open } of LOGS)
  describe(`a budget under races, ${name}`, () => {
    for (const [how, take] of [
      ['holds', (t: string, n: number) => hold(t, `h${n}`, EACH)],
      ['charges', (t: string, n: number) => charge(t, EACH, `c${n}`)],
    ] as const)
      it(`lets ten of ${CALLS} ${how} at once over ${WRITERS} writers pass where ten fit, ${ROUNDS}×`, async () => {
        const log = open();
        for (let round = 0; round < ROUNDS; round += 1) {
          const tenant = `t${round}`;
          const writers = Array.from({ length: WRITERS }, () =>
            accountWriter({ store: log.store, attemptsMax: 60 }),
          );
          const [first] = writers;
          await first!.execute(adjustment(tenant, 100_000));
          const data = { ...budget().data, tenant_id: tenant, limit_credits: asCredits(ROOM * EACH) };
          await first!.execute({ type: 'SetBudget', data, meta: metaOf() });
          const outcomes = await Promise.all(
            Array.from({ length: CALLS }, (_, n) => writers[n % WRITERS]!.execute(take(tenant, n))),
          );
          const kinds = outcomes.map((one) => (one.kind === 'rejected' ? one.rejection.code : one.kind));
          expect(kinds.filter((one) => one === 'done')).to.have.length(ROOM);
          expect(kinds.filter((one) => one === 'budget_reached')).to.have.length(CALLS - ROOM);
          const events = await eventsOf(log.store, accountStream(tenant));
          expect(budgetFindings(events)).to.deep.equal([]);
          const { budgets } = await writers[1]!.stateOf(tenant, 0);
          const { used = 0, held = 0 } = budgetIn(budgets, 'bgt_1') ?? {};
          expect(used + held).to.equal(ROOM * EACH);
        }
        await log.dispose();
      });

    it('is never passed while holds are settled and given back, and its log is what an auditor derives', async () => {
      const log = open();
      const writers = Array.from({ length: WRITERS }, () =>
        accountWriter({ store: log.store, attemptsMax: 60 }),
      );
      await writers[0]!.execute(adjustment('t', 100_000));
      const data = { ...budget().data, tenant_id: 't', limit_credits: asCredits(ROOM * EACH) };
      await writers[0]!.execute({ type: 'SetBudget', data, meta: metaOf() });
      await Promise.all(
        Array.from({ length: 60 }, async (_, n) => {
          const writer = writers[n % WRITERS]!;
          const held = await writer.execute(hold('t', `h${n}`, EACH));
          if (held.kind !== 'done') return;
          const other = writers[(n + 1) % WRITERS]!;
          await other.execute(n % 3 === 0 ? settle('t', `h${n}`, EACH) : release('t', `h${n}`));
        }),
      );
      const events = await eventsOf(log.store, accountStream('t'));
      expect(budgetFindings(events)).to.deep.equal([]);
      expect(events.some((one) => accountCodec.decode(one).type === 'BudgetAlerted')).to.equal(true);
      await log.dispose();
    });
  });
