import { allKept } from '../../../domain/kernel/history.ts';
import { expect } from 'chai';
import {
  accountStream,
  type GrantCredits,
  paymentStream,
  type RefundCredits,
  type ReverseRefund,
} from '../../../domain/account/messages.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import { accountWriter, type AccountWriter } from '../../../src/writer/accountWriter.ts';
import { holdSweeper } from '../../../src/commands/holds.ts';
import { payments, type PaymentResult } from '../../../src/commands/money/payments.ts';
import { adjustment, charge, NOW, refund, reversal, sale } from '../../support/money/accountCommands.ts';
import { eventsOf, LOGS, type LogUnderTest } from '../../support/logs/eventLogs.ts';

const claimOf = (txn: string) => paymentStream({ provider: 'stripe', provider_txn_id: txn });
const credited = (results: readonly PaymentResult[]) => results.filter((result) => result.credited).length;
const codeOf = ({ outcome }: PaymentResult) =>
  outcome.kind === 'rejected' ? outcome.rejection.code : outcome.kind;

/** Claims as a process does that dies before its account hears of it. */
const claimAndDie = (
  store: EventStore,
  writer: AccountWriter,
  command: GrantCredits | RefundCredits | ReverseRefund,
) =>
  new Promise<void>((died) => {
    const dying: AccountWriter = {
      ...writer,
      execute: () => {
        died();
        return new Promise(() => undefined);
      },
    };
    const pay = payments({ store, writer: dying });
    if (command.type === 'GrantCredits') void pay.sellCredits(command);
    else if (command.type === 'RefundCredits') void pay.refundCredits(command);
    else void pay.reverseRefund(command);
  });

