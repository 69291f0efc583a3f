import {
  type WorkCompletedType,
  type WorkFailedType,
  workOfUsage,
  type WorkRequestedType,
} from '../../domain/workEvents.ts';
import { type CompletionWindow, isRated } from '../../domain/account/messages.ts';
import { operationIdOfDocument } from '../../domain/batch.ts';
import { accountOf, type AuditedEvent, type AuditedEventOf, byType } from './auditedEvent.ts';
import { compactSet, type CompactSet } from './streams.ts';
import { type Findings, type Place, placeOf, wrong } from './findings.ts';
import type { Books } from './rules.ts';
import { type AcceptedWork, queuedWorkCheck } from './queuedWork.ts';

type Outcome = 'succeeded' | 'partial' | 'failed' | 'cancelled';

/** A batch until it ends, and what became of its documents by their operations. */
interface Batch {
  readonly documents: readonly string[];
  readonly window: CompletionWindow | undefined;
  begun: number;
  cancelled: boolean;
  readonly refused: Map<number, string>;
  readonly outcomes: Map<number, Outcome>;
  readonly accepted: Set<number>;
  /** What burns of its documents name. */
  readonly works: string[];
  credits: number;
}

interface DocumentPlace {
  readonly batch_id: string;
  readonly index: number;
}

interface SeenBatch {
  readonly findings: Findings;
  readonly touch: Books['touch'];
  readonly batches: Map<string, Batch>;
  /** Documents of batches that have not ended, by the operation that they are, and by its work. */
  readonly operations: Map<string, DocumentPlace>;
  readonly works: Map<string, DocumentPlace>;
  /** Batches that have ended, and those that were cancelled before they were accepted. */
  readonly ended: CompactSet;
  /** Documents of batches that have ended and that were no operation then: they never become one. */
  readonly never: CompactSet;
}

type BatchEvent = AuditedEventOf<
  'BatchAccepted' | 'BatchDocumentsBegun' | 'BatchDocumentsRefused' | 'BatchCancelled' | 'BatchEnded'
>;
type EndEvent = AuditedEventOf<'OperationSucceeded' | 'OperationFailed' | 'OperationCancelled'>;

const batchTelling = ({ findings }: SeenBatch, event: AuditedEvent) => wrong(findings, 'batch', event);

const accepted = (seen: SeenBatch, event: AuditedEventOf<'BatchAccepted'>): void => {
  const { batch_id, tenant_id, document_ids } = event.data;
  seen.findings.checked('batch');
  if (seen.batches.has(batch_id) || seen.ended.has(batch_id)) {
    batchTelling(seen, event)(`${batch_id} was accepted twice.`);
    return;
  }
  const own = { begun: 0, cancelled: false, credits: 0 };
  const maps = { refused: new Map(), outcomes: new Map(), accepted: new Set<number>(), works: [] };
  const window = event.data.completion_window;
  seen.batches.set(batch_id, { documents: document_ids, window, ...own, ...maps });
  for (const index of document_ids.keys()) {
    const operation = operationIdOfDocument({ tenant_id, batch_id, index });
    seen.touch(`operation ${operation}`);
    seen.operations.set(operation, { batch_id, index });
  }
};

/** The batch that an event changes; it has to be open. */
const openOf = (seen: SeenBatch, event: BatchEvent): Batch | undefined => {
  seen.findings.checked('batch');
  const { batch_id } = event.data;
  const batch = seen.batches.get(batch_id);
  if (batch === undefined)
    batchTelling(
      seen,
      event,
    )(`${batch_id} ${seen.ended.has(batch_id) ? 'had ended already' : 'was never accepted'}.`);
  return batch;
};

const begun = (seen: SeenBatch, event: AuditedEventOf<'BatchDocumentsBegun'>): void => {
  const batch = openOf(seen, event);
  if (batch === undefined) return;
  const { batch_id, first, count } = event.data;
  const tell = batchTelling(seen, event);
  if (batch.cancelled) tell(`Documents of ${batch_id} were begun after it was cancelled.`);
  if (first !== batch.begun)
    tell(`Documents of ${batch_id} were begun twice or left out.`, batch.begun, first);
  batch.begun = first + count;
  if (batch.begun > batch.documents.length)
    tell(`${batch_id} has fewer documents than were begun.`, batch.documents.length, batch.begun);
};

const refused = (seen: SeenBatch, event: AuditedEventOf<'BatchDocumentsRefused'>): void => {
  const batch = openOf(seen, event);
  if (batch === undefined) return;
  for (const { index, code } of event.data.refused) {
    if (index >= batch.begun || batch.refused.has(index))
      batchTelling(
        seen,
        event,
      )(`Document ${index} of ${event.data.batch_id} was not begun, or was refused before.`);
    batch.refused.set(index, code);
  }
};

