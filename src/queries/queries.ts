import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { RateLimitOverride } from '../../domain/rateLimits.ts';
import type * as apiKeys from '../../projections/apiKeys.ts';
import {
  apiKeysByHash,
  apiKeyById,
  apiKeyNames,
  apiKeysOfTenant,
  liveAdminKeys,
  liveKeysMadeWith,
} from '../../projections/apiKeys.ts';
import { artifactsOfTenant } from '../../projections/artifacts.ts';
import type * as batches from '../../projections/batches.ts';
import { batchesOfTenant, progressOfBatch } from '../../projections/batches.ts';
import type * as balances from '../../projections/balances.ts';
import { balanceOf, balanceRows, openHoldsOfTenant, tenants } from '../../projections/balances.ts';
import { documentsByIds, documentsOfTenant } from '../../projections/documents.ts';
import type * as evaluations from '../../projections/evaluations.ts';
import { runBefore, runById, runsOfTenant, setsOfTenant } from '../../projections/evaluations.ts';
import * as runs from '../../projections/runs.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import type { TextsOf } from '../../projections/engine/sorts.ts';
import { grantById, grantsOfTenant } from '../../projections/grants.ts';
import type * as ledger from '../../projections/ledgerPages.ts';
import { ledgerOfTenant, usageOfTenant } from '../../projections/ledgerPages.ts';
import { reviewsOfTenant } from '../../projections/reviews.ts';
import { reconciliation } from '../../projections/reconciliation.ts';
import { tablesOfTenant, tableStockOfTenant } from '../../projections/rules/masterTables.ts';
import { configsOfTenant } from '../../projections/savedConfigs.ts';
import { creditsUsedByDay, usageDaysOfTenant, usageStats } from '../../projections/usage.ts';
import { fullTags, hasAllTagNames, usageOfTenantBy } from '../../projections/usageStats.ts';
import type * as llm from '../../projections/llmCosts.ts';
import type * as freeShare from '../../projections/llmCosts.ts';
import type * as prices from '../../projections/llmCosts.ts';
import {
  findLlmCosts,
  freeTierSubsidy,
  lateModelCosts,
  llmCostsOfJob,
  missingPrices,
  modelCostAt,
  modelCostOfPeriod,
  providerPrices,
} from '../../projections/llmCosts.ts';
import type * as costs from '../../projections/costs.ts';
import { costsByDocument, costsByTask } from '../../projections/costs.ts';
import { journalEntries, journalSums } from '../../projections/journal.ts';
import { lateFlows, lotsOfGrant, marginFlows } from '../../projections/marginFlows.ts';
import { deferredRevenue, deferredTotals } from '../../projections/recognition.ts';
import {
  payments,
  paymentsExpected,
  paymentsNamed,
  paymentSums,
  taxSums,
} from '../../projections/payments.ts';
import { documentedPayment, statementOfTenant } from '../../projections/statements.ts';
import type * as operations from '../../projections/operations.ts';
import { costOfOperation, operationsOfTenant } from '../../projections/operations.ts';
import { outcomesOfTenant } from '../../projections/usageEvents.ts';
import { deploymentsOfTenant } from '../../projections/deployments.ts';
import { chargeOfJob, documentsOfJobs, jobsOfTenant } from '../../projections/trainingJobs.ts';
import { deliveriesOfWebhook, deliveryOfWebhook } from '../../projections/deliveries.ts';
import { failingSince, webhooksOfTenant } from '../../projections/webhooks.ts';
import { rateLimitsOfTenants } from '../../projections/rateLimits.ts';

/** A query of a read model once it has a database to ask. */
type On<Query extends (sql: SqlTx) => unknown> = ReturnType<Query>;

