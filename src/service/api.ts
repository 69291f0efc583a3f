import type { RequestHandler } from 'express';
import { mayConnectTo } from '@quire/engine/models/guard';
import { checkedHost, systemResolve } from '@quire/engine/models/guard';
import { readFile } from 'node:fs/promises';
import { csvRows } from '../../adapters/csvRows.ts';
import { daysOfEcbFile } from '../../adapters/ecb.ts';
import { openIdProvider } from '../../adapters/oidc.ts';
import type { Config } from '../config.ts';
import { consoleFolder, consolePage } from '../server/pages.ts';
import { sealingKey, sealingWith } from '../server/browser.ts';
import { sessionsOver, type Sessions } from '../server/sessions.ts';
import { eraseTenantNow, newSignInLink } from '../operator/access.ts';
import { aboutService, listenForOperators, type Operation } from '../operator/socket.ts';
import type { Context } from './context.ts';
import { webhookTransport } from '../../adapters/webhooks.ts';
import { dueDeliveries, webhooksDue } from '../../projections/deliveries.ts';
import {
  failingSince,
  webhookIdsOfTenant,
  webhooksProjector,
  webhooksRemoved,
} from '../../projections/webhooks.ts';
import {
  deliveryStreams,
  webhookCommands,
  webhookStreams,
  type ReceiverPolicy,
  type Webhooks,
} from '../commands/webhooks.ts';
import { webhookAttempts } from '../telemetry/businessMetrics.ts';
import { webhookSender, type WebhookSender } from '../worker/webhooks.ts';
import { unlessDiverged } from '../../projections/engine/divergence.ts';
import { askRetry, pauseModel, resumeModel } from '../../projections/engine/parking.ts';
import { signedInAs } from '../writer/vault.ts';
import { serviceStateOf } from '../api/health.ts';
import { shortCauses } from '../server/providerSignIn.ts';
import { openClaims } from '../operator/records.ts';
import { claimantOf } from '../commands/money/paymentClaims.ts';
import { paymentNamed } from '../commands/money/payments.ts';
import { broughtBackFor, transferCredits } from '../commands/money/transfers.ts';
import { convertDocument } from '../commands/convert.ts';
import { sortByFields, sortDocument } from '../commands/sortDocument.ts';
import { acceptParts } from '../commands/batches.ts';
import { operations } from '../commands/operations.ts';
import { reviewCommands } from '../commands/reviews.ts';
import { extractByFields, extractDocument } from '../commands/extract.ts';
import { recordDispute, refundCredits, reverseRefund, sellCredits } from '../commands/sales.ts';
import { correctRates, priceSales } from '../commands/saleRates.ts';
import type { ApiDeps } from '../api/routes.ts';
import { lastRunOfSubject } from '../../projections/evaluations.ts';
import { heldBack } from '../commands/gates.ts';
import {
  evaluationCommands,
  pipelineCommands,
  batchCommands,
  operationCommands,
  tableCommands,
  workDeps,
} from './work.ts';
import { tenantErasing, uploadCommands } from './uploads.ts';
import { eraseTenant, lastErasureIn } from '../commands/eraseTenant.ts';
import { apiRoutes, operationRoutes } from '../api/routes.ts';
import { servedOver } from '../server/routes.ts';
import { httpApp } from '../server/app.ts';
import { httpMetrics, runningRequests, type RunningRequests } from '../server/metrics.ts';
import { type HttpServer, listenOn } from '../server/connections.ts';
import { rateLimitRefusals } from '../telemetry/workMetrics.ts';
import { openClaimsBefore } from '../../projections/openClaims.ts';
import { sealLog } from '../commands/sealing.ts';
import { payoutComparer } from '../queries/payouts.ts';
import { ALL_TENANTS } from '../queries/queries.ts';
import { VERSION } from '../version.ts';
import { operationsOver, type OwnParts } from '../operator/runOperation.ts';

/** The console, as it was built. */
export const consoleOf = ({ s3 }: Pick<Config, 's3'>): RequestHandler =>
  consolePage({
    folder: consoleFolder(),
    uploadOrigin: s3 === undefined ? undefined : new URL(s3.publicEndpoint ?? s3.endpoint).origin,
  });

