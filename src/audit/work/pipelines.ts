import { byType, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import { wrong } from '../findings.ts';
import type { Books } from '../money/accountBooks.ts';
import { queuedWorkCheck, type AcceptedWork } from './queuedWork.ts';

interface Job extends AcceptedWork {
  readonly credits: number;
}

interface Pipelines {
  /** Tenant of each artifact whose job has succeeded. */
  readonly usable: Map<string, string>;
  /** Job of each artifact that was published. */
  readonly published: Map<string, { readonly job_id: string; readonly tenant_id: string }>;
}

const pipelineTelling = ({ findings }: Books, event: AuditedEvent) => wrong(findings, 'pipeline', event);

const learned = (books: Books, known: Pipelines, event: AuditedEventOf<'TrainingJobSucceeded'>): void => {
  const { artifact_id, job_id, tenant_id } = event.data;
  const artifact = known.published.get(artifact_id);
  if (artifact?.job_id !== job_id || artifact.tenant_id !== tenant_id)
    pipelineTelling(books, event)(`${job_id} succeeded with ${artifact_id}, which was not published for it.`);
  known.usable.set(artifact_id, tenant_id);
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
  if (usable.get(artifact_id) !== tenant_id)
    pipelineTelling(
      books,
      event,
    )(`It deploys ${artifact_id}, which no successful job of this tenant has learned.`);
};

const published = (books: Books, known: Pipelines, event: AuditedEventOf<'ArtifactPublished'>): void => {
  const { artifact_id, job_id, tenant_id } = event.data;
  if (known.published.has(artifact_id)) pipelineTelling(books, event)(`${artifact_id} was published twice.`);
  known.published.set(artifact_id, { job_id, tenant_id });
};

/** Training jobs, what they learned, and what of it is deployed. */
export const pipelinesCheck = (books: Books) => {
  const known: Pipelines = { usable: new Map(), published: new Map() };
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
        const { job_id: id, tenant_id, credits, hold_id } = event.data;
        checkPrice(books, event);
        queue.accepted(event, { id, tenant_id, work_id: id, hold_id, credits }, true);
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
        if (event.data.operation === 'training') queue.held(event);
      },
      HoldReleased: queue.released,
      CreditsBurned: (event) => {
        if (event.data.operation === 'training') queue.charged(event);
      },
    }),
    finish: queue.finish,
  };
};
