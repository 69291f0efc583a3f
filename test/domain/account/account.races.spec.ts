import { expect } from 'chai';
import type { AccountCommand } from '../../../domain/account/messages.ts';
import { account } from '../../../domain/account/account.ts';
import { availableIn } from '../../../domain/account/state.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { adjust, charge, hold, refund, release, sell, settle } from '../../support/money/moneyCommands.ts';
import { after } from '../../support/specFor.ts';

/** Two commands in the order given, as one batch decides them; what became of each, and the end. */
const batch = (past: readonly AccountCommand[], commands: readonly AccountCommand[]) => {
  let state = after(account, past);
  const outcomes = commands.map((command) => {
    const decision = account.decide(state, command);
    if (decision.kind === 'rejected') return decision.rejection.code;
    state = decision.events.reduce(account.evolve, state);
    return decision.events.length === 0 ? 'repeat' : 'done';
  });
  return { outcomes, state };
};

const bothWays = (
  past: readonly AccountCommand[],
  [a, b]: readonly [AccountCommand, AccountCommand],
  second: readonly [whenAFirst: string, whenBFirst: string],
) => {
  for (const [order, expected] of [
    [[a, b], second[0]],
    [[b, a], second[1]],
  ] as const) {
    const { outcomes, state } = batch(past, order);
    expect(outcomes).to.deep.equal(['done', expected]);
    expect(availableIn(state)).to.be.at.least(0);
  }
};

describe('commands that race, in either order', () => {
  it('takes one of a refund and a charge of the same credits', () => {
    const all = refund({ gross_amount_minor: 1_190 });
    bothWays([sell()], [all, charge(1_000)], ['insufficient_credits', 'insufficient_balance']);
  });

  it('takes one of a refund and a hold of the same credits', () => {
    const all = refund({ gross_amount_minor: 1_190 });
    bothWays([sell()], [all, hold(75)], ['insufficient_credits', 'insufficient_balance']);
  });

  it('takes one of two refunds of the same money', () => {
    const other = refund({ provider_txn_id: 'ref_2', gross_amount_minor: 1_190 });
    bothWays(
      [sell()],
      [refund({ gross_amount_minor: 1_190 }), other],
      ['refund_exceeds_original', 'refund_exceeds_original'],
    );
  });

  it('takes one of settle and expiry of the same hold', () => {
    bothWays(
      [adjust(400), hold(60)],
      [settle(60), release({ reason: 'expired' })],
      ['hold_not_open', 'hold_not_open'],
    );
  });

  it('takes one of a clawback and a hold of the same credits', () => {
    bothWays([adjust(400)], [adjust(-400), hold(60)], ['insufficient_credits', 'insufficient_balance']);
  });

  for (const [name, past, command, again = 'repeat'] of [
    ['sale', [], sell()],
    ['refund', [sell()], refund({ gross_amount_minor: 100 })],
    ['adjustment', [], adjust(5, { idempotency_key: 'k' })],
    ['hold', [], hold(5)],
    ['settle', [hold(5)], settle(5), 'hold_not_open'],
    ['release', [hold(5)], release(), 'hold_not_open'],
    ['charge', [sell()], charge(5)],
  ] as const)
    it(`takes a ${name} once when it comes 50 times in one batch`, () => {
      const { outcomes, state } = batch(
        past,
        Array.from({ length: 50 }, () => command),
      );
      expect(outcomes.filter((outcome) => outcome === 'done')).to.have.length(1);
      expect(outcomes.filter((outcome) => outcome === again)).to.have.length(49);
      expect(state.balance).to.equal(batch(past, [command]).state.balance);
    });

  it('does not let a rejected neighbour spoil the rest of a batch', () => {
    const { outcomes } = batch(
      [adjust(100)],
      [
        charge(60, { paid_plan_required: false }),
        charge(60, { paid_plan_required: false, idempotency_key: 'k2' }),
        charge(40, { paid_plan_required: false, idempotency_key: 'k3', credits: asCredits(40) }),
      ],
    );
    expect(outcomes).to.deep.equal(['done', 'insufficient_credits', 'done']);
  });
});
