import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { systemClock } from '../../adapters/local/local.ts';
import { openModelProviders } from '@quire/engine/models/modelProviders';
import { replayStore, replicas, usedOnce } from '../../adapters/sqlTables.ts';
import { eventAt } from '../../domain/eventLog/eventLog.ts';
import { isThere } from '../../domain/eventLog/witness.ts';
import type { Tracer } from '../../domain/ports/log.ts';
import { isWellFormedKey } from '../../domain/apiKey.ts';
import { expiredHolds } from '../../projections/balances.ts';
import { openClaimsBefore } from '../../projections/openClaims.ts';
import { accountWriter } from '../writer/accountWriter.ts';
import { apiKeys, rateLimitCommands } from '../commands/apiKeys.ts';
import { heavySlots, type HeavySlots } from '../commands/slots.ts';
import { OVERRUN_KEPT_MS, recentFailures } from '../commands/countPages.ts';
import { holdSweeper } from '../commands/sweeping.ts';
import { llmCosts } from '../commands/llmCosts.ts';
import { payments } from '../commands/payments.ts';
import { guardedObjects } from '../commands/uploads.ts';
import { savedConfigs } from '../commands/savedConfigs.ts';
import { referenceData } from '../commands/reference.ts';
import { isContradiction } from '../writer/append.ts';
import { UnreadableStream } from '../writer/streamFold.ts';
import type { Config } from '../config.ts';
import { authenticator } from '../http/access/authenticate.ts';
import { confirmedKeys } from '../http/access/confirmedKeys.ts';
import { readYourWrites } from '../queries/readYourWrites.ts';
import { bucketsInUse } from '../http/access/bucketsInUse.ts';
import { limitsScope, tenantLimits } from '../http/access/tenantLimits.ts';
import { countedAccounts } from '../telemetry/businessMetrics.ts';
import { NO_TRACER } from '../telemetry/tracing.ts';
import { apiDeps } from './parts/apiParts.ts';
import { bindLogWatch, unlessDiverged } from './start/logWatchParts.ts';
import type { Parts } from './parts/openParts.ts';
import { runnerOf } from './projecting/runnerOf.ts';
import { queriesOn } from './queriesOn.ts';
import { bind, bindValue, newContainer, resolve, type Container } from './token.ts';
import * as t from './tokens.ts';
import { secretBoxOf } from './secretBoxOf.ts';
import { bindBatches } from './parts/batchParts.ts';
import { bindOperations } from './parts/operationParts.ts';
import { bindTraining } from './parts/trainingParts.ts';
import { bindWebhooks } from './parts/webhookParts.ts';
import { bindUnfinished } from './parts/unfinishedParts.ts';
import { bindAudits } from './audit/bindAudits.ts';
import { bindSealer } from './parts/sealParts.ts';
import { bindUploads } from './parts/uploadParts.ts';
import { EXTRACT_DEADLINES_MS } from './workLimits.ts';
import { bindTelemetry, calledBy } from './parts/telemetryParts.ts';
import { heavyGauges, heavyRefusals, providerMetrics } from './metrics/workMetrics.ts';
import { writerHooks } from './metrics/writerMetrics.ts';

const nowMs = () => Date.now();

const heavySlotsOf = (from: Container): HeavySlots => {
  const registry = resolve(from, t.REGISTRY);
  const slots = heavySlots(resolve(from, t.CONFIG).heavyConcurrency, heavyRefusals(registry));
  heavyGauges(registry, slots);
  return slots;
};

/** A stream that contradicts what was known of it may be of a log that was replaced. */
const comparedAfter = (from: Container, error: unknown): void => {
  const watch = resolve(from, t.LOG_WATCH);
  if (isContradiction(error)) void watch.contradicted();
  else if (error instanceof UnreadableStream) void watch.check();
};

const accountsOf = (from: Container) => {
  const register = resolve(from, t.REGISTRY);
  const { log: store, snapshots } = resolve(from, t.PARTS);
  const onError = (error: unknown): void => comparedAfter(from, error);
  const hooks = { ...writerHooks(register, resolve(from, t.LOGGER)), onError };
  return countedAccounts(accountWriter({ store, snapshots, hooks }), register);
};

