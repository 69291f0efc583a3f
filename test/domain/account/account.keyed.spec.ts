import { expect } from 'chai';
import { account } from '../../../domain/account/account.ts';
import { asCredits, MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';
import {
  adjust,
  charge,
  hold,
  open,
  richest,
  sell,
  setPlan,
  TENANT,
} from '../../support/money/moneyCommands.ts';
import { after, specFor } from '../../support/specFor.ts';

const { given } = specFor(account);

describe('opening an account', () => {
  it('happens once', () => {
    given()
      .when(open())
      .then(['AccountOpened', { tenant_id: TENANT }]);
    given(open()).when(open()).thenNothing();
  });
});

describe('setting the plan', () => {
  it('says what it was before', () => {
    given(open())
      .when(setPlan('enterprise'))
      .then(['PlanSet', { plan: 'enterprise', previous_plan: 'free', reason: null }]);
  });

  it('changes nothing when the plan is that one, but the tenant exists from now on', () => {
    given().when(setPlan('free')).then(['AccountOpened']);
    given(setPlan('paid')).when(setPlan('paid')).thenNothing();
  });
});

describe('adjusting credits', () => {
  it('gives credits, and claws them back', () => {
    given()
      .when(adjust(400))
      .then(['AccountOpened'], ['CreditsAdjusted', { credits: 400, balance_after: 400 }]);
    given(adjust(400))
      .when(adjust(-400))
      .then(['CreditsAdjusted', { credits: -400, balance_after: 0 }]);
  });

  it('refuses a clawback beyond the available credits, unless it may go negative', () => {
    given(adjust(400), hold(51))
      .when(adjust(-361))
      .thenRejected({ code: 'insufficient_balance', available_credits: asCredits(360) });
    given(adjust(400), hold(51))
      .when(adjust(-401, { allow_negative: true }))
      .then(['CreditsAdjusted', { balance_after: -1, allow_negative: true }]);
  });

  it('gives credits to a tenant in debt', () => {
    given(adjust(-100, { allow_negative: true }))
      .when(adjust(50))
      .then(['CreditsAdjusted', { balance_after: -50 }]);
  });

  it('is honoured once an idempotency key; without a key every command counts', () => {
    given(adjust(5, { idempotency_key: 'k' }))
      .when(adjust(5, { idempotency_key: 'k' }))
      .thenNothing();
    given(adjust(5))
      .when(adjust(5))
      .then(['CreditsAdjusted', { balance_after: 10 }]);
  });

  it('refuses a key with another payload', () => {
    const given5 = given(adjust(5, { idempotency_key: 'k' }));
    for (const other of [
      adjust(6, { idempotency_key: 'k' }),
      adjust(5, { idempotency_key: 'k', reason: 'other' }),
      adjust(5, { idempotency_key: 'k', allow_negative: true }),
    ])
      given5.when(other).thenRejected({ code: 'idempotency_key_reused' });
  });

  it('never rounds: what would pass 2^53 − 1 either way is refused', () => {
    given(...richest())
      .when(adjust(1))
      .thenRejected({ code: 'credits_out_of_range' });
    const debt = (credits: number) => adjust(-credits, { allow_negative: true });
    given(...richest().map(({ data }) => debt(data.credits)))
      .when(debt(1))
      .thenRejected({ code: 'credits_out_of_range' });
  });

  it('moves at most 10^12 credits at once, either way', () => {
    given().when(adjust(MOVEMENT_MAX)).then(['AccountOpened'], ['CreditsAdjusted']);
    for (const credits of [MOVEMENT_MAX + 1, -MOVEMENT_MAX - 1])
      given()
        .when(adjust(credits, { allow_negative: true }))
        .thenRejected({ code: 'credits_out_of_range' });
    given(sell())
      .when(charge(MOVEMENT_MAX + 1))
      .thenRejected({ code: 'credits_out_of_range' });
  });
});

describe('charging credits', () => {
  it('burns a flat amount under its key', () => {
    given(sell())
      .when(charge(400))
      .then([
        'CreditsBurned',
        { credits: 400, pages: 0, hold_id: null, idempotency_key: 'key-1', balance_after: 600 },
      ]);
    expect(given(sell(), charge(400)).state().used).to.equal(400);
  });

  it('has the tags that it was sent with, in one order', () => {
    const decision = account.decide(
      after(account, [sell()]),
      charge(400, { tags: { team: 'legal', 'cost.center': '4711' } }),
    );
    const [burn] = decision.kind === 'accepted' ? decision.events : [];
    const written = burn && 'tags' in burn.data ? JSON.stringify(burn.data.tags) : '';
    expect(written).to.equal('{"cost.center":"4711","team":"legal"}');
    const without = account.decide(after(account, [sell()]), charge(400, { tags: {} }));
    expect(without.kind === 'accepted' && without.events[0]?.data).not.to.have.any.keys('tags');
  });

  it('is honoured once, and refuses its key with another payload', () => {
    given(sell(), charge(400)).when(charge(400)).thenNothing();
    given(sell(), charge(400)).when(charge(401)).thenRejected({ code: 'idempotency_key_reused' });
    given(sell(), charge(400))
      .when(charge(400, { idempotency_key: 'key-2' }))
      .then(['CreditsBurned', { balance_after: 200 }]);
  });

  it('answers a repeat before it looks at plan and balance', () => {
    given(sell(), charge(1_000), setPlan('free')).when(charge(1_000)).thenNothing();
  });

  it('needs a paid plan where it says so, before it looks at the balance', () => {
    given(adjust(100))
      .when(charge(400))
      .thenRejected({ code: 'plan_required', plan: 'free', required_plan: 'paid' });
    given(adjust(400))
      .when(charge(400, { paid_plan_required: false }))
      .then(['CreditsBurned']);
  });

  it('refuses more than is available', () => {
    given(sell(), hold(60))
      .when(charge(601))
      .thenRejected({
        code: 'insufficient_credits',
        required_credits: asCredits(601),
        available_credits: asCredits(600),
      });
  });
});
