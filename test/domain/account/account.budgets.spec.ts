import { expect } from 'chai';
import fc from 'fast-check';
import { BUDGETS_MAX, REFUSALS_KEPT_MAX } from '../../../domain/account/budgetMessages.ts';
import { budgetIn } from '../../../domain/account/budgetTotals.ts';
import type { AccountCommand } from '../../../domain/account/messages.ts';
import type { AccountState } from '../../../domain/account/state.ts';
import { account } from '../../../domain/account/account.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { periodAt } from '../../../domain/kernel/timeZones.ts';
import { propertyRuns } from '../../../engine/test/support/properties.ts';
import {
  adjust,
  at,
  budget,
  changeBudget,
  charge,
  hold,
  NOW,
  release,
  removeBudget,
  settle,
} from '../../support/money/moneyCommands.ts';
import { after, specFor } from '../../support/specFor.ts';

const { given } = specFor(account);

const RICH = adjust(10_000);
const [TODAY, TOMORROW] = ['2026-01-31T00:00:00.000Z', '2026-02-01T00:00:00.000Z'];

/** Work of so many credits that has no free pages. */
const work = (credits: number, over: Parameters<typeof hold>[1] = {}) =>
  hold(credits, {
    hold_id: 'h1',
    credits_per_page: asCredits(1),
    free_pages_allowance: 0,
    project_id: 'claims',
    task_id: 'letters',
    api_key_id: 'key_1',
    tags: { team: 'a' },
    ...over,
  });
const done = (credits: number, hold_id = 'h1') =>
  settle(credits, { hold_id, project_id: 'claims', task_id: 'letters', api_key_id: 'key_1' });
const reached = (over: object = {}) => ({
  code: 'budget_reached',
  budget_id: 'bgt_1',
  limit_credits: asCredits(100),
  used_credits: asCredits(0),
  held_credits: asCredits(0),
  required_credits: asCredits(101),
  resets_at: TOMORROW,
  ...over,
});

describe('a budget', () => {
  it('refuses work that does not fit, and says why', () => {
    given(RICH, budget(), work(60), done(20), work(50, { hold_id: 'h2' }))
      .when(work(31, { hold_id: 'h3' }))
      .then([
        'BudgetReached',
        {
          budget_id: 'bgt_1',
          period_start: TODAY,
          resets_at: TOMORROW,
          limit_credits: 100,
          used_credits: 20,
          held_credits: 50,
          required_credits: 31,
          operation_id: 'ext_h3',
          project_id: 'claims',
          api_key_id: 'key_1',
          refused_at: NOW,
        },
      ]);
  });

  it('takes what fits to the credit, and counts what is given back no more', () => {
    given(RICH, budget())
      .when(work(100))
      .then(['CreditsHeld'], ['BudgetAlerted', { level: 0.8 }], ['BudgetAlerted', { level: 1 }]);
    given(RICH, budget(), work(100), release({ hold_id: 'h1' }))
      .when(work(100, { hold_id: 'h2' }))
      .then(['CreditsHeld']);
  });

  it('counts no free pages, and lets them pass when it is used up', () => {
    given(RICH, budget({ limit_credits: asCredits(0), alert_at: [1] }))
      .when(hold(50))
      .then(['CreditsHeld', { free_pages: 50, credits: 0 }]);
  });

  it('counts a charge as it counts held work', () => {
    const fee = (credits: number, key: string) =>
      charge(credits, { idempotency_key: key, paid_plan_required: false, project_id: 'claims' });
    given(RICH, budget({ scope: { project_id: 'claims' } }), fee(90, 'a'))
      .when(fee(11, 'b'))
      .then(['BudgetReached', { used_credits: 90, required_credits: 11, idempotency_key: 'b' }]);
  });

  it('begins anew with its period; work that is still held counts on', () => {
    const past = [RICH, budget(), work(30), done(30), work(40, { hold_id: 'h2' })];
    given(...past)
      .when(at('2026-01-31T23:59:59.999Z', work(31, { hold_id: 'h3' })))
      .then(['BudgetReached']);
    given(...past)
      .when(at(TOMORROW, work(60, { hold_id: 'h3' })))
      .then(['CreditsHeld'], ['BudgetAlerted', { used_credits: 0, held_credits: 100 }], ['BudgetAlerted']);
    given(...past)
      .when(at(TOMORROW, work(61, { hold_id: 'h3' })))
      .then([
        'BudgetReached',
        { period_start: TOMORROW, resets_at: '2026-02-02T00:00:00.000Z', held_credits: 40 },
      ]);
  });

  it('does not go back to an earlier period with a clock that was set back', () => {
    given(RICH, budget(), at(TOMORROW, work(100)), at(TOMORROW, done(100)))
      .when(work(1, { hold_id: 'h2' }))
      .then(['BudgetReached', { period_start: TOMORROW, used_credits: 100 }]);
  });

  it('never begins anew where it is a total', () => {
    given(RICH, budget({ period: 'total' }), work(100), done(100))
      .when(at('2036-01-01T00:00:00.000Z', work(1, { hold_id: 'h2' })))
      .then(['BudgetReached', { period_start: null, resets_at: null }]);
  });

  it('only tells where it is to notify, each level once a period', () => {
    given(RICH, budget({ on_reached: 'notify', alert_at: [0.5, 1] }), work(60), done(60))
      .when(work(100, { hold_id: 'h2' }))
      .then(['CreditsHeld'], ['BudgetAlerted', { level: 1, used_credits: 60, held_credits: 100 }]);
    given(RICH, budget(), work(90), release({ hold_id: 'h1' }))
      .when(work(90, { hold_id: 'h2' }))
      .then(['CreditsHeld']);
  });

  it('is told of each level when the same work is burned in the next period', () => {
    given(RICH, budget({ alert_at: [0.5] }), work(60))
      .when(at(TOMORROW, done(60)))
      .then(
        ['CreditsBurned'],
        ['BudgetAlerted', { period_start: TOMORROW, used_credits: 60, held_credits: 0 }],
      );
  });
});