const bindCommands = (container: Container): void => {
  bind(container, t.ACCOUNTS, accountsOf);
  bind(container, t.PAYMENTS, (from) =>
    payments({
      store: resolve(from, t.PARTS).log,
      writer: resolve(from, t.ACCOUNTS),
      clock: resolve(from, t.CLOCK),
      onDoubleClaim: (stream) =>
        resolve(from, t.LOGGER).error({ msg: 'two tenants hold one payment', stream }),
    }),
  );
  bind(container, t.REFERENCE, (from) => referenceData({ store: resolve(from, t.PARTS).log }));
  bind(container, t.API_KEYS, (from) =>
    apiKeys({ store: resolve(from, t.PARTS).log, writer: resolve(from, t.ACCOUNTS) }),
  );
  bind(container, t.LLM_COSTS, (from) => {
    const onError = (error: unknown): void => comparedAfter(from, error);
    return llmCosts(resolve(from, t.PARTS).log, {}, { onError });
  });
  bind(container, t.RATE_LIMITS, (from) => rateLimitCommands(resolve(from, t.PARTS).log));
  bind(container, t.SECRET_BOX, (from) =>
    secretBoxOf(resolve(from, t.CONFIG), resolve(from, t.PARTS).folderKey),
  );
  bind(container, t.SAVED_CONFIGS, (from) => {
    const { log, objects } = resolve(from, t.PARTS);
    // The interface has 503 for own keys in saved configs until the operator has given a key.
    const box = secretBoxOf(resolve(from, t.CONFIG));
    return savedConfigs({ store: log, objects: guardedObjects(objects), box });
  });
  bind(container, t.MODELS, (from) =>
    openModelProviders({
      allowPrivateNetwork: resolve(from, t.CONFIG).allowPrivateNetwork,
      onCall: calledBy(from),
    }),
  );
  bindValue(container, t.EXTRACT_DEADLINES, EXTRACT_DEADLINES_MS);
  bind(container, t.SLOTS, (from) => heavySlotsOf(from));
  bind(container, t.OVERRUNS, () => recentFailures(() => performance.now(), OVERRUN_KEPT_MS));
  bind(container, t.SWEEPER, (from) => {
    const sql = resolve(from, t.READ_SQL);
    const logger = resolve(from, t.LOGGER);
    const count = resolve(from, t.COUNT_SWEPT);
    return holdSweeper({
      writer: resolve(from, t.ACCOUNTS),
      payments: resolve(from, t.PAYMENTS),
      clock: resolve(from, t.CLOCK),
      openHoldsBefore: expiredHolds(sql),
      openClaimsBefore: openClaimsBefore(sql),
      onSweep: (report) => {
        count('hold', 'settled', report.released);
        count('claim', 'settled', report.finished);
        count('hold_or_claim', 'left', report.left);
        if (report.released + report.finished + report.left > 0) logger.info({ msg: 'sweep', ...report });
      },
      onError: unlessDiverged((err) => logger.error({ msg: 'sweep failed', err })),
    });
  });
};

const bindReads = (container: Container): void => {
  bind(container, t.RUNNER, runnerOf);
  bind(container, t.QUERIES, (from) => queriesOn(resolve(from, t.READ_SQL)));
  bind(container, t.READS, (from) => readYourWrites(resolve(from, t.RUNNER)));
  bind(container, t.REPLICAS, (from) => replicas(resolve(from, t.PARTS).sql));
  bind(container, t.USED_ONCE, (from) => usedOnce(resolve(from, t.PARTS).sql, nowMs));
  bind(container, t.REPLAYS, (from) => {
    const { sql, log } = resolve(from, t.PARTS);
    return replayStore(sql, nowMs, {
      losses: () => log.seen?.losses() ?? 0,
      known: () => log.seen?.all() ?? [],
      has: async (event) => isThere(event, await eventAt(log, event.stream, event.revision)),
    });
  });
  bind(container, t.BUCKETS_IN_USE, () => bucketsInUse(() => performance.now()));
  bind(container, t.TENANT_LIMITS, (from) =>
    tenantLimits({
      lookup: async (tenantId) => {
        const behind = await resolve(from, t.READS).settle(limitsScope(tenantId));
        if (behind !== undefined) throw new Error('the read models are behind');
        return resolve(from, t.QUERIES).rateLimitsOfTenant(tenantId);
      },
      nowMs,
      onError: unlessDiverged((err) =>
        resolve(from, t.LOGGER).warn({ msg: 'rate limits cannot be looked up', err }),
      ),
    }),
  );
  bind(container, t.AUTHENTICATOR, (from) =>
    authenticator({
      lookup: confirmedKeys({
        lookup: resolve(from, t.QUERIES).apiKeyByHash,
        stateOf: (keyId) => resolve(from, t.API_KEYS).stateOf(keyId),
      }),
      isWellFormed: isWellFormedKey,
      adminKey: resolve(from, t.CONFIG).adminApiKey,
      nowMs,
    }),
  );
};

/** Where this process tells what it does. */
interface Outside {
  readonly logger: Logger;
  readonly tracer?: Tracer;
}

/** Binds everything over parts that are open already. A new container per process and per test. */
export const containerOver = (
  config: Config,
  parts: Parts,
  { logger, tracer = NO_TRACER }: Outside,
): Container => {
  const container = newContainer();
  bindValue(container, t.CONFIG, config);
  bindValue(container, t.LOGGER, logger);
  bindTelemetry(container, parts, tracer);
  bind(container, t.PROVIDER_METRICS, (from) => providerMetrics(resolve(from, t.REGISTRY)));
  bind(container, t.CLOCK, () => systemClock());
  bindCommands(container);
  bindTraining(container);
  bindOperations(container);
  bindWebhooks(container);
  bindBatches(container);
  bindUploads(container);
  bindLogWatch(container);
  bindUnfinished(container);
  bindSealer(container);
  bindAudits(container);
  bindReads(container);
  bind(container, t.API, (from) => apiDeps(from, (count) => randomBytes(count)));
  return container;
};
