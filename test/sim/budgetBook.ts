/**
 * What counts towards each budget, kept a second time, from holds and burns alone. Nothing here is of the service: a
 * period is the name of a day, a week or a month of the zone, as the platform prints it, and the latest one counts.
 */

interface Entry {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Budget {
  readonly limit: number;
  readonly refuses: boolean;
  readonly project: unknown;
  readonly period: string;
  readonly zone: string;
  /** Name of the period that `used` is of. */
  now: string;
  used: number;
  held: number;
}

interface Hold {
  readonly credits: number;
  readonly project: unknown;
}

const periodName = ({ period, zone }: Pick<Budget, 'period' | 'zone'>, at: string): string => {
  if (period === 'total') return '';
  const day = new Date(at).toLocaleDateString('sv-SE', { timeZone: zone });
  if (period === 'month') return day.slice(0, 7);
  if (period === 'day') return day;
  const weekday = (new Date(day).getUTCDay() + 6) % 7;
  return new Date(Date.parse(day) - weekday * 86_400_000).toISOString().slice(0, 10);
};

/** The budgets of one account. */
export const budgetBook = (say: (rule: string, text: string) => void) => {
  const budgets = new Map<string, Budget>();
  const holds = new Map<string, Hold>();

  const countedBy = (project: unknown, at: string): readonly (readonly [string, Budget])[] =>
    [...budgets].filter(([, budget]) => {
      if (budget.project !== undefined && budget.project !== project) return false;
      const name = periodName(budget, at);
      if (name > budget.now) Object.assign(budget, { now: name, used: 0 });
      return true;
    });

  const set = (data: Entry['data']): void => {
    const [id, at] = [String(data['budget_id']), String(data['set_at'])];
    const scope = data['scope'] as { readonly project_id?: string };
    const made = {
      ...{ limit: Number(data['limit_credits']), refuses: data['on_reached'] === 'refuse' },
      ...{ project: scope.project_id, period: String(data['period']), zone: String(data['time_zone']) },
    };
    const before = budgets.get(id);
    const held = [...holds.values()]
      .filter(({ project }) => made.project === undefined || made.project === project)
      .reduce((sum, { credits }) => sum + credits, 0);
    budgets.set(id, { now: periodName(made, at), used: 0, ...before, ...made, held });
  };

  const held = (data: Entry['data']): void => {
    const [credits, project] = [Number(data['credits']), data['project_id']];
    holds.set(String(data['hold_id']), { credits, project });
    if (credits === 0) return;
    for (const [id, budget] of countedBy(project, String(data['created_at']))) {
      budget.held += credits;
      const total = budget.used + budget.held;
      if (budget.refuses && total > budget.limit)
        say(
          'budget-passed',
          `${String(total)} credits are used and held of budget ${id}, ${String(budget.limit)}`,
        );
    }
  };

  const closed = (id: unknown, at: string): void => {
    const hold = holds.get(String(id));
    holds.delete(String(id));
    if (hold === undefined) return;
    for (const [, budget] of countedBy(hold.project, at)) budget.held -= hold.credits;
  };

  const burned = (data: Entry['data']): void => {
    const at = String(data['created_at']);
    closed(data['hold_id'], at);
    for (const [, budget] of countedBy(data['project_id'], at)) budget.used += Number(data['credits']);
  };

  /** Only what really does not fit is refused, and with the figures that the book has. */
  const refused = (data: Entry['data']): void => {
    const id = String(data['budget_id']);
    countedBy(data['project_id'], String(data['refused_at']));
    const budget = budgets.get(id);
    const [used, open, required] = ['used_credits', 'held_credits', 'required_credits'].map((name) =>
      Number(data[name]),
    ) as [number, number, number];
    if (budget?.refuses !== true || used !== budget.used || open !== budget.held)
      say(
        'budget-refused',
        `budget ${id} refuses with ${String(used)} used and ${String(open)} held, ` +
          `and has ${String(budget?.used)} and ${String(budget?.held)} by the book`,
      );
    else if (used + open + required <= budget.limit)
      say('budget-refused', `budget ${id} refuses ${String(required)} credits that fit`);
  };

  const moves: Readonly<Record<string, (data: Entry['data']) => void>> = {
    BudgetSet: set,
    BudgetRemoved: (data) => void budgets.delete(String(data['budget_id'])),
    BudgetReached: refused,
    CreditsHeld: held,
    HoldReleased: (data) => closed(data['hold_id'], String(data['released_at'])),
    CreditsBurned: burned,
  };
  return { see: ({ type, data }: Entry): void => moves[type]?.(data) };
};