describe('budgets of keys, projects, tasks and tags', () => {
  for (const scope of [
    { key_id: 'key_1' },
    { project_id: 'claims' },
    { task_id: 'letters' },
    { tag: { name: 'team', value: 'a' } },
  ])
    it(`count work of ${Object.keys(scope)[0]!} alone`, () => {
      const other = work(101, {
        project_id: 'p',
        task_id: 't',
        api_key_id: 'k',
        tags: { team: 'b', x: 'a' },
      });
      given(RICH, budget({ scope })).when(work(101)).then(['BudgetReached']);
      given(RICH, budget({ scope })).when(other).then(['CreditsHeld']);
    });

  it('refuse in one order: the narrowest first', () => {
    const narrow = budget({ budget_id: 'bgt_2', scope: { key_id: 'key_1' } });
    given(RICH, budget(), narrow)
      .when(work(101))
      .then(['BudgetReached', { budget_id: 'bgt_2' }]);
  });

  it('count held work from when they are made, and work of older releases for the whole tenant alone', () => {
    const old = work(60, {
      project_id: undefined,
      task_id: undefined,
      api_key_id: undefined,
      tags: undefined,
    });
    const made = after(account, [
      RICH,
      work(30, { hold_id: 'h0' }),
      old,
      budget(),
      budget({ budget_id: 'bgt_2', scope: { project_id: 'claims' } }),
    ]);
    expect(budgetIn(made.budgets, 'bgt_1')?.held).to.equal(90);
    expect(budgetIn(made.budgets, 'bgt_2')?.held).to.equal(30);
  });

  it('are at most so many', () => {
    const all = Array.from({ length: BUDGETS_MAX }, (_, n) => budget({ budget_id: `b${n}` }));
    given(...all)
      .when(budget())
      .thenRejected({ code: 'too_many_budgets', max_budgets: BUDGETS_MAX });
  });
});

