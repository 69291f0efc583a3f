import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ModelProviders } from '@quire/engine/ports/modelProvider';
import type { Audits, reportDrift } from '../commands/audits.ts';
import type {
  LockedObjects,
  Printer,
  ReplayStore,
  Replicas,
  SecretBox,
  UsedOnce,
} from '../../domain/ports/services.ts';
import type { LogSealer } from '../commands/sealing.ts';
import type { Clock, Tracer } from '../../domain/ports/log.ts';
import type { Trainer } from '../../domain/ports/trainer.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import type { LogWatch } from '../../projections/engine/divergence.ts';
import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import type { BooksCommands } from '../commands/money/books.ts';
import type {
  ApiKeys,
  BillingDetailsCommands,
  RateLimitCommands,
  RetentionCommands,
  TopUpCommands,
} from '../commands/apiKeys.ts';
import type { Documents } from '../commands/uploads.ts';
import type { ExtractDeps } from '../commands/extract.ts';
import type { ReviewWorker } from '../commands/reviewWork.ts';
import type { BytesInFlight, HeavySlots, Room } from '../commands/slots.ts';
import type { Overruns } from '../commands/countPages.ts';
import type { HoldSweeper } from '../commands/holds.ts';
import type { SaleRatesDeps } from '../commands/saleRates.ts';
import type { ObjectSweeper } from '../worker/sweeping.ts';
import type { LlmCosts } from '../commands/llmCosts.ts';
import type { Payments } from '../commands/money/payments.ts';
import type { ReferenceData } from '../commands/reference.ts';
import type { SavedConfigs } from '../commands/savedConfigs.ts';
import type { KeptFacts, UnfinishedSweeper, UsageLog } from '../commands/usageLog.ts';
import type { Config } from '../config.ts';
import type { ApiDeps } from '../api/routes.ts';
import type { Authenticator } from '../server/keys.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import type { HealthReport } from '../api/schemas/serviceSchemas.ts';
import type { BucketsInUse, TenantLimits } from '../server/limits.ts';
import type { CountSwept, DriftCheck, ProjectionCounters } from '../telemetry/businessMetrics.ts';
import type { BatchWorker } from '../worker/batches.ts';
import type { EvaluationWorker } from '../worker/evaluations.ts';
import type { QueueWorker } from '../worker/queue.ts';
import type { WebhookSender } from '../worker/webhooks.ts';
import type { Parts } from '../parts/parts.ts';
import type { Readiness } from '../api/health.ts';
import type { ProviderMetrics } from '../telemetry/workMetrics.ts';