const outcomeAt = (batch: Batch, index: number): Outcome | 'open' => {
  if (batch.accepted.has(index)) return batch.outcomes.get(index) ?? 'open';
  const code = batch.refused.get(index);
  if (code !== undefined) return code === 'cancelled' ? 'cancelled' : 'failed';
  return index >= batch.begun && batch.cancelled ? 'cancelled' : 'open';
};

const ended = (seen: SeenBatch, event: AuditedEventOf<'BatchEnded'>): void => {
  const batch = openOf(seen, event);
  if (batch === undefined) return;
  const { batch_id, tenant_id, succeeded, partial, failed, cancelled, credits_charged } = event.data;
  const came = { succeeded: 0, partial: 0, failed: 0, cancelled: 0, open: 0 };
  for (const index of batch.documents.keys()) {
    came[outcomeAt(batch, index)] += 1;
    const operation = operationIdOfDocument({ tenant_id, batch_id, index });
    seen.operations.delete(operation);
    if (!batch.accepted.has(index)) seen.never.add(operation);
  }
  const due = JSON.stringify(came);
  const said = JSON.stringify({ succeeded, partial, failed, cancelled, open: 0 });
  const tell = batchTelling(seen, event);
  if (due !== said) tell(`${batch_id} ended with other outcomes than its documents have.`, due, said);
  if (batch.credits !== credits_charged)
    tell(`${batch_id} cost something else than its documents.`, batch.credits, credits_charged);
  for (const work of batch.works) seen.works.delete(work);
  seen.batches.delete(batch_id);
  seen.ended.add(batch_id);
};

const operationAccepted = (seen: SeenBatch, event: AuditedEventOf<'OperationAccepted'>): void => {
  const { operation_id, document_id, work_id } = event.data;
  if (seen.never.has(operation_id))
    batchTelling(seen, event)(`${operation_id} is a document of a batch that had ended without it.`);
  const place = seen.operations.get(operation_id);
  const batch = place && seen.batches.get(place.batch_id);
  if (place === undefined || batch === undefined) return;
  seen.findings.checked('batch');
  if (place.index >= batch.begun || batch.documents[place.index] !== document_id)
    batchTelling(
      seen,
      event,
    )(`${operation_id} is a document of ${place.batch_id} that was not begun, or another.`);
  if (batch.window !== event.data.completion_window)
    batchTelling(seen, event)(
      `${operation_id} may not wait as long as ${place.batch_id}.`,
      batch.window ?? 'none',
      event.data.completion_window ?? 'none',
    );
  batch.accepted.add(place.index);
  batch.works.push(work_id);
  seen.works.set(work_id, place);
};

const operationEnded = (seen: SeenBatch, event: EndEvent): void => {
  const place = seen.operations.get(event.data.operation_id);
  if (place === undefined) return;
  const outcomes = { OperationFailed: 'failed', OperationCancelled: 'cancelled' } as const;
  const outcome =
    event.type === 'OperationSucceeded'
      ? event.data.outcome === 'partial'
        ? 'partial'
        : 'succeeded'
      : outcomes[event.type];
  seen.batches.get(place.batch_id)?.outcomes.set(place.index, outcome);
};

/** Batches: documents begun once and in order, none after a cancellation, and an end that says what became of them. */
export const batchesCheck = ({ findings, touch }: Pick<Books, 'findings' | 'touch'>) => {
  const seen: SeenBatch = {
    findings,
    touch,
    batches: new Map(),
    operations: new Map(),
    works: new Map(),
    ended: compactSet(),
    never: compactSet(),
  };
  const end = (event: EndEvent): void => operationEnded(seen, event);
  return byType({
    BatchAccepted: (event) => accepted(seen, event),
    BatchDocumentsBegun: (event) => begun(seen, event),
    BatchDocumentsRefused: (event) => refused(seen, event),
    BatchCancelled: (event) => {
      const { batch_id } = event.data;
      if (!seen.batches.has(batch_id) && !seen.ended.has(batch_id)) {
        // Its request died before it was accepted: nobody may accept it any more.
        seen.ended.add(batch_id);
        return;
      }
      const batch = openOf(seen, event);
      if (batch !== undefined) batch.cancelled = true;
    },
    BatchEnded: (event) => ended(seen, event),
    OperationAccepted: (event) => operationAccepted(seen, event),
    OperationSucceeded: end,
    OperationFailed: end,
    OperationCancelled: end,
    CreditsBurned: ({ data: { operation_id, credits } }) => {
      const place = seen.works.get(operation_id);
      const batch = place && seen.batches.get(place.batch_id);
      if (batch !== undefined) batch.credits += credits;
    },
  });
};

