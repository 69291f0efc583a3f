import type { Registry } from 'prom-client';
import type { NotComparable, Reconciliation } from '../../projections/reconciliation.ts';
import { pulledGauges } from './gauge.ts';

/** What the newest check found. */
interface Checked {
  /** ms since 1970. */
  readonly at: number;
  readonly tenants: number;
  readonly drifting: number;
}

export interface DriftCheckDeps {
  readonly register: Registry;
  /** Tenants with drift alone. */
  readonly reconcile: () => Promise<Reconciliation | NotComparable>;
  /** Only the process that projects checks. */
  readonly isProjecting: () => boolean;
  readonly nowMs: () => number;
  /** Told of each tenant's drift that is found. */
  readonly onDrift: (tenantId: string, driftCredits: number) => void;
  /** Given all that was found, nothing too: to be written down where it differs from the check before. */
  readonly onChecked?: (
    tenants: number,
    drifting: readonly { readonly tenant_id: string; readonly drift_credits: number }[],
  ) => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** Between the end of one check and the next, at least, ms. */
  readonly everyMs?: number;
}

export interface DriftCheck {
  readonly start: () => void;
  /** One check, unless one runs: then that. */
  readonly check: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const EVERY_MS = 5 * 60_000;
/** A check reads every ledger row: it never takes more than this share of the time. */
const SHARE = 0.01;

const gaugesOf = (register: Registry, last: () => Checked | undefined): void => {
  const show = pulledGauges(register, last);
  show(
    'quire_reconciliation_drift_tenants',
    'Tenants whose balance was not the sum of their grants and ledger, at the newest check.',
    ({ drifting }) => drifting,
  );
  show(
    'quire_reconciliation_checked_tenants',
    'Tenants that the newest check compared.',
    ({ tenants }) => tenants,
  );
  show(
    'quire_reconciliation_checked_at_seconds',
    'Time of the newest check, in seconds since 1970.',
    ({ at }) => at / 1000,
  );
};

/** Compares balances with grants and ledger now and then, in the process that projects. */
export const driftCheck = (deps: DriftCheckDeps): DriftCheck => {
  const { register, reconcile, isProjecting, nowMs, onDrift, everyMs = EVERY_MS } = deps;
  let last: Checked | undefined;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = true;
  gaugesOf(register, () => (isProjecting() ? last : undefined));

  const checkOnce = async (): Promise<void> => {
    const found = await reconcile();
    if ('behind' in found) return;
    for (const { tenant_id, drift_credits } of found.rows) onDrift(tenant_id, drift_credits);
    last = { at: nowMs(), tenants: found.tenants_checked, drifting: found.rows.length };
    await deps.onChecked?.(found.tenants_checked, found.rows);
  };
  const check = (): Promise<void> => {
    running ??= checkOnce()
      .catch(deps.onError)
      .finally(() => (running = undefined));
    return running;
  };
  const again = (ms: number): void => {
    timer = setTimeout(() => void round(), ms).unref();
  };
  const round = async (): Promise<void> => {
    const began = nowMs();
    if (isProjecting()) await check();
    if (!stopped) again(Math.max(everyMs, (nowMs() - began) / SHARE));
  };
  return {
    check,
    start: () => {
      if (!stopped) return;
      stopped = false;
      again(everyMs / 10);
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};