for (const { name, open } of LOGS)
  describe(`payments, ${name}`, () => {
    let log: LogUnderTest;
    beforeEach(async () => {
      log = await open();
    });
    afterEach(() => log.dispose());

    const setUp = () => {
      const { store } = log;
      const writer = accountWriter({ store });
      const types = async (stream: string) => (await eventsOf(store, stream)).map(({ type }) => type);
      return { store, writer, types, pay: payments({ store, writer }) };
    };

    it('claims, then grants', async () => {
      const { pay, types, writer } = setUp();
      const result = await pay.sellCredits(sale('t', 1000, 'p1'));
      expect(result.credited).to.equal(true);
      expect(await types(claimOf('p1'))).to.deep.equal(['PaymentClaimed']);
      expect(await types(accountStream('t'))).to.deep.equal(['AccountOpened', 'CreditsGranted', 'PlanSet']);
      expect((await writer.stateOf('t')).balance).to.equal(1000);
    });

    it('reverses a refund once of fifty that come at once, claimed as sales are', async () => {
      const { pay, types, writer } = setUp();
      await pay.sellCredits(sale('t', 1000, 'p1'));
      const made = refund('t', 400, { txn: 're', original: 'p1' });
      await pay.refundCredits(made);
      const won = reversal('t', made.data, 'won');
      const results = await Promise.all(Array.from({ length: 50 }, () => pay.reverseRefund(won)));
      expect(credited(results)).to.equal(1);
      expect(await types(claimOf('won'))).to.deep.equal(['PaymentClaimed']);
      expect((await writer.stateOf('t')).balance).to.equal(1000);
      expect(codeOf(await pay.sellCredits(sale('u', 10, 'won')))).to.equal('idempotency_key_reused');
      expect(codeOf(await pay.reverseRefund(reversal('t', made.data, 'again')))).to.equal(
        'reversal_exceeds_refund',
      );
      expect(await types(claimOf('again'))).to.deep.equal([]);
    });

    it('does what a process claimed that died before it reversed a refund', async () => {
      const { store, writer, pay } = setUp();
      await pay.sellCredits(sale('t', 1000, 'p1'));
      const made = refund('t', 400, { txn: 're', original: 'p1' });
      await pay.refundCredits(made);
      await claimAndDie(store, writer, reversal('t', made.data, 'won'));
      expect((await writer.stateOf('t', 0)).balance).to.equal(600);
      expect((await pay.finishClaim(claimOf('won'), NOW))?.kind).to.equal('done');
      expect((await writer.stateOf('t', 0)).balance).to.equal(1000);
    });

    it('credits one of fifty that come at once, and the others are repeats', async () => {
      const { pay, writer } = setUp();
      const results = await Promise.all(
        Array.from({ length: 50 }, () => pay.sellCredits(sale('t', 1000, 'p1'))),
      );
      expect(credited(results)).to.equal(1);
      expect(results.every(({ outcome }) => outcome.kind === 'done')).to.equal(true);
      expect((await writer.stateOf('t')).balance).to.equal(1000);
    });

    it('refuses another payload, and a refund, under the same identity', async () => {
      const { pay, writer } = setUp();
      await pay.sellCredits(sale('t', 1000, 'p1'));
      expect(codeOf(await pay.sellCredits(sale('t', 2000, 'p1')))).to.equal('idempotency_key_reused');
      const same = { txn: 'p1', original: 'p1' };
      expect(codeOf(await pay.refundCredits(refund('t', 10, same)))).to.equal('idempotency_key_reused');
      expect((await writer.stateOf('t')).balance).to.equal(1000);
    });

    it('lets one tenant of ten win a payment, in two processes', async () => {
      const { pay, store } = setUp();
      const otherWriter = accountWriter({ store });
      const other = payments({ store, writer: otherWriter });
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? pay : other).sellCredits(sale(`t${n}`, 1000, 'p1')),
        ),
      );
      expect(credited(results)).to.equal(1);
      expect(results.filter((result) => codeOf(result) === 'idempotency_key_reused')).to.have.length(9);
      let total = 0;
      for (let n = 0; n < 10; n += 1) total += (await otherWriter.stateOf(`t${n}`, 0)).balance;
      expect(total).to.equal(1000);
    });

    it('claims nothing for what the account refuses at once', async () => {
      const { pay, types } = setUp();
      const result = await pay.refundCredits(refund('t', 10, { txn: 're', original: 'never' }));
      expect(codeOf(result)).to.equal('original_grant_not_found');
      expect(await types(claimOf('re'))).to.deep.equal([]);
    });

    it('takes a refused refund again under the same identity with fewer credits', async () => {
      const { pay, writer } = setUp();
      await pay.sellCredits(sale('t', 1000, 'p1'));
      await writer.execute(charge('t', 600, 'c'));
      const ids = { txn: 're', original: 'p1' };
      expect(codeOf(await pay.refundCredits(refund('t', 1000, ids)))).to.equal('insufficient_balance');
      const smaller = await pay.refundCredits(refund('t', 400, ids));
      expect(smaller.credited).to.equal(true);
      expect((await writer.stateOf('t')).balance).to.equal(0);
    });

    it('frees the identity when the balance went away between decision and claim', async () => {
      const { store, writer, types } = setUp();
      const pay = payments({ store, writer });
      await pay.sellCredits(sale('t', 1000, 'p1'));
      const late: AccountWriter = {
        ...writer,
        execute: async (command) => {
          await writer.execute(charge('t', 600, 'in between'));
          return writer.execute(command);
        },
      };
      const ids = { txn: 're', original: 'p1' };
      const refused = await payments({ store, writer: late }).refundCredits(refund('t', 1000, ids));
      expect(codeOf(refused)).to.equal('insufficient_balance');
      expect(await types(claimOf('re'))).to.deep.equal(['PaymentClaimed', 'PaymentReleased']);
      expect((await pay.refundCredits(refund('t', 400, ids))).credited).to.equal(true);
      expect(await types(claimOf('re'))).to.deep.equal([
        'PaymentClaimed',
        'PaymentReleased',
        'PaymentClaimed',
      ]);
    });

    it('finishes on retry what a crash left between claim and grant', async () => {
      const { store, writer, pay, types } = setUp();
      const command = sale('t', 1000, 'p1');
      await claimAndDie(store, writer, command);
      expect(await types(accountStream('t'))).to.deep.equal([]);
      // A client that asks again sends another grant ID; the one first claimed counts.
      const retried = await pay.sellCredits(sale('t', 1000, 'p1'));
      expect(retried.credited).to.equal(true);
      const state = await writer.stateOf('t');
      expect(state.balance).to.equal(1000);
      expect([...allKept(state.sales)][0]?.sale.grant_id).to.equal(command.data.grant_id);
    });

    it('finishes by the sweeper what a crash left, once, in any number of processes', async () => {
      const { store, writer } = setUp();
      await claimAndDie(store, writer, sale('t', 1000, 'p1'));
      const sweepers = [1, 2, 3].map(() => {
        const own = accountWriter({ store });
        return holdSweeper({
          writer: own,
          payments: payments({ store, writer: own }),
          clock: { now: () => NOW },
          openHoldsBefore: () => Promise.resolve([]),
          openClaimsBefore: () => Promise.resolve([claimOf('p1')]),
          openTransfersBefore: () => Promise.resolve([]),
        });
      });
      const reports = await Promise.all(sweepers.map((sweeper) => sweeper.sweep()));
      expect(reports.every(({ finished, left }) => finished === 1 && left === 0)).to.equal(true);
      expect((await writer.stateOf('t', 0)).balance).to.equal(1000);
    });

    it('gives the identity to a new payload when the claimed one never took effect and cannot', async () => {
      const { store, writer, pay } = setUp();
      await pay.sellCredits(sale('t', 1000, 'p1'));
      const ids = { txn: 're', original: 'p1' };
      await claimAndDie(store, writer, refund('t', 1000, ids));
      await writer.execute(charge('t', 600, 'c'));
      expect((await pay.refundCredits(refund('t', 400, ids))).credited).to.equal(true);
      expect((await writer.stateOf('t')).balance).to.equal(0);
    });

    it('finishes an open claim of another tenant before it refuses', async () => {
      const { store, writer, pay } = setUp();
      await claimAndDie(store, writer, sale('first', 1000, 'p1'));
      expect(codeOf(await pay.sellCredits(sale('second', 1000, 'p1')))).to.equal('idempotency_key_reused');
      expect((await writer.stateOf('first')).balance).to.equal(1000);
      expect((await writer.stateOf('second')).opened).to.equal(false);
    });

    it('says who it is for: the answer to a repeat has the original sale', async () => {
      const { pay } = setUp();
      const original: GrantCredits = sale('t', 1000, 'p1');
      await pay.sellCredits(original);
      const { outcome, credited: again } = await pay.sellCredits(sale('t', 1000, 'p1'));
      expect(again).to.equal(false);
      if (outcome.kind !== 'done') throw new Error(outcome.kind);
      expect([...allKept(outcome.state.sales)].map((one) => one.sale.grant_id)).to.deep.equal([
        original.data.grant_id,
      ]);
    });

    it('is busy, and claims nothing, while the log cannot be read', async () => {
      const { store, writer } = setUp();
      await writer.execute(adjustment('t', 1));
      const blind = accountWriter({
        store: {
          ...store,
          read: () => {
            throw new Error('no log');
          },
        },
      });
      const result = await payments({ store, writer: blind }).sellCredits(sale('t', 1000, 'p1'));
      expect(result).to.deep.equal({ outcome: { kind: 'busy' }, credited: false });
      expect(await eventsOf(store, claimOf('p1'))).to.deep.equal([]);
    });
  });
