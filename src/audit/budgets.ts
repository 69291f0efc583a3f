import { REFUSALS_KEPT_MAX } from '../../domain/account/budgetMessages.ts';
import { type AuditedEvent, type AuditedEventOf, byType } from './auditedEvent.ts';
import { type Findings, wrong } from './findings.ts';
import { auditedEnd, auditedPeriod, countDay, type DayBook } from './periods.ts';

type Budget = AuditedEventOf<'BudgetSet'>['data'];
type Hold = AuditedEventOf<'CreditsHeld'>['data'];

/** A budget, added up by the auditor. */
interface BudgetBook {
  budget: Budget;
  used: number;
  held: number;
  /** The period that `used` is of; null where that is `total`. */
  start: string | null;
  until: string | null;
  readonly alerted: Set<number>;
  readonly refused: Set<string>;
  /** When it was made. */
  readonly since: string;
  /** Burned by UTC day, over the ends of periods. */
  readonly days: DayBook;
}

/** The budgets of an account by ID, and the alerts that the last hold or burn has to be followed by. */
export interface BudgetBooks {
  readonly open: Map<string, BudgetBook>;
  /** With the hold or burn that reached the level. */
  readonly due: Map<string, AuditedEvent>;
}

export const noBudgets = (): BudgetBooks => ({ open: new Map(), due: new Map() });

/** What these rules use beside the budgets. */
interface Account {
  readonly tenant_id: string;
  readonly budgets: BudgetBooks;
  readonly holds: ReadonlyMap<string, Hold>;
}

type Scoped = Partial<Pick<Hold, 'project_id' | 'task_id' | 'tags'>> & {
  readonly api_key_id?: string | null | undefined;
};

const isOf = ({ scope: { key_id, project_id, task_id, tag } }: Budget, of: Scoped): boolean =>
  (key_id === undefined || key_id === of.api_key_id) &&
  (project_id === undefined || project_id === of.project_id) &&
  (task_id === undefined || task_id === of.task_id) &&
  (tag === undefined || of.tags?.[tag.name] === tag.value);

/** Opens the period of a time, unless a later one is open. */
const turnTo = (book: BudgetBook, at: string): BudgetBook => {
  const { period, time_zone } = book.budget;
  if (period === 'total' || (book.until !== null && at < book.until)) return book;
  const { from, until } = auditedPeriod(time_zone, period, at);
  Object.assign(book, { start: from, until, used: 0 });
  book.alerted.clear();
  book.refused.clear();
  return book;
};

const isReached = (book: BudgetBook, level: number): boolean =>
  BigInt(book.used + book.held) * 1000n >=
  BigInt(Math.round(level * 1000)) * BigInt(book.budget.limit_credits);

const alertName = (id: string, level: number): string => `${id} at ${String(level)}`;

/** Each level that is reached now, and was not in this period. */
const expectAlerts = ({ due }: BudgetBooks, book: BudgetBook, event: AuditedEvent): void => {
  for (const level of book.budget.alert_at)
    if (isReached(book, level) && !book.alerted.has(level))
      due.set(alertName(book.budget.budget_id, level), event);
};

const take = (event: AuditedEventOf<'CreditsHeld'>, findings: Findings, { budgets }: Account): void => {
  const { credits, created_at } = event.data;
  for (const book of budgets.open.values()) {
    if (!isOf(book.budget, event.data)) continue;
    turnTo(book, created_at);
    const total = book.used + book.held + credits;
    const { budget_id, limit_credits, on_reached } = book.budget;
    if (on_reached === 'refuse' && total > limit_credits)
      wrong(findings, 'budget', event)(
        `It does not fit budget ${budget_id}.`,
        `at most ${limit_credits}`,
        total,
      );
    book.held += credits;
    expectAlerts(budgets, book, event);
  }
};

const free = ({ budgets, holds }: Account, holdId: string, at: string): void => {
  const hold = holds.get(holdId);
  if (hold === undefined || hold.credits === 0) return;
  for (const book of budgets.open.values())
    if (isOf(book.budget, hold)) turnTo(book, at).held -= hold.credits;
};

const use = (event: AuditedEventOf<'CreditsBurned'>, findings: Findings, account: Account): void => {
  const { credits, created_at, hold_id } = event.data;
  if (hold_id !== null) free(account, hold_id, created_at);
  if (credits === 0) return;
  for (const book of account.budgets.open.values()) {
    if (!isOf(book.budget, event.data)) continue;
    turnTo(book, created_at);
    const total = book.used + book.held + credits;
    const { budget_id, limit_credits, on_reached } = book.budget;
    if (hold_id === null && on_reached === 'refuse' && total > limit_credits)
      wrong(findings, 'budget', event)(
        `It does not fit budget ${budget_id}.`,
        `at most ${limit_credits}`,
        total,
      );
    book.used += credits;
    countDay(book.days, created_at, credits);
    expectAlerts(account.budgets, book, event);
  }
};

const set = (event: AuditedEventOf<'BudgetSet'>, findings: Findings, { budgets, holds }: Account): void => {
  const { data } = event;
  const before = budgets.open.get(data.budget_id);
  if (before !== undefined) {
    for (const member of ['scope', 'period', 'time_zone'] as const)
      if (JSON.stringify(data[member]) !== JSON.stringify(before.budget[member]))
        wrong(findings, 'budget', event)(`It changes the ${member} of budget ${data.budget_id}.`);
    turnTo(before, data.set_at).budget = data;
    before.refused.clear();
    return;
  }
  const open = { budget: data, used: 0, held: 0, start: null, until: null, since: data.set_at };
  const nothing = { alerted: new Set<number>(), refused: new Set<string>(), days: new Map<string, number>() };
  const book = turnTo({ ...open, ...nothing }, data.set_at);
  for (const hold of holds.values()) if (isOf(data, hold)) book.held += hold.credits;
  budgets.open.set(data.budget_id, book);
};

