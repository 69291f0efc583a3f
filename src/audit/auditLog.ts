import { categoryOfStream, decodeAny } from '../../domain/catalogue.ts';
import { tableStream } from '../../domain/rules/masterTable.ts';
import { evaluationStream, setStream } from '../../domain/evaluation.ts';
import { batchStream } from '../../domain/batch.ts';
import { BOOKS_STREAM } from '../../domain/books.ts';
import { deploymentStream } from '../../domain/deployment.ts';
import { eventMetadata } from '../../domain/kernel/decider.ts';
import { ERASURES_STREAM } from '../../domain/erasure.ts';
import { pageRangesStream } from '../../domain/pageRanges.ts';
import { placesStream } from '../../domain/places.ts';
import { sightingStream } from '../../domain/rules/sighting.ts';
import { billingDetailsStream } from '../../domain/billingDetails.ts';
import { topUpStream } from '../../domain/topUp.ts';
import { TENANT_RETENTION_STREAM } from '../../domain/retention.ts';
import { retentionStream } from '../../domain/webhook.ts';
import { accountOf, type AuditedEvent, auditedEvent, isJson, recordedAt } from './auditedEvent.ts';
import { type Check, type Finding, type Findings, wrong } from './findings.ts';
import { isPlainData } from '../../domain/plainEvents.ts';
import { UndecodableEvent } from '../../domain/kernel/codec.ts';
import { type RecordedEvent, storedEvent } from '../../domain/kernel/recorded.ts';
import { type Books, checkTimes } from './rules.ts';
import { accountsCheck } from './accounts.ts';
import { agreementsCheck } from './agreements.ts';
import { claimsCheck, transfersCheck } from './claims.ts';
import { RACE_MS, reference } from './margin.ts';
import { evaluationsCheck } from './evaluations.ts';
import { splitsCheck } from './splits.ts';
import { topUpsCheck } from './topUps.ts';
import { batchesCheck, pipelinesCheck, savedConfigsCheck, tablesCheck, worksCheck } from './works.ts';
import { reviewsCheck } from './reviews.ts';
import { operationsCheck } from './queuedWork.ts';
import { logClock } from './clock.ts';
import { compactSet, type Reading, readThrough } from './streams.ts';
import { type AuditedLog, chainsCheck, type StoredWatcher } from './chains.ts';

/** Streams of these categories belong to one tenant each, and are named after it. */
const BY_TENANT = new Set(['account', 'llmCost', 'rateLimits']);

/** As `namedAs`, of work that is done later. */
const queuedNamedAs = ({ type, data }: AuditedEvent): string | undefined => {
  if (type.startsWith('Batch') && 'batch_id' in data) return batchStream(data.batch_id);
  if ('review_id' in data) return `review-${data.review_id}`;
  if (type === 'PageRangesTaken') return pageRangesStream(data.operation_id);
  return type.startsWith('Operation') && 'operation_id' in data
    ? `operation-${data.operation_id}`
    : undefined;
};

/** As `namedAs`, of training jobs and what comes of them. */
const pipelineNamedAs = ({ type, data }: AuditedEvent): string | undefined => {
  if (type === 'ArtifactPublished') return `artifact-${data.artifact_id}`;
  if (type === 'DeploymentActivated' || type === 'DeploymentRetired') return deploymentStream(data);
  if (type === 'ExamplesErased') return `examples-${data.job_id}`;
  return type.startsWith('TrainingJob') && 'job_id' in data ? `trainingJob-${data.job_id ?? ''}` : undefined;
};

/** As `namedAs`, of sets of examples and their runs, and of tables. */
const evaluationNamedAs = ({ type, data }: AuditedEvent): string | undefined => {
  switch (type) {
    case 'EvaluationSetPublished':
    case 'EvaluationSetReduced':
    case 'EvaluationSetRemoved':
      return setStream(data.set_id);
    case 'EvaluationScored':
      return evaluationStream(data.run_id);
    case 'TablePublished':
    case 'TableRemoved':
      return tableStream(data.table_id);
    default:
      return undefined;
  }
};

/** As `namedAs`, of places, sightings and months, and of tenants: their erasure, days and billing details. */
const placesNamedAs = (event: AuditedEvent): string | undefined => {
  if (event.type === 'TenantErased' || event.type === 'TenantErasureEnded') return ERASURES_STREAM;
  if (event.type === 'RetentionSet') return TENANT_RETENTION_STREAM;
  if (event.type === 'BillingDetailsSet') return billingDetailsStream(event.data.tenant_id);
  if (event.type === 'TopUpSet' || event.type === 'TopUpTried') return topUpStream(event.data.tenant_id);
  if ('closing' in event.data) return BOOKS_STREAM;
  if (event.type === 'DocumentSighted') return sightingStream(event.data.key_sha256);
  return event.type === 'PlaceTaken' ? placesStream(event.data) : undefined;
};

