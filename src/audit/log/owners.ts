import { categoryOfStream } from '../../../domain/catalogue.ts';
import { batchStream } from '../../../domain/batch.ts';
import { deploymentStream } from '../../../domain/deployment.ts';
import { eventMetadata } from '../../../domain/kernel/decider.ts';
import { placesStream } from '../../../domain/places.ts';
import { accountOf, type AuditedEvent } from './auditedEvent.ts';
import { wrong, type Findings } from '../findings.ts';

/** Streams of these categories belong to one tenant each, and are named after it. */
const BY_TENANT = new Set(['account', 'llmCost', 'rateLimits']);

/** As `namedAs`, of work that is done later. */
const queuedNamedAs = ({ type, data }: AuditedEvent): string | undefined => {
  if (type.startsWith('Batch') && 'batch_id' in data) return batchStream(data.batch_id);
  return type.startsWith('Operation') && 'operation_id' in data
    ? `operation-${data.operation_id}`
    : undefined;
};

/** As `namedAs`, of training jobs and what comes of them. */
const pipelineNamedAs = ({ type, data }: AuditedEvent): string | undefined => {
  if (type === 'ArtifactPublished') return `artifact-${data.artifact_id}`;
  if (type === 'DeploymentActivated' || type === 'DeploymentRetired') return deploymentStream(data);
  return type.startsWith('TrainingJob') && 'job_id' in data ? `trainingJob-${data.job_id ?? ''}` : undefined;
};

/** As `namedAs`, of places. */
const placesNamedAs = (event: AuditedEvent): string | undefined =>
  event.type === 'PlaceTaken' ? placesStream(event.data) : undefined;

/** As `namedAs`, of webhooks and of what they were sent. */
const webhookNamedAs = ({ data }: AuditedEvent): string | undefined => {
  if ('delivery_id' in data) return `webhookDelivery-${data.delivery_id}`;
  return 'webhook_id' in data ? `webhook-${data.webhook_id}` : undefined;
};

/** As `namedAs`, of all that is neither a document, nor a config, nor a key. */
const otherwiseNamedAs = (event: AuditedEvent): string | undefined =>
  queuedNamedAs(event) ?? pipelineNamedAs(event) ?? placesNamedAs(event) ?? webhookNamedAs(event);

/** What the stream of an event has to be, where its data says so. */
const namedAs = (event: AuditedEvent): string | undefined => {
  const { type, data } = event;
  if ('extraction_id' in data) return `extraction-${data.extraction_id}`;
  if ('conversion_id' in data) return `conversion-${data.conversion_id}`;
  if (type === 'UploadPresigned' || type === 'DocumentRegistered' || type === 'UploadRemoved')
    return `document-${data.document_id}`;
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
export const checkOwner = (findings: Findings, event: AuditedEvent): void => {
  findings.checked('owner');
  checkMetadata(findings, event);
  checkTenant(findings, event);
  const name = namedAs(event);
  if (name !== undefined && name !== event.stream)
    wrong(findings, 'owner', event)('The name of its stream does not match its data.', name, event.stream);
};