/** The budget of an event as it stood then; undefined, and a finding: there was none. */
const bookOf = (
  event: AuditedEventOf<'BudgetRemoved' | 'BudgetAlerted' | 'BudgetReached'>,
  findings: Findings,
  { budgets, tenant_id }: Account,
): BudgetBook | undefined => {
  const { budget_id } = event.data;
  const book = budgets.open.get(budget_id);
  if (book === undefined)
    wrong(findings, 'budget', event)(`${tenant_id} has no budget ${budget_id} at this time.`);
  return book;
};

const endingOf = ({ budget, used, held, ...book }: BudgetBook) => ({
  left: budget.limit_credits - used - held,
  days: book.days,
  since: book.since,
  until: book.until,
});

const checkStanding = (
  event: AuditedEventOf<'BudgetAlerted' | 'BudgetReached'>,
  findings: Findings,
  book: BudgetBook,
): void => {
  const { data } = event;
  const known = {
    period_start: book.start,
    limit_credits: book.budget.limit_credits,
    used_credits: book.used,
    held_credits: book.held,
    ...('resets_at' in data && { resets_at: book.until }),
    ...('expected_end_at_7_days' in data && auditedEnd(endingOf(book), data.alerted_at)),
  };
  const said = data as Readonly<Partial<typeof known>>;
  for (const member of Object.keys(known) as (keyof typeof known)[])
    if (said[member] !== known[member])
      wrong(findings, 'budget', event)(
        `Its ${member} is not that of budget ${data.budget_id} at this time.`,
        known[member] ?? 'none',
        said[member] ?? 'none',
      );
};

const alerted = (event: AuditedEventOf<'BudgetAlerted'>, findings: Findings, account: Account): void => {
  const { budget_id, level, alerted_at } = event.data;
  const book = bookOf(event, findings, account);
  if (book === undefined) return;
  turnTo(book, alerted_at);
  checkStanding(event, findings, book);
  const say = wrong(findings, 'budget', event);
  if (book.alerted.has(level)) say(`Level ${level} of budget ${budget_id} is told twice in a period.`);
  else if (!account.budgets.due.delete(alertName(budget_id, level)))
    say(`Budget ${budget_id} does not reach level ${level} with the event before.`);
  book.alerted.add(level);
};

/** A refusal is derived again: the work counts for the budget, and does not fit. */
const reached = (event: AuditedEventOf<'BudgetReached'>, findings: Findings, account: Account): void => {
  const { data } = event;
  const found = bookOf(event, findings, account);
  if (found === undefined) return;
  const book = turnTo(found, data.refused_at);
  checkStanding(event, findings, book);
  const say = wrong(findings, 'budget', event);
  const { budget_id, limit_credits, on_reached } = book.budget;
  const total = book.used + book.held + data.required_credits;
  if (on_reached === 'notify' || total <= limit_credits || data.required_credits === 0)
    say(`Budget ${budget_id} refuses what it lets pass.`, `more than ${limit_credits}`, total);
  if (!isOf(book.budget, data)) say(`Budget ${budget_id} refuses what it does not count.`);
  const { idempotency_key: key, operation_id } = data;
  const name = key === null ? `operation ${operation_id}` : `charge ${key}`;
  if (book.refused.has(name) || book.refused.size >= REFUSALS_KEPT_MAX)
    say(`Budget ${budget_id} tells a refusal again.`);
  book.refused.add(name);
};

const removed = (event: AuditedEventOf<'BudgetRemoved'>, findings: Findings, account: Account): void => {
  if (bookOf(event, findings, account) !== undefined) account.budgets.open.delete(event.data.budget_id);
};

/** Alerts follow at once what they are of. */
const checkDue = (
  event: AuditedEvent,
  findings: Findings,
  { tenant_id, budgets: { due } }: Account,
): void => {
  if (due.size === 0 || event.type === 'BudgetAlerted') return;
  const missing = [...due.keys()].join(', ');
  wrong(findings, 'budget', event)(`${tenant_id} was not told of a level before this: budget ${missing}.`);
  due.clear();
};

const count = byType<[Findings, Account]>({
  CreditsHeld: (event, findings, account) => {
    if (event.data.credits > 0) take(event, findings, account);
  },
  HoldReleased: ({ data }, _, account) => free(account, data.hold_id, data.released_at),
  CreditsBurned: use,
  BudgetSet: set,
  BudgetRemoved: removed,
  BudgetAlerted: alerted,
  BudgetReached: reached,
});

/** Counts an event of an account for its budgets, before the hold that it closes is taken off. */
export const checkBudgets = (event: AuditedEvent, findings: Findings, account: Account): void => {
  if (account.budgets.open.size === 0 && !('budget_id' in event.data)) return;
  checkDue(event, findings, account);
  findings.checked('budget');
  count(event, findings, account);
};

/** Alerts that the log ends without. */
export const finishBudgets = (findings: Findings, { tenant_id, budgets: { due } }: Account): void => {
  for (const [name, event] of due)
    wrong(findings, 'budget', event)(`${tenant_id} was not told of a level after this: budget ${name}.`);
};
