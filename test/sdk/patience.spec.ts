import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { isProblem, Quire, UnexpectedAnswerError } from '../../sdk/src/index.ts';
import { INVOICE, INVOICE_SCHEMA } from '../http/support/client.ts';
import { testApi, type TestApi } from '../http/support/testApi.ts';
import { until } from '../../engine/test/support/until.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { breakingProxy, type BreakingProxy, type Fault } from './breakingProxy.ts';

const BUSY = {
  kind: 'answer',
  status: 503,
  headers: { 'retry-after': '0', 'content-type': 'application/problem+json' },
  body: JSON.stringify({ code: 'busy', status: 503, title: 'Busy', detail: 'later' }),
} as const satisfies Fault;
const GATEWAY: Fault = {
  kind: 'answer',
  status: 502,
  headers: { 'content-type': 'text/html' },
  body: '<h1>Bad gateway</h1>',
};
const LOST: Fault = { kind: 'lose the answer' };
const REFUSED: Fault = { kind: 'refuse the connection' };

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );

describe('the patience of the client', () => {
  let api: TestApi;
  let proxy: BreakingProxy;
  before(async () => {
    api = await testApi();
    proxy = await breakingProxy(api.url);
  });
  after(() => proxy.close());
  beforeEach(() => {
    proxy.faults.length = 0;
    proxy.keys.length = 0;
  });

  const quireOf = (key: string) => new Quire({ url: proxy.url, key, patience: { firstPauseMs: 1 } });
  const newQuire = async () => {
    const tenant_id = `sdk-${randomUUID()}`;
    return { tenant_id, quire: quireOf(await api.newKey(tenant_id)) };
  };

  it('sends a request again, under one key, until it has an answer; the work is billed once', async () => {
    const { quire, tenant_id } = await newQuire();
    proxy.faults.push(BUSY, REFUSED, GATEWAY, LOST);
    const { result, cost } = await quire.extract({ file: INVOICE, schema: INVOICE_SCHEMA });
    expect(result).to.deep.equal({ invoice_number: 'Q-1001', total: 120.5 });
    expect(cost.pages).to.equal(1);
    expect(proxy.keys).to.have.length(5);
    expect(new Set(proxy.keys).size).to.equal(1);
    const { total } = await quire.api.listUsage({ path: { tenant_id } });
    expect(total).to.equal(1);
  });

  it('gives each call a key of its own, and takes the one of the caller', async () => {
    const { quire } = await newQuire();
    const request = { file: INVOICE, schema: INVOICE_SCHEMA };
    await quire.extract(request);
    await quire.extract(request);
    await quire.extract(request, { idempotencyKey: 'mine' });
    expect(new Set(proxy.keys).size).to.equal(3);
    expect(proxy.keys[2]).to.equal('mine');
  });

  it('waits for the answer of a request that still runs', async () => {
    const { quire, tenant_id } = await newQuire();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    // The repeats may not overtake it: the one that works would then be theirs, and wait for `release` as well.
    const working = new Promise<void>((resolve) => {
      api.faults.beforeKept = () => {
        resolve();
        return held;
      };
    });
    try {
      proxy.faults.push({ kind: 'lose the connection', when: working });
      const answer = quire.extract({ file: INVOICE, schema: INVOICE_SCHEMA });
      await until(() => Promise.resolve(proxy.keys.length > 7), 20);
      release();
      expect((await answer).result).to.deep.equal({ invoice_number: 'Q-1001', total: 120.5 });
    } finally {
      release();
      api.faults.beforeKept = () => Promise.resolve();
    }
    expect((await quire.api.listUsage({ path: { tenant_id } })).total).to.equal(1);
  });

  it('does not repeat after a lost answer what could be done twice by it', async () => {
    const admin = quireOf(ADMIN_KEY);
    const tenant_id = `sdk-${randomUUID()}`;
    proxy.faults.push(LOST);
    expect(await failureOf(admin.api.createApiKey({ body: { tenant_id, role: 'tenant' } }))).to.be.instanceOf(
      TypeError,
    );
    expect(proxy.keys).to.deep.equal(['']);
    const { items } = await admin.api.listApiKeys({ path: { tenant_id } });
    expect(items).to.have.length(1);
    proxy.faults.push(BUSY);
    await admin.api.createApiKey({ body: { tenant_id, role: 'tenant' } });
    expect((await admin.api.listApiKeys({ path: { tenant_id } })).items).to.have.length(2);
  });

  it('ends: after the fifth request, at a pause that is too long, and with the signal', async () => {
    const { quire, tenant_id } = await newQuire();
    const balance = (signal?: AbortSignal) => quire.api.getBalance({ path: { tenant_id } }, { signal });
    proxy.faults.push(...Array<Fault>(5).fill(BUSY));
    expect(isProblem(await failureOf(balance()), 'busy')).to.equal(true);
    expect(proxy.keys).to.have.length(5);
    proxy.faults.push({ ...BUSY, headers: { ...BUSY.headers, 'retry-after': '61' } });
    expect(isProblem(await failureOf(balance()), 'busy')).to.equal(true);
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    proxy.faults.push({ ...BUSY, headers: { ...BUSY.headers, 'retry-after': date } });
    expect(isProblem(await failureOf(balance()), 'busy')).to.equal(true);
    proxy.faults.push({ ...BUSY, headers: { ...BUSY.headers, 'retry-after': '30' } });
    const stop = new AbortController();
    const stopped = failureOf(balance(stop.signal));
    await until(() => Promise.resolve(proxy.faults.length === 0), 5);
    stop.abort(new Error('enough'));
    expect(await stopped)
      .to.have.property('message')
      .that.is.oneOf(['enough', 'This operation was aborted']);
  });

  it('tells the answer of a proxy from one of the service', async () => {
    const { quire, tenant_id } = await newQuire();
    proxy.faults.push(...Array<Fault>(5).fill(GATEWAY));
    const error = await failureOf(quire.api.getBalance({ path: { tenant_id } }));
    expect(error).to.be.instanceOf(UnexpectedAnswerError);
    expect(error).to.include({ status: 502, text: '<h1>Bad gateway</h1>' });
    const signIn: Fault = { ...GATEWAY, status: 200, body: '<h1>Sign in</h1>' };
    proxy.faults.push(signIn);
    const page = await failureOf(quire.api.getBalance({ path: { tenant_id } }));
    expect(page).to.be.instanceOf(UnexpectedAnswerError);
    expect(page).to.include({ status: 200, text: '<h1>Sign in</h1>' });
    proxy.faults.push(signIn);
    expect(await failureOf(quire.batches.results('batch_1').next())).to.be.instanceOf(UnexpectedAnswerError);
  });

  it('takes a batch that ends within a line for one that was cut', async () => {
    const { quire } = await newQuire();
    const headers = { 'content-type': 'application/x-ndjson' };
    proxy.faults.push({ kind: 'answer', status: 200, headers, body: '{"index":0}\n{"index":1}' });
    const results = quire.batches.results('batch_1');
    expect((await results.next()).value).to.deep.equal({ index: 0 });
    expect(await failureOf(results.next())).to.have.property('message', 'the answer ends within a line');
  });

  it('takes its key nowhere that a redirect leads to', async () => {
    const { quire, tenant_id } = await newQuire();
    const elsewhere = await breakingProxy(api.url);
    try {
      for (const status of [301, 302, 303, 307, 308]) {
        const location = `${elsewhere.url}/v1/billing/balance/${tenant_id}`;
        proxy.faults.push({ kind: 'answer', status, headers: { location } });
        const error = await failureOf(quire.api.getBalance({ path: { tenant_id } }));
        expect(error).to.be.instanceOf(UnexpectedAnswerError);
        expect(error).to.include({ status, text: `it leads to ${location}` });
        proxy.faults.push({ kind: 'answer', status, headers: { location } });
        expect(await failureOf(quire.batches.results('batch_1').next())).to.include({ status });
      }
      expect(elsewhere.keys).to.deep.equal([]);
    } finally {
      await elsewhere.close();
    }
  });
});
