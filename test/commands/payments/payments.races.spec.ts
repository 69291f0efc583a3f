import { allKept } from '../../../domain/kernel/history.ts';
import { expect } from 'chai';
import { account } from '../../../domain/account/account.ts';
import { availableIn, type AccountState } from '../../../domain/account/state.ts';
import { accountStream } from '../../../domain/account/messages.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import { accountCodec, accountWriter } from '../../../src/writer/accountWriter.ts';
import { payments, type PaymentResult } from '../../../src/commands/money/payments.ts';
import { charge, hold, refund, release, sale, settle } from '../../support/money/accountCommands.ts';
import { eventsOf, LOGS, type LogUnderTest } from '../../support/logs/eventLogs.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';

const SEED = 20_261_121;
const HISTORIES = 25;

const codeOf = ({ outcome }: Pick<PaymentResult, 'outcome'>) =>
  outcome.kind === 'rejected' ? outcome.rejection.code : outcome.kind;
const credited = (results: readonly PaymentResult[]) => results.filter((result) => result.credited).length;
const many = <T>(times: number, make: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: times }, (_, n) => make(n)));

/** What must hold after every event, on both axes of every sale. */
const check = (state: AccountState): void => {
  expect(state.balance).to.be.at.least(0);
  expect(state.held).to.be.at.least(0);
  expect(availableIn(state)).to.be.at.least(0);
  expect(state.balance).to.equal(state.purchased + state.adjusted - state.used);
  for (const { sale: sold, refunded_credits, refunded_gross_minor } of allKept(state.sales)) {
    expect(refunded_credits).to.be.within(0, sold.credits);
    expect(refunded_gross_minor).to.be.within(0, sold.gross_amount_minor ?? 0);
  }
};

const audited = async (store: EventStore): Promise<AccountState> => {
  let state = account.initialState;
  for (const recorded of await eventsOf(store, accountStream('t'))) {
    state = account.evolve(state, accountCodec.decode(recorded));
    check(state);
  }
  return state;
};

