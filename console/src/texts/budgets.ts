import { isolated } from './shell.ts';

const credits = (count: number): string => count.toLocaleString('en').replace('-', '−');

/** A part of a limit: 0.805 is 80.5 %. */
const percent = (part: number): string => `${String(Math.round(part * 1_000) / 10)} %`;

const periods = { day: 'Day', week: 'Week', month: 'Month', total: 'No period' } as const;

/** Words about budgets: of their page, and of the budget of a key. */
export const budgets = {
  title: 'Budgets',
  say: 'The most credits that a key, a project, a task, a tag or all work may spend in a period.',
  list: 'Budgets, the most used first',
  credits,
  percent,
  periods,
  empty: {
    title: 'No budgets yet',
    say: 'Work is limited by the balance alone. Set a budget to limit a key, a project, a task, a tag or all work.',
  },
  newTenant: {
    title: 'Nothing was bought yet',
    say: 'Budgets can be set after the first key or purchase of this tenant.',
  },
  find: 'Find a budget',
  noneFound: 'No budget has this in its name or in what it limits.',
  shown: (shown: number, all: number) => `${credits(shown)} of ${credits(all)} budgets`,
  stats: {
    full: 'Used up',
    fullSay: 'nothing is left of them',
    near: 'Nearly used up',
    nearSay: 'at least 80 % used or held',
    within: 'Within the limit',
    withinSay: 'less than 80 % used or held',
  },
  states: { full: 'Used up', near: 'Nearly used up', within: 'Within the limit' },
  reached: { refuse: 'Refuses work', notify: 'Only notifies' },
  erased: 'Name erased',
  scopes: {
    whole: 'All work',
    key: (name: string) => `Key ${isolated(name)}`,
    project: (id: string) => `Project ${isolated(id)}`,
    task: (id: string) => `Task ${isolated(id)}`,
    tag: (name: string, value: string) => `Tag ${isolated(`${name}: ${value}`)}`,
  },
  bar: (share: string, stood: string) => `${share} of the limit: ${stood} credits`,
  stood: (used: number, held: number, limit: number) =>
    `${credits(used)} used and ${credits(held)} held of ${credits(limit)}`,
  used: 'used',
  held: 'held',
  left: 'left',
  over: 'over the limit',
  of: (limit: number) => `of ${credits(limit)} credits`,
  resets: 'Resets',
  usedUp: 'At the pace of a week, used up',
  never: 'Never resets',
  in: (period: keyof typeof periods, zone: string) =>
    period === 'total' ? periods.total : `${periods[period]} in ${zone}`,
  alerts: 'Alerts at',
  noAlerts: 'No alerts',
  told: 'sent in this period',
  parent: (limit: number) => `Limit of all work in the same period: ${credits(limit)} credits.`,
  refusals: {
    title: (count: number) => `Latest refusals in this period (${String(count)})`,
    why: (required: number, left: number, stood: string) =>
      `${credits(required)} credits were required, ${credits(Math.max(0, left))} were left: ${stood}.`,
    key: (name: string) => `Key ${isolated(name)}`,
    project: (id: string) => `Project ${isolated(id)}`,
    task: (id: string) => `Task ${isolated(id)}`,
  },
  make: {
    open: 'Set a budget',
    title: 'Set a budget',
    forKey: (name: string) => `Set a budget for key ${isolated(name)}`,
    say: 'Work counts from now on. Held credits count as well, free pages do not.',
    submit: 'Set the budget',
    done: 'The budget is set.',
  },
  change: {
    open: 'Change',
    title: (name: string) => `Change the budget ${isolated(name)}`,
    say:
      'Credits that were counted stay counted. To change what is limited or its period, end this budget and set ' +
      'another.',
    submit: 'Save',
    done: 'The budget was changed.',
  },
  end: {
    open: 'End',
    title: (name: string) => `End the budget ${isolated(name)}?`,
    say: 'Its limit and its alerts no longer apply, and what it counted is forgotten. A new budget starts at 0.',
    submit: 'End the budget',
    done: 'The budget was ended.',
  },
  fields: {
    name: 'Name',
    noName: 'Enter a name of at most 200 characters.',
    kind: 'What it limits',
    kinds: { whole: 'All work', key: 'A key', project: 'A project', task: 'A task', tag: 'A tag' },
    key: 'Key',
    noKey: 'Choose a key.',
    project: 'Project',
    task: 'Task',
    noId: 'Enter an ID of at most 128 characters.',
    tag: 'Name of the tag',
    noTag: 'A small letter, then at most 39 small letters, digits, _, . or -.',
    value: 'Value of the tag',
    noValue: 'Enter a value of at most 200 characters.',
    period: 'Period',
    periods: {
      day: 'Each day',
      week: 'Each week, from Monday',
      month: 'Each month',
      total: 'None: the limit never resets',
    },
    zone: 'Time zone',
    zoneSay: 'Its days, weeks and months start at midnight there.',
    limit: 'Limit in credits',
    noLimit: 'A whole number from 0 to 1,000,000,000,000.',
    reached: 'When the limit is reached',
    reacheds: { refuse: 'Refuse work that does not fit', notify: 'Do the work and notify' },
    levels: 'Alerts at, in percent',
    levelsSay: 'Each is sent once a period to webhooks with budget.alert. Separate levels by commas.',
    noLevels: 'At most 20 percentages from 0.1 to 1000, with one digit after the point.',
  },
  ofKey: {
    column: 'Budget',
    none: 'Set',
    label: (name: string) => `Budget of ${isolated(name)}`,
    set: (name: string) => `Set a budget: ${name}`,
    used: (used: number, limit: number) => `${credits(used)} / ${credits(limit)}`,
    more: (count: number) => `+${String(count)}`,
  },
} as const;