/** Sessions on what this process has open. */
const sessionsOf = (from: Context): Sessions => {
  const { publicUrl, signIn } = from.config;
  const { sessionSecret, limiter, baseUrl } = from.parts;
  const nowMs = () => Date.parse(from.clock.now());
  const { oidc } = signIn;
  const used = from.usedOnce;
  return sessionsOver({
    sealing: sealingWith(
      sealingKey(sessionSecret, () => used.epoch()),
      nowMs,
    ),
    used,
    keys: from.authenticator,
    limiter,
    publicUrl,
    baseUrl,
    nowMs,
    eventName: (who) => signedInAs(from.parts.log, who),
    oidc: oidc && { provider: openIdProvider(oidc), claims: oidc.claims },
    onRefused: (reason, error) =>
      from.logger.warn({
        msg: 'nobody was signed in by the provider',
        reason,
        cause: shortCauses(error),
      }),
  });
};

/** An operator's request: a link that signs in. */
const signInLink = (from: Context): Operation => newSignInLink(() => from.api.sessions.newLink(undefined));

/** The advisory lock that one process holds at a time: the one that sends. */
const SENDER_LEASE = 0x7768_7365n;

/** How long a sender waits for the read model to have what it wrote, ms. */
const CAUGHT_UP_MS = 5_000;

/** Where receivers may be: the guard of model bases, with a switch of its own. */
const receiverPolicy = (from: Context): ReceiverPolicy => {
  const { webhooksAllowPrivateNetwork: allowPrivateNetwork } = from.config;
  return {
    allowPrivateNetwork,
    mayConnectTo: (address) => mayConnectTo(address, allowPrivateNetwork),
  };
};

/** Dependencies of the routes of webhooks. */
const webhooksOf = (from: Context, randomBytes: (count: number) => Uint8Array): Webhooks => {
  const { log, objects } = from.parts;
  const box = from.secretBox;
  const streams = { streams: webhookStreams(log), deliveries: deliveryStreams(log) };
  const idsOfTenant = webhookIdsOfTenant(from.readSql);
  const deps = { store: log, clock: from.clock, objects, box, randomBytes, idsOfTenant };
  return webhookCommands({ ...streams, ...deps });
};

export const webhookSenderOf = (from: Context): WebhookSender => {
  const { log, objects, sql } = from.parts;
  const { allowPrivateNetwork } = receiverPolicy(from);
  const [reads, logger, runner] = [from.readSql, from.logger, from.runner];
  const policy = { allowPrivateNetwork, resolve: systemResolve };
  return webhookSender({
    objects,
    clock: from.clock,
    box: from.secretBox,
    streams: webhookStreams(log),
    deliveries: deliveryStreams(log),
    transport: webhookTransport({ addressesOf: (url) => checkedHost(url, policy) }),
    lists: { webhooks: webhooksDue(reads), removed: webhooksRemoved(reads), due: dueDeliveries(reads) },
    monotonicMs: () => performance.now(),
    // An embedded log has one process, and that one knows what it sends.
    leftAfterMs: from.config.eventStoreUrl === undefined ? 0 : undefined,
    failingSince: failingSince(reads),
    random: () => Math.random(),
    onAttempt: webhookAttempts(from.registry),
    lease: () => sql.tryLock(SENDER_LEASE),
    caughtUp: (position) =>
      runner.waitFor(position, { timeoutMs: CAUGHT_UP_MS, projectors: [webhooksProjector.name] }),
    onError: unlessDiverged((err) => logger.error({ msg: 'webhooks', err })),
  });
};

const reviewsOf = (
  { parts, reviewWorker: worker, secretBox: secrets }: Context,
  work: ReturnType<typeof workDeps>,
) =>
  reviewCommands({
    ...work,
    acceptParts: acceptParts({ ...work, secrets }),
    operations: operations(work.store),
    schemas: parts.workers.schemaValidator,
    worker,
  });

const payoutsOf = ({ queries }: Context) => payoutComparer({ rows: csvRows, books: queries });

/** What statements and receipts are made of, and by. */
const papersOf = ({
  billingDetails,
  printer,
  config,
  runner,
}: Context): Pick<ApiDeps, 'billingDetails' | 'papers' | 'waitFor'> => ({
  billingDetails,
  papers: { print: (paper) => printer.print(paper), seller: config.seller },
  waitFor: (position, options) => runner.waitFor(position, options),
});

