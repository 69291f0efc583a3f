const counted = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;

/** Words of the page "Overview". */
export const overview = {
  title: 'Overview',
  say: 'Activity, balance and open tasks.',
  figures: 'Today and the last 30 days',
  spans: { today: 'Today', month: 'Last 30 days' },
  columns: { pages: 'Pages', success: 'Success', time: 'Time', spend: 'Credits', value: 'List value' },
  failed: (count: number) => (count === 0 ? 'none failed' : `${count.toLocaleString('en')} failed`),
  timeSay: (p95: string) => `p95 ${p95}`,
  none: '–',
  utc: 'Days are UTC. Time is the median.',
  notBilled: 'What you read as the operator is not billed, and not among the rows of usage.',
  countedFrom: 'Success and time are those of the newest 10,000 documents.',
  balance: 'Available',
  balanceSay: 'credits that can be spent',
  lasts: 'Runs out',
  /** How long what is left lasts, in days; null: nothing is used. */
  lastsOf: (days: number | null): string => {
    if (days === null) return 'not at this pace';
    if (days > 730) return 'in over two years';
    return days < 1 ? 'today' : `in ${counted(days, 'day')}`;
  },
  lastsSay: (atWeek: string) => `at the pace of the last 28 days; ${atWeek} at that of the last 7`,
  lastsNone: 'no credits were spent in 28 days',
  free: 'Free pages left',
  freeSay: (all: string) => `of ${all} in this month`,
  budgets: {
    title: 'Budgets at their limit',
    left: (credits: number) => `${credits.toLocaleString('en').replace('-', '−')} credits left`,
    refuses: 'Work that does not fit is refused.',
    more: (count: number) => `and ${counted(count, 'budget')} more`,
  },
  waits: {
    title: 'Queue',
    none: 'No document waits or is being read.',
    pages: (pages: number) => counted(pages, 'page'),
    reviews: (count: number) => `${counted(count, 'result')} to be looked at by a person.`,
    more: (count: number) => `and ${count.toLocaleString('en')} more`,
  },
  failures: {
    title: 'Recent failures',
    none: 'Nothing failed in the last 30 days. Documents that could not be read would be listed here.',
    columns: { at: 'When', what: 'What', pages: 'Pages', problem: 'Why', document: 'Document' },
  },
  empty: {
    title: 'Nothing was read yet',
    say: 'Read a document in the playground: what it took and what it cost is told here.',
    go: 'Open the playground',
  },
  service: {
    title: 'All tenants',
    work: 'Open work',
    noWork: 'Nothing waits.',
    alerts: 'Alerts',
    noAlerts: 'Nothing needs you.',
    kinds: { operations: 'Operations', batches: 'Batches', training_jobs: 'Trainings', reviews: 'Reviews' },
    part: (name: string, state: string) => `${name.replaceAll('_', ' ')} is ${state.replaceAll('_', ' ')}`,
    prices: (count: number) =>
      `${count === 1 ? 'A model was' : `${String(count)} models were`} called without a price`,
    audit: (count: number) => `The last audit found ${counted(count, 'thing')}`,
    auditFailed: 'The last audit could not be made',
    late: (name: string) => `The read model ${name} is not up to date`,
    parked: (name: string, count: number) => `The read model ${name} has parked ${counted(count, 'tenant')}`,
    still: (name: string, seconds: number) =>
      `The read model ${name} has not moved for ${counted(Math.floor(seconds / 60), 'minute')} although events wait`,
  },
} as const;