for (const { name, open } of LOGS)
  describe(`payments under races, ${name}, seed ${SEED}`, () => {
    let log: LogUnderTest;
    beforeEach(async () => {
      log = await open();
    });
    afterEach(() => log.dispose());

    /** Processes that know nothing of one another but the log. */
    const processes = (count: number) =>
      Array.from({ length: count }, () => {
        const writer = accountWriter({ store: log.store });
        return { writer, pay: payments({ store: log.store, writer }) };
      });
    const two = () =>
      processes(2) as unknown as [ReturnType<typeof processes>[0], ReturnType<typeof processes>[0]];

    for (const times of [2, 10, 50])
      it(`credits one of ${times} sales of one payment, in two processes`, async () => {
        const both = two();
        const results = await many(times, (n) => both[n % 2]!.pay.sellCredits(sale('t', 1000, 'p1')));
        expect(credited(results)).to.equal(1);
        expect(results.map(codeOf)).to.deep.equal(results.map(() => 'done'));
        expect((await audited(log.store)).balance).to.equal(1000);
      });

    it('takes one of two full refunds of a sale', async () => {
      const both = two();
      await both[0].pay.sellCredits(sale('t', 1000, 'p1'));
      const results = await many(2, (n) =>
        both[n]!.pay.refundCredits(refund('t', 1000, { txn: `re${n}`, original: 'p1' })),
      );
      expect(results.map(codeOf).sort()).to.deep.equal(['done', 'refund_exceeds_original']);
      expect((await audited(log.store)).balance).to.equal(0);
    });

    it('takes a refund once that comes fifty times', async () => {
      const both = two();
      await both[0].pay.sellCredits(sale('t', 1000, 'p1'));
      const ids = { txn: 're', original: 'p1' };
      const results = await many(50, (n) => both[n % 2]!.pay.refundCredits(refund('t', 300, ids)));
      expect(credited(results)).to.equal(1);
      expect(results.map(codeOf)).to.deep.equal(results.map(() => 'done'));
      expect((await audited(log.store)).balance).to.equal(700);
    });

    it('takes one of a refund, a charge and a hold of the same credits', async () => {
      const both = two();
      await both[0].pay.sellCredits(sale('t', 1000, 'p1'));
      const [refunded, charged, held] = await Promise.all([
        both[0].pay.refundCredits(refund('t', 700, { txn: 're', original: 'p1' })),
        both[1].writer.execute(charge('t', 700, 'c')),
        both[1].writer.execute(hold('t', 'h', 700)),
      ]);
      const codes = [codeOf(refunded), codeOf({ outcome: charged }), codeOf({ outcome: held })];
      expect(
        codes.filter((code) => code === 'done'),
        codes.join(),
      ).to.have.length(1);
      expect(availableIn(await audited(log.store))).to.equal(300);
    });

    it('refunds what is not held, and the rest once the hold is gone', async () => {
      const [{ pay, writer }] = two();
      await pay.sellCredits(sale('t', 1000, 'p1'));
      await writer.execute(hold('t', 'h', 600));
      const all = await pay.refundCredits(refund('t', 1000, { txn: 're1', original: 'p1' }));
      expect(all.outcome.kind === 'rejected' && all.outcome.rejection).to.deep.include({
        code: 'insufficient_balance',
        available_credits: 400,
        max_refundable_credits: 400,
      });
      expect((await pay.refundCredits(refund('t', 400, { txn: 're1', original: 'p1' }))).credited).to.equal(
        true,
      );
      await writer.execute(release('t', 'h'));
      expect((await pay.refundCredits(refund('t', 600, { txn: 're2', original: 'p1' }))).credited).to.equal(
        true,
      );
      expect(await audited(log.store)).to.include({ balance: 0, held: 0 });
    });

    it('frees the identity of a refund that was too large for whoever fits, once', async () => {
      const both = two();
      await both[0].pay.sellCredits(sale('t', 1000, 'p1'));
      await both[0].writer.execute(charge('t', 600, 'c'));
      const sizes = [1000, 900, 400, 300, 500, 1000, 100, 200];
      const ids = { txn: 're', original: 'p1' };
      const results = await many(sizes.length, (n) =>
        both[n % 2]!.pay.refundCredits(refund('t', sizes[n]!, ids)),
      );
      expect(credited(results)).to.equal(1);
      const taken = sizes[results.findIndex((result) => result.credited)]!;
      expect(taken).to.be.at.most(400);
      const refused = ['insufficient_balance', 'idempotency_key_reused'];
      expect(results.filter((result) => !result.credited && !refused.includes(codeOf(result)))).to.deep.equal(
        [],
      );
      expect((await audited(log.store)).balance).to.equal(400 - taken);
      expect((await both[1].pay.refundCredits(refund('t', taken, ids))).credited).to.equal(false);
    });

    it('never refunds more than was sold, nor what was used, in any order', async () => {
      for (let n = 0; n < HISTORIES; n += 1) {
        const random = seededRandom(SEED + n);
        const all = processes(3);
        const pick = () => random.pick(all);
        const before = await audited(log.store);
        await pick().pay.sellCredits(sale('t', 1000, `p${n}`));
        const ids = (txn: number) => ({ txn: `re${n}-${txn}`, original: `p${n}` });
        const steps = Array.from({ length: 12 }, (_, step) => async () => {
          const size = random.between(1, 40) * 10;
          const by = pick();
          const id = `${n}-${random.between(0, 5)}`;
          const kind = step % 4;
          if (kind < 2) return by.pay.refundCredits(refund('t', size, ids(random.between(0, 3))));
          if (kind === 2) return by.writer.execute(charge('t', size, `c${n}-${step}`));
          await by.writer.execute(hold('t', id, size));
          return by.writer.execute(random.next() < 0.5 ? settle('t', id, 1) : release('t', id));
        });
        await Promise.all(steps.map((step) => step()));
        const after = await audited(log.store);
        expect(after.purchased - before.purchased, `history ${n}`).to.be.within(0, 1000);
        for (const { writer } of all) expect((await writer.stateOf('t', 0)).balance).to.equal(after.balance);
      }
    });
  });
