import { z } from 'zod';
import { decodeAny } from '../../domain/catalogue.ts';
import type { KnownLog } from '../../domain/ports/log.ts';
import type { Sql, Timers } from '../../projections/engine/ports.ts';
import type { Projector } from '../../projections/engine/table.ts';
import {
  type BegunAnew,
  NewerServes,
  RebuildBusy,
  type RebuildProgress,
  rebuildThroughOutages,
} from '../../projections/engine/rebuild.ts';
import type { FillPart } from '../../projections/engine/spreading.ts';
import { isByTenant } from '../../projections/engine/owners.ts';
import { askRetry, pauseModel, resumeModel } from '../../projections/engine/parking.ts';
import { refoldTenant } from '../../projections/engine/refold.ts';
import type { Arrival } from '../../projections/engine/arrivals.ts';
import { CheckpointMoved, SHARES_MAX } from '../../projections/engine/registry.ts';
import { foreignModels, withdraw } from '../../projections/engine/upgrade.ts';
import { namedMapping, UnreadablePayoutFile, WrongMapping } from '../../domain/payoutFile.ts';
import type { JournalSettings } from '../../domain/journal.ts';
import { DROPPED_READ_MODELS } from '../../projections/readModels.ts';
import { snapshotLines, withSnapshot } from '../audit/compareReadModels.ts';
import {
  type ImportDeps,
  importPrices,
  importRates,
  listOpen,
  type PaymentDeps,
  pricesToImport,
  ratesToImport,
  releasePayment,
  sealNow,
} from './records.ts';
import { createKey, type KeyDeps, listKeys, revokeKey, type RotateDeps, rotateSecrets } from './access.ts';
import { projectionsStatus } from './log.ts';
import { exportMonth } from './monthExport.ts';
import type { SealDeps } from '../commands/sealing.ts';
import { type PayoutDeps, payoutComparer } from '../queries/payouts.ts';
import { type Operation, type OperationContext, type Operations, tellAudit } from './socket.ts';
import { OperatorError } from '../clientConfig.ts';

/** The parts that operations on the read models need. */
interface ReadModelParts {
  readonly sql: Sql;
  readonly feed: KnownLog;
  readonly projectors: readonly Projector[];
  readonly timers: Timers;
  /** Accounts of the journal. */
  readonly journal: JournalSettings;
  /** Does parts of a rebuild beside each other; left out where the database works for one process only. */
  readonly fillPart?: FillPart | undefined;
}

const payoutInput = z.strictObject({
  /** An absolute path. */
  file: z.string().min(1),
  mapping: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  payout_id: z.string().optional(),
});
export type PayoutInput = z.output<typeof payoutInput>;

const rebuildInput = z.strictObject({
  names: z.array(z.string()),
  fresh: z.boolean(),
  keep: z.boolean(),
  /** Only the rows of this tenant. */
  tenant: z.string().min(1).optional(),
  /** How many shares of the tenants are applied beside each other. */
  shares: z.int().min(1).max(SHARES_MAX).optional(),
});
export type RebuildInput = z.output<typeof rebuildInput>;

const checkNames = (names: readonly string[], known: readonly string[]): void => {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new OperatorError(
      `There is no read model named ${unknown.join(', ')}. Choose from: ${known.join(', ')}.`,
      2,
    );
};

/** Progress is reported without waiting: a slow terminal must not slow the rebuild. */
const telling =
  ({ send }: OperationContext) =>
  (progress: RebuildProgress): void =>
    void send({ progress });

const knownTo = ({ projectors }: ReadModelParts) => ({ projectors, dropped: DROPPED_READ_MODELS });

const NO_SHARES =
  'Shares are applied beside each other by a PostgreSQL server (DATABASE_URL): leave out --shares here.';

const checkShares = ({ fillPart }: ReadModelParts, shares: number): void => {
  if (shares > 1 && fillPart === undefined) throw new OperatorError(NO_SHARES, 2);
};

const BUSY = 'Another rebuild is running. Wait for it: `quire projections status` shows it.';

/** What can be told apart by tenant; the others are rebuilt for all. */
const checkByTenant = ({ projectors }: ReadModelParts, names: readonly string[]): void => {
  const own = projectors.map(({ name }) => name);
  checkNames(names, own);
  const mixed = projectors.filter((one) => names.includes(one.name) && !isByTenant(one));
  if (mixed.length > 0)
    throw new OperatorError(
      `${mixed.map(({ name }) => name).join(', ')} sums up all tenants: rebuild it without --tenant.`,
      2,
    );
};

const rebuildTenant = async (
  parts: ReadModelParts,
  { names, tenant }: { readonly names: readonly string[]; readonly tenant: string },
  { send, signal }: OperationContext,
): Promise<void> => {
  checkByTenant(parts, names);
  const { timers } = parts;
  const began = timers.nowMs();
  let eventsDone = 0;
  const onBatch = (batch: readonly Arrival[], target: bigint): void => {
    eventsDone += batch.length;
    const seconds = Math.max(timers.nowMs() - began, 1) / 1000;
    const share = Math.min(Number(batch.at(-1)?.position ?? 0n) / Number(target), 1);
    const secondsLeft = share === 0 ? null : (seconds * (1 - share)) / share;
    void send({ progress: { eventsDone, eventsPerSecond: eventsDone / seconds, secondsLeft, share } });
  };
  const asked = names.length === 0 ? { tenant } : { tenant, names };
  try {
    const done = await refoldTenant({ ...parts, decode: decodeAny }, { ...asked, signal, onBatch });
    for (const refolded of done) await send({ refolded });
  } catch (error) {
    if (error instanceof RebuildBusy) throw new OperatorError(BUSY);
    if (error instanceof CheckpointMoved)
      throw new OperatorError(`${error.message}. Run the command again then.`);
    throw error;
  }
};

