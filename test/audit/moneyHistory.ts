import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { SendCredits } from '../../domain/account/messages.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Client } from '../http/support/client.ts';

/** Of a command that an operator sends now. */
export const metaNow = (): CommandMeta => ({
  now: new Date().toISOString(),
  actor: { key_id: 'key_1', role: 'admin' },
  correlation_id: 'req-1',
  command_id: randomUUID(),
});

export const done = async (api: Client, path: string, json: object) => {
  const reply = await api.call('post', path, { json });
  expect(reply.status, `${path} ${reply.text}`).to.be.lessThan(300);
  return reply;
};

/** Credits that leave a tenant, and do not arrive by this. */
export const sending = (tenant_id: string, to_tenant_id: string, meta: CommandMeta): SendCredits => ({
  type: 'SendCredits',
  data: {
    tenant_id,
    transfer_id: 'trf_under_way',
    to_tenant_id,
    idempotency_key: null,
    fingerprint: 'f',
    credits: asCredits(3),
    reason: 'merged',
  },
  meta,
});

/** Two disputes of a sale, each of a part: one that is won, and one that is lost. */
export const disputes = async (api: Client, original: string): Promise<void> => {
  for (const [status, minor] of [
    ['won', 300],
    ['lost', 200],
  ] as const) {
    const dispute = { provider: 'stripe', provider_txn_id: randomUUID(), original_provider_txn_id: original };
    await done(api, '/v1/billing/disputes', { ...dispute, status: 'opened', gross_amount_minor: minor });
    await done(api, '/v1/billing/disputes', { ...dispute, status, fee_minor: 1_500 });
  }
};

/** Credits go to a tenant that lacks some, and part of them comes back for a refund. */
export const transfers = async (
  api: Client,
  { tenant_id, original }: { readonly tenant_id: string; readonly original: string },
): Promise<void> => {
  const moved = { to_tenant_id: 'merged', credits: 9_000, reason: 'merged' };
  await done(api, `/v1/admin/tenants/${tenant_id}/transfer-credits`, moved);
  await done(api, '/v1/billing/refunds', {
    tenant_id,
    provider: 'stripe',
    provider_txn_id: randomUUID(),
    original_provider_txn_id: original,
    gross_amount_minor: 1_000,
  });
};
