import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { accountStream } from '../../../domain/account/messages.ts';
import { canonicalJson, type Json } from '../../../domain/kernel/json.ts';
import { monthAfter } from '../../../domain/books.ts';
import { runAudit } from '../../../src/audit/runAudit.ts';
import { formOf } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

type Body = Readonly<Record<string, unknown>>;

const following = (month: string): string => monthAfter(month).slice(0, 7);

/** Łódź, Athens and Kyiv, in letters of their own. */
const DETAILS = {
  legal_name: 'Żółć Spółka z o.o.',
  address: 'ul. Piotrkowska 1\n90-001 Łódź\nΕλλάδα, Україна',
  vat_id: 'PL1234563218',
  billing_email: 'billing@example.com',
};

describe('statements and receipts of a tenant', () => {
  let api: TestApi;
  let month: string;
  let key: string;
  let otherKey: string;
  const tenant = 'acme-statements';

  const now = () => api.deps.clock.now();
  const ok = async (method: string, path: string, options: object = {}) => {
    const reply = await api.call(method, path, options);
    expect(reply.status, reply.text).to.equal(200);
    return reply;
  };
  const post = async (path: string, json: Body) => (await ok('post', path, { json })).body;
  const sell = (n: number, more: Body = {}, tenant_id = tenant) =>
    post('/v1/billing/credits', {
      tenant_id,
      provider: 'stripe',
      provider_txn_id: `${tenant_id}-${n}`,
      credits: 10_000,
      gross_amount_minor: 1190,
      vat_amount_minor: 190,
      provider_fee_minor: 45,
      ...more,
    });
  const close = (of: string) => ok('post', `/v1/admin/books/months/${of}/close`);
  const toTheEnd = (): void =>
    api.wait(Date.parse(`${following(month)}-01T00:00:00.000Z`) + 3 * MINUTE_MS - Date.parse(now()));
  const statement = async (of: string, as = key): Promise<Body> =>
    (await ok('get', `/v1/billing/statements/${tenant}/${of}`, { key: as })).body;
  const rows = (body: Body) => body['items'] as readonly Body[];
  const fetched = async (path: string, accept: string, as = key) => {
    const reply = await fetch(`${api.url}${path}`, { headers: { 'x-api-key': as, accept } });
    expect(reply.status).to.equal(200);
    return { type: reply.headers.get('content-type') ?? '', bytes: Buffer.from(await reply.arrayBuffer()) };
  };
  const pdf = (path: string, as = key) => fetched(path, 'application/pdf', as);
  /** What the product itself reads on the pages of a PDF file. */
  const read = async (bytes: Buffer): Promise<string> => {
    const file = new Blob([bytes], { type: 'application/pdf' });
    const { text } = await ok('post', '/v1/to-markdown', {
      form: formOf({ tenant_id: 'reader' }, file, 'x.pdf'),
    });
    return text;
  };

  before(async () => {
    api = await startApi({ SELLER: 'Quire GmbH; Musterstraße 1, 10115 Berlin; VAT ID DE123456789' });
    month = now().slice(0, 7);
    key = await api.newKey(tenant);
    otherKey = await api.newKey('somebody-else');
    await api.newKey('reader');
    const sold = await sell(0, { tax_rate: '19', tax_country: 'PL', invoice_ref: 'INV-7' });
    await sell(1);
    await post('/v1/billing/refunds', {
      tenant_id: tenant,
      provider: 'stripe',
      provider_txn_id: 'back-0',
      original_provider_txn_id: `${tenant}-0`,
      credits: 2_000,
      gross_amount_minor: 238,
      vat_amount_minor: 38,
    });
    await post(`/v1/admin/tenants/${tenant}/adjust-credits`, { credits: 300, reason: 'a gift' });
    await post('/v1/billing/dspy-examples-charge', { tenant_id: tenant, idempotency_key: 'a' });
    await ok('put', `/v1/admin/tenants/${tenant}/billing-details`, { json: DETAILS });
    expect(sold['credited']).to.equal(true);
  });
  after(() => api.stop());

  it('say what was bought, given back, given and used, and add up', async () => {
    const body = await statement(month);
    expect(body).to.include({
      tenant_id: tenant,
      month,
      status: 'open',
      number: null,
      opening_balance_credits: 0,
      purchased_credits: 20_000,
      refunded_credits: 2_000,
      adjusted_credits: 300,
      used_credits: 5_000,
      closing_balance_credits: 13_300,
    });
    expect(rows(body).map(({ kind, document, credits }) => [kind, document, credits])).to.deep.equal([
      ['opening_balance', null, 0],
      ['sale', `R-${tenant}-000001`, 10_000],
      ['sale', `R-${tenant}-000002`, 10_000],
      ['refund', `C-${tenant}-000001`, -2_000],
      ['admin_adjustment', null, 300],
      ['usage', null, -5_000],
      ['closing_balance', null, 0],
    ]);
    expect(rows(body)[3]).to.include({ currency: 'USD', gross_amount_minor: -238 });
    expect(body['customer']).to.deep.equal({ status: 'given', ...DETAILS });
    expect(body['seller']).to.deep.equal([
      'Quire GmbH',
      'Musterstraße 1, 10115 Berlin',
      'VAT ID DE123456789',
    ]);
    const balance = (await ok('get', `/v1/billing/balance/${tenant}`)).body;
    expect(balance['balance_credits']).to.equal(13_300);
  });

  it('can be held against their digest by anybody', async () => {
    const body = await statement(month);
    const { number, tenant_id, position, items, digest } = body;
    const totals = Object.fromEntries(Object.entries(body).filter(([name]) => name.endsWith('_credits')));
    const told = canonicalJson({ number, tenant_id, month, position, ...totals, items } as Json);
    expect(createHash('sha256').update(told).digest('hex')).to.equal(digest);
  });

  it('are rows of CSV, from the opening balance to the closing one', async () => {
    const { type, bytes } = await fetched(`/v1/billing/statements/${tenant}/${month}`, 'text/csv');
    expect(type).to.match(/^text\/csv/);
    const [names = [], ...lines] = bytes
      .toString('utf8')
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    const column = (name: string) => lines.map((cells) => cells[names.indexOf(name)]);
    expect(column('kind').at(0)).to.equal('opening_balance');
    expect(column('kind').at(-1)).to.equal('closing_balance');
    expect(column('balance_credits').at(-1)).to.equal('13300');
  });

  it('are PDF files of the same bytes each time, whose names are read in letters of three alphabets', async () => {
    const path = `/v1/billing/statements/${tenant}/${month}`;
    const [first, second] = [await pdf(path), await pdf(path)];
    expect(first.type).to.equal('application/pdf');
    expect(first.bytes.subarray(0, 5).toString()).to.equal('%PDF-');
    expect(second.bytes.equals(first.bytes)).to.equal(true);
    const text = await read(first.bytes);
    for (const said of [
      'Żółć Spółka',
      'Łódź',
      'Ελλάδα',
      'Україна',
      `R-${tenant}-000001`,
      '13,300',
      'Quire GmbH',
    ])
      expect(text).to.include(said);
    expect(text).to.include(String((await statement(month))['digest']).slice(0, 32));
  });

  it('have a receipt for each sale with its money, and a credit note for each refund that names it', async () => {
    const sale = rows(await statement(month))[1];
    const { body } = await ok('get', `/v1/billing/receipts/${String(sale?.['id'])}`, { key });
    expect(body).to.include({
      number: `R-${tenant}-000001`,
      document: 'receipt',
      corrects: null,
      credits: 10_000,
      currency: 'USD',
      gross_amount_minor: 1190,
      vat_amount_minor: 190,
      net_amount_minor: 1000,
      tax_rate: '19',
      tax_country: 'PL',
      invoice_ref: 'INV-7',
      provider: 'stripe',
      provider_txn_id: `${tenant}-0`,
    });
    expect(body['customer']).to.deep.equal({ status: 'given', ...DETAILS });
    const refund = rows(await statement(month))[3];
    const path = `/v1/billing/receipts/${String(refund?.['id'])}`;
    const note = (await ok('get', path, { key })).body;
    expect(note).to.include({
      number: `C-${tenant}-000001`,
      document: 'credit_note',
      corrects: `R-${tenant}-000001`,
      credits: 2_000,
      gross_amount_minor: 238,
      vat_amount_minor: 38,
      tax_rate: '19',
      invoice_ref: 'INV-7',
    });
    const text = await read((await pdf(path)).bytes);
    for (const said of ['Credit note', `R-${tenant}-000001`, '2.38 USD', 'INV-7', 'Żółć Spółka'])
      expect(text).to.include(said);
    const csv = (await fetched(path, 'text/csv')).bytes.toString('utf8').trimEnd().split('\r\n');
    expect(csv).to.have.length(2);
    expect(csv[0]).to.match(/^tenant_id,|number/);
    const { log_id: _, corrections, invoice_ref: __, customer: ___, seller: ____, digest, ...figures } = note;
    expect(corrections).to.deep.equal([]);
    expect(
      createHash('sha256')
        .update(canonicalJson(figures as Json))
        .digest('hex'),
    ).to.equal(digest);
  });

  it('have a debit note for a refund that was undone', async () => {
    await sell(0, {}, 'disputed');
    const refund = await post('/v1/billing/refunds', {
      tenant_id: 'disputed',
      provider: 'stripe',
      provider_txn_id: 'd-0',
      original_provider_txn_id: 'disputed-0',
      credits: 1_000,
    });
    const undone = await post(`/v1/billing/refunds/${String(refund['refund_id'])}/reversal`, {
      provider_txn_id: 'won-0',
    });
    const { body } = await ok('get', `/v1/billing/receipts/${String(undone['reversal_id'])}`);
    expect(body).to.include({
      number: 'D-disputed-000001',
      document: 'debit_note',
      credits: 1_000,
      corrects: 'R-disputed-000001',
      undoes: 'C-disputed-000001',
    });
    const { items } = (await ok('get', `/v1/billing/statements/disputed/${month}`)).body;
    expect((items as readonly Body[]).map(({ document }) => document)).to.include('D-disputed-000001');
  });

  it('have a credit note for a dispute, in one series with those of refunds', async () => {
    const of = 'acme-disputed';
    await sell(0, {}, of);
    await sell(1, {}, of);
    const original = (n: number) => ({ provider: 'stripe', original_provider_txn_id: `${of}-${n}` });
    const disputed = { ...original(0), provider_txn_id: 'dp-1', fee_minor: 1500 };
    await post('/v1/billing/disputes', { ...disputed, status: 'opened' });
    const refund = { ...original(1), provider_txn_id: 're-1', gross_amount_minor: 119 };
    await post('/v1/billing/refunds', { tenant_id: of, ...refund });
    await post('/v1/billing/disputes', { ...disputed, status: 'won' });
    const body = (await ok('get', `/v1/billing/statements/${of}/${month}`)).body;
    const documents = rows(body)
      .filter(({ document }) => document !== null)
      .map(({ document, gross_amount_minor }) => [document, gross_amount_minor]);
    expect(documents).to.deep.equal([
      [`R-${of}-000001`, 1190],
      [`R-${of}-000002`, 1190],
      [`C-${of}-000001`, -1190],
      [`C-${of}-000002`, -119],
      [`D-${of}-000001`, 1190],
    ]);
    const [, , , dispute, , reversal] = rows(body);
    const note = (await ok('get', `/v1/billing/receipts/${String(dispute?.['id'])}`)).body;
    expect(note).to.include({ document: 'credit_note', number: `C-${of}-000001` });
    const undone = (await ok('get', `/v1/billing/receipts/${String(reversal?.['id'])}`)).body;
    expect(undone).to.include({ document: 'debit_note', undoes: `C-${of}-000001` });
  });

  it('are numbered without a gap when sales come all at once', async () => {
    const tenant_id = 'at-once';
    await Promise.all(Array.from({ length: 20 }, (_, n) => sell(n, {}, tenant_id)));
    const { body } = await ok('get', `/v1/billing/grants/${tenant_id}`);
    const ids = (body['items'] as readonly Body[]).map(({ grant_id }) => String(grant_id)).reverse();
    const numbers = await Promise.all(
      ids.map(async (id) => (await ok('get', `/v1/billing/receipts/${id}`)).body['number']),
    );
    expect(numbers).to.deep.equal(ids.map((_, n) => `R-at-once-${String(n + 1).padStart(6, '0')}`));
    // The log alone gives the same numbers: by counting the sales in the account's stream.
    const counted: string[] = [];
    for await (const { type, data } of api.log.read(accountStream(tenant_id)))
      if (type === 'CreditsGranted') counted.push(data['grant_id'] as string);
    expect(ids).to.deep.equal(counted);
  });

  it('are read by the tenant’s own key, and by no other tenant’s', async () => {
    const sale = rows(await statement(month))[1];
    const own = [
      `/v1/billing/statements/${tenant}`,
      `/v1/billing/statements/${tenant}/${month}`,
      `/v1/admin/tenants/${tenant}/ledger`,
      `/v1/admin/tenants/${tenant}/balance-at`,
    ];
    for (const path of own) {
      await ok('get', path, { key });
      const foreign = await api.call('get', path, { key: otherKey });
      expect(foreign, path).to.include({ status: 403, code: 'tenant_mismatch' });
    }
    const receipt = `/v1/billing/receipts/${String(sale?.['id'])}`;
    const foreign = await api.call('get', receipt, { key: otherKey });
    expect(foreign).to.include({ status: 404, code: 'receipt_not_found' });
    const unknown = await api.call('get', '/v1/billing/receipts/nothing-of-this-name', { key: otherKey });
    expect(unknown.body['detail']).to.equal(foreign.body['detail']);
    const hostile = await api.call('get', `/v1/billing/receipts/${encodeURIComponent("' or 1=1 --")}`, {
      key,
    });
    expect(hostile.code).to.equal('receipt_not_found');
    expect((await api.call('get', own[3] ?? '', { key: null })).status).to.equal(401);
    const details = await api.call('get', `/v1/admin/tenants/${tenant}/billing-details`, { key });
    expect(details.code).to.equal('admin_required');
  });

  it('show no tenant who of the operators acted', async () => {
    const adjusted = (body: Body) => rows(body).find(({ kind }) => kind === 'admin_adjustment');
    const path = `/v1/admin/tenants/${tenant}/ledger`;
    const mine = adjusted((await ok('get', path, { key })).body);
    expect(mine).to.include({ reason: 'a gift' });
    expect(mine).not.to.have.property('actor');
    expect(adjusted((await ok('get', path)).body)).to.have.property('actor');
  });

  it('begin and end as the page of the ledger says', async () => {
    const path = `/v1/admin/tenants/${tenant}/ledger`;
    const { body } = await ok('get', path);
    expect(body).to.include({ opening_balance_credits: 0, closing_balance_credits: 13_300 });
    const page = (await ok('get', `${path}?limit=2&offset=1`)).body;
    const [newest, oldest] = rows(page);
    expect(page['closing_balance_credits']).to.equal(newest?.['balance_after']);
    const before = Number(oldest?.['balance_after']) - Number(oldest?.['credits_delta']);
    expect(page['opening_balance_credits']).to.equal(before);
    const none = (await ok('get', `${path}?to_date=2020-01-01`)).body;
    expect(none).to.include({ opening_balance_credits: null, closing_balance_credits: null });
  });

  it('are of months that have begun, of tenants that there are', async () => {
    const at = (path: string) => api.call('get', `/v1/billing/statements/${path}`);
    expect((await at(`${tenant}/2026-13`)).code).to.equal('validation_error');
    expect((await at(`${tenant}/${following(month)}`)).code).to.equal('validation_error');
    expect((await at(`nobody/${month}`)).code).to.equal('tenant_not_found');
    expect((await at('nobody')).code).to.equal('tenant_not_found');
    const early = (await at(`${tenant}/2020-01`)).body;
    expect(early).to.include({ opening_balance_credits: 0, closing_balance_credits: 0, position: null });
    const bad = { ...DETAILS, address: 'a\tb' };
    const set = await api.call('put', `/v1/admin/tenants/${tenant}/billing-details`, { json: bad });
    expect(set.code).to.equal('validation_error');
  });

  it('of a closed month never change, and lead to the next month', async () => {
    toTheEnd();
    await close(month);
    const path = `/v1/billing/statements/${tenant}/${month}`;
    const [before, file] = [await statement(month), await pdf(path)];
    expect(before).to.include({ status: 'closed', closing_balance_credits: 13_300 });
    expect(before['number']).to.equal(`S-${tenant}-${month}-${String(before['closing'])}`);
    const { items } = (await ok('get', '/v1/admin/books/months')).body;
    expect((items as readonly Body[])[0]).to.have.nested.property('closing.position', before['position']);

    // A clock that is back, a fact that comes late, other details, a newer sale: nothing changes the month.
    api.wait(-3 * DAY_MS);
    await sell(2);
    await sell(1, { invoice_ref: 'INV-LATE' });
    api.wait(3 * DAY_MS);
    await sell(3);
    const renamed = { ...DETAILS, legal_name: 'Renamed Ltd' };
    await ok('put', `/v1/admin/tenants/${tenant}/billing-details`, { json: renamed });
    expect(await statement(month)).to.deep.equal(before);
    expect((await pdf(path)).bytes.equals(file.bytes)).to.equal(true);

    const next = await statement(following(month));
    expect(next).to.include({ opening_balance_credits: 13_300, purchased_credits: 20_000, status: 'open' });
    expect(rows(next)[1]).to.include({ document: `R-${tenant}-000003` });
    expect(rows(next)[1]?.['booked_at']).to.equal(`${following(month)}-01T00:00:00.000Z`);
    expect(next['customer']).to.include({ legal_name: 'Renamed Ltd' });
    const months = (await ok('get', `/v1/billing/statements/${tenant}`, { key })).body['items'];
    expect(months).to.deep.equal([
      { month: following(month), status: 'open', number: null },
      { month, status: 'closed', number: before['number'] },
    ]);
    expect((await runAudit({ feed: api.log, dense: true })).report.total).to.equal(0);
  });

  it('have another number once their month was opened again and closed anew', async () => {
    const of = async (at: string) => (await ok('get', `/v1/billing/statements/at-once/${at}`)).body;
    const before = await of(month);
    await ok('post', `/v1/admin/books/months/${month}/reopen`, { json: { reason: 'a sale was missing' } });
    expect(await of(month)).to.include({ status: 'open', number: null });
    api.wait(-3 * DAY_MS);
    await sell(20, {}, 'at-once');
    api.wait(3 * DAY_MS);
    await close(month);
    const after = await of(month);
    expect(after['number']).not.to.equal(before['number']);
    expect(after['digest']).not.to.equal(before['digest']);
    expect(after['closing_balance_credits']).to.equal(Number(before['closing_balance_credits']) + 10_000);
    expect((await of(following(month)))['opening_balance_credits']).to.equal(210_000);
    expect((await pdf(`/v1/billing/statements/${tenant}/2020-01`)).bytes.length).to.be.greaterThan(1_000);
    expect((await statement('2020-01'))['status']).to.equal('closed');
  });

  it('lose the names when the tenant is erased, and keep every figure', async () => {
    const before = await statement(month);
    const admin = await api.newKey('admins', 'admin');
    const erased = await api.call('delete', `/v1/admin/tenants/${tenant}/data`);
    expect(erased.body).to.include({ status: 'erased', left: 0 });
    const after = await statement(month, admin);
    const nobody = { status: 'erased', legal_name: null, address: null, vat_id: null, billing_email: null };
    expect(after['customer']).to.deep.equal(nobody);
    expect({ ...after, customer: null }).to.deep.equal({ ...before, customer: null });
    const sale = rows(after)[1];
    const receipt = (await ok('get', `/v1/billing/receipts/${String(sale?.['id'])}`)).body;
    expect(receipt).to.include({ number: `R-${tenant}-000001`, gross_amount_minor: 1190, invoice_ref: null });
    const text = await read((await pdf(`/v1/billing/statements/${tenant}/${month}`, admin)).bytes);
    expect(text).to.include('(erased)');
    expect(text).to.not.include('Spółka');
    const details = (await ok('get', `/v1/admin/tenants/${tenant}/billing-details`)).body;
    expect(details).to.include({ legal_name: null, address: null });
  });
});