interface Job extends AcceptedWork {
  readonly credits: number;
}

interface Pipelines {
  /** Artifacts whose job has succeeded, each with its tenant. */
  readonly usable: CompactSet;
  /** Every artifact that was published. */
  readonly ids: CompactSet;
  /** Job of each artifact that was published, until the job has succeeded. */
  readonly published: Map<string, { readonly job_id: string; readonly tenant_id: string }>;
}

const pipelineTelling = ({ findings }: Books, event: AuditedEvent) => wrong(findings, 'pipeline', event);

const learned = (books: Books, known: Pipelines, event: AuditedEventOf<'TrainingJobSucceeded'>): void => {
  const { artifact_id, job_id, tenant_id } = event.data;
  const artifact = known.published.get(artifact_id);
  if (artifact?.job_id !== job_id || artifact.tenant_id !== tenant_id)
    pipelineTelling(books, event)(`${job_id} succeeded with ${artifact_id}, which was not published for it.`);
  known.published.delete(artifact_id);
  known.usable.add(`${artifact_id} ${tenant_id}`);
};

/** Base + examples + metric calls; with the caller's own key no metric calls. */
const priceOf = (
  { reference }: Books,
  { data }: AuditedEventOf<'TrainingJobCreated'>,
): number | undefined => {
  const terms = reference.config(data.billing_config_version)?.training;
  if (terms == null) return undefined;
  const calls = data.billing_type === 'byok' ? 0 : data.max_metric_calls;
  const examples = data.examples * terms.credits_per_example;
  return terms.base_credits[data.optimizer_tier] + examples + calls * terms.credits_per_metric_call;
};

const checkPrice = (books: Books, event: AuditedEventOf<'TrainingJobCreated'>): void => {
  const { job_id, credits, hold_id } = event.data;
  const price = hold_id === null ? 0 : priceOf(books, event);
  if (price !== undefined && price !== credits)
    wrong(books.findings, 'rate', event)(
      `The price of ${job_id} differs from its billing config.`,
      price,
      credits,
    );
};

const activated = (
  books: Books,
  { usable }: Pipelines,
  event: AuditedEventOf<'DeploymentActivated'>,
): void => {
  const { artifact_id, tenant_id } = event.data;
  books.findings.checked('pipeline');
  if (!usable.has(`${artifact_id} ${tenant_id}`))
    pipelineTelling(
      books,
      event,
    )(`It deploys ${artifact_id}, which no successful job of this tenant has learned.`);
};

const published = (books: Books, known: Pipelines, event: AuditedEventOf<'ArtifactPublished'>): void => {
  const { artifact_id, job_id, tenant_id } = event.data;
  if (!known.ids.add(artifact_id)) pipelineTelling(books, event)(`${artifact_id} was published twice.`);
  known.published.set(artifact_id, { job_id, tenant_id });
};

type HeldForJob = AuditedEventOf<'CreditsHeld'>['data'];

/** A job is created with the examples that its hold counts, at the price of the hold. */
const checkTakenFor = (
  books: Books,
  event: AuditedEventOf<'TrainingJobCreated'>,
  held: HeldForJob | undefined,
): void => {
  if (held?.taken_for === undefined) return;
  const { job_id, examples, credits, billing_config_version } = event.data;
  const say = pipelineTelling(books, event);
  if (examples !== held.taken_for.examples)
    say(`${job_id} has other examples than its hold was taken for.`, held.taken_for.examples, examples);
  if (credits !== held.credits || billing_config_version !== held.billing_config_version)
    say(`${job_id} has another price than its hold.`, held.credits, credits);
};

