import { randomUUID } from 'node:crypto';
import { ADMIN_KEY } from '../../test/support/serviceProcess.ts';
import type { Fleet } from './fleet.ts';

const PROBE = 'probe';
const PATIENCE_MS = 120_000;
const EVERY_MS = 25;
const CALL_MS = 5_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const headers = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY };

interface Asked {
  readonly method: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ask = async (url: string, init: Asked): Promise<Record<string, unknown> | undefined> => {
  try {
    const answer = await fetch(url, {
      ...init,
      headers: { ...headers, ...init.headers },
      signal: AbortSignal.timeout(CALL_MS),
    });
    const body = (await answer.json()) as Record<string, unknown>;
    return answer.ok ? body : undefined;
  } catch {
    return undefined;
  }
};

/** How long after a fault what was back, ms. */
export interface Recovery {
  /** The first command that was accepted by some replica. */
  readonly writesMs: number;
  /** Every replica that runs answers reads with that command's effect: the projections are there too. */
  readonly readsMs: number;
}

/** Moves credits of an account of its own until that succeeds, then waits until every API shows it. */
export const recoveryOf = async ({ apis }: Fleet, since: number): Promise<Recovery> => {
  const body = JSON.stringify({ credits: 1, reason: 'probe' });
  const path = `/v1/admin/tenants/${PROBE}/adjust-credits`;
  const until = performance.now() + PATIENCE_MS;
  const identity = randomUUID();
  let made: Record<string, unknown> | undefined;
  for (let n = 0; made === undefined; n += 1) {
    if (performance.now() > until) return { writesMs: Infinity, readsMs: Infinity };
    const { url } = apis[n % apis.length]!;
    made = await ask(`${url}${path}`, { method: 'POST', body, headers: { 'idempotency-key': identity } });
    if (made === undefined) await pause(EVERY_MS);
  }
  const writesMs = performance.now() - since;
  const wanted = Number(made['balance_credits']);
  const shows = async (url: string): Promise<boolean> => {
    const said = await ask(`${url}/v1/billing/balance/${PROBE}`, { method: 'GET' });
    return said !== undefined && Number(said['balance_credits']) >= wanted;
  };
  for (;;) {
    const shown = await Promise.all(apis.filter((one) => one.isRunning()).map(({ url }) => shows(url)));
    if (shown.length > 0 && shown.every(Boolean)) return { writesMs, readsMs: performance.now() - since };
    if (performance.now() > until) return { writesMs, readsMs: Infinity };
    await pause(EVERY_MS);
  }
};

/** Opens the account that probes move. */
export const openProbe = async ({ apis }: Fleet): Promise<void> => {
  const made = await ask(`${apis[0]!.url}/v1/api-keys`, {
    method: 'POST',
    body: JSON.stringify({ tenant_id: PROBE, name: 'probe' }),
  });
  if (made === undefined) throw new Error('the account of the probes cannot be opened');
};

/** Moves the probes' account and waits until all replicas show it; gives its balance. */
export const probeBalance = async (fleet: Fleet, credits: number): Promise<number> => {
  const body = JSON.stringify({ credits: credits === 0 ? 1 : credits, reason: 'probe' });
  const made = await ask(`${fleet.apis[0]!.url}/v1/admin/tenants/${PROBE}/adjust-credits`, {
    method: 'POST',
    body,
    headers: { 'idempotency-key': randomUUID() },
  });
  if (made === undefined) throw new Error('the account of the probes cannot be moved');
  return Number(made['balance_credits']);
};

/** Asks all replicas until each shows what the log has; gives how long one of them showed what it lost, ms. */
export const untilNoneShows = async (
  { apis }: Fleet,
  { kept, lost }: { readonly kept: number; readonly lost: number },
): Promise<number> => {
  const began = performance.now();
  let staleMs = 0;
  for (;;) {
    const shown = await Promise.all(
      apis.map(async ({ url }) => {
        const said = await ask(`${url}/v1/billing/balance/${PROBE}`, { method: 'GET' });
        return said === undefined ? undefined : Number(said['balance_credits']);
      }),
    );
    const tookMs = performance.now() - began;
    if (shown.includes(lost)) staleMs = tookMs;
    if (shown.every((credits) => credits === kept)) return staleMs;
    if (tookMs > PATIENCE_MS) throw new Error(`after the log was put back replicas show ${shown.join(', ')}`);
    await pause(EVERY_MS);
  }
};
