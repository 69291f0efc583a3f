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
import type { LookupWorker } from '../rules/lookupWork.ts';
import type { RulesWorker } from '../rules/rulesWork.ts';
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
import type { ModelLag } from '../../projections/engine/lag.ts';
import type { Readiness } from '../api/health.ts';
import type { ProviderMetrics } from '../telemetry/workMetrics.ts';

interface Stoppable {
  readonly stop: () => Promise<void>;
}

/** The parts of the process, in the order of `composition.ts`: each is made once, when it is first asked for. */
export interface Context {
  readonly config: Config;
  /** The opened parts, with their log and document work counted and traced. */
  readonly parts: Parts;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly clock: Clock;
  /** Of extraction by mode, ms. */
  readonly extractDeadlines: ExtractDeps['deadlineMs'];

  // What is seen from outside.
  readonly registry: Registry;
  readonly providerMetrics: ProviderMetrics;
  readonly projectionCounters: ProjectionCounters;
  /** Counts the work of sweepers. */
  readonly countSwept: CountSwept;
  /** How late each read model is, whoever projects, a second old at most; undefined: it cannot be had now. */
  readonly lags: () => Promise<readonly ModelLag[] | undefined>;
  readonly health: () => Promise<HealthReport>;
  readonly readiness: Readiness;
  /** Compares balances with their ledgers. */
  readonly driftCheck: DriftCheck;

  // The log, and the read models that follow it.
  readonly logWatch: LogWatch;
  /** The read models; queries fail while their rows may be of another log. */
  readonly readSql: SqlTx;
  readonly runner: ProjectionRunner;
  /** Reads wait for the writes before them. */
  readonly reads: ReadYourWrites;
  readonly queries: Queries;
  /** Processes of the service that are alive. */
  readonly replicas: Replicas;
  /** Words that count once, such as the links that sign in. */
  readonly usedOnce: UsedOnce;
  readonly replays: ReplayStore;
  readonly lockedObjects: LockedObjects;
  /** null: the service does not seal by itself. */
  readonly logSealer: LogSealer | null;
  readonly audits: Audits;
  readonly reportDrift: ReturnType<typeof reportDrift>;

  // Money.
  readonly accounts: AccountWriter;
  readonly payments: Payments;
  readonly reference: ReferenceData;
  /** Rates that are booked after their sales. */
  readonly saleRates: SaleRatesDeps;
  readonly books: BooksCommands;
  readonly llmCosts: LlmCosts;
  /** Ends holds, claims and transfers that nobody ended. */
  readonly sweeper: HoldSweeper;

  // Tenants.
  readonly apiKeys: ApiKeys;
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimitCommands;
  readonly tenantLimits: TenantLimits;
  readonly bucketsInUse: BucketsInUse;
  readonly topUps: TopUpCommands;
  /** Names of tenants on statements and receipts. */
  readonly billingDetails: BillingDetailsCommands;
  /** Makes PDF files of statements and receipts. */
  readonly printer: Printer & Stoppable;
  /** How long things are kept. */
  readonly retention: RetentionCommands;
  /** undefined: the service has no key to seal with. */
  readonly secretBox: SecretBox | undefined;
  readonly savedConfigs: SavedConfigs;
  readonly webhookSender: WebhookSender;

  // Documents, and the work on them.
  readonly documents: Documents;
  /** Bodies with files, of whatever route. */
  readonly inFlight: BytesInFlight;
  readonly objectSweeper: ObjectSweeper;
  readonly models: ModelProviders;
  readonly slots: HeavySlots;
  /** For requests that go to the queue: while they are accepted, and while their callers wait for the result. */
  readonly queueSlots: Readonly<Record<'accepting' | 'waiting', HeavySlots>>;
  /** Documents that had all of their time or memory, so that they are not tried again at once. */
  readonly overruns: Overruns;
  /** Counts and logs results that were answered and could not be kept. */
  readonly unkeptResults: (error: unknown) => void;
  readonly usageLog: UsageLog;
  /** Facts of work on their way to the log. */
  readonly facts: KeptFacts;
  readonly unfinishedSweeper: UnfinishedSweeper;
  /** Operations that were accepted here, before the list of open ones has them. */
  readonly operationRoom: Room;
  readonly operationWorker: QueueWorker;
  readonly batchWorker: BatchWorker;
  readonly evaluationWorker: EvaluationWorker;
  readonly reviewWorker: ReviewWorker & Stoppable;
  readonly rulesWorker: RulesWorker & Stoppable;
  readonly lookupWorker: LookupWorker & Stoppable;
  readonly trainer: Trainer;
  readonly trainingWorker: QueueWorker;

  // The dependencies of the routes.
  readonly api: ApiDeps;
}

/** How each part is made of others. */
export type Factories = { readonly [Name in keyof Context]: (from: Context) => Context[Name] };
