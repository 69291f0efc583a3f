import { allKept } from '../../../domain/kernel/history.ts';
import { expect } from 'chai';
import fc from 'fast-check';
import type { AccountCommand, AccountEvent } from '../../../domain/account/messages.ts';
import { account } from '../../../domain/account/account.ts';
import { remainingOf } from '../../../domain/account/payments.ts';
import { availableIn, type AccountState } from '../../../domain/account/state.ts';
import { canonicalJson } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { accountFromJson as fromJson, accountToJson as toJson } from '../../../src/writer/accountWriter.ts';
import { anyHistory } from '../../support/money/accountArbitrary.ts';
import { adjust, charge } from '../../support/money/moneyCommands.ts';
import { carryOut, figuresOf, newLedger } from '../../support/money/ledgerModel.ts';
import { holds } from '../../../engine/test/support/properties.ts';
import { after } from '../../support/specFor.ts';

const { initialState, decide, evolve } = account;

const figures = ({ plan, balance, held, purchased, adjusted, used, ...rest }: AccountState) => {
  const { free_pages_used, free_pages_held } = rest;
  return { balance, held, purchased, adjusted, used, free_pages_used, free_pages_held, plan };
};

/** Each command with the state before it, the decision, and the state after it. */
const play = (history: readonly AccountCommand[]) => {
  let state = initialState;
  return history.map((command) => {
    const before = state;
    const decision = decide(before, command);
    if (decision.kind === 'accepted') state = decision.events.reduce(evolve, before);
    return { command, before, decision, state };
  });
};

const eventsOf = (history: readonly AccountCommand[]): AccountEvent[] =>
  play(history).flatMap(({ decision }) => (decision.kind === 'accepted' ? [...decision.events] : []));

const wordFor = ({ command, before, decision }: ReturnType<typeof play>[number]) => {
  if (decision.kind === 'rejected') return decision.rejection.code;
  const mayBeEmpty = command.type === 'OpenAccount' || (command.type === 'SetPlan' && before.opened);
  return decision.events.length === 0 && !mayBeEmpty ? 'repeat' : 'done';
};

const expectSound = (state: AccountState, indebted: boolean) => {
  expect(state.balance).to.equal(state.purchased + state.adjusted - state.used);
  expect(state.held).to.equal(state.holds.valueSeq().reduce((sum, { credits }) => sum + credits, 0));
  expect(state.held).to.be.at.least(0);
  if (!indebted) expect(availableIn(state)).to.be.at.least(0);
  expect(state.free_pages_used + state.free_pages_held).to.be.at.most(50);
  for (const sold of allKept(state.sales)) {
    const left = remainingOf(sold);
    for (const rest of Object.values(left)) expect(rest).to.be.at.least(0);
    expect(left.credits).to.be.at.most(sold.sale.credits);
    expect(left.gross).to.be.at.most(sold.sale.gross_amount_minor ?? 0);
  }
};

describe('the account, for any history', () => {
  holds(
    'does and says what an independent ledger does and says',
    fc.property(anyHistory, (history) => {
      const ledger = newLedger();
      for (const step of play(history)) {
        expect(wordFor(step)).to.equal(carryOut(ledger, step.command));
        expect(figures(step.state)).to.deep.equal(figuresOf(ledger));
      }
    }),
  );

  it('draws histories that meet every outcome there is', () => {
    const words = new Set<string>();
    for (const history of fc.sample(anyHistory, { seed: 7, numRuns: 1_000 }))
      for (const step of play(history)) words.add(wordFor(step));
    expect([...words].sort()).to.deep.equal([
      'burn_exceeds_hold',
      'done',
      'hold_not_open',
      'idempotency_key_reused',
      'insufficient_balance',
      'insufficient_credits',
      'original_grant_not_found',
      'plan_required',
      'refund_exceeds_original',
      'refund_mismatch',
      'refund_not_found',
      'repeat',
      'reversal_exceeds_refund',
    ]);
  });

  holds(
    'keeps its invariants after every event',
    fc.property(anyHistory, (history) => {
      let state = initialState;
      let indebted = false;
      for (const event of eventsOf(history)) {
        state = evolve(state, event);
        if (event.type === 'CreditsAdjusted') indebted ||= event.data.allow_negative;
        expectSound(state, indebted);
        if ('balance_after' in event.data) expect(event.data.balance_after).to.equal(state.balance);
      }
    }),
  );

  holds(
    'takes an accepted command once: repeated at once, it does nothing',
    fc.property(anyHistory, (history) => {
      for (const { command, decision, state } of play(history)) {
        const isKeyed = command.type === 'AdjustCredits' || command.type === 'SendCredits';
        const isKeyless = isKeyed && command.data.idempotency_key === null;
        if (decision.kind === 'rejected' || isKeyless) continue;
        const closes = command.type === 'SettleHold' || command.type === 'ReleaseHold';
        expect(decide(state, command)).to.deep.equal(
          closes
            ? { kind: 'rejected', rejection: { code: 'hold_not_open' } }
            : { kind: 'accepted', events: [] },
        );
      }
    }),
    0.5,
  );

  holds(
    'is the same folded from its events or from a snapshot at any cut and the tail',
    fc.property(anyHistory, (history) => {
      const events = eventsOf(history);
      const whole = canonicalJson(toJson(events.reduce(evolve, initialState)));
      for (let cut = 0; cut <= events.length; cut += 1) {
        const stored = JSON.stringify(toJson(events.slice(0, cut).reduce(evolve, initialState)));
        const restored = fromJson(JSON.parse(stored) as JsonObject, []);
        expect(canonicalJson(toJson(events.slice(cut).reduce(evolve, restored)))).to.equal(whole);
      }
    }),
    0.1,
  );

  holds(
    'does not depend on what another tenant does in between',
    fc.property(anyHistory, anyHistory, fc.array(fc.boolean(), { maxLength: 80 }), (mine, theirs, turns) => {
      const states = { mine: initialState, theirs: initialState };
      const waiting = { mine: [...mine], theirs: [...theirs] };
      const drawn = turns.map((first) => (first ? 'mine' : 'theirs'));
      const rest = [...mine.map(() => 'mine' as const), ...theirs.map(() => 'theirs' as const)];
      for (const turn of [...drawn, ...rest] as const) {
        const command = waiting[turn].shift();
        if (command === undefined) continue;
        const decision = decide(states[turn], command);
        if (decision.kind === 'accepted') states[turn] = decision.events.reduce(evolve, states[turn]);
      }
      expect(toJson(states.mine)).to.deep.equal(toJson(eventsOf(mine).reduce(evolve, initialState)));
      expect(toJson(states.theirs)).to.deep.equal(toJson(eventsOf(theirs).reduce(evolve, initialState)));
    }),
    0.1,
  );

  holds(
    'is burned to zero by many takers without ever going below, and refuses just what does not fit',
    fc.property(
      fc.integer({ min: 0, max: 5_000 }),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 64, maxLength: 64 }),
      (start, sizes) => {
        let state = start === 0 ? initialState : after(account, [adjust(start)]);
        let left = start;
        for (const [taker, size] of sizes.entries()) {
          const command = charge(size, { idempotency_key: `k${taker}`, paid_plan_required: false });
          const decision = decide(state, command);
          expect(decision.kind).to.equal(size <= left ? 'accepted' : 'rejected');
          if (decision.kind === 'rejected') continue;
          left -= size;
          state = decision.events.reduce(evolve, state);
          expect(state.balance).to.equal(left);
        }
      },
    ),
    0.25,
  );
});