/** Training jobs, what they learned, and what of it is deployed. */
export const pipelinesCheck = (books: Books) => {
  const known: Pipelines = { usable: compactSet(), ids: compactSet(), published: new Map() };
  const heldFor = new Map<string, HeldForJob>();
  const queue = queuedWorkCheck<Job>(books, {
    check: 'pipeline',
    otherHolds: () => [],
    checkBurn: ({ id, credits }, burn, say) => {
      if (credits !== burn.credits)
        say(`${id} was charged another price than it was created with.`, credits, burn.credits);
    },
  });
  return {
    apply: byType({
      TrainingJobCreated: (event) => {
        const { job_id: id, tenant_id, credits, hold_id, tags } = event.data;
        checkPrice(books, event);
        checkTakenFor(books, event, heldFor.get(hold_id ?? ''));
        queue.accepted(event, { id, tenant_id, work_id: id, hold_id, tags, credits }, true);
      },
      TrainingJobStarted: (event) => void queue.moved(event, event.data.job_id),
      TrainingJobProgressed: (event) => void queue.moved(event, event.data.job_id),
      TrainingJobSucceeded: (event) => {
        if (queue.moved(event, event.data.job_id) !== undefined) learned(books, known, event);
      },
      TrainingJobFailed: (event) => void queue.moved(event, event.data.job_id),
      TrainingJobCancelled: (event) => void queue.moved(event, event.data.job_id),
      ArtifactPublished: (event) => published(books, known, event),
      DeploymentActivated: (event) => activated(books, known, event),
      CreditsHeld: (event) => {
        if (event.data.operation !== 'training') return;
        books.touch(`work ${event.data.operation_id}`);
        heldFor.set(event.data.hold_id, event.data);
        queue.held(event);
      },
      HoldReleased: (event) => {
        heldFor.delete(event.data.hold_id);
        queue.released(event);
      },
      CreditsBurned: (event) => {
        if (event.data.operation !== 'training') return;
        heldFor.delete(event.data.hold_id ?? '');
        queue.charged(event);
      },
    }),
    finish: queue.finish,
  };
};

/** A saved config or a table as far as the log was read, until it is taken away. */
interface SeenVersions {
  readonly version: number;
  readonly tenant_id: string;
}

type VersionEvent = AuditedEventOf<'ConfigPublished' | 'ConfigRevoked' | 'TablePublished' | 'TableRemoved'>;

/** What has versions, and what its end is called. */
interface Versioned {
  readonly noun: string;
  readonly revokes: string;
  readonly revoked: string;
}

/** Says why an event cannot follow the earlier ones of its stream, if it cannot. */
const checkOrder = (
  { data }: VersionEvent,
  { seen, of }: { readonly seen: SeenVersions | undefined; readonly of: Versioned },
  say: ReturnType<typeof wrong>,
): void => {
  const due = (seen?.version ?? 0) + 1;
  if (seen !== undefined && seen.tenant_id !== data.tenant_id)
    say(`It gives the ${of.noun} to another tenant.`, seen.tenant_id, data.tenant_id);
  else if (!('version' in data)) {
    if (seen === undefined) say(`It ${of.revokes} a ${of.noun} that was never published.`);
  } else if (data.version !== due)
    say(`Version ${data.version} was published where ${due} belongs.`, due, data.version);
};

/** Checks that versions follow one another, for one tenant, and nothing follows the end. */
const versionsCheck = (findings: Findings, of: Versioned) => {
  const open = new Map<string, SeenVersions>();
  const ended = compactSet();
  return (event: VersionEvent): void => {
    findings.checked('version');
    const { stream, data } = event;
    const [seen, say] = [open.get(stream), wrong(findings, 'version', event)];
    if (ended.has(stream)) {
      say(`It comes after the ${of.noun} was ${of.revoked}.`);
      return;
    }
    checkOrder(event, { seen, of }, say);
    if ('version' in data)
      open.set(stream, { version: data.version, tenant_id: seen?.tenant_id ?? data.tenant_id });
    else {
      open.delete(stream);
      ended.add(stream);
    }
  };
};

/** Checks that each config's versions follow one another, for one tenant, and end with a revocation. */
export const savedConfigsCheck = (findings: Findings) => {
  const check = versionsCheck(findings, { noun: 'config', revokes: 'revokes', revoked: 'revoked' });
  return byType({ ConfigPublished: check, ConfigRevoked: check });
};

/** Checks the same of tables, which end with a removal. */
export const tablesCheck = (findings: Findings) => {
  const check = versionsCheck(findings, { noun: 'table', revokes: 'removes', revoked: 'removed' });
  return byType({ TablePublished: check, TableRemoved: check });
};

type Requested = AuditedEventOf<WorkRequestedType>;
type Completed = AuditedEventOf<WorkCompletedType>;
type Failed = AuditedEventOf<WorkFailedType>;
type Burned = AuditedEventOf<'CreditsBurned'>;

/** One extraction or conversion until it is completed. */
interface Work {
  readonly tenant_id: string;
  /** Work for service and admin keys has no hold and is not billed. */
  readonly isBilled: boolean;
  readonly fingerprint: string | null;
  burn: Burn | null;
}

interface Burn {
  readonly pages: number;
  readonly free_pages: number;
  readonly burned_at: string;
  /** Whether the burn says how the work ended: then its usage event can always be written. */
  readonly saysEnd: boolean;
  readonly place: Place;
}

