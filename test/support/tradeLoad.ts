import { randomUUID } from 'node:crypto';
import type { Random } from '../../engine/test/support/random.ts';
import { ADMIN_KEY } from './serviceProcess.ts';

/** One command with an identity of its own, sent until its outcome is known. */
export interface Operation {
  readonly kind: 'sale' | 'refund' | 'adjustment' | 'extract';
  readonly tenant: string;
  readonly identity: string;
  readonly send: (url: string) => Promise<Response>;
  outcome: 'unknown' | 'done' | 'refused';
  /** True once an answer was received: from then on the effect must never be lost. */
  acknowledged: boolean;
  purchased: number;
  adjusted: number;
  used: number;
}

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
});
/** Asks for what no document here has: the work fails, and its hold is released. */
const IMPOSSIBLE = JSON.stringify({
  type: 'object',
  properties: { passport_number: { type: 'string' } },
  required: ['passport_number'],
});
const TEXT = 'Invoice number: Q-1001\nDate: 2026-03-01\nTotal: 120.50 EUR\n';

const json = (path: string, body: unknown, identity: string) => (url: string) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY, 'idempotency-key': identity },
    body: JSON.stringify(body),
  });

const operation = (named: Pick<Operation, 'kind' | 'tenant' | 'identity' | 'send'>): Operation => ({
  ...named,
  outcome: 'unknown',
  acknowledged: false,
  purchased: 0,
  adjusted: 0,
  used: 0,
});

const sale = (tenant: string, random: Random): Operation => {
  const identity = randomUUID();
  const body = { tenant_id: tenant, provider_txn_id: identity, credits: random.between(1, 50) * 1000 };
  const send = json('/v1/billing/credits', { ...body, gross_amount_minor: body.credits / 10 }, identity);
  return operation({ kind: 'sale', tenant, identity, send });
};

const refund = (of: Operation, random: Random): Operation => {
  const identity = randomUUID();
  const body = {
    tenant_id: of.tenant,
    provider_txn_id: identity,
    original_provider_txn_id: of.identity,
    credits: random.between(1, 500),
    reason: 'returned',
  };
  const send = json('/v1/billing/refunds', body, identity);
  return operation({ kind: 'refund', tenant: of.tenant, identity, send });
};

const adjustment = (tenant: string, random: Random): Operation => {
  const identity = randomUUID();
  const credits = random.between(1, 2) === 1 ? random.between(1, 300) : -random.between(1, 300);
  const path = `/v1/admin/tenants/${tenant}/adjust-credits`;
  const send = json(path, { credits, reason: 'goodwill' }, identity);
  return operation({ kind: 'adjustment', tenant, identity, send });
};

const extract = (tenant: string, key: string, schema: string): Operation => {
  const identity = randomUUID();
  const send = (url: string) => {
    const form = new FormData();
    form.set('file', new Blob([TEXT], { type: 'text/plain' }), 'invoice.txt');
    form.set('schema', schema);
    form.set('mode', 'fast');
    return fetch(`${url}/v1/extract`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'idempotency-key': identity },
      body: form,
    });
  };
  return operation({ kind: 'extract', tenant, identity, send });
};

/** The next command of a random caller: mostly sales, refunds of earlier sales, and extractions. */
export const nextOperation = (
  tenants: readonly { readonly tenant: string; readonly key: string }[],
  earlier: readonly Operation[],
  random: Random,
): Operation => {
  const { tenant, key } = random.pick(tenants);
  const sales = earlier.slice(-40).filter(({ kind, outcome }) => kind === 'sale' && outcome === 'done');
  const dice = random.next();
  if (dice < 0.07) return extract(tenant, key, IMPOSSIBLE);
  if (dice < 0.35) return extract(tenant, key, SCHEMA);
  if (dice < 0.55 && sales.length > 0) return refund(random.pick(sales), random);
  if (dice < 0.75) return adjustment(tenant, random);
  return sale(tenant, random);
};

const numberIn = (body: Readonly<Record<string, unknown>>, member: string): number =>
  typeof body[member] === 'number' ? body[member] : 0;

type Members = Readonly<Record<string, unknown>>;

/** An extraction has its cost at the top, a conversion among what it tells of itself. */
const costIn = (body: Members): Members => {
  const meta = body['meta'] as Members | undefined;
  return (body['cost'] ?? meta?.['cost'] ?? {}) as Members;
};

const remember = (done: Operation, body: Readonly<Record<string, unknown>>): void => {
  done.outcome = 'done';
  if (done.kind === 'sale') done.purchased = numberIn(body, 'credits');
  if (done.kind === 'refund') done.purchased = -numberIn(body, 'credits');
  if (done.kind === 'adjustment') done.adjusted = numberIn(body, 'credits');
  if (done.kind === 'extract') {
    done.used = numberIn(costIn(body), 'credits_used');
  }
};

const isTransient = (status: number, body: Readonly<Record<string, unknown>>): boolean =>
  status === 429 || status === 503 || body['code'] === 'request_in_progress';

/**
 * Sends the operation once. 2xx: done. 429, 503 and 409 `request_in_progress`: nothing is known yet, send
 * again. Other 4xx: refused, and an acknowledged operation that is refused later was lost. 401: a defect, for
 * the keys are good.
 */
export const sendOnce = async (sent: Operation, url: string): Promise<void> => {
  const answer = await sent.send(url).catch(() => undefined);
  const body = (await answer?.json().catch(() => undefined)) as Readonly<Record<string, unknown>> | undefined;
  if (answer === undefined || body === undefined || isTransient(answer.status, body)) return;
  if (answer.ok) {
    remember(sent, body);
    sent.acknowledged = true;
    return;
  }
  if (sent.acknowledged || answer.status === 401 || answer.status >= 500)
    throw new Error(`${sent.kind} ${sent.identity}: ${answer.status} ${JSON.stringify(body)}`);
  sent.outcome = 'refused';
};
