import type { Clock } from '../../domain/ports/log.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import type { SourceDeps, Uploads } from '../commands/fetchUpload.ts';
import type { BytesInFlight } from '../commands/slots.ts';
import type { Audits } from '../commands/audits.ts';
import type { ApiKeys, RateLimitCommands } from '../commands/apiKeys.ts';
import type { ConvertRequest } from '../commands/convert.ts';
import type { BatchCommands } from '../commands/batches.ts';
import type { OperationCommands } from '../commands/operations.ts';
import type { Delivered, HandedOver } from '../commands/work.ts';
import type { extractByFields } from '../commands/extract.ts';
import type { LlmCosts } from '../commands/llmCosts.ts';
import type { refundCredits, sellCredits } from '../commands/sales.ts';
import type { countPages } from '../commands/countPages.ts';
import type { removeUpload } from '../commands/training.ts';
import type { presignUpload, UploadReceiver } from '../commands/uploads.ts';
import type { ModelDeps } from '../commands/models.ts';
import type { ReferenceData } from '../commands/reference.ts';
import type { SavedConfigs } from '../commands/savedConfigs.ts';
import type { WorkProblem } from '../commands/workProblem.ts';
import type { PipelineCommands } from '../commands/deployments.ts';
import type { ReceiverPolicy, Webhooks } from '../commands/webhooks.ts';
import type { Sessions } from '../server/sessions.ts';
import type { Authenticator } from '../server/keys.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import type { LogToRead } from '../queries/log.ts';
import type { TenantLimits } from '../server/limits.ts';
import type { HealthReport, ReadyReport, ServiceStateBody } from './serviceSchemas.ts';

/** What the routes call: commands, queries, and nothing else. */
export interface ApiDeps {
  readonly accounts: AccountWriter;
  readonly sellCredits: ReturnType<typeof sellCredits>;
  readonly refundCredits: ReturnType<typeof refundCredits>;
  readonly reference: ReferenceData;
  readonly apiKeys: ApiKeys;
  readonly keys: Authenticator;
  readonly sessions: Sessions;
  /** True when `ADMIN_API_KEY` is set: then no issued admin key is the last one. */
  readonly hasBootstrapAdmin: boolean;
  /** Where clients reach the service. */
  readonly baseUrl: () => string;
  readonly queries: Queries;
  readonly reads: ReadYourWrites;
  /** The log itself, for auditors. */
  readonly log: LogToRead;
  readonly audits: Audits;
  /** Which log the read models are of; null: not known yet. */
  readonly logId: () => string | null;
  readonly llmCosts: LlmCosts;
  readonly savedConfigs: SavedConfigs;
  /** Whether a caller's base may be asked at all. */
  readonly checkBase: ModelDeps['checkBase'];
  readonly rateLimits: RateLimitCommands;
  /** What holds for each tenant, as this process knows it. */
  readonly limits: TenantLimits;
  readonly extract: ReturnType<typeof extractByFields>;
  readonly convert: (request: ConvertRequest) => Promise<Delivered | HandedOver | WorkProblem>;
  readonly operations: OperationCommands;
  readonly batches: BatchCommands;
  readonly presign: ReturnType<typeof presignUpload>;
  readonly receiver: UploadReceiver;
  readonly uploads: Uploads;
  /** Documents that lie elsewhere. */
  readonly sources: SourceDeps;
  readonly removeUpload: ReturnType<typeof removeUpload>;
  /** Bodies with files, of whatever route. */
  readonly inFlight: BytesInFlight;
  readonly countPages: ReturnType<typeof countPages>;
  readonly pipelines: PipelineCommands;
  readonly webhooks: Webhooks;
  /** Where receivers may be. */
  readonly webhookPolicy: ReceiverPolicy;
  readonly health: () => Promise<HealthReport>;
  /** How this process and what it stands on do. */
  readonly serviceState: () => Promise<ServiceStateBody>;
  /** Whether requests should be sent here. */
  readonly ready: () => Promise<ReadyReport>;
  /** Prometheus text, and its content type. */
  readonly metrics: { readonly contentType: string; readonly text: () => Promise<string> };
  readonly clock: Clock;
  readonly randomBytes: (count: number) => Uint8Array;
}