/** What sales, refunds, disputes and transfers need. */
const salesDeps = (from: Context, { clock }: Pick<ReturnType<typeof workDeps>, 'clock'>) => ({
  reference: from.reference,
  clock,
  payments: from.payments,
  accounts: from.accounts,
  claimantOf: claimantOf(from.parts.log),
  store: from.parts.log,
  broughtBack: broughtBackFor({
    accounts: from.accounts,
    clock,
    lotsOfGrant: async (grantId) => {
      await from.reads.settleAll();
      return from.queries.lotsOfGrant(grantId);
    },
  }),
});

/** What the routes about sales call. */
const salesOn = (from: Context, sales: ReturnType<typeof salesDeps>) => ({
  sellCredits: sellCredits(sales),
  priceSales: priceSales(from.saleRates),
  correctRates: correctRates(from.saleRates),
  refundCredits: refundCredits(sales),
  recordDispute: recordDispute(sales),
  paymentNamed: paymentNamed(sales),
  transferCredits: transferCredits(sales),
  reverseRefund: reverseRefund({ ...sales, grantById: from.queries.grantById }),
  reference: sales.reference,
});

/** How the service does, and what an operator changes about its read models. */
const stateDeps = (from: Context): Pick<ApiDeps, 'health' | 'serviceState' | 'ready' | 'readModels'> => ({
  health: from.health,
  serviceState: serviceStateOf(from),
  ready: from.readiness.report,
  readModels: {
    pause: (name) => pauseModel(from.parts.sql, name),
    resume: (name) => resumeModel(from.parts.sql, name),
    retry: (asked) => askRetry(from.parts.sql, asked),
  },
});

/** The log, and what is known of it as a whole. */
const logDeps = (from: Context): Pick<ApiDeps, 'log' | 'sealLog' | 'logId' | 'erasedAt'> => {
  const { log } = from.parts;
  return {
    log,
    sealLog: (wish) => sealLog({ log, locked: from.lockedObjects, clock: from.clock }, wish),
    logId: () => from.logWatch.logId(),
    erasedAt: lastErasureIn(log),
  };
};

/** What is set for tenants. */
const settingsOf = (from: Context): Pick<ApiDeps, 'rateLimits' | 'retention' | 'topUps' | 'limits'> => ({
  rateLimits: from.rateLimits,
  retention: from.retention,
  topUps: from.topUps,
  limits: from.tenantLimits,
});

/** Operations, and the calls that wait for them. */
const queuedOf = (from: Context, work: Parameters<typeof operationCommands>[1]) => ({
  operations: operationCommands(from, { ...work, slots: from.queueSlots.accepting }),
  waiting: from.queueSlots.waiting,
});

/** Everything that the routes call. */
export const apiDeps = (from: Context, randomBytes: (count: number) => Uint8Array): ApiDeps => {
  const { parts, registry, savedConfigs } = from;
  const work = workDeps(from);
  const uploadParts = uploadCommands(from, work);
  const pipelines = pipelineCommands({ ...work, documents: from.documents }, uploadParts, from.secretBox);
  const batches = batchCommands(from, work);
  const tables = tableCommands(from);
  const extract = extractByFields({ ...pipelines, savedConfigs, tables, extract: extractDocument(work) });
  const sales = salesDeps(from, work);
  return {
    accounts: from.accounts,
    ...salesOn(from, sales),
    apiKeys: from.apiKeys,
    books: from.books,
    keys: from.authenticator,
    sessions: sessionsOf(from),
    expectWork: (tenantId) => parts.workers.expect(tenantId),
    hasBootstrapAdmin: from.config.adminApiKey !== undefined,
    baseUrl: parts.baseUrl,
    queries: from.queries,
    reads: from.reads,
    ...logDeps(from),
    audits: from.audits,
    openPayments: openPaymentsOf(from),
    payments: from.payments,
    readRates: async (path) => daysOfEcbFile(await readFile(path)),
    comparePayout: payoutsOf(from),
    llmCosts: from.llmCosts,
    savedConfigs,
    tables,
    checkBase: work.checkBase,
    journal: from.config.journal,
    ...papersOf(from),
    ...settingsOf(from),
    extract,
    convert: convertDocument(work),
    sort: sortByFields({ savedConfigs, extract, sort: sortDocument(work) }),
    ...queuedOf(from, work),
    reviews: reviewsOf(from, work),
    batches,
    ...evaluationCommands(work, uploadParts, { from, accept: batches.accept }),
    heldBack: heldBack({
      store: parts.log,
      objects: work.objects,
      artifacts: pipelines.artifacts,
      lastRunOfSubject: lastRunOfSubject(from.readSql),
      runById: from.queries.evaluationRun,
    }),
    ...uploadParts,
    eraseTenant: (tenantId, meta) => eraseTenant(tenantErasing(from))(tenantId, meta),
    pipelines,
    webhooks: webhooksOf(from, randomBytes),
    webhookPolicy: receiverPolicy(from),
    ...stateDeps(from),
    metrics: { contentType: registry.contentType, text: () => registry.metrics() },
    clock: from.clock,
    randomBytes,
  };
};