/** A sweeper writes a usage event that an outage kept out within a minute or two. */
const WRITTEN_WITHIN_MS = 5 * 60_000;

const idOf = ({ data }: Requested | Completed | Failed): string => workOfUsage(data).id;

const completed = (books: Books, works: Map<string, Work>, event: Completed): void => {
  books.findings.checked('work');
  const id = idOf(event);
  const work = works.get(id);
  works.delete(id);
  const say = wrong(books.findings, 'work', event);
  if (work === undefined) {
    say(`${id} was completed but never requested.`);
    return;
  }
  if (!work.isBilled) return;
  if (work.burn === null) {
    say(`${id} of ${work.tenant_id} was delivered but not billed.`);
    return;
  }
  const { pages, free_pages } = event.data;
  if (work.burn.pages !== pages || work.burn.free_pages !== free_pages)
    say(
      `${id} of ${work.tenant_id} was billed for other pages than were delivered.`,
      `${pages} pages, ${free_pages} of them free`,
      `${work.burn.pages} pages, ${work.burn.free_pages} of them free`,
    );
};

/** A request that ends in an error burns nothing. */
const failed = (books: Books, works: Map<string, Work>, event: Failed): void => {
  books.findings.checked('work');
  const id = idOf(event);
  const work = works.get(id);
  works.delete(id);
  if (work?.burn != null)
    wrong(books.findings, 'work', event)(`${id} of ${work.tenant_id} failed and was billed.`);
};

/** Holds of earlier releases do not name their request. */
const checkRequest = (
  { fingerprint: asked }: Work,
  { data: { operation_id, fingerprint } }: Burned,
  say: ReturnType<typeof wrong>,
): void => {
  if (asked !== null && fingerprint !== null && fingerprint !== asked)
    say(`It bills ${operation_id} for another request.`, asked, fingerprint);
};

/** The service records a request before it does the work. */
const burned = (books: Books, works: Map<string, Work>, event: Burned): void => {
  const { operation, operation_id, hold_id, pages, free_pages } = event.data;
  if (hold_id === null || !isRated(operation)) return;
  books.findings.checked('work');
  const work = works.get(operation_id);
  const tenant = accountOf(event.stream) ?? '';
  const say = wrong(books.findings, 'work', event);
  if (work === undefined) {
    say(`It bills ${operation_id}, which was never requested or was billed before.`);
    return;
  }
  if (work.tenant_id !== tenant || !work.isBilled)
    say(`It bills ${operation_id}, which is free of charge or another tenant's.`, work.tenant_id, tenant);
  checkRequest(work, event, say);
  const { created_at: burned_at, delivered } = event.data;
  work.burn = { pages, free_pages, burned_at, saysEnd: delivered !== undefined, place: placeOf(event) };
};

/** Burns whose usage event never came. The rule holds for burns that say how their work ended. */
const finish = ({ findings }: Books, works: ReadonlyMap<string, Work>, newest: string): void => {
  const before = Date.parse(newest) - WRITTEN_WITHIN_MS;
  let old = 0;
  for (const [id, { tenant_id, burn }] of works) {
    if (burn === null || Date.parse(burn.burned_at) >= before) continue;
    if (!burn.saysEnd) old += 1;
    else wrong(findings, 'work', burn.place)(`It bills ${id} of ${tenant_id}, whose usage event is missing.`);
  }
  if (old > 0)
    findings.note(
      `${old} ${old === 1 ? 'burn has' : 'burns have'} no usage event: from a release whose ` +
        'burns do not say how the work ended.',
    );
};

/** Usage events against burns. Ended work is dropped, so memory stays flat. */
export const worksCheck = (books: Books) => {
  const works = new Map<string, Work>();
  const requested = (event: Requested): void => {
    const { tenant_id, hold_id, fingerprint = null } = event.data;
    works.set(idOf(event), { tenant_id, isBilled: hold_id !== null, fingerprint, burn: null });
  };
  const apply = byType({
    ExtractionRequested: requested,
    ConversionRequested: requested,
    ClassificationRequested: requested,
    SplitRequested: requested,
    ExtractionCompleted: (event) => completed(books, works, event),
    ConversionCompleted: (event) => completed(books, works, event),
    ClassificationCompleted: (event) => completed(books, works, event),
    SplitCompleted: (event) => completed(books, works, event),
    ExtractionFailed: (event) => failed(books, works, event),
    ConversionFailed: (event) => failed(books, works, event),
    ClassificationFailed: (event) => failed(books, works, event),
    SplitFailed: (event) => failed(books, works, event),
    CreditsBurned: (event) => burned(books, works, event),
  });
  return { apply, finish: (newest: string) => finish(books, works, newest) };
};