const modelInput = z.strictObject({ name: z.string() });
const retryInput = z.strictObject({ names: z.array(z.string()), tenant: z.string().optional() });

/** Pauses, resumes, and tries parked tenants again. */
const keeping = (parts: ReadModelParts): Operations => {
  const { sql, projectors } = parts;
  const known = projectors.map(({ name }) => name);
  const changing =
    (change: typeof pauseModel): Operation =>
    async (input, { send }) => {
      const { name } = modelInput.parse(input);
      checkNames([name], known);
      const outcome = await change(sql, name);
      if (outcome === 'unknown_model')
        throw new OperatorError(`${name} has no tables yet: start the service once.`);
      await send({ changed: outcome === 'done' });
    };
  return {
    'projections.pause': changing(pauseModel),
    'projections.resume': changing(resumeModel),
    'projections.retry': async (input, { send }) => {
      const { names, tenant } = retryInput.parse(input);
      checkNames(names, known);
      for (const name of names.length === 0 ? known : names) {
        const retrying = await askRetry(sql, { name, tenant });
        if (retrying > 0) await send({ name, retrying });
      }
    },
  };
};

const rebuild =
  (parts: ReadModelParts): Operation =>
  async (input, context) => {
    const { names, fresh, keep, tenant, shares = 1 } = rebuildInput.parse(input);
    if (tenant !== undefined) return rebuildTenant(parts, { names, tenant }, context);
    checkShares(parts, shares);
    const foreign = await foreignModels(parts.sql, knownTo(parts));
    const own = parts.projectors.map(({ name }) => name);
    checkNames(names, [...own, ...foreign]);
    const { signal } = context;
    const onBegunAnew = (begunAnew: BegunAnew): void => void context.send({ begunAnew });
    const options = { fresh, keep, shares, signal, onProgress: telling(context), onBegunAnew };
    try {
      const rebuilt = await rebuildThroughOutages(
        { ...parts, decode: decodeAny },
        names.length === 0 ? options : { ...options, names: names.filter((name) => own.includes(name)) },
      );
      for (const one of rebuilt) await context.send({ rebuilt: one });
      const withdrawn = names.filter((name) => foreign.includes(name));
      if (withdrawn.length > 0) await withdraw(parts.sql, withdrawn);
      for (const name of withdrawn) await context.send({ withdrawn: name });
    } catch (error) {
      if (error instanceof RebuildBusy) throw new OperatorError(BUSY);
      if (error instanceof NewerServes) throw new OperatorError(`${error.message}.`);
      throw error;
    }
  };

/** Operations on the read models. */
export const readModelOperations = (parts: ReadModelParts): Operations => ({
  'projections.status': async (_input, { send }) => {
    const { sql, feed, timers } = parts;
    const asked = { sql, feed, nowMs: timers.nowMs };
    for (const status of await projectionsStatus(asked, knownTo(parts))) await send(status);
  },
  'projections.rebuild': rebuild(parts),
  ...keeping(parts),
  'projections.export': exportMonth(parts),
  'projections.snapshot': (_input, { send }) =>
    withSnapshot(parts.sql, parts.projectors, async (snapshot) => {
      for await (const line of snapshotLines(snapshot)) await send(line);
    }),
});

/** Compares a file of this machine with the payments: first how it ended, then each finding. */
export const payoutOperations = (deps: PayoutDeps): Operations => ({
  'projections.compare-payout': async (input, { send, signal }) => {
    const { file: path, mapping: text, ...scope } = payoutInput.parse(input);
    try {
      const asked = { path, mapping: namedMapping(text), scope, signal };
      const { findings, ...summary } = await payoutComparer(deps)(asked);
      await send({ summary });
      for (const one of findings) await send({ finding: one });
    } catch (error) {
      if (error instanceof UnreadablePayoutFile) throw new OperatorError(error.message, 2);
      if (!(error instanceof WrongMapping)) throw error;
      const wrong = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
      throw new OperatorError(['--mapping:', error.message, ...wrong].join(' '), 2);
    }
  },
});

/** Operations that append to the log. */
export const logOperations = (
  deps: ImportDeps & KeyDeps & RotateDeps & SealDeps & PaymentDeps,
): Operations => ({
  'log.seal': sealNow(deps),
  'findings.audit': tellAudit({ store: deps.log, clock: deps.clock }),
  'secrets.rotate': rotateSecrets(deps),
  'keys.create': async (input, { send }) => {
    await send(await createKey(deps, input));
  },
  'keys.list': async (input, { send, signal }) => {
    for await (const key of listKeys(deps, input, signal)) await send(key);
  },
  'keys.revoke': async (input, { send, signal }) => {
    await send(await revokeKey(deps, input, signal));
  },
  'payments.list-open': (_input, context) => listOpen(deps, context),
  'payments.release': async (input, { send }) => {
    await send(await releasePayment(deps, input));
  },
  'pricing.import': async (input, { send }) => {
    const report = await importPrices(deps, pricesToImport.parse(input), {
      change: (change) => send({ change }),
      progress: (done, of) => send({ progress: { done, of } }),
    });
    await send({ report });
  },
  'fx.import': async (input, { send }) => {
    await send(await importRates(deps, ratesToImport.parse(input)));
  },
});
