import type { Audits, reportDrift } from '../commands/audits.ts';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type {
  LockedObjects,
  ReplayStore,
  Replicas,
  SecretBox,
  UsedOnce,
} from '../../domain/ports/services.ts';
import type { LogSealer } from '../commands/sealing.ts';
import type { Clock, Tracer } from '../../domain/ports/log.ts';
import type { ModelProviders } from '@quire/engine/ports/modelProvider';
import type { Trainer } from '../../domain/ports/trainer.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import type { LogWatch } from '../../projections/engine/divergence.ts';
import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import type { ApiKeys, RateLimitCommands } from '../commands/apiKeys.ts';
import type { Documents } from '../commands/uploads.ts';
import type { ExtractDeps } from '../commands/extract.ts';
import type { HeavySlots } from '../commands/slots.ts';
import type { Overruns } from '../commands/countPages.ts';
import type { HoldSweeper, ObjectSweeper } from '../commands/sweeping.ts';
import type { LlmCosts } from '../commands/llmCosts.ts';
import type { Payments } from '../commands/payments.ts';
import type { ReferenceData } from '../commands/reference.ts';
import type { SavedConfigs } from '../commands/savedConfigs.ts';
import type { KeptFacts, UnfinishedSweeper, UsageLog } from '../commands/usageLog.ts';
import type { Config } from '../config.ts';
import type { ApiDeps } from '../http/apiDeps.ts';
import type { Authenticator } from '../http/access/authenticate.ts';
import type { Queries } from '../queries/queries.ts';
import type { HealthReport } from '../api/serviceSchemas.ts';
import type { ReadYourWrites } from '../queries/readYourWrites.ts';
import type { BucketsInUse } from '../http/access/bucketsInUse.ts';
import type { TenantLimits } from '../http/access/tenantLimits.ts';
import type { CountSwept, DriftCheck, ProjectionCounters } from '../telemetry/businessMetrics.ts';
import type { BatchWorker } from '../worker/batches.ts';
import type { QueueWorker } from '../worker/queue.ts';
import type { WebhookSender } from '../worker/webhooks.ts';
import type { Parts } from './parts/openParts.ts';
import type { Readiness } from './start/readiness.ts';
import { token } from './token.ts';
import type { ProviderMetrics } from './metrics/workMetrics.ts';

/** Audits that are asked for while the service runs. */
export const AUDITS = token<Audits>('audits');
export const CONFIG = token<Config>('configuration');
export const PARTS = token<Parts>('opened parts');
export const LOGGER = token<Logger>('logger');
export const REGISTRY = token<Registry>('metrics registry');
export const PROVIDER_METRICS = token<ProviderMetrics>('metrics of model providers');
export const PROJECTION_COUNTERS = token<ProjectionCounters>('counters of projections');
export const COUNT_SWEPT = token<CountSwept>('counter of what sweepers did');
export const DRIFT_CHECK = token<DriftCheck>('check of balances');
export const TRACER = token<Tracer>('tracer');
export const READINESS = token<Readiness>('readiness');
export const HEALTH = token<() => Promise<HealthReport>>('health');
export const CLOCK = token<Clock>('clock');
export const USED_ONCE = token<UsedOnce>('words that count once');
export const REPLICAS = token<Replicas>('processes of the service');
export const REPLAYS = token<ReplayStore>('replay store');
export const ACCOUNTS = token<AccountWriter>('account writer');
export const PAYMENTS = token<Payments>('payments');
export const REFERENCE = token<ReferenceData>('price lists, billing configs, rates');
export const API_KEYS = token<ApiKeys>('API key commands');
export const LLM_COSTS = token<LlmCosts>('model cost commands');
export const RATE_LIMITS = token<RateLimitCommands>('rate-limit commands');
export const BUCKETS_IN_USE = token<BucketsInUse>('rate-limit buckets in use');
export const TENANT_LIMITS = token<TenantLimits>('rate limits by tenant');
export const LOG_WATCH = token<LogWatch>('watch over the log');
export const READ_SQL = token<SqlTx>('read models while they are sound');
export const QUERIES = token<Queries>('queries');
export const AUTHENTICATOR = token<Authenticator>('authenticator');
export const RUNNER = token<ProjectionRunner>('projection runner');
export const READS = token<ReadYourWrites>('read your writes');
export const SAVED_CONFIGS = token<SavedConfigs>('saved config commands');
export const SECRET_BOX = token<SecretBox | undefined>('secret box');
export const TRAINER = token<Trainer>('trainer');
export const TRAINING_WORKER = token<QueueWorker>('worker of training jobs');
export const OPERATION_WORKER = token<QueueWorker>('worker of operations');
export const WEBHOOK_SENDER = token<WebhookSender>('sender of webhooks');
export const REPORT_DRIFT = token<ReturnType<typeof reportDrift>>('what drift is written down with');
export const BATCH_WORKER = token<BatchWorker>('worker of batches');
export const MODELS = token<ModelProviders>('model providers');
export const EXTRACT_DEADLINES = token<ExtractDeps['deadlineMs']>('deadlines of extraction by mode, ms');
export const SLOTS = token<HeavySlots>('heavy slots');
export const OVERRUNS = token<Overruns>('overruns');
export const SWEEPER = token<HoldSweeper>('sweeper');
export const USAGE_LOG = token<UsageLog>('usage events of work');
export const FACTS = token<KeptFacts>('facts of work on their way to the log');
export const UNFINISHED_SWEEPER = token<UnfinishedSweeper>('sweeper of unfinished work');
export const DOCUMENTS = token<Documents>('document streams');
/** null: the service does not seal by itself. */
export const LOG_SEALER = token<LogSealer | null>('log sealer');
export const LOCKED_OBJECTS = token<LockedObjects>('locked objects');
export const OBJECT_SWEEPER = token<ObjectSweeper>('object sweeper');
export const API = token<ApiDeps>('what the routes call');
