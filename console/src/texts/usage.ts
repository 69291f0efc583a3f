import { isolated } from './shell.ts';

const counted = (credits: number): string => `${credits.toLocaleString('en')} credits`;

/** Figures of a consent, as they are typed; `price` is left out where there is none. */
interface Agreed {
  readonly credits: string;
  readonly threshold: string;
  readonly most: string;
  readonly price: string | undefined;
}

/** Words of the page "Usage and balance". */
export const usage = {
  title: 'Usage and balance',
  say: 'What was used, what it cost, and what is left.',
  tabs: {
    usage: 'Usage',
    groups: 'By group',
    ledger: 'Ledger',
    grants: 'Purchases',
    topUp: 'Top-ups',
    quote: 'Quote',
    prices: 'Prices',
  },
  label: 'Parts of this page',
  newTenant: {
    title: 'Nothing was used or bought yet',
    say: 'The balance appears with the first key, purchase or document of this tenant.',
  },
  stats: {
    available: 'Available',
    availableSay: 'credits that can be spent',
    balance: 'Balance',
    balanceSay: (bought: string, used: string) => `${bought} bought, ${used} used`,
    held: 'Held',
    heldSay: 'set aside for running work',
    free: 'Free pages left',
    lasts: 'Runs out',
    freeSay: (used: string, all: string) => `${used} of ${all} used`,
    plan: 'Plan',
  },
  low: {
    under: (line: string) => `The balance is below ${line} credits. Ask for a purchase before work stops.`,
    none: 'There are no credits left. Documents are refused until credits are bought.',
    line: (line: string) => `A webhook reports when the balance falls below ${line} credits.`,
    noLine: 'No webhook reports a low balance. Set low_balance_credits at a webhook to be told.',
    own: 'Low balance line',
    ownSay: 'kept in this browser',
    name: (line: string) => `Low balance: ${line}`,
  },
  chart: {
    used: (days: string) => `Credits by day, last ${days} days (UTC)`,
    balanceTitle: 'Balance by day (UTC)',
    balance: (days: string) => `Balance by day, last ${days} days (UTC)`,
    series: 'Balance',
    nothing:
      'Nothing was charged in these days. Else each has a bar here: its credits, by what they were spent for.',
    unknown:
      'The balances of these days are not known yet: read models are catching up. Then a line shows each.',
    span: 'Days shown',
    days: (days: string) => `${days} days`,
  },
  filters: {
    from: 'From',
    to: 'To',
    category: 'Category',
    all: 'All',
    clear: 'Clear',
  },
  columns: {
    time: 'Time',
    kind: 'Kind',
    category: 'Category',
    mode: 'Mode',
    pages: 'Pages',
    free: 'Free pages',
    credits: 'Credits',
    value: 'List value',
    balance: 'Balance after',
    project: 'Project',
    task: 'Task',
    tags: 'Tags',
    document: 'Document',
    receipt: 'Receipt or note',
    amount: 'Amount',
    vat: 'VAT',
    refunded: 'Refunded',
    provider: 'Provider',
    transaction: 'Transaction',
    invoice: 'Invoice',
    priceList: 'Price list',
    currency: 'Currency',
    price: 'Per 1,000 credits',
    tax: 'Tax',
    operation: 'Operation',
    billing: 'Model',
    window: 'May wait',
    perPage: 'Credits per page',
  },
  kinds: {
    usage: 'Usage',
    sale: 'Purchase',
    refund: 'Refund',
    dispute: 'Dispute',
    reversal: 'Refund undone',
    transfer_out: 'Moved to another tenant',
    transfer_in: 'Moved from another tenant',
    admin_adjustment: 'Adjustment',
  },
  groups: {
    by: 'Group by',
    names: { day: 'Day', operation: 'Operation', project: 'Project', task: 'Task', key: 'Key' },
    tag: (name: string) => `Tag ${isolated(name)}`,
    tagName: 'Name of a tag',
    addTag: 'Add',
    tagFilter: 'Tag, as name:value',
    allKeys: 'All keys',
    list: 'Usage by group',
    none: 'None',
    further: 'Further values',
    others: 'Others',
    credits: 'Credits',
    sums: { operations: 'Operations', pages: 'Pages', free_pages: 'Free pages', credits: 'Credits' },
    total: 'Total',
    chart: (group: string | undefined, zone: string) =>
      `Credits by day${group === undefined ? '' : ` and ${group.toLowerCase()}`}, days of ${zone}`,
    atLimit: (names: readonly string[]) =>
      `${names.join(', ')}: more than 10,000 values. Work with further ones is in one row, “Further values”.`,
  },
  topUp: {
    title: 'Automatic top-ups',
    states: { on: 'On', off: 'Consent withdrawn', never: 'Never agreed to' },
    never: 'Nobody has agreed to top-ups. Credits are bought by hand alone.',
    rule: (credits: number, threshold: number, most: number) =>
      `${counted(credits)} are bought when the balance is below ${counted(threshold)}, at most ` +
      `${counted(most)} in a calendar month (UTC).`,
    lines: {
      balance: 'Balance',
      currency: 'Currency',
      payer: 'Customer who pays',
      method: 'Payment method',
      consented: 'Consent given',
      changed: 'Last changed',
    },
    due:
      'The balance is below the threshold: a top-up is due. If none comes within minutes, the ' +
      'last top-up says why.',
    notDue: (credits: number) => `A top-up is due after ${counted(credits)} more are used.`,
    last: 'Last purchase',
    attempt: 'Last top-up',
    noAttempt: 'None was tried yet.',
    outcomes: {
      charged: 'Credits were bought.',
      declined: 'The card was declined, or the bank wants the payer.',
      limit: 'Nothing was bought: the maximum of the month is reached.',
      needs_a_person:
        'Nothing was bought, and a person has to look: the log of the payment process says why.',
    },
    again: 'Tried again',
    notAgain: 'not by itself',
    attempts:
      'A top-up that succeeds is a purchase. After a decline the payment process tries again after 1, 6 and 24 ' +
      'hours, then stops until the consent is given anew.',
    change: 'Consent and limits',
    price: (amount: string, currency: string, tax: 'exclusive' | 'inclusive') =>
      `${amount} ${currency}${tax === 'inclusive' ? ', VAT included,' : ''} at today’s price`,
    noPrice: (currency: string) =>
      `The price list has no price in ${currency}: top-ups are not charged until it has one.`,
    agree: ({ credits, threshold, most, price }: Agreed) =>
      `The payer agrees that ${credits || '…'} credits${price === undefined ? '' : ` (${price})`} are bought and ` +
      `charged without asking again, whenever the balance is below ${threshold || '…'} credits, up to ` +
      `${most || '…'} credits in a calendar month. The consent can be withdrawn at any time.`,
    give: 'Give the consent',
    save: 'Save and agree again',
    withdraw: 'Withdraw the consent',
    done: 'The consent and its limits are set.',
    withdrawn: 'The consent was withdrawn: nothing more is charged.',
    askOperator:
      'An operator records who pays, and gives again a consent that was withdrawn. After that the limits can be ' +
      'changed here.',
    fields: {
      threshold: 'When the balance is below, in credits',
      credits: 'Credits to buy',
      currency: 'Currency',
      most: 'Most credits in a month',
      mostSay: 'Calendar months in UTC. Purchases by hand do not count.',
      payer: 'Customer at the payment provider',
      method: 'Payment method',
      noCredits: 'A whole number from 1 to 1,000,000,000,000.',
      noName: 'At most 255 characters.',
      noCurrency: 'Choose a currency.',
      lessThanCredits: 'At least as many as are bought at a time.',
      notAgreed: 'Confirm that the payer agrees.',
    },
  },
  usageList: 'Usage',
  noUsage: {
    title: 'No usage here',
    say: 'Extract a document in the playground, or choose other dates.',
  },
  ledgerList: 'Ledger',
  grantsList: 'Purchases and refunds',
  noGrants: { title: 'Nothing was bought yet', say: 'Purchases and their refunds are listed here.' },
  quote: {
    title: 'What will it cost?',
    operation: 'Operation',
    operations: {
      extract: 'Extract values',
      to_markdown: 'Convert to markdown',
      classify: 'Tell what a document is',
      split: 'Part a stack',
    },
    mode: 'Mode',
    billing: 'Model',
    billings: { full_service: 'Of the service', byok: 'Own key' },
    window: 'May wait',
    windows: { none: 'No', '24h': 'Batches, 24 hours' },
    pages: 'Pages',
    badPages: 'A whole number from 1.',
    result: 'Credits',
    free: 'Free pages applied',
    billable: 'Pages that cost',
    perPage: 'Credits per page',
    value: 'List value',
    left: 'Left afterwards',
    enough: 'The balance is enough.',
    short: 'The balance is not enough.',
  },
  prices: {
    title: 'Credits',
    list: 'Prices of credits',
    version: (version: number) => `Price list ${String(version)}`,
    rates: 'Pages',
    rateList: 'Credits for each page',
    tax: { exclusive: 'VAT is added', inclusive: 'VAT included' },
  },
} as const;
