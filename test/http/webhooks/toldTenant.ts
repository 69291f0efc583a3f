import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import type { TestApi } from '../support/testApi.ts';

/** A service whose webhooks may be at this machine, and that can seal their secrets. */
export const WEBHOOK_ENV = {
  FIELD_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  WEBHOOKS_ALLOW_PRIVATE_NETWORK: 'true',
};

type Row = Readonly<Record<string, unknown>>;

/** A tenant with a webhook. */
export interface ToldTenant {
  readonly tenant_id: string;
  readonly key: string;
  readonly webhook_id: string;
  readonly secret: string;
  /** Of the webhook, by the tenant's key. */
  readonly call: (method: string, rest?: string, json?: object) => Promise<Reply>;
  /** Adjusts the balance, of which the webhook is to be told. */
  readonly adjust: (credits: number) => Promise<void>;
  /** Sends what is due. Gives how many attempts that took. */
  readonly sent: () => Promise<number>;
  readonly deliveries: (query?: string) => Promise<readonly Row[]>;
}

/** Makes a tenant that is told at `url`, of everything unless the settings say otherwise. */
export const toldTenant = async (api: TestApi, url: string, settings: object = {}): Promise<ToldTenant> => {
  const tenant_id = `wh-${randomUUID()}`;
  const key = await api.newKey(tenant_id);
  const json = { tenant_id, url, events: ['*'], ...settings };
  const made = await api.call('post', '/v1/webhooks', { key, json });
  expect(made.status, made.text).to.equal(201);
  const { webhook_id, secret } = made.body as { webhook_id: string; secret: string };
  const call: ToldTenant['call'] = (method, rest = '', body) =>
    api.call(method, `/v1/webhooks/${webhook_id}${rest}`, { key, ...(body !== undefined && { json: body }) });
  return {
    tenant_id,
    key,
    webhook_id,
    secret,
    call,
    adjust: async (credits) => {
      const reply = await api.call('post', `/v1/admin/tenants/${tenant_id}/adjust-credits`, {
        json: { credits, reason: 'spec', allow_negative: true },
      });
      expect(reply.status, reply.text).to.equal(200);
    },
    sent: async () => {
      await api.deps.reads.settleAll();
      return api.webhooks.drain();
    },
    deliveries: async (query = '') => {
      const list = await call('get', `/deliveries${query}`);
      expect(list.status, list.text).to.equal(200);
      return list.body['items'] as readonly Row[];
    },
  };
};