/** As `namedAs`, of webhooks and of what they were sent. */
const webhookNamedAs = (event: AuditedEvent): string | undefined => {
  if (event.type === 'WebhookTested') return `webhook-${event.data.webhook_id}`;
  const { data } = event;
  if ('before' in data) return retentionStream(data.tenant_id ?? null);
  if ('delivery_id' in data) return `webhookDelivery-${data.delivery_id}`;
  return 'webhook_id' in data ? `webhook-${data.webhook_id}` : undefined;
};

/** As `namedAs`, of documents. */
const documentNamedAs = ({ type, data }: AuditedEvent): string | undefined => {
  switch (type) {
    case 'UploadPresigned':
    case 'DocumentRegistered':
    case 'UploadRemoved':
    case 'DocumentErased':
      return `document-${data.document_id}`;
    default:
      return undefined;
  }
};

/** As `namedAs`, of all that is neither work on a document, nor a config, nor a key. */
const otherwiseNamedAs = (event: AuditedEvent): string | undefined =>
  documentNamedAs(event) ??
  queuedNamedAs(event) ??
  pipelineNamedAs(event) ??
  evaluationNamedAs(event) ??
  placesNamedAs(event) ??
  webhookNamedAs(event);

/** The stream that an event must have, if its data says so. */
const namedAs = (event: AuditedEvent): string | undefined => {
  const { type, data } = event;
  if ('extraction_id' in data) return `extraction-${data.extraction_id}`;
  if ('conversion_id' in data) return `conversion-${data.conversion_id}`;
  if ('classification_id' in data) return `classification-${data.classification_id}`;
  if ('split_id' in data) return `split-${data.split_id}`;
  if (type === 'ConfigPublished' || type === 'ConfigRevoked') return `config-${data.config_id}`;
  if ('key_id' in data) return `apiKey-${data.key_id}`;
  return otherwiseNamedAs(event);
};

/** The tenant by which a stream goes: of its name, or of the first event that says one. */
const tenantOfStream = (event: AuditedEvent): string | undefined => {
  const account = accountOf(event.stream);
  if (account !== undefined) return account;
  const category = categoryOfStream(event.stream);
  return BY_TENANT.has(category) ? event.stream.slice(category.length + 1) : undefined;
};

const checkMetadata = (findings: Findings, event: AuditedEvent): void => {
  // Text in this form fits the schema.
  if (event.stored?.covered !== undefined) return;
  const parsed = eventMetadata.safeParse(event.metadata);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  const why = `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`;
  wrong(findings, 'schema', event)(`Its metadata cannot be read: ${why}`);
};

const checkTenant = (findings: Findings, event: AuditedEvent): void => {
  const said = event.metadata['tenant_id'] ?? null;
  const inData = 'tenant_id' in event.data ? event.data.tenant_id : undefined;
  const ofStream = tenantOfStream(event);
  const due = ofStream ?? inData;
  const tell = (found: unknown) =>
    wrong(findings, 'owner', event)('It names another tenant than its stream.', due ?? 'none', String(found));
  if (inData !== undefined && ofStream !== undefined && inData !== ofStream) tell(inData);
  else if (due !== undefined && said !== due) tell(said);
};

/** Whether an event is where it belongs. */
const checkOwner = (findings: Findings, event: AuditedEvent): void => {
  findings.checked('owner');
  checkMetadata(findings, event);
  checkTenant(findings, event);
  const name = namedAs(event);
  if (name !== undefined && name !== event.stream)
    wrong(findings, 'owner', event)('The name of its stream does not match its data.', name, event.stream);
};

/** Something else that looks at every event that can be decoded. */
export interface DecodedWatcher {
  readonly decoded?: (event: AuditedEvent) => void;
}

/** An event that cannot be read is reported, and the audit goes on without it. */
const decodedOr = (
  findings: Findings,
  recorded: RecordedEvent,
  isPlain: boolean,
): AuditedEvent | undefined => {
  findings.checked('schema');
  if (isPlain) return recorded as AuditedEvent;
  try {
    return auditedEvent(recorded, decodeAny(recorded));
  } catch (error) {
    if (!(error instanceof UndecodableEvent)) throw error;
    wrong(findings, 'schema', recorded)(`It cannot be read: ${error.message}`);
    return undefined;
  }
};

