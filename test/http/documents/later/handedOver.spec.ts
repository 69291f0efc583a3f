import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../../../engine/test/support/until.ts';
import { formOf, INVOICE, INVOICE_SCHEMA } from '../../support/client.ts';
import { startApi, type TestApi } from '../../support/testApi.ts';

const QUOTA_BYTES = 20_000;

describe('a call for whose work no place is free', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ HEAVY_CONCURRENCY: '1', UPLOAD_QUOTA_BYTES: String(QUOTA_BYTES) });
  });
  after(() => api.stop());

  const newTenant = async () => {
    const tenant_id = `full-${randomUUID()}`;
    const key = await api.newKey(tenant_id);
    await api.sell(tenant_id, 1_000);
    const extract = (over: { file?: Blob; signal?: AbortSignal } = {}) =>
      fetch(`${api.url}/v1/extract`, {
        method: 'POST',
        headers: { 'X-API-KEY': key },
        body: formOf({ schema: INVOICE_SCHEMA }, over.file ?? INVOICE),
        ...(over.signal && { signal: over.signal }),
      });
    const balance = async () => {
      const { body } = await api.call('get', `/v1/billing/balance/${tenant_id}`, { key });
      return { balance: Number(body['balance_credits']), held_credits: Number(body['held_credits']) };
    };
    const operations = async () => {
      const { body } = await api.call('get', `/v1/operations?tenant_id=${tenant_id}`, { key });
      return body['items'] as { readonly operation_id: string; readonly status: string }[];
    };
    return { tenant_id, extract, balance, operations };
  };

  /** While somebody has the only place. */
  const whileFull = async <T>(work: () => Promise<T>): Promise<T> => {
    const free = api.slots.take('somebody');
    if (free === undefined) throw new Error('the place is taken');
    try {
      return await work();
    } finally {
      free();
    }
  };

  it('is done by a worker while its caller waits, and billed once', async () => {
    const tenant = await newTenant();
    const before = (await tenant.balance()).balance;
    const answer = await whileFull(async () => {
      const asked = tenant.extract();
      await until(async () => (await api.operations.drain()) > 0);
      return asked;
    });
    const body = (await answer.json()) as { readonly cost: { readonly credits_used: number } };
    expect(answer.status, JSON.stringify(body)).to.equal(200);
    expect(body).to.have.nested.property('result');
    await until(async () => (await tenant.operations())[0]?.status === 'succeeded');
    expect(await tenant.operations()).to.have.length(1);
    const { balance, held_credits } = await tenant.balance();
    expect({ paid: before - balance, held_credits }).to.deep.equal({
      paid: body.cost.credits_used,
      held_credits: 0,
    });
  });

  it('is not billed where its caller leaves and has no key', async () => {
    const tenant = await newTenant();
    const before = await tenant.balance();
    const leaving = new AbortController();
    await whileFull(async () => {
      const asked = tenant.extract({ signal: leaving.signal }).catch((error: unknown) => String(error));
      await until(async () => (await tenant.operations()).length > 0);
      leaving.abort();
      expect(await asked).to.include('abort');
      await until(async () => (await tenant.operations())[0]?.status === 'cancelled');
    });
    await until(async () => (await tenant.balance()).held_credits === 0);
    expect(await api.operations.drain()).to.equal(0);
    expect(await tenant.balance()).to.deep.equal(before);
  });

  it('is told to come again where the queue cannot keep its file', async () => {
    const tenant = await newTenant();
    const file = new Blob(['Invoice number: A-1\n', ' '.repeat(QUOTA_BYTES)], { type: 'text/plain' });
    const answer = await whileFull(() => tenant.extract({ file }));
    expect(await answer.json()).to.include({ code: 'busy' });
    expect(answer.status).to.equal(503);
    expect((await tenant.balance()).held_credits).to.equal(0);
    expect(await tenant.operations()).to.deep.equal([]);
  });
});