describe('a refusal by a budget', () => {
  it('is in the log once for the same work, and answered each time', () => {
    given(RICH, budget(), work(101))
      .when(work(101))
      .thenRejected(reached() as never);
  });

  it('is in the log so many times a period: a client that asks in a loop does not fill it', () => {
    const loop = Array.from({ length: REFUSALS_KEPT_MAX }, (_, n) => work(101, { hold_id: `l${n}` }));
    given(RICH, budget(), ...loop)
      .when(work(101))
      .thenRejected(reached() as never);
    given(RICH, budget(), ...loop)
      .when(at(TOMORROW, work(101)))
      .then(['BudgetReached']);
    given(RICH, budget(), ...loop, changeBudget({ limit_credits: asCredits(99) }))
      .when(work(101))
      .then(['BudgetReached', { limit_credits: 99 }]);
  });
});

describe('managing budgets', () => {
  const own = budget({ budget_id: 'own', scope: { key_id: 'key_1' }, limit_credits: asCredits(10) });
  const raise = (limit: number, over: object = {}) =>
    changeBudget({ budget_id: 'own', by_key_id: 'key_1', limit_credits: asCredits(limit), ...over });

  it('makes one once, opens the account with it, and forgets it when it is removed', () => {
    given()
      .when(budget())
      .then(['AccountOpened'], ['BudgetSet', { limit_credits: 100, set_at: NOW }]);
    given(budget()).when(budget()).thenNothing();
    given(budget()).when(removeBudget()).then(['BudgetRemoved']);
    given(RICH, budget(), removeBudget()).when(work(101)).then(['CreditsHeld']);
    for (const gone of [removeBudget(), changeBudget()])
      given(budget(), removeBudget()).when(gone).thenRejected({ code: 'budget_not_found' });
  });

  it('changes what it says and keeps what it counted; the same again does nothing', () => {
    given(RICH, budget(), work(60))
      .when(changeBudget({ limit_credits: asCredits(50), name: 'Less' }))
      .then(['BudgetSet', { limit_credits: 50, name: 'Less', period: 'day' }]);
    given(RICH, budget(), work(60), changeBudget({ limit_credits: asCredits(50) }))
      .when(work(1, { hold_id: 'h2' }))
      .then(['BudgetReached', { held_credits: 60, limit_credits: 50 }]);
    given(budget())
      .when(changeBudget({ name: 'Claims' }))
      .thenNothing();
  });

  it('is not for a key that has a budget of its own', () => {
    const no = { code: 'budget_read_only', parent_limit_credits: null } as const;
    given(own)
      .when(budget({ by_key_id: 'key_1' }))
      .thenRejected(no);
    given(budget(), own)
      .when(removeBudget({ by_key_id: 'key_1' }))
      .thenRejected(no);
    given(budget(), own)
      .when(changeBudget({ by_key_id: 'key_1', name: 'x' }))
      .thenRejected(no);
    given(own)
      .when(budget({ by_key_id: 'key_2' }))
      .then(['BudgetSet']);
  });

  it('lets a key raise its own up to the tenant’s of the same period, and no further', () => {
    given(budget(), own)
      .when(raise(100))
      .then(['BudgetSet', { limit_credits: 100 }]);
    const parent_limit_credits = asCredits(100);
    for (const no of [raise(101), raise(5), raise(50, { name: 'x' })])
      given(budget(), own).when(no).thenRejected({ code: 'budget_read_only', parent_limit_credits });
    for (const other of [budget({ period: 'month' }), budget({ on_reached: 'notify' })])
      given(other, own)
        .when(raise(50))
        .thenRejected({ code: 'budget_read_only', parent_limit_credits: null });
  });
});