/** The routes' queries of the read models. They throw if the database cannot be reached. */
export interface Queries {
  readonly balanceOfTenant: On<typeof balances.balanceOfTenant>;
  readonly openHoldsOfTenant: On<typeof balances.openHoldsOfTenant>;
  readonly grantById: On<typeof grantById>;
  readonly grantsOfTenant: On<typeof grantsOfTenant>;
  readonly lotsOfGrant: On<typeof lotsOfGrant>;
  readonly usageOfTenant: On<typeof ledger.usageOfTenant>;
  readonly ledgerOfTenant: On<typeof ledger.ledgerOfTenant>;
  readonly usageStats: On<typeof usageStats>;
  readonly usageOfTenantBy: On<typeof usageOfTenantBy>;
  readonly fullTags: On<typeof fullTags>;
  readonly hasAllTagNames: On<typeof hasAllTagNames>;
  readonly creditsUsedByDay: On<typeof creditsUsedByDay>;
  readonly usageDaysOfTenant: On<typeof usageDaysOfTenant>;
  readonly tenants: On<typeof balances.tenants>;
  readonly reconciliation: On<typeof reconciliation>;
  readonly apiKeyByHash: (keyHash: string) => Promise<apiKeys.ApiKeyRow | undefined>;
  readonly apiKeyById: On<typeof apiKeys.apiKeyById>;
  readonly apiKeyNames: On<typeof apiKeys.apiKeyNames>;
  readonly apiKeysOfTenant: On<typeof apiKeys.apiKeysOfTenant>;
  readonly liveAdminKeys: On<typeof apiKeys.liveAdminKeys>;
  readonly liveKeysMadeWith: On<typeof apiKeys.liveKeysMadeWith>;
  /** null where the tenant has the defaults. */
  readonly rateLimitsOfTenant: (tenantId: string) => Promise<RateLimitOverride | null>;
  readonly llmCosts: On<typeof llm.findLlmCosts>;
  readonly llmCostsOfJob: On<typeof llm.llmCostsOfJob>;
  readonly marginFlows: On<typeof marginFlows>;
  readonly lateFlows: On<typeof lateFlows>;
  readonly deferredRevenue: On<typeof deferredRevenue>;
  readonly deferredTotals: On<typeof deferredTotals>;
  readonly journalEntries: On<typeof journalEntries>;
  readonly journalSums: On<typeof journalSums>;
  readonly modelCostAt: On<typeof modelCostAt>;
  readonly lateModelCosts: On<typeof lateModelCosts>;
  readonly modelCostOfPeriod: On<typeof freeShare.modelCostOfPeriod>;
  readonly freeTierSubsidy: On<typeof freeShare.freeTierSubsidy>;
  readonly providerPrices: On<typeof prices.providerPrices>;
  readonly missingPrices: On<typeof prices.missingPrices>;
  readonly documentsByIds: On<typeof documentsByIds>;
  readonly documentsOfTenant: On<typeof documentsOfTenant>;
  readonly outcomesOfTenant: On<typeof outcomesOfTenant>;
  readonly costsByTask: On<typeof costs.costsByTask>;
  readonly costsByDocument: On<typeof costs.costsByDocument>;
  readonly costOfOperation: On<typeof operations.costOfOperation>;
  readonly payments: On<typeof payments>;
  readonly paymentSums: On<typeof paymentSums>;
  readonly paymentsNamed: On<typeof paymentsNamed>;
  readonly paymentsExpected: On<typeof paymentsExpected>;
  readonly taxSums: On<typeof taxSums>;
  readonly statementOfTenant: On<typeof statementOfTenant>;
  readonly documentedPayment: On<typeof documentedPayment>;
  readonly operationsOfTenant: On<typeof operations.operationsOfTenant>;
  readonly reviewsOfTenant: On<typeof reviewsOfTenant>;
  readonly progressOfBatch: On<typeof batches.progressOfBatch>;
  readonly batchesOfTenant: On<typeof batches.batchesOfTenant>;
  readonly evaluationSetsOfTenant: On<typeof evaluations.setsOfTenant>;
  readonly evaluationRunsOfTenant: On<typeof evaluations.runsOfTenant>;
  readonly evaluationRun: On<typeof evaluations.runById>;
  readonly runBefore: On<typeof evaluations.runBefore>;
  readonly runsOfTenant: On<typeof runs.runsOfTenant>;
  readonly runById: On<typeof runs.runById>;
  readonly chargeOfJob: On<typeof chargeOfJob>;
  readonly webhooksOfTenant: On<typeof webhooksOfTenant>;
  readonly failingSince: On<typeof failingSince>;
  readonly deliveriesOfWebhook: On<typeof deliveriesOfWebhook>;
  readonly deliveryOfWebhook: On<typeof deliveryOfWebhook>;
  readonly jobsOfTenant: On<typeof jobsOfTenant>;
  readonly deploymentsOfTenant: On<typeof deploymentsOfTenant>;
  readonly artifactsOfTenant: On<typeof artifactsOfTenant>;
  readonly documentsOfJobs: On<typeof documentsOfJobs>;
  readonly configsOfTenant: On<typeof configsOfTenant>;
  readonly tablesOfTenant: On<typeof tablesOfTenant>;
  readonly tableStockOfTenant: On<typeof tableStockOfTenant>;
}

