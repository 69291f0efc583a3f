import { isolated } from './shell.ts';

/** Words of the page "Audit". */
export const audit = {
  title: 'Audit',
  say: 'What happened, who did it, and proof that nothing was changed.',
  tabs: {
    timeline: 'Timeline',
    balance: 'Balance at a moment',
    audits: 'Audits',
    seals: 'Seals',
    name: 'Parts of the audit',
  },
  scope: {
    stream: 'Stream',
    streamHint: 'All streams',
    tenant: 'Tenant',
    tenantHint: 'All tenants',
    order: 'Order',
    newest: 'Newest first',
    oldest: 'Oldest first',
    fromRevision: 'From revision',
    fromPosition: 'From position',
    fromHint: 'The end',
    clear: 'Show all',
    again: 'Read again',
    export: 'Export NDJSON',
    q: 'Text',
    qHint: 'In events and in what people wrote',
    type: 'Type',
    allTypes: 'All types',
    actor: 'Who',
    actorHint: 'Name or ID of a key',
    since: 'From day (UTC)',
    until: 'To day (UTC)',
    clearFilter: 'Clear filters',
  },
  list: {
    name: 'Events of the log',
    earlier: 'Load what comes before',
    loading: 'More events are loaded…',
    end: 'No more events.',
    empty: 'No events here',
    emptySay:
      'No stored event fits the stream, tenant and place that you chose. Show all events, or choose others.',
    by: 'by',
    revision: (revision: string) => `revision ${revision}`,
    position: (position: string) => `position ${position}`,
  },
  verdict: {
    verified: 'Verified',
    waiting: 'Not checked yet',
    broken: 'Does not fit',
    behind: 'Behind a break',
    withheld: 'Not checked here',
    withheldSay: 'Its texts were moved out of it, so its hash cannot be computed here. An audit verifies it.',
    behindSay: (revision: string) =>
      `Revision ${revision} of this stream does not fit, so nothing behind it is proven.`,
  },
  chain: {
    title: 'Checked by your browser',
    running: (checked: string) => `Recomputing hashes: ${checked} so far`,
    done: (verified: string, checked: string) => `${verified} of ${checked} events verified`,
    whole: 'Each hash was computed again here, from the stored text.',
    broken: (verified: string, checked: string) =>
      `${verified} of ${checked} events verified: the log was changed`,
    first: (stream: string, revision: string) =>
      `First event that does not fit: ${stream}, revision ${revision}`,
    more: (count: number) => `${String(count)} more streams do not fit.`,
    paused: (verified: string) => `${verified} events verified; more follow`,
    failed: 'The check stopped',
    goOn: 'Go on',
    show: 'Show it',
    none: 'Nothing to check.',
  },
  flaws: {
    unreadable: 'What is stored is not JSON any more.',
    hash: 'Its content does not have the hash that it carries.',
    type: 'Its type is not the one that was hashed.',
    moved: 'It was moved from another place.',
    id: 'Its event ID is not the one of its hash.',
    previous: 'It does not name the event before it.',
    missing: 'Events before it are missing.',
    version: 'It goes back to an older hash version.',
  },
  event: {
    who: 'Who',
    why: 'Why',
    when: 'When',
    type: 'Type',
    stream: 'Stream',
    place: 'Place',
    id: 'Event ID',
    hash: 'Hash',
    previous: 'Hash before',
    request: 'Request',
    unknown: '–',
    json: 'What was hashed',
    left: 'What is left to be read',
    tokens: 'Text that people write lies beside the log: what was hashed has a token in its place.',
    erased: 'erased',
    beside: 'beside the log',
    streamOnly: 'Only this stream',
    unreadable: 'The stored text is not JSON and cannot be shown.',
    system: 'the service',
    actorOnly: 'Only this one',
    copyKey: 'Copy the key ID',
  },
  balance: {
    say: 'Computed from the events of the account, by the rules that decide. On the slider, arrow keys go by events.',
    byTime: 'By time',
    byPosition: 'By position',
    choose: 'Slider',
    moment: 'Moment',
    position: 'Position',
    exact: (zone: string) => `Exact time (${zone})`,
    before: 'Event before',
    after: 'Event after',
    isFirst: 'There is no event before this one.',
    isLast: 'There is no event after this one.',
    now: 'Now',
    figures: {
      balance: 'Balance',
      held: 'Held',
      available: 'Available',
      plan: 'Plan',
      purchased: 'Purchased',
      used: 'Used',
      adjusted: 'Adjusted',
      freePages: 'Free pages used',
      holds: 'Open holds',
    },
    credits: 'credits',
    stands: 'Based on',
    nothing: 'The account was not opened yet at this moment.',
    none: 'No account yet',
    noneSay: 'Nothing was ever recorded for this tenant. Sell or adjust credits to open its account.',
    show: 'Show in timeline',
  },
  audits: {
    say: 'Reads the whole log, recomputes every account by rules of its own, and compares the read models.',
    run: 'Run an audit',
    logOnly: 'Log only, leave the read models out',
    all: 'Keep every finding',
    list: 'Audits',
    empty: 'No audit yet',
    emptySay: 'Run one: the service stays usable meanwhile.',
    stop: 'Stop',
    progress: 'Progress of the audit',
    columns: {
      started: 'Started',
      by: 'By',
      status: 'Status',
      events: 'Events',
      findings: 'Findings',
    },
    stage: { starting: 'Starting', reading_tables: 'Reading tables', reading_log: 'Reading the log' },
    of: (position: string, end: string) => `position ${position} of ${end}`,
    clean: 'Nothing is wrong',
    wrong: (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'finding' : 'findings'}`,
    read: (events: string, streams: string, tenants: string) =>
      `${events} events of ${streams} streams and ${tenants} tenants were read.`,
    checks: 'Checks',
    check: { name: 'Check', about: 'What it says', checked: 'Checked', findings: 'Findings' },
    findings: 'Findings',
    notes: 'Notes',
    expected: 'Expected',
    found: 'Found',
    kept: 'The first findings of each check are shown. Run it with “keep every finding” for all.',
    result: 'Result',
  },
  seals: {
    list: 'Seals',
    empty: 'The log is not sealed',
    emptySay: 'Make a seal, or set SEAL_EVERY_MINUTES, so that a cut or rewritten log can be seen.',
    make: 'Seal the log',
    retain: 'Lock for (days)',
    retainSay: 'Empty: in the log alone. Days: also in the object store, if it can lock objects.',
    badDays: 'Whole days from 1 to 36,500, or nothing.',
    made: (events: string) => `The log is sealed: ${events} events.`,
    columns: {
      made: 'Made',
      position: 'Through position',
      events: 'Events',
      state: 'Last audit',
      continues: 'Names the one before',
      retained: 'Locked until',
      digest: 'Digest',
    },
    state: { holds: 'Holds', differs: 'Differs', not_checked: 'Not checked' },
    yes: 'Yes',
    no: 'No',
  },
} as const;

/** What an event says of itself. */
export type EventData = Readonly<Record<string, unknown>>;

type Sentence = (data: EventData) => string;

const text = (data: EventData, name: string): string => {
  const value = data[name];
  if (typeof value === 'string') return value.replaceAll('_', ' ');
  if (typeof value === 'number') return value.toLocaleString('en').replace('-', '−');
  return value === null || value === undefined ? '–' : JSON.stringify(value);
};

/** An ID or a name as it is. */
const name = (data: EventData, member: string): string => {
  const value = data[member];
  return typeof value === 'string' ? value : text(data, member);
};

const many = (data: EventData, member: string, one: string): string =>
  `${text(data, member)} ${data[member] === 1 ? one : `${one}s`}`;

const credits = (data: EventData): string => many(data, 'credits', 'credit');
const pages = (data: EventData): string => many(data, 'pages', 'page');
const left = (data: EventData): string => `balance ${text(data, 'balance_after')}`;
const file = (data: EventData): string =>
  typeof data['file_name'] === 'string' ? `“${isolated(data['file_name'])}”` : name(data, 'document_id');

const ACCOUNTS: Readonly<Record<string, Sentence>> = {
  AccountOpened: (d) => `Account of ${name(d, 'tenant_id')} opened`,
  PlanSet: (d) => `Plan set from ${text(d, 'previous_plan')} to ${text(d, 'plan')}`,
  CreditsGranted: (d) => `${credits(d)} granted for payment ${name(d, 'provider_txn_id')}, ${left(d)}`,
  CreditsRefunded: (d) => `${credits(d)} taken back for refund ${name(d, 'provider_txn_id')}, ${left(d)}`,
  RefundReversed: (d) => `${credits(d)} given back, reversal ${name(d, 'provider_txn_id')}, ${left(d)}`,
  DisputeChanged: (d) => `Dispute ${name(d, 'provider_txn_id')}: ${text(d, 'status')}`,
  CreditsTransferredOut: (d) => `${credits(d)} sent to ${text(d, 'to_tenant_id')}, ${left(d)}`,
  CreditsTransferredIn: (d) => `${credits(d)} received from ${text(d, 'from_tenant_id')}, ${left(d)}`,
  CreditsAdjusted: (d) => `Balance adjusted by ${credits(d)}, ${left(d)}`,
  CreditsHeld: (d) => `${credits(d)} held for ${text(d, 'operation')} of ${pages(d)}`,
  HoldReleased: (d) => `Hold given back: ${text(d, 'reason')}`,
  CreditsBurned: (d) => `${credits(d)} used for ${text(d, 'operation')} of ${pages(d)}, ${left(d)}`,
  SaleDetailsAdded: (d) => `Further facts of sale ${name(d, 'grant_id')} added`,
  SaleRateBooked: (d) => `Sale ${name(d, 'grant_id')} booked at the rate ${text(d, 'fx_rate_to_usd')} to USD`,
  BudgetSet: (d) =>
    `Budget ${isolated(name(d, 'name'))} set to ${text(d, 'limit_credits')} credits (${text(d, 'period')})`,
  BudgetRemoved: (d) => `Budget ${name(d, 'budget_id')} removed`,
  BudgetAlerted: (d) =>
    `Budget ${name(d, 'budget_id')} reached an alert level: ${text(d, 'level')} of its limit`,
  BudgetReached: (d) =>
    `Work for ${text(d, 'required_credits')} credits refused: it does not fit budget ${name(d, 'budget_id')}`,
  PaymentClaimed: (d) => `Payment ${name(d, 'provider_txn_id')} claimed for a ${text(d, 'kind')}`,
  PaymentReleased: (d) => `Payment ${name(d, 'provider_txn_id')} released`,
};

const BOOKS: Readonly<Record<string, Sentence>> = {
  PriceListPublished: (d) => `Price list ${text(d, 'version')} published`,
  BillingConfigPublished: (d) => `Billing config ${text(d, 'version')} published`,
  BillingRateSet: (d) => `Billing rate set, version ${text(d, 'version')}`,
  ProviderPricePublished: (d) => `Price of ${name(d, 'model_name')} at ${name(d, 'provider')} published`,
  ModelPriceSet: (d) => `Price of ${name(d, 'model_name')} set`,
  FxRatesPublished: (d) => `Exchange rates of ${name(d, 'date')} published`,
  MonthCutOff: (d) => `${name(d, 'month')} cut off: what follows is booked later`,
  MonthClosed: (d) => `${name(d, 'month')} closed`,
  MonthReopened: (d) => `${name(d, 'month')} opened again: ${text(d, 'reason')}`,
  LlmCostLogged: (d) => `Cost of ${name(d, 'model_name')} noted: ${text(d, 'cost_usd')} USD`,
  RateLimitsOverridden: (d) => `Rate limits of ${name(d, 'tenant_id')} set`,
  RateLimitsReset: (d) => `Rate limits of ${name(d, 'tenant_id')} back to the default`,
  ApiKeyIssued: (d) => `Key ${name(d, 'prefix')}…${name(d, 'last4')} made (${text(d, 'role')})`,
  ApiKeyRotated: (d) => `Key ${name(d, 'key_id')} replaced by ${name(d, 'replaced_by')}`,
  ApiKeyRevoked: (d) => `Key ${name(d, 'key_id')} revoked`,
  ConfigPublished: (d) => `Config ${name(d, 'config_id')} published, version ${text(d, 'version')}`,
  ConfigRevoked: (d) => `Config ${name(d, 'config_id')} revoked`,
  TablePublished: (d) =>
    `Table ${name(d, 'table_id')} published, version ${text(d, 'version')}: ${many(d, 'rows', 'row')}`,
  TableRemoved: (d) => `Table ${name(d, 'table_id')} removed`,
};

const DOCUMENTS: Readonly<Record<string, Sentence>> = {
  UploadPresigned: (d) => `Upload of ${file(d)} started`,
  DocumentRegistered: (d) => `Document ${file(d)} taken in, ${pages(d)}`,
  UploadRemoved: (d) => `Upload ${name(d, 'document_id')} removed: ${text(d, 'reason')}`,
  DocumentErased: (d) => `Document ${name(d, 'document_id')} erased`,
  TenantErased: (d) => `Data of ${name(d, 'tenant_id')} erased`,
  TenantErasureEnded: (d) => `Erasing of ${name(d, 'tenant_id')} ended`,
  ExtractionRequested: (d) => `Extraction of ${pages(d)} started (${text(d, 'mode')})`,
  ExtractionCompleted: (d) => `Extraction of ${pages(d)} done: ${text(d, 'status')}`,
  ExtractionFailed: (d) => `Extraction failed: ${text(d, 'code')}`,
  ConversionRequested: (d) => `Conversion of ${pages(d)} started (${text(d, 'mode')})`,
  ConversionCompleted: (d) => `Conversion of ${pages(d)} done: ${text(d, 'status')}`,
  ConversionFailed: (d) => `Conversion failed: ${text(d, 'code')}`,
  ClassificationRequested: (d) => `Classification of ${pages(d)} started`,
  ClassificationCompleted: (d) => `Classification of ${pages(d)} done: ${text(d, 'status')}`,
  ClassificationFailed: (d) => `Classification failed: ${text(d, 'code')}`,
  SplitRequested: (d) => `Split of ${pages(d)} started`,
  SplitCompleted: (d) => `Split of ${pages(d)} done: ${text(d, 'status')}`,
  SplitFailed: (d) => `Split failed: ${text(d, 'code')}`,
  DocumentSighted: (d) =>
    `Document ${name(d, 'document_id')} compared with earlier ones by its ${text(d, 'by')}`,
  OperationAccepted: (d) => `Operation accepted: ${text(d, 'kind')} of ${pages(d)}`,
  OperationStarted: (d) => `Operation started, attempt ${text(d, 'attempt')}`,
  OperationProgressed: (d) => `Operation has done ${many(d, 'pages_done', 'page')}`,
  OperationSucceeded: (d) => `Operation done: ${text(d, 'outcome')}`,
  OperationFailed: (d) => `Operation failed: ${text(d, 'code')}`,
  OperationCancelled: () => 'Operation cancelled',
  BatchAccepted: (d) => `Batch ${name(d, 'batch_id')} accepted`,
  BatchDocumentsBegun: (d) => `${many(d, 'count', 'document')} of a batch started`,
  BatchDocumentsRefused: () => 'Documents of a batch refused',
  BatchCancelled: () => 'Batch cancelled',
  BatchEnded: (d) => `Batch ended: ${text(d, 'succeeded')} succeeded, ${text(d, 'failed')} failed`,
};

const PIPELINES: Readonly<Record<string, Sentence>> = {
  TrainingJobCreated: (d) => `Training with ${many(d, 'examples', 'example')} ordered for ${credits(d)}`,
  TrainingJobStarted: (d) => `Training started, attempt ${text(d, 'attempt')}`,
  TrainingJobProgressed: () => 'Training went on',
  TrainingJobSucceeded: (d) =>
    `Training done: score ${text(d, 'baseline_score')} to ${text(d, 'best_score')}`,
  TrainingJobFailed: (d) => `Training failed: ${text(d, 'code')}`,
  TrainingJobCancelled: () => 'Training cancelled',
  ExamplesErased: (d) => `Examples of training ${name(d, 'job_id')} erased`,
  ArtifactPublished: (d) => `Artifact ${name(d, 'artifact_id')} published`,
  EvaluationSetPublished: (d) =>
    `Set of examples ${name(d, 'set_id')} published, version ${text(d, 'version')}`,
  EvaluationSetReduced: (d) => `Documents taken out of set ${name(d, 'set_id')}`,
  EvaluationSetRemoved: (d) => `Set of examples ${name(d, 'set_id')} removed`,
  EvaluationScored: (d) => `Run ${name(d, 'run_id')} of set ${name(d, 'set_id')} scored`,
  DeploymentActivated: (d) => `${name(d, 'artifact_id')} deployed to ${name(d, 'environment')}`,
  DeploymentRetired: (d) => `${name(d, 'artifact_id')} retired from ${name(d, 'environment')}`,
};

const REVIEWS: Readonly<Record<string, Sentence>> = {
  ReviewLeased: () => 'Review taken',
  ReviewDecided: (d) =>
    `Review decided: ${text(d, 'confirmed')} confirmed, ${text(d, 'corrected')} corrected`,
  ReviewRejected: (d) => `Review rejected: ${text(d, 'reason')}`,
  ReviewReopened: () => 'Review reopened',
  ReviewExpired: () => 'Review expired',
};

const OTHERS: Readonly<Record<string, Sentence>> = {
  WebhookCreated: (d) => `Webhook to ${name(d, 'url')} made`,
  WebhookChanged: (d) => `Webhook to ${name(d, 'url')} changed`,
  WebhookSecretRotated: (d) => `Secret of webhook ${name(d, 'webhook_id')} replaced`,
  WebhookDisabled: (d) => `Webhook ${name(d, 'webhook_id')} switched off: ${text(d, 'reason')}`,
  WebhookTested: (d) => `Test message to webhook ${name(d, 'webhook_id')} asked for`,
  WebhookRemoved: (d) => `Webhook ${name(d, 'webhook_id')} removed`,
  WebhookDeliveryStarted: (d) => `Delivery started (${text(d, 'attempt')})`,
  WebhookDeliveryAttempted: (d) =>
    `Delivery attempted (${text(d, 'attempt')}): ${text(d, d['error'] === null ? 'response_status' : 'error')}`,
  WebhookDeliveryResent: (d) => `Delivery ${name(d, 'delivery_id')} sent again`,
  DeliveriesPruned: (d) => `Deliveries of webhooks from before ${text(d, 'before')} are listed no more`,
  BillingDetailsSet: (d) => `Billing details of ${name(d, 'tenant_id')} set`,
  TopUpSet: (d) => `Top-ups of ${name(d, 'tenant_id')} set`,
  TopUpTried: (d) => `Top-up of ${name(d, 'tenant_id')} tried: ${text(d, 'outcome')}`,
  RetentionSet: (d) => `Days for which things of ${name(d, 'tenant_id')} are kept set`,
  PageRangesTaken: () => 'Ranges of a long document taken by workers',
  PlaceTaken: (d) => `Place for one of the ${text(d, 'thing')} taken`,
  DriftFound: (d) => `Balances of ${many(d, 'tenants_drifting', 'tenant')} differ from the log`,
  DriftGone: () => 'All balances match the log again',
  AuditFound: (d) => `An audit has ${many(d, 'findings', 'finding')}`,
  LogOpened: () => 'Log opened',
  LogArchived: (d) => `Events until ${text(d, 'until')} moved into an archive`,
  LogCopied: () => 'Log copied to another store',
  PositionsKept: () => 'Positions of the log kept from before',
  TextsMoved: () => 'Texts of earlier events moved beside the log',
  LogSealed: () => 'Log sealed',
};

const SENTENCES: ReadonlyMap<string, Sentence> = new Map(
  [ACCOUNTS, BOOKS, DOCUMENTS, PIPELINES, REVIEWS, OTHERS].flatMap((group) => Object.entries(group)),
);

const inWords = (type: string): string => type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ');

/** The types that have a sentence, each with its name in words, in the order of the alphabet. */
export const EVENT_NAMES: ReadonlyMap<string, string> = new Map(
  [...SENTENCES.keys()].sort().map((type) => [type, inWords(type)]),
);

/** What happened, in a sentence; a type that this release does not know is its name in words. */
export const sentenceOf = (type: string, data: EventData): string =>
  SENTENCES.get(type)?.(data) ?? inWords(type);
