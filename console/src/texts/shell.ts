/** A name within a sentence, which it does not turn around: names may have marks of direction (U+202E). */
export const isolated = (name: string): string => `\u2068${name}\u2069`;

/** What a kind of billed work is called. */
export const kinds = {
  extract: 'Extraction',
  to_markdown: 'Markdown',
  classify: 'Classification',
  split: 'Split',
  training: 'Training',
  examples_export: 'Export of examples',
} as const;

/** How thoroughly a document is read. */
export const modes = { fast: 'Fast', standard: 'Standard', robust: 'Robust' } as const;

/** What credits are spent for, beside the kinds of work. */
const categories = {
  extraction: 'Extraction',
  ai_prefill: 'Prefill',
  ocr: 'Text recognition',
  adjustment: 'Adjustment',
  ...kinds,
} as const;

/** What a status is called, on every page: of work, reviews, audits, deliveries, deployments. */
const statuses = {
  queued: 'Queued',
  pending: 'Queued',
  running: 'Running',
  scoring: 'Comparing',
  cancelling: 'Cancelling',
  succeeded: 'Succeeded',
  ended: 'Ended',
  partial: 'Partial',
  needs_review: 'Needs review',
  delivered: 'Delivered',
  failed: 'Failed',
  cancelled: 'Cancelled',
  interrupted: 'Interrupted',
  active: 'Active',
  retired: 'Retired',
  open: 'Open',
  leased: 'Taken',
  decided: 'Decided',
  rejected: 'Rejected',
  expired: 'Expired',
} as const;

/** What is not in a list stays as it came. */
const wordIn = (words: Readonly<Record<string, string>>, name: string): string =>
  (Object.hasOwn(words, name) ? words[name] : undefined) ?? name;

export const kindName = (kind: string): string => wordIn(kinds, kind);
export const modeName = (mode: string): string => wordIn(modes, mode);
export const categoryName = (category: string): string => wordIn(categories, category);
export const statusName = (status: string): string => wordIn(statuses, status);

/** Words of the frame around every page. */
export const shell = {
  product: 'Quire',
  nav: {
    overview: 'Overview',
    playground: 'Playground',
    runs: 'Documents and runs',
    reviews: 'Reviews',
    work: 'Operations',
    usage: 'Usage',
    budgets: 'Budgets',
    statements: 'Statements',
    keys: 'Keys',
    webhooks: 'Webhooks',
    configs: 'Configs',
    tables: 'Tables',
    pipelines: 'Pipelines',
    evaluations: 'Evaluations',
    tenants: 'Tenants',
    books: 'Books',
    finance: 'Finance',
    audit: 'Audit',
    operation: 'System status',
  },
  mine: 'Documents',
  operator: 'Operator',
  search: 'Go to…',
  palette: {
    hint: 'Page, tenant, document, operation, call of the API…',
    pages: 'Pages',
    tenants: 'Tenants',
    documents: 'Documents',
    operations: 'Operations',
    docs: 'API reference',
    reference: 'Open the API reference',
    operation: (kind: string, status: string) => `${kind}, ${statusName(status)}`,
  },
  print: 'Print',
  nothingFound: 'Nothing of that name.',
  theme: { system: 'As the system', light: 'Light', dark: 'Dark', name: 'Theme' },
  menu: 'Menu',
  timesIn: (zone: string) => `Times in ${zone}`,
  showIn: (zone: string) => `Show in ${zone}`,
  tenant: 'Tenant',
  chooseTenant: 'Choose a tenant',
  signOut: 'Sign out',
  signIn: {
    title: 'Sign in to Quire',
    key: 'API key',
    hint: 'It is used once and kept nowhere: your browser gets a session of at most eight hours.',
    submit: 'Sign in',
    oidc: 'Sign in with your organisation',
    or: 'or',
    noKey: 'Enter your API key.',
    wrong: 'This key is not known. Check that it is whole, and not revoked.',
    over: 'Your session has ended. Sign in to go on where you were.',
    oidcWindow: 'Your organisation asks in a window of its own. This page stays as it is meanwhile.',
    done: 'You are signed in',
    doneSay: 'Close this window: the other one goes on where it was.',
    notKept: 'Your browser kept no session. Let this site keep cookies, or open the service by https.',
    missing: {
      title: 'Signing in does not work at this address',
      https:
        'This page came over plain http from another machine, where a session could be read on its way. ' +
        'Open the service by https. Its operator ends TLS in front of it and sets PUBLIC_URL to the address ' +
        'that browsers see. Where plain http is wanted, PUBLIC_URL is its http:// address.',
      address: 'This page came over plain http, where browsers keep no session. Sign in at',
    },
    problems: {
      https_required: 'Signing in does not work over plain http from another machine.',
      link_used: 'This sign-in link was used already or is too old. Sign in with a key.',
      oidc_denied: 'Your organisation did not let you in, or you cancelled. Nothing was changed.',
      oidc_claims:
        'Your organisation let you in, but does not say for which tenant or in which role. Ask who runs this service.',
      oidc_untrusted:
        'What your organisation answered could not be trusted, so you were not signed in. Try again from here.',
      oidc_not_begun:
        'This sign-in was begun in another window, too long ago, or was finished before. Begin again.',
      oidc_unavailable:
        'Your organisation’s sign-in does not answer. Try again in a while, or sign in with a key.',
      oidc_not_configured: 'This service has no sign-in of an organisation. Sign in with a key.',
      other: 'Signing in did not succeed. Try again, or ask who runs this service.',
    },
    firstTime: 'First time? The first start of the service printed an admin key and a one-time link.',
  },
  notFound: {
    title: 'There is no such page',
    say: 'The address may be mistyped, or the page moved.',
    back: 'To the start',
  },
  broken: 'This page stopped working',
  notLoaded: 'This page is not loaded yet',
  faults: {
    lost: {
      title: 'The service was not reached',
      detail: 'Check your connection, then try again. Nothing you typed is lost.',
    },
    between: (status: number) => `Something between you and the service answered ${String(status)}`,
    page: 'Something went wrong on this page',
  },
  retry: 'Try again',
  retryIn: (seconds: number) => `Try again in ${String(seconds)} s`,
  request: 'Request',
  loading: 'Loading',
  copy: 'Copy',
  copyId: 'Copy the ID',
  aSchema: 'Schema',
  theService: 'the service',
  bootstrapKey: 'ADMIN_API_KEY',
  copied: 'Copied',
  close: 'Close',
  you: 'You',
  none: 'None',
  version: (version: number) => `version ${String(version)}`,
  somebody: 'Somebody',
  anOperator: 'An operator',
  cancel: 'Cancel',
  more: 'Load more',
  csv: 'CSV',
  noRows: 'Nothing here yet.',
  rows: (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}`,
  rowsOf: (shown: number, total: number) =>
    `${shown.toLocaleString('en')} of ${total.toLocaleString('en')} rows`,
  firstRows: (shown: number, total: number) =>
    `1–${shown.toLocaleString('en')} of ${total.toLocaleString('en')} rows`,
  rowsSoFar: (shown: number) => `${shown.toLocaleString('en')} ${shown === 1 ? 'row' : 'rows'} so far`,
  atLeast: (rows: string) => `at least ${rows}`,
  noMatch: 'No row has this text.',
  saved: (file: string, rows: number) =>
    `${file}: ${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`,
  leaving: {
    title: 'Leave this page?',
    say: 'What you typed here is not saved.',
    stay: 'Stay',
    leave: 'Leave',
  },
  filter: 'Filter',
  before: 'before',
  after: 'after',
  choose: 'Choose…',
} as const;