describe('the period of a budget', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const [FIRST, LAST] = [Date.parse('2000-01-01'), Date.parse('2040-01-01')];
  const text = (ms: number) => new Date(ms).toISOString();

  it('has each instant of each zone once: no gap, no overlap, when clocks are set and months end', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom('day', 'week', 'month' as const),
        fc.integer({ min: FIRST, max: LAST }),
        (zone, period, ms) => {
          const span = periodAt(zone, period, text(ms));
          expect(span.from <= text(ms) && text(ms) < span.until, `${zone} ${text(ms)}`).to.equal(true);
          for (const edge of [Date.parse(span.from), Date.parse(span.until) - 1])
            expect(periodAt(zone, period, text(edge)), `${zone} ${text(edge)}`).to.deep.equal(span);
          expect(periodAt(zone, period, span.until).from).to.equal(span.until);
        },
      ),
      { numRuns: propertyRuns() },
    );
  });

  it('is 23 or 25 hours long when the clock is set, and as many days as its month has', () => {
    const hours = (zone: string, period: 'day' | 'week' | 'month', day: string) => {
      const { from, until } = periodAt(zone, period, `${day}T12:00:00.000Z`);
      return (Date.parse(until) - Date.parse(from)) / 3_600_000;
    };
    expect(hours('Europe/Berlin', 'day', '2026-03-29')).to.equal(23);
    expect(hours('Europe/Berlin', 'week', '2026-10-25')).to.equal(7 * 24 + 1);
    expect(hours('Europe/Berlin', 'month', '2028-02-10')).to.equal(29 * 24);
    expect(hours('America/New_York', 'month', '2026-03-10')).to.equal(31 * 24 - 1);
    expect(periodAt('Asia/Tokyo', 'month', '2026-01-31T15:00:00.000Z').from).to.equal(
      '2026-01-31T15:00:00.000Z',
    );
  });

  it('goes on where a clock is set back over midnight: the new day has begun already', () => {
    // In Havana the clock goes from one back to midnight, in Asunción it went from midnight back to eleven.
    const { from, until } = periodAt('America/Asuncion', 'day', '2024-03-24T03:30:00.000Z');
    expect(from <= '2024-03-24T03:30:00.000Z' && '2024-03-24T03:30:00.000Z' < until).to.equal(true);
  });
});

describe('a budget that refuses', () => {
  const step = fc.record({
    kind: fc.constantFrom('hold', 'hold', 'settle', 'release', 'limit'),
    n: fc.integer({ min: 0, max: 9 }),
    credits: fc.integer({ min: 0, max: 60 }),
    hours: fc.integer({ min: 0, max: 30 }),
  });
  type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

  const commandOf = (state: AccountState, { kind, n, credits }: Step, index: number): AccountCommand => {
    const open = [...state.holds.values()][n % Math.max(1, state.holds.size)];
    const { hold_id = 'none', project_id = '', pages = 0 } = open ?? {};
    if (kind === 'settle') return settle(Math.min(credits, pages), { hold_id, project_id });
    if (kind === 'release') return release({ hold_id });
    if (kind === 'limit') return changeBudget({ limit_credits: asCredits(100 + credits) });
    return work(credits, { hold_id: `h${index}`, project_id: n % 2 === 0 ? 'claims' : 'other' });
  };

  const checkSums = (before: AccountState, { budgets, holds }: AccountState): void => {
    for (const { budget: of, used, held } of budgets) {
      const was = budgetIn(before.budgets, of.budget_id)!;
      if (used + held > was.used + was.held) expect(used + held).to.be.at.most(of.limit_credits);
      const counted = [...holds.values()].filter(
        (one) => of.scope.project_id === undefined || one.project_id === of.scope.project_id,
      );
      expect(held).to.equal(counted.reduce((sum, one) => sum + one.credits, 0));
    }
  };

  it('is never passed by used + held, whatever is held, burned and given back at whatever time', () => {
    const narrow = budget({ budget_id: 'b2', scope: { project_id: 'claims' } });
    const start = after(account, [RICH, budget(), narrow]);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let [state, now] = [start, Date.parse(NOW)];
        for (const [index, one] of steps.entries()) {
          now += one.hours * 3_600_000;
          const command = at(new Date(now).toISOString(), commandOf(state, one, index));
          const decision = account.decide(state, command);
          const next = decision.kind === 'accepted' ? decision.events.reduce(account.evolve, state) : state;
          checkSums(state, next);
          state = next;
        }
      }),
      { numRuns: propertyRuns() },
    );
  });
});