interface Served extends HttpServer {
  readonly running: RunningRequests;
}

/** Listens for the API, or in a process without that role for health and metrics alone. */
export const serve = async (from: Context, isApi: boolean): Promise<Served> => {
  const config = from.config;
  const parts = from.parts;
  const limits = from.tenantLimits;
  const { isDraining } = from.readiness;
  const running = runningRequests(isDraining);
  const app = httpApp({
    // A process without the role `api` answers health and metrics alone.
    routes: servedOver(isApi ? apiRoutes : operationRoutes, from.api),
    sessions: from.api.sessions,
    reads: from.reads,
    logger: from.logger,
    metrics: httpMetrics(from.registry),
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    pages: isApi ? consoleOf(config) : undefined,
    corsOrigins: config.corsOrigins,
    keys: from.authenticator,
    limits: {
      limiter: parts.limiter,
      bucketsOf: (tenantId) => limits.bucketsOf(tenantId),
      onLimited: rateLimitRefusals(from.registry),
      inUse: from.bucketsInUse,
    },
    replays: from.replays,
    texts: parts.log.vault?.texts,
    uploads: {
      dir: parts.uploadDir,
      bytesMax: config.maxUploadBytes,
      inFlight: from.inFlight,
    },
    clock: from.clock,
    isDraining,
    running,
    tracer: config.tracing === undefined ? undefined : from.tracer,
  });
  const server = await listenOn(app, config);
  if (isApi) parts.address.url = server.url;
  return { ...server, running };
};

/** After every claim. */
const END_OF_TIME = '9999';
const OPEN_CLAIMS_MAX = 10_000;

/** Looks the oldest open claims up in the log. */
const openPaymentsOf =
  ({ parts: { log, sql } }: Context): ApiDeps['openPayments'] =>
  async (limit, signal) =>
    openClaims(log, await openClaimsBefore(sql)(END_OF_TIME, limit), signal);

/** Keys that an operator makes or revokes count here from the answer on. */
const ownParts = (from: Context): OwnParts => {
  const [keys, reads] = [from.authenticator, from.reads];
  return {
    apiKeys: from.apiKeys,
    objects: from.parts.objects,
    box: from.secretBox,
    locked: from.lockedObjects,
    payments: from.payments,
    journal: from.config.journal,
    listedStreams: () => openClaimsBefore(from.parts.sql)(END_OF_TIME, OPEN_CLAIMS_MAX),
    onKey: async ({ kind, key_hash, position }) => {
      reads.note(ALL_TENANTS, position);
      if (kind === 'revoked') {
        keys.refuse(key_hash);
        return;
      }
      await reads.settle(ALL_TENANTS);
      keys.forget(key_hash);
    },
  };
};

/** Does what commands of the command line ask of the running service; `url` is where it listens. */
export const hearOperators = (from: Context, url: string): ReturnType<typeof listenForOperators> => {
  const { dataDir, roles } = from.config;
  const { log, sql } = from.parts;
  return listenForOperators(dataDir, {
    ...operationsOver(log, sql, ownParts(from)),
    'session.link': signInLink(from),
    'tenants.erase': eraseTenantNow(
      {
        clock: from.clock,
        isKnown: async (tenantId) => (await from.queries.balanceOfTenant(tenantId)) !== undefined,
      },
      from.api.eraseTenant,
    ),
    'service.about': aboutService({ version: VERSION, url, roles: [...roles] }),
  });
};
