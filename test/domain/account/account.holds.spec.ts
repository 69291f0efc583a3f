import { expect } from 'chai';
import { account } from '../../../domain/account/account.ts';
import { CLOSED_OPERATIONS_MAX } from '../../../domain/account/state.ts';
import { asCredits, MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';
import { NO_END } from '../../../domain/account/messages.ts';
import {
  adjust,
  hold,
  LATER,
  NOW,
  release,
  richest,
  sell,
  settle,
} from '../../support/money/moneyCommands.ts';
import { after, specFor } from '../../support/specFor.ts';

const { given } = specFor(account);

describe('holding credits', () => {
  it('opens the account and takes free pages before credits', () => {
    given()
      .when(hold(50))
      .then(['AccountOpened'], ['CreditsHeld', { pages: 50, free_pages: 50, credits: 0, expires_at: LATER }]);
    given(adjust(400))
      .when(hold(60))
      .then(['CreditsHeld', { pages: 60, free_pages: 50, credits: 400, created_at: NOW }]);
  });

  it('never gives the last free page to two holds at once', () => {
    given(hold(49), adjust(40))
      .when(hold(2, { hold_id: 'hold_2' }))
      .then(['CreditsHeld', { free_pages: 1, credits: 40 }]);
  });

  it('gives no free page when the allowance was lowered below what was taken', () => {
    given(hold(40), adjust(400))
      .when(hold(10, { hold_id: 'hold_2', free_pages_allowance: 20 }))
      .then(['CreditsHeld', { free_pages: 0, credits: 400 }]);
  });

  it('refuses more than is available, and says how much that is', () => {
    given(adjust(399))
      .when(hold(60))
      .thenRejected({
        code: 'insufficient_credits',
        required_credits: asCredits(400),
        available_credits: asCredits(399),
      });
    given(adjust(400), hold(55))
      .when(hold(6, { hold_id: 'hold_2' }))
      .thenRejected({
        code: 'insufficient_credits',
        required_credits: asCredits(240),
        available_credits: asCredits(200),
      });
  });

  it('refuses a price beyond what any account can hold', () => {
    given(...richest())
      .when(hold(Number.MAX_SAFE_INTEGER))
      .thenRejected({
        code: 'insufficient_credits',
        required_credits: asCredits(Number.MAX_SAFE_INTEGER),
        available_credits: asCredits(Number.MAX_SAFE_INTEGER),
      });
  });

  it('is 10^12 credits at most, as every movement', () => {
    const most = { credits_per_page: asCredits(MOVEMENT_MAX), free_pages_allowance: 0 };
    given(...richest())
      .when(hold(1, most))
      .then(['CreditsHeld', { credits: MOVEMENT_MAX }]);
    given(...richest())
      .when(hold(2, most))
      .thenRejected({ code: 'credits_out_of_range' });
  });

  it('lets a tenant in debt use free pages, but no credits', () => {
    const debt = [adjust(-10, { allow_negative: true })];
    given(...debt)
      .when(hold(1))
      .then(['CreditsHeld', { free_pages: 1, credits: 0 }]);
    given(...debt)
      .when(hold(51))
      .thenRejected({
        code: 'insufficient_credits',
        required_credits: asCredits(40),
        available_credits: asCredits(-10),
      });
  });

  it('honours a repeated hold once, and refuses another under its ID or for its operation', () => {
    given(hold(1)).when(hold(1)).thenNothing();
    given(hold(1)).when(hold(2)).thenRejected({ code: 'idempotency_key_reused' });
    given(hold(1))
      .when(hold(1, { hold_id: 'hold_2', operation_id: 'ext_1' }))
      .thenRejected({ code: 'idempotency_key_reused' });
  });

  it('holds nothing again for an operation that was released or billed: what is over stays over', () => {
    const again = hold(1, { hold_id: 'hold_2', operation_id: 'ext_1' });
    for (const over of [release(), settle(1)])
      for (const another of [again, hold(1)])
        given(hold(1), over).when(another).thenRejected({ code: 'hold_not_open' });
  });

  it('may place a hold anew that was released, to settle what was delivered, but never one that was billed', () => {
    given(hold(1), release())
      .when(hold(1, { reopens: true }))
      .then(['CreditsHeld']);
    given(hold(1), settle(1))
      .when(hold(1, { reopens: true }))
      .thenRejected({ code: 'hold_not_open' });
  });

  it('leaves no more holds without an end open than may be', () => {
    const lasting = (n: number) =>
      hold(0, { hold_id: `h${n}`, operation_id: `e${n}`, expires_at: NO_END, open_max: 2 });
    given(lasting(1), hold(0), lasting(2))
      .when(lasting(3))
      .thenRejected({ code: 'too_many_open', open_max: 2 });
    given(lasting(1), lasting(2)).when(lasting(2)).thenNothing();
    given(lasting(1), hold(0)).when(lasting(2)).then(['CreditsHeld']);
    given(lasting(1), lasting(2), release({ hold_id: 'h1' }))
      .when(lasting(3))
      .then(['CreditsHeld']);
  });
});

describe('what a hold was taken for', () => {
  it('is in the hold, and in the burn that settles it', () => {
    given(hold(1, { fingerprint: 'f' }))
      .when(settle(1))
      .then(['CreditsBurned', { fingerprint: 'f' }]);
    given(hold(1))
      .when(settle(1))
      .then(['CreditsBurned', { fingerprint: null }]);
  });

  it('decides whether a hold is the same again; holds of earlier releases do not say it', () => {
    given(hold(1, { fingerprint: 'f' }))
      .when(hold(1, { fingerprint: 'f' }))
      .thenNothing();
    given(hold(1, { fingerprint: 'f' }))
      .when(hold(1, { fingerprint: 'g' }))
      .thenRejected({ code: 'idempotency_key_reused' });
    given(hold(1))
      .when(hold(1, { fingerprint: 'f' }))
      .thenNothing();
  });

  it('may be something else for the same request: then another hold stands beside it', () => {
    const beside = (fingerprint: string) =>
      hold(2, { hold_id: 'hold_2', operation_id: 'ext_1', beside: true, fingerprint });
    given(hold(1, { fingerprint: 'f' }))
      .when(beside('f'))
      .then(['CreditsHeld', { hold_id: 'hold_2' }]);
    given(hold(1, { fingerprint: 'f' }))
      .when(beside('g'))
      .thenRejected({ code: 'idempotency_key_reused' });
    given(hold(1, { fingerprint: 'f' }), release())
      .when(beside('f'))
      .thenRejected({ code: 'hold_not_open' });
  });

  it('is billed once, whichever of two holds is settled and whichever is released first', () => {
    const both = [
      hold(1, { fingerprint: 'f' }),
      hold(2, { hold_id: 'hold_2', operation_id: 'ext_1', beside: true, fingerprint: 'f' }),
    ];
    const [one, two] = [{ hold_id: 'hold_1' }, { hold_id: 'hold_2' }];
    const orders = [
      [settle(1, one), release(two)],
      [release(two), settle(1, one)],
      [release(one), settle(2, two)],
      [settle(2, two), release(one)],
    ];
    for (const [first, second] of orders) {
      const state = given(...both, first!, second!).state();
      expect([state.holds.size, state.free_pages_held]).to.deep.equal([0, 0]);
      const billed = [first, second].find((command) => command?.type === 'SettleHold');
      expect(state.operations.get('ext_1')).to.equal(billed?.data.hold_id);
    }
  });
});

describe('what work is for', () => {
  const scope = { project_id: 'claims', task_id: 'invoices', api_key_id: 'key_a' };
  const tagged = hold(2, { ...scope, tags: { team: 'legal', 'cost.center': '4711', a_b: 'ü' } });

  it('is in its hold, with its tags in one order, however they were sent', () => {
    for (const tags of [
      { team: 'legal', 'cost.center': '4711', a_b: 'ü' },
      { a_b: 'ü', team: 'legal', 'cost.center': '4711' },
    ]) {
      const decision = account.decide(account.initialState, hold(2, { ...scope, tags }));
      const [, held] = decision.kind === 'accepted' ? decision.events : [];
      expect(held?.data).to.deep.include(scope);
      const written = held && 'tags' in held.data ? JSON.stringify(held.data.tags) : '';
      expect(written).to.equal('{"a_b":"ü","cost.center":"4711","team":"legal"}');
    }
  });

  it('is left out where nothing is said of it, and where there are no tags', () => {
    for (const asked of [hold(2), hold(2, { tags: {} })]) {
      const decision = account.decide(account.initialState, asked);
      const [, held] = decision.kind === 'accepted' ? decision.events : [];
      expect(held?.data).not.to.have.any.keys('tags', 'project_id', 'task_id', 'api_key_id');
      given(asked)
        .when(settle(2))
        .then(['CreditsBurned', { project_id: 'default', api_key_id: null }]);
      const settled = account.decide(after(account, [asked]), settle(2));
      expect(settled.kind === 'accepted' && settled.events[0]?.data).not.to.have.any.keys('tags');
    }
  });

  it('is in the burn as the hold says it, also if another key of the tenant settles it', () => {
    given(tagged)
      .when(settle(2, { api_key_id: 'key_b', project_id: 'other' }))
      .then(['CreditsBurned', { ...scope, tags: { a_b: 'ü', 'cost.center': '4711', team: 'legal' } }]);
  });
});

describe('settling a hold', () => {
  it('burns what was used, free pages first, and frees the rest', () => {
    given(adjust(400), hold(60))
      .when(settle(53))
      .then([
        'CreditsBurned',
        {
          hold_id: 'hold_1',
          operation_id: 'ext_1',
          usage_id: 'use_hold_1',
          pages: 53,
          free_pages: 50,
          credits_per_page: 40,
          credits: 120,
          balance_after: 280,
          billing_config_version: 1,
          idempotency_key: null,
        },
      ]);
    const state = given(adjust(400), hold(60), settle(53)).state();
    expect([state.balance, state.held, state.used]).to.deep.equal([280, 0, 120]);
    expect([state.free_pages_used, state.free_pages_held]).to.deep.equal([50, 0]);
  });

  it('gives back free pages that were held and not used', () => {
    given(hold(50), settle(10))
      .when(hold(50, { hold_id: 'hold_2' }))
      .thenRejected({
        code: 'insufficient_credits',
        required_credits: asCredits(400),
        available_credits: asCredits(0),
      });
    given(hold(50), settle(10))
      .when(hold(40, { hold_id: 'hold_2' }))
      .then(['CreditsHeld', { free_pages: 40 }]);
  });

  it('says how the work ended where that was told, and nothing of it where it was not', () => {
    const delivered = { status: 'partial', duration_ms: 12 } as const;
    given(hold(2)).when(settle(2, { delivered })).then(['CreditsBurned', { delivered }]);
    const decision = account.decide(after(account, [hold(2)]), settle(2));
    expect(decision.kind === 'accepted' && 'delivered' in decision.events[0]!.data).to.equal(false);
  });

  it('refuses more pages than were held', () => {
    given(hold(2)).when(settle(3)).thenRejected({ code: 'burn_exceeds_hold' });
  });

  it('is refused when the hold was settled: whoever asks again finds the burn in the stream', () => {
    given(hold(2), settle(2)).when(settle(2)).thenRejected({ code: 'hold_not_open' });
  });

  it('is refused when the hold was released meanwhile, or is not known', () => {
    given(hold(2), release({ reason: 'expired' }))
      .when(settle(2))
      .thenRejected({ code: 'hold_not_open' });
    given().when(settle(2)).thenRejected({ code: 'hold_not_open' });
  });
});

describe('releasing a hold', () => {
  it('gives back what was held', () => {
    given(adjust(400), hold(60))
      .when(release())
      .then(['HoldReleased', { reason: 'failed', released_at: NOW }]);
    const state = given(adjust(400), hold(60), release()).state();
    expect([state.held, state.free_pages_held, state.holds.size]).to.deep.equal([0, 0, 0]);
  });

  it('is refused for a hold that was released, settled, or is not known', () => {
    given(hold(2), release())
      .when(release({ reason: 'expired' }))
      .thenRejected({ code: 'hold_not_open' });
    given(hold(2), settle(1)).when(release()).thenRejected({ code: 'hold_not_open' });
    given().when(release()).thenRejected({ code: 'hold_not_open' });
  });
});

describe('remembering billed operations', () => {
  const billed = (count: number) =>
    Array.from({ length: count }, (_, at) => [
      hold(0, { hold_id: `h${at}` }),
      settle(0, { hold_id: `h${at}` }),
    ]).flat();

  it('forgets the oldest, so that the state stays small', () => {
    const state = after(account, [sell(), ...billed(CLOSED_OPERATIONS_MAX + 10)]);
    expect(state.operations.size).to.equal(CLOSED_OPERATIONS_MAX);
    expect(state.closed.size).to.equal(CLOSED_OPERATIONS_MAX);
    expect(state.operations.has('ext_h9')).to.equal(false);
    expect(state.operations.has('ext_h10')).to.equal(true);
  });
});