/** The parts of the process: each is made once, when it is first needed. */
export interface Context {
  /** Audits that are asked for while the service runs. */
  readonly audits: Audits;
  /** Configuration. */
  readonly config: Config;
  /** Opened parts. */
  readonly parts: Parts;
  /** Logger. */
  readonly logger: Logger;
  /** Metrics registry. */
  readonly registry: Registry;
  /** Metrics of model providers. */
  readonly providerMetrics: ProviderMetrics;
  /** Counters of projections. */
  readonly projectionCounters: ProjectionCounters;
  /** Counter of what sweepers did. */
  readonly countSwept: CountSwept;
  /** Check of balances. */
  readonly driftCheck: DriftCheck;
  /** Tracer. */
  readonly tracer: Tracer;
  /** Readiness. */
  readonly readiness: Readiness;
  /** Health. */
  readonly health: () => Promise<HealthReport>;
  /** Clock. */
  readonly clock: Clock;
  /** Words that count once. */
  readonly usedOnce: UsedOnce;
  /** Processes of the service. */
  readonly replicas: Replicas;
  /** Replay store. */
  readonly replays: ReplayStore;
  /** Account writer. */
  readonly accounts: AccountWriter;
  /** Payments. */
  readonly payments: Payments;
  /** Price lists, billing configs, rates. */
  readonly reference: ReferenceData;
  /** Closing of months. */
  readonly books: BooksCommands;
  /** API key commands. */
  readonly apiKeys: ApiKeys;
  /** Model cost commands. */
  readonly llmCosts: LlmCosts;
  /** Who tenants are on statements and receipts. */
  readonly topUps: TopUpCommands;
  readonly billingDetails: BillingDetailsCommands;
  /** How long things are kept. */
  readonly retention: RetentionCommands;
  /** Rate-limit commands. */
  readonly rateLimits: RateLimitCommands;
  /** Rate-limit buckets in use. */
  readonly bucketsInUse: BucketsInUse;
  /** Rate limits by tenant. */
  readonly tenantLimits: TenantLimits;
  /** Watch over the log. */
  readonly logWatch: LogWatch;
  /** Read models while they are sound. */
  readonly readSql: SqlTx;
  /** Queries. */
  readonly queries: Queries;
  /** Authenticator. */
  readonly authenticator: Authenticator;
  /** Projection runner. */
  readonly runner: ProjectionRunner;
  /** Read your writes. */
  readonly reads: ReadYourWrites;
  /** Saved config commands. */
  readonly savedConfigs: SavedConfigs;
  /** Secret box. */
  readonly secretBox: SecretBox | undefined;
  /** Trainer. */
  readonly trainer: Trainer;
  /** Worker of training jobs. */
  readonly trainingWorker: QueueWorker;
  /** Worker of operations. */
  readonly operationWorker: QueueWorker;
  /** Sender of webhooks. */
  readonly webhookSender: WebhookSender;
  /** What drift is written down with. */
  readonly reportDrift: ReturnType<typeof reportDrift>;
  /** Worker of batches. */
  readonly batchWorker: BatchWorker;
  readonly evaluationWorker: EvaluationWorker;
  /** Model providers. */
  readonly models: ModelProviders;
  /** Deadlines of extraction by mode, ms. */
  readonly extractDeadlines: ExtractDeps['deadlineMs'];
  /** Heavy slots. */
  readonly slots: HeavySlots;
  /** What is done on reviews of any size. */
  readonly reviewWorker: ReviewWorker & { readonly stop: () => Promise<void> };
  /** Makes PDF files of statements and receipts. */
  readonly printer: Printer & { readonly stop: () => Promise<void> };
  /** Overruns. */
  readonly overruns: Overruns;
  /** Rates of sales, booked after them. */
  readonly saleRates: SaleRatesDeps;
  /** Sweeper. */
  readonly sweeper: HoldSweeper;
  /** Usage events of work. */
  readonly usageLog: UsageLog;
  /** Facts of work on their way to the log. */
  readonly facts: KeptFacts;
  /** Sweeper of unfinished work. */
  readonly unfinishedSweeper: UnfinishedSweeper;
  /** Bodies with files, of whatever route. */
  readonly inFlight: BytesInFlight;
  /** Operations that were accepted here, before the list of open ones has them. */
  readonly operationRoom: Room;
  /** Document streams. */
  readonly documents: Documents;
  /** null: the service does not seal by itself. */
  readonly logSealer: LogSealer | null;
  /** Locked objects. */
  readonly lockedObjects: LockedObjects;
  /** Object sweeper. */
  readonly objectSweeper: ObjectSweeper;
  /** Dependencies of the routes. */
  readonly api: ApiDeps;
}

/** How parts are made, each of others. */
type Factories = { readonly [Name in keyof Context]: (from: Context) => Context[Name] };

/** Parts that one file knows how to make. */
export type SomeFactories = Partial<Factories>;

/** A context over its factories. */
export const contextOf = (factories: Factories): Context => {
  const context = {} as Context;
  for (const name of Object.keys(factories) as (keyof Context)[]) {
    const get = (): unknown => {
      const value = factories[name](context);
      Object.defineProperty(context, name, { value, enumerable: true });
      return value;
    };
    Object.defineProperty(context, name, { get, enumerable: true, configurable: true });
  }
  return context;
};