/** Asks for the rows of several keys in one statement; a key without a row is not in the map. */
type AskForMany<Row> = (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>;

interface TogetherLimits {
  /** Keys of one statement. */
  readonly keysMax: number;
  /** Statements under way; later callers wait for the next one. */
  readonly atOnceMax: number;
}

const DEFAULT_LIMITS: TogetherLimits = { keysMax: 256, atOnceMax: 2 };

interface Waiting<Row> {
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks rows up by key, those of one turn of the event loop with one statement: many callers at once cost
 * the database one round trip. A row is read after it was asked for, never before, so a caller that waited
 * for its own writes sees them. A statement that fails fails for those that it was asked for, and no other.
 */
export const batchedLookup = <Row>(
  ask: AskForMany<Row>,
  { keysMax, atOnceMax }: TogetherLimits = DEFAULT_LIMITS,
): ((key: string) => Promise<Row | undefined>) => {
  let waiting = new Map<string, Waiting<Row>[]>();
  let atOnce = 0;
  let due = false;

  const taken = (): ReadonlyMap<string, readonly Waiting<Row>[]> => {
    if (waiting.size <= keysMax) {
      const all = waiting;
      waiting = new Map();
      return all;
    }
    const first = new Map([...waiting].slice(0, keysMax));
    for (const key of first.keys()) waiting.delete(key);
    return first;
  };

  const send = async (asked: ReadonlyMap<string, readonly Waiting<Row>[]>): Promise<void> => {
    try {
      const rows = await ask([...asked.keys()]);
      for (const [key, callers] of asked) for (const { resolve } of callers) resolve(rows.get(key));
    } catch (error) {
      for (const callers of asked.values()) for (const { reject } of callers) reject(error);
    }
  };

  const sendWaiting = (): void => {
    due = false;
    while (waiting.size > 0 && atOnce < atOnceMax) {
      atOnce += 1;
      void send(taken()).then(() => {
        atOnce -= 1;
        sendWaiting();
      });
    }
  };

  return (key) =>
    new Promise((resolve, reject) => {
      const callers = waiting.get(key);
      if (callers === undefined) waiting.set(key, [{ resolve, reject }]);
      else callers.push({ resolve, reject });
      if (due || atOnce >= atOnceMax) return;
      due = true;
      setImmediate(sendWaiting);
    });
};

/** Balances are asked for more than all else together: those asked for at once share a statement. */
const balancesTogether = (sql: SqlTx): Queries['balanceOfTenant'] => {
  const rowOf = batchedLookup(balanceRows(sql));
  return async (tenantId) => {
    const row = await rowOf(tenantId);
    return row && balanceOf(row);
  };
};

/** Every request is checked against its tenant's limits, so they are asked for together too. */
const limitsTogether = (sql: SqlTx): Queries['rateLimitsOfTenant'] => {
  const limitsOf = batchedLookup(rateLimitsOfTenants(sql));
  return async (tenantId) => (await limitsOf(tenantId)) ?? null;
};

/** Texts that are opened in one turn of the event loop, some 3 ms where they are known already. */
const TEXTS_A_TURN = 500;

/** Opens many texts without holding the thread. */
const inSlices =
  (texts: TextsOf): TextsOf =>
  async (tokens, of) => {
    const found = new Map<string, string>();
    for (let from = 0; from < tokens.length; from += TEXTS_A_TURN) {
      const slice = await texts(tokens.slice(from, from + TEXTS_A_TURN), of);
      for (const [token, text] of slice) found.set(token, text);
      await nextTurn();
    }
    return found;
  };

/** Questions about credits, money and what was used. */
const moneyQueries = (sql: SqlTx, texts?: TextsOf) => ({
  balanceOfTenant: balancesTogether(sql),
  openHoldsOfTenant: openHoldsOfTenant(sql),
  grantById: grantById(sql),
  grantsOfTenant: grantsOfTenant(sql, texts),
  lotsOfGrant: lotsOfGrant(sql),
  usageOfTenant: usageOfTenant(sql, texts),
  ledgerOfTenant: ledgerOfTenant(sql, texts),
  usageStats: usageStats(sql),
  usageOfTenantBy: usageOfTenantBy(sql),
  fullTags: fullTags(sql),
  hasAllTagNames: hasAllTagNames(sql),
  creditsUsedByDay: creditsUsedByDay(sql),
  usageDaysOfTenant: usageDaysOfTenant(sql),
  tenants: tenants(sql),
  reconciliation: reconciliation(sql),
  llmCosts: findLlmCosts(sql),
  llmCostsOfJob: llmCostsOfJob(sql),
  marginFlows: marginFlows(sql),
  lateFlows: lateFlows(sql),
  deferredRevenue: deferredRevenue(sql),
  deferredTotals: deferredTotals(sql),
  journalEntries: journalEntries(sql),
  journalSums: journalSums(sql),
  modelCostAt: modelCostAt(sql),
  lateModelCosts: lateModelCosts(sql),
  modelCostOfPeriod: modelCostOfPeriod(sql),
  freeTierSubsidy: freeTierSubsidy(sql),
  providerPrices: providerPrices(sql),
  missingPrices: missingPrices(sql),
  costsByTask: costsByTask(sql),
  costsByDocument: costsByDocument(sql),
  costOfOperation: costOfOperation(sql),
  payments: payments(sql),
  paymentSums: paymentSums(sql),
  taxSums: taxSums(sql),
  paymentsNamed: paymentsNamed(sql),
  paymentsExpected: paymentsExpected(sql),
  statementOfTenant: statementOfTenant(sql),
  documentedPayment: documentedPayment(sql),
  chargeOfJob: chargeOfJob(sql),
});

/** The routes' questions, asked of the read models. `opening` opens what people wrote, for searches. */
export const queriesOn = (sql: SqlTx, opening?: TextsOf): Queries => {
  const texts = opening && inSlices(opening);
  return {
    ...moneyQueries(sql, texts),
    apiKeyByHash: batchedLookup(apiKeysByHash(sql)),
    apiKeyById: apiKeyById(sql),
    apiKeyNames: apiKeyNames(sql),
    apiKeysOfTenant: apiKeysOfTenant(sql, texts),
    liveAdminKeys: liveAdminKeys(sql),
    liveKeysMadeWith: liveKeysMadeWith(sql),
    rateLimitsOfTenant: limitsTogether(sql),
    documentsByIds: documentsByIds(sql),
    documentsOfTenant: documentsOfTenant(sql, texts),
    outcomesOfTenant: outcomesOfTenant(sql),
    operationsOfTenant: operationsOfTenant(sql),
    reviewsOfTenant: reviewsOfTenant(sql, texts),
    progressOfBatch: progressOfBatch(sql),
    batchesOfTenant: batchesOfTenant(sql),
    evaluationSetsOfTenant: setsOfTenant(sql, texts),
    evaluationRunsOfTenant: runsOfTenant(sql),
    evaluationRun: runById(sql),
    runBefore: runBefore(sql),
    runsOfTenant: runs.runsOfTenant(sql, texts),
    runById: runs.runById(sql),
    webhooksOfTenant: webhooksOfTenant(sql, texts),
    failingSince: failingSince(sql),
    deliveriesOfWebhook: deliveriesOfWebhook(sql),
    deliveryOfWebhook: deliveryOfWebhook(sql),
    jobsOfTenant: jobsOfTenant(sql, texts),
    deploymentsOfTenant: deploymentsOfTenant(sql),
    artifactsOfTenant: artifactsOfTenant(sql),
    documentsOfJobs: documentsOfJobs(sql),
    configsOfTenant: configsOfTenant(sql, texts),
    tablesOfTenant: tablesOfTenant(sql, texts),
    tableStockOfTenant: tableStockOfTenant(sql),
  };
};

/** The read models' runner, as reads need it. */
interface ProjectionWait {
  waitFor(
    position: bigint,
    options: { readonly timeoutMs: number; readonly tenant?: string },
  ): Promise<boolean>;
}

/** Lets a tenant read what this process has just written for it. */
export interface ReadYourWrites {
  /** Remembers how far the log is for `scope` (a tenant, or `ALL_TENANTS`). */
  note(scope: string, position: bigint | undefined): void;
  /**
   * Waits, at most about a second, until the read models have what was noted. Gives the position they
   * still miss, undefined when they have it.
   */
  settle(scope: string): Promise<bigint | undefined>;
  /** As `settle`, for everything that was noted. */
  settleAll(): Promise<bigint | undefined>;
  /** Drops what was noted: positions of a log that was replaced mean nothing. */
  forget(): void;
}

/** Scope of what belongs to no tenant: price lists, billing configs. */
export const ALL_TENANTS = '';

const WAIT_MS = 1_000;
const SCOPES_MAX = 10_000;

export const readYourWrites = (projections: ProjectionWait): ReadYourWrites => {
  const noted = new LRUCache<string, bigint>({ max: SCOPES_MAX });
  let newest: bigint | undefined;

  const isThere = async (position: bigint, scope: string): Promise<boolean> => {
    const options = scope === ALL_TENANTS ? { timeoutMs: WAIT_MS } : { timeoutMs: WAIT_MS, tenant: scope };
    if (!(await projections.waitFor(position, options))) return false;
    if (noted.get(scope) === position) noted.delete(scope);
    return true;
  };

  return {
    note: (scope, position) => {
      if (position === undefined) return;
      if (newest === undefined || position > newest) newest = position;
      const earlier = noted.get(scope);
      if (earlier !== undefined && earlier >= position) return;
      noted.set(scope, position);
    },
    settleAll: async () => {
      const position = newest;
      if (position === undefined || !(await projections.waitFor(position, { timeoutMs: WAIT_MS })))
        return position;
      if (newest === position) newest = undefined;
      return undefined;
    },
    forget: () => {
      noted.clear();
      newest = undefined;
    },
    settle: async (scope) => {
      const position = noted.get(scope);
      return position === undefined || (await isThere(position, scope)) ? undefined : position;
    },
  };
};
