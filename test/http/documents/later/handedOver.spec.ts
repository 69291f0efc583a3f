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
    const extract = (over: { file?: Blob; signal?: AbortSignal; prefer?: string } = {}) =>
      fetch(`${api.url}/v1/extract`, {
        method: 'POST',
        headers: { 'X-API-KEY': key, ...(over.prefer !== undefined && { Prefer: over.prefer }) },
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

  it('is answered by its operation where its caller waits no longer, and goes on', async () => {
    const tenant = await newTenant();
    const answer = await whileFull(() => tenant.extract({ prefer: 'wait=1' }));
    const { operation_id, status } = (await answer.json()) as Readonly<Record<string, unknown>>;
    expect([answer.status, status]).to.deep.equal([202, 'queued']);
    expect(answer.headers.get('location')).to.equal(`/v1/operations/${String(operation_id)}`);
    await until(async () => (await api.operations.drain()) > 0);
    await until(async () => (await tenant.operations())[0]?.status === 'succeeded');
    expect(await tenant.operations()).to.have.length(1);
    expect((await tenant.balance()).held_credits).to.equal(0);
  });

  describe('and that asks for an operation and is ready to wait', () => {
    it('is answered by the result that is there by then', async () => {
      const tenant = await newTenant();
      const asked = tenant.extract({ prefer: 'respond-async, wait=300' });
      await until(async () => (await api.operations.drain()) > 0);
      const answer = await asked;
      expect(answer.status).to.equal(200);
      expect(await answer.json()).to.have.nested.property('result');
      expect((await tenant.balance()).held_credits).to.equal(0);
    });

    it('is answered by the operation otherwise, and at once where it does not wait', async () => {
      const tenant = await newTenant();
      for (const prefer of ['respond-async; wait=300', 'respond-async, wait=0', 'WAIT="1", respond-async']) {
        const answer = await tenant.extract({ prefer });
        expect(await answer.json(), prefer).to.include({ status: 'queued' });
        expect([answer.status, answer.headers.get('preference-applied')], prefer).to.deep.equal([
          202,
          'respond-async',
        ]);
      }
      await until(async () => (await api.operations.drain()) === 0);
    });

    it('is told the problem that the work ended with', async () => {
      const tenant = await newTenant();
      const file = new Blob(['%PDF-1.7 and nothing else'], { type: 'application/pdf' });
      const asked = tenant.extract({ file, prefer: 'respond-async, wait=300' });
      let done = false;
      void asked.finally(() => (done = true));
      await until(async () => (await api.operations.drain()) > 0 || done);
      const answer = await asked;
      expect(await answer.json()).to.include({ code: 'unreadable_file' });
      expect(answer.status).to.equal(400);
    });
  });
});
