import { expect } from 'chai';
import type { AccountCommand } from '../../domain/account/messages.ts';
import { accountStream } from '../../domain/account/messages.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { RecordedEvent } from '../../domain/ports/log.ts';
import { memoryEventStore } from '../support/logs/memoryEventStore.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { eventsOf } from '../support/logs/eventLogs.ts';
import {
  adjust,
  at,
  budget,
  changeBudget,
  charge,
  hold,
  release,
  removeBudget,
  settle,
  TENANT,
} from '../support/money/moneyCommands.ts';
import { budgetFindings } from './budgetFindings.ts';

const scope = { project_id: 'claims', task_id: 'letters', api_key_id: 'key_1' };
const work = (credits: number, hold_id: string) =>
  hold(credits, {
    hold_id,
    credits_per_page: asCredits(1),
    free_pages_allowance: 0,
    tags: { team: 'a' },
    ...scope,
  });
const done = (credits: number, hold_id: string) => settle(credits, { hold_id, ...scope });
const NEXT = '2026-02-01T08:00:00.000Z';

/** A month in which a day's budget is reached, raised, begun anew and removed. */
const STORY: readonly AccountCommand[] = [
  adjust(10_000),
  work(5, 'before'),
  budget(),
  budget({
    budget_id: 'tag',
    scope: { tag: { name: 'team', value: 'a' } },
    on_reached: 'notify',
    alert_at: [0.5],
  }),
  work(60, 'h1'),
  done(50, 'h1'),
  work(46, 'h2'),
  charge(10, { idempotency_key: 'fee', paid_plan_required: false, ...scope }),
  charge(50, { idempotency_key: 'fee 2', paid_plan_required: false, ...scope }),
  release({ hold_id: 'before' }),
  changeBudget({ limit_credits: asCredits(120) }),
  work(46, 'h3'),
  at(NEXT, work(70, 'h4')),
  at(NEXT, work(70, 'h5')),
  at(NEXT, removeBudget()),
  at(NEXT, work(500, 'h6')),
];

describe('the audit of budgets', () => {
  let events: readonly RecordedEvent[];

  before(async () => {
    const store = memoryEventStore();
    const writer = accountWriter({ store });
    for (const [n, command] of STORY.entries()) {
      const command_id = `2f1c6f0e-7a8b-4c8d-9e10-${String(n).padStart(12, '0')}`;
      const outcome = await writer.execute({ ...command, meta: { ...command.meta, command_id } });
      expect(outcome.kind, `step ${n}`).to.be.oneOf(['done', 'rejected']);
    }
    events = await eventsOf(store, accountStream(TENANT));
  });

  const indexOf = (type: string, nth: number): number =>
    events.map((event, at) => [event.type, at] as const).filter(([one]) => one === type)[nth]?.[1] ?? -1;
  const changed = (type: string, members: JsonObject, nth = 0): readonly RecordedEvent[] => {
    const at = indexOf(type, nth);
    expect(at, `${type} ${nth}`).to.be.at.least(0);
    return events.map((event, n) => (n === at ? { ...event, data: { ...event.data, ...members } } : event));
  };

  it('finds nothing in what the service wrote', () => {
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === 'BudgetReached')).to.have.length(3);
    expect(types.filter((type) => type === 'BudgetAlerted')).to.have.length.at.least(4);
    expect(budgetFindings(events)).to.deep.equal([]);
  });

  const again = (type: string): readonly RecordedEvent[] => {
    const at = indexOf(type, 0);
    return [...events.slice(0, at + 1), events[at]!, ...events.slice(at + 1)];
  };
  const without = (type: string): readonly RecordedEvent[] => events.toSpliced(indexOf(type, 0), 1);

  const forged: Readonly<Record<string, readonly [() => readonly RecordedEvent[], RegExp]>> = {
    'a refusal of what fits': [
      () => changed('BudgetReached', { required_credits: 1 }),
      /refuses what it lets pass/,
    ],
    'a refusal of what it does not count': [
      () => {
        const narrow = { scope: { project_id: 'claims' } };
        const [narrowed, n] = [changed('BudgetSet', narrow), indexOf('BudgetReached', 0)];
        return narrowed.map((event, index) =>
          index === n ? { ...event, data: { ...event.data, project_id: 'other' } } : event,
        );
      },
      /refuses what it does not count/,
    ],
    'a refusal with other use': [() => changed('BudgetReached', { used_credits: 51 }), /used_credits/],
    'a refusal with other holds': [() => changed('BudgetReached', { held_credits: 6 }), /held_credits/],
    'a refusal by another limit': [() => changed('BudgetReached', { limit_credits: 99 }), /limit_credits/],
    'a refusal that resets at another time': [
      () => changed('BudgetReached', { resets_at: '2026-02-02T00:00:00.000Z' }),
      /resets_at/,
    ],
    'a refusal of another period': [
      () => changed('BudgetReached', { period_start: '2026-01-30T00:00:00.000Z' }),
      /period_start/,
    ],
    'a refusal that is told twice': [() => again('BudgetReached'), /tells a refusal again/],
    'an alert that is told twice': [() => again('BudgetAlerted'), /told twice in a period/],
    'an alert that is missing': [() => without('BudgetAlerted'), /was not told of a level/],
    'an alert that is missing at the end': [
      () => events.slice(0, indexOf('BudgetAlerted', 0)),
      /was not told of a level after this/,
    ],
    'an alert at another level': [() => changed('BudgetAlerted', { level: 0.4 }), /does not reach level 0.4/],
    'an alert with other use': [() => changed('BudgetAlerted', { used_credits: 1 }), /used_credits/],
    'a hold that does not fit': [() => events.map((event) => larger(event)), /does not fit budget bgt_1/],
    'what comes after a removal': [
      () => {
        const [at, refusal] = [indexOf('BudgetRemoved', 0), events[indexOf('BudgetReached', 2)]!];
        return [...events.slice(0, at + 1), refusal, ...events.slice(at + 1)];
      },
      /has no budget bgt_1/,
    ],
    'a budget whose zone changes': [() => changed('BudgetSet', { time_zone: 'Asia/Tokyo' }, 2), /time_zone/],
  };

  /** A hold that fitted, made larger than the budget. */
  const larger = (event: RecordedEvent): RecordedEvent => {
    const { data } = event;
    return data['hold_id'] === 'h3' ? { ...event, data: { ...data, credits: 400, pages: 400 } } : event;
  };

  for (const [name, [make, sentence]] of Object.entries(forged))
    it(`finds ${name}`, () => {
      const found = budgetFindings(make());
      expect(
        found.some((one) => sentence.test(one)),
        JSON.stringify(found),
      ).to.equal(true);
    });
});
