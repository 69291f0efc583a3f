import { accountOf, byType, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import { wrong } from '../findings.ts';
import type { Books } from '../money/accountBooks.ts';
import { leaseAfter, type AuditedLease } from './leases.ts';

type JobEvent = AuditedEventOf<
  | 'TrainingJobStarted'
  | 'TrainingJobProgressed'
  | 'TrainingJobSucceeded'
  | 'TrainingJobFailed'
  | 'TrainingJobCancelled'
>;

/** A training job until the end of the log: there are few of them. */
interface Job {
  readonly tenant_id: string;
  readonly credits: number;
  readonly isBilled: boolean;
  end: JobEvent['type'] | null;
  lease: AuditedLease | null;
  charged: boolean;
}

interface Pipelines {
  readonly jobs: Map<string, Job>;
  /** Tenant of each artifact whose job has succeeded. */
  readonly usable: Map<string, string>;
  /** Job of each artifact that was published. */
  readonly published: Map<string, { readonly job_id: string; readonly tenant_id: string }>;
}

const telling = ({ findings }: Books, event: AuditedEvent) => wrong(findings, 'pipeline', event);

const success = (books: Books, known: Pipelines, event: AuditedEventOf<'TrainingJobSucceeded'>): void => {
  const { artifact_id, job_id, tenant_id } = event.data;
  const artifact = known.published.get(artifact_id);
  if (artifact?.job_id !== job_id || artifact.tenant_id !== tenant_id)
    telling(books, event)(`${job_id} succeeded with ${artifact_id}, which was not published for it.`);
  known.usable.set(artifact_id, tenant_id);
};

const moved = (books: Books, known: Pipelines, event: JobEvent): void => {
  books.findings.checked('pipeline');
  const { job_id } = event.data;
  const job = known.jobs.get(job_id);
  if (job === undefined) {
    telling(books, event)(`${job_id} was never created.`);
    return;
  }
  if (job.end !== null) {
    telling(books, event)(`${job_id} had ended already.`);
    return;
  }
  job.lease = leaseAfter(job.lease, { event, id: job_id }, telling(books, event));
  if (event.type === 'TrainingJobStarted' || event.type === 'TrainingJobProgressed') return;
  job.end = event.type;
  if (event.type === 'TrainingJobSucceeded') success(books, known, event);
};

/** Only a job that succeeded is charged, at the price that it was created with. */
const charged = (books: Books, { jobs }: Pipelines, event: AuditedEventOf<'CreditsBurned'>): void => {
  const { operation_id, credits } = event.data;
  books.findings.checked('pipeline');
  const tell = telling(books, event);
  const job = jobs.get(operation_id);
  if (job?.end !== 'TrainingJobSucceeded' || !job.isBilled || job.tenant_id !== accountOf(event.stream)) {
    tell(`It bills ${operation_id}, which is no billed job of this tenant that succeeded.`);
    return;
  }
  job.charged = true;
  if (job.credits !== credits)
    tell(`${operation_id} was charged another price than it was created with.`, job.credits, credits);
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

const created = (books: Books, { jobs }: Pipelines, event: AuditedEventOf<'TrainingJobCreated'>): void => {
  const { job_id, tenant_id, credits, hold_id } = event.data;
  books.findings.checked('pipeline');
  if (jobs.has(job_id)) telling(books, event)(`${job_id} was created twice.`);
  const isBilled = hold_id !== null;
  const price = isBilled ? priceOf(books, event) : 0;
  if (price !== undefined && price !== credits)
    wrong(books.findings, 'rate', event)(
      `The price of ${job_id} differs from its billing config.`,
      price,
      credits,
    );
  jobs.set(job_id, { tenant_id, credits, isBilled, end: null, lease: null, charged: false });
};

const activated = (
  books: Books,
  { usable }: Pipelines,
  event: AuditedEventOf<'DeploymentActivated'>,
): void => {
  const { artifact_id, tenant_id } = event.data;
  books.findings.checked('pipeline');
  if (usable.get(artifact_id) !== tenant_id)
    telling(books, event)(`It deploys ${artifact_id}, which no successful job of this tenant has learned.`);
};

const published = (books: Books, known: Pipelines, event: AuditedEventOf<'ArtifactPublished'>): void => {
  const { artifact_id, job_id, tenant_id } = event.data;
  if (known.published.has(artifact_id)) telling(books, event)(`${artifact_id} was published twice.`);
  known.published.set(artifact_id, { job_id, tenant_id });
};

/** Training jobs, what they learned, and what of it is deployed. */
export const pipelinesCheck = (books: Books) => {
  const known: Pipelines = { jobs: new Map(), usable: new Map(), published: new Map() };
  const move = (event: JobEvent): void => moved(books, known, event);
  return {
    apply: byType({
      TrainingJobCreated: (event) => created(books, known, event),
      TrainingJobStarted: move,
      TrainingJobProgressed: move,
      TrainingJobSucceeded: move,
      TrainingJobFailed: move,
      TrainingJobCancelled: move,
      ArtifactPublished: (event) => published(books, known, event),
      DeploymentActivated: (event) => activated(books, known, event),
      CreditsBurned: (event) => {
        if (event.data.operation === 'training') charged(books, known, event);
      },
    }),
    finish: (): void => {
      for (const [job_id, job] of known.jobs)
        if (job.end === 'TrainingJobSucceeded' && job.isBilled && !job.charged)
          books.findings.note(
            `${job_id} of ${job.tenant_id} succeeded and is not charged yet; the service does it.`,
          );
    },
  };
};