/** All rules that need the content of events. */
const rulesOf = (books: Books) => {
  const [accounts, claims, works] = [accountsCheck(books), claimsCheck(books), worksCheck(books)];
  const transfers = transfersCheck(books);
  const savedConfigs = savedConfigsCheck(books.findings);
  const tables = tablesCheck(books.findings);
  const pipelines = pipelinesCheck(books);
  const operations = operationsCheck(books, accounts.bookOf);
  const batches = batchesCheck(books);
  const splits = splitsCheck(books);
  const reviews = reviewsCheck(books);
  const evaluations = evaluationsCheck(books);
  const topUps = topUpsCheck(books, claims.soldTo);
  const agreements = agreementsCheck(books, accounts.bookOf);
  return {
    tenants: accounts.tenants,
    apply: (event: AuditedEvent): void => {
      checkOwner(books.findings, event);
      books.reference.apply(event);
      accounts.apply(event);
      claims.apply(event);
      transfers.apply(event);
      works.apply(event);
      savedConfigs(event);
      tables(event);
      pipelines.apply(event);
      operations.apply(event);
      batches(event);
      splits.apply(event);
      reviews(event);
      evaluations(event);
      topUps(event);
      agreements(event);
      if (event.type === 'LlmCostLogged') checkTimes(books, event);
    },
    finish: (newest: string): void => {
      claims.finish(newest);
      transfers.finish(newest);
      if (newest !== '') works.finish(newest);
      pipelines.finish(newest);
      operations.finish(newest);
      splits.finish(newest);
      if (newest !== '') accounts.finish(new Date(Date.parse(newest) - RACE_MS).toISOString());
    },
  };
};

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

const seenTimes = () => {
  let [first, last] = ['', ''];
  return {
    see: (at: string): void => {
      if (!INSTANT.test(at)) return;
      if (first === '' || at < first) first = at;
      if (at > last) last = at;
    },
    first: () => (first === '' ? null : first),
    last: () => (last === '' ? null : last),
  };
};

/** Findings that say nothing while something is done quietly. */
const muted = (findings: Findings) => {
  let quiet = false;
  return {
    findings: {
      ...findings,
      add: (finding: Finding): void => (quiet ? undefined : findings.add(finding)),
      checked: (check: Check): void => (quiet ? undefined : findings.checked(check)),
    },
    quietly: (work: () => void): void => {
      quiet = true;
      work();
      quiet = false;
    },
  };
};

const noTouch = (): void => undefined;

/**
 * The half of an audit that needs the meaning of events. It follows them in the order of the log. `touch` gets
 * every name by which a rule relates events of different streams.
 */
export const rulesCheck = (
  findings: Findings,
  watchers: readonly DecodedWatcher[],
  touch: Books['touch'] = noTouch,
) => {
  const mutable = muted(findings);
  const books = { findings, reference: reference(mutable.findings), once: compactSet(), touch };
  const rules = rulesOf(books);
  const [times, clock] = [seenTimes(), logClock()];
  /** Where a clock was set back, what is open is as old as the last event says. */
  const newest = (): string => (times.last() === null ? '' : new Date(clock.nowMs()).toISOString());
  return {
    /** Takes up what was published, in an event that another audit checks. */
    learn: (recorded: RecordedEvent): void => {
      mutable.quietly(() => books.reference.apply(auditedEvent(recorded, decodeAny(recorded))));
    },
    latest: times.last,
    /** `isPlain`: its data is as `isPlainData` says. */
    look: (recorded: RecordedEvent, isPlain?: boolean): void => {
      if (!isJson(recorded)) return;
      times.see(recordedAt(recorded));
      clock.see(recorded, Date.parse(recordedAt(recorded)));
      const event = decodedOr(findings, storedEvent(recorded), isPlain ?? isPlainData(recorded));
      if (event === undefined) return;
      // Rules compare who did what, by what stands in the events themselves.
      rules.apply(event);
      const isShown = watchers.length === 0 || recorded.moved?.() === undefined;
      const shown = isShown ? event : auditedEvent(recorded, decodeAny(recorded));
      for (const watcher of watchers) watcher.decoded?.(shown);
    },
    /** Looks at what is still open at the end. */
    finish: (latest = newest()) => {
      rules.finish(latest);
      return { tenants: rules.tenants(), first_at: times.first(), last_at: times.last() };
    },
  };
};

/** Something else that looks at every event of the same reading. */
export interface Watcher extends StoredWatcher, DecodedWatcher {}

export interface LogAudit extends Omit<Reading, 'upTo'> {
  readonly findings: Findings;
  /** Positions of this log have no gaps: it is the embedded one. */
  readonly dense: boolean;
  /** Where events of a copied log lay first. */
  readonly origins?: readonly string[] | undefined;
  readonly watchers?: readonly Watcher[];
}

/** Reads the whole log once and checks all that events alone can tell. */
export const auditLog = async ({
  findings,
  dense,
  origins,
  watchers = [],
  ...reading
}: LogAudit): Promise<AuditedLog> => {
  const chains = chainsCheck(findings, { dense, origins, watchers });
  const rules = rulesCheck(findings, watchers);
  const { events, position } = await readThrough(reading, (recorded) => {
    chains.look(recorded);
    rules.look(recorded);
  });
  const { tenants, first_at, last_at } = rules.finish();
  const { streams, heads, digest } = chains.result();
  return { facts: { events, streams, tenants, position, first_at, last_at }, heads, digest };
};
