import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { formOf, issuesIn } from './support/client.ts';
import { startApi, type TestApi } from './support/testApi.ts';
import type { NamedRoute } from '../../src/server/routes.ts';

type Item = Readonly<Record<string, unknown>>;

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };

const shapeOf = (schema: unknown): Readonly<Record<string, unknown>> => {
  if (typeof schema !== 'object' || schema === null) return {};
  if ('shape' in schema) return schema.shape as Readonly<Record<string, unknown>>;
  return 'in' in schema ? shapeOf(schema.in) : {};
};

const isNumber = (text: unknown): boolean => typeof text === 'string' && /^-?\d+\.\d+$/.test(text);

/** Below 0: one comes before the other. Amounts that are texts are numbers, all other texts bytes. */
const compared = (one: unknown, other: unknown): number => {
  if (isNumber(one) || isNumber(other) || typeof one !== 'string') return Number(one) - Number(other);
  return Buffer.compare(Buffer.from(one), Buffer.from(String(other)));
};

/** Whether the values are in order, with those that are missing at the end. */
const areInOrder = (values: readonly unknown[], direction: 1 | -1): boolean =>
  values.slice(1).every((value, at) => {
    const before = values[at];
    if (value === null || value === undefined) return true;
    return before !== null && before !== undefined && direction * compared(before, value) <= 0;
  });

describe('lists that are sorted and searched', () => {
  let api: TestApi;
  let tenant: string;
  let webhook: string;
  let routes: readonly NamedRoute[];

  const ask = async (path: string, options: object = {}) => {
    await api.deps.reads.settleAll();
    const reply = await api.call('get', path, options);
    expect(reply.status, `${path}: ${reply.text}`).to.equal(200);
    return reply;
  };
  const post = async (path: string, json: object) => {
    const reply = await api.call('post', path, { json, headers: { 'idempotency-key': randomUUID() } });
    expect(reply.status, reply.text).to.be.oneOf([200, 201, 202]);
    return reply.body;
  };
  const extract = async (name: string, text: string, project_id: string) => {
    const fields = { tenant_id: tenant, project_id, schema: JSON.stringify(SCHEMA) };
    const form = formOf(fields, new Blob([text], { type: 'text/plain' }), name);
    const reply = await api.call('post', '/v1/extract', { key: await keyOf(), form });
    expect(reply.status, reply.text).to.equal(200);
  };
  let key: string | undefined;
  const keyOf = async () => (key ??= await api.newKey(tenant));

  before(async () => {
    api = await startApi();
    tenant = `Sorted-${randomUUID()}`;
    for (const credits of [50_000, 900, 7_000]) await api.sell(tenant, credits);
    for (const [at, reason] of ['Goodwill', 'A mistake', '100% off'].entries())
      await post(`/v1/admin/tenants/${tenant}/adjust-credits`, { credits: 7 - 3 * at, reason });
    for (const name of ['Warehouse', 'Accounting'])
      await post('/v1/api-keys', { tenant_id: tenant, role: 'tenant', name });
    for (const name of ['Invoices', 'Receipts'])
      await post('/v1/configs', { tenant_id: tenant, name, schema: SCHEMA });
    const made = { tenant_id: tenant, url: 'https://example.com/hook', events: ['*'] };
    webhook = String((await post('/v1/webhooks', made))['webhook_id']);
    await extract('Müller invoice.txt', 'Total: 12.50', 'beta');
    await extract('receipt.txt', 'Total: 7.00', 'alpha');
    await extract('another.txt', 'Total: 1.00\n'.repeat(900), 'beta');
    routes = api.routes.filter(({ query }) => 'sort' in shapeOf(query));
  });
  after(() => api.stop());

  const pathOf = ({ path, query }: NamedRoute): string => {
    const named = path.replace('{tenant_id}', tenant).replace('{webhook_id}', webhook);
    return `${named}?${path.includes('{') || !('tenant_id' in shapeOf(query)) ? '' : `tenant_id=${tenant}&`}`;
  };
  const walk = async (path: string): Promise<readonly Item[]> => {
    const items: Item[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await ask(`${path}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      items.push(...(body['items'] as readonly Item[]));
      cursor = body['next_cursor'] as string | null;
    }
    return items;
  };
  const wordsOf = (reply: { readonly body: Item }) =>
    (reply.body['errors'] as readonly { readonly msg: string }[]).map(({ msg }) => msg).join();

  /** The names that the description of a list has for `sort`. */
  const schemaOf = (description: Item, { path }: NamedRoute, parameter: string): Item => {
    const paths = description['paths'] as Readonly<Record<string, { readonly get: Item }>>;
    const parameters = paths[path]?.get['parameters'] as readonly Item[];
    return (parameters.find(({ name }) => name === parameter) as { readonly schema: Item }).schema;
  };
  const sortsIn = (description: Item, route: NamedRoute): readonly string[] =>
    String(schemaOf(description, route, 'sort')['pattern'])
      .replace(/^\^-\?\((.*)\)\$$/, '$1')
      .split('|')
      .flatMap((name) => [name, `-${name}`]);
  const filtersIn = (description: Item, route: NamedRoute): readonly string[] =>
    (schemaOf(description, route, 'filter')['propertyNames'] as { readonly enum: readonly string[] }).enum;

  it('have every row once, in the order that is asked for, whatever the member', async () => {
    expect(routes.length).to.be.above(17);
    const description = (await api.call('get', '/openapi.json')).body;
    for (const route of routes) {
      const path = pathOf(route);
      const { body } = await ask(`${path}limit=1000`);
      for (const sort of sortsIn(description, route)) {
        const items = await walk(`${path}sort=${sort}`);
        const values = items.map((item) => item[sort.replace('-', '')]);
        const said = `${route.operationId} by ${sort}: ${JSON.stringify(values)}`;
        expect(areInOrder(values, sort.startsWith('-') ? -1 : 1), said).to.equal(true);
        expect(items.map((item) => JSON.stringify(item)).sort(), said).to.deep.equal(
          (body['items'] as readonly Item[]).map((item) => JSON.stringify(item)).sort(),
        );
      }
    }
  });

  it('have the rows whose member has a value, and count them, whatever the member', async () => {
    const description = (await api.call('get', '/openapi.json')).body;
    let asked = 0;
    for (const route of routes) {
      const path = pathOf(route);
      const all = (await ask(`${path}limit=1000`)).body['items'] as readonly Item[];
      for (const name of filtersIn(description, route)) {
        const value = all.at(-1)?.[name];
        if (value === undefined || value === null) continue;
        asked += 1;
        const { body } = await ask(
          `${path}limit=1000&filter[${name}]=${encodeURIComponent(JSON.stringify(value))}`.replaceAll(
            '%22',
            '',
          ),
        );
        const expected = all.filter((item) => item[name] === value);
        expect(body['items'], `${route.operationId} by ${name}`).to.deep.equal(expected);
        expect(body['total'], `${route.operationId} by ${name}`).to.equal(expected.length);
      }
    }
    expect(asked).to.be.above(70);
  });

  it('refuse a filter that they do not have, twice, or of another kind', async () => {
    const path = `/v1/admin/tenants/${tenant}/ledger`;
    const typo = await api.call('get', `${path}?filter[kinds]=usage`);
    expect([typo.status, issuesIn(typo)]).to.deep.equal([422, ['query.filter.kinds custom']]);
    expect(wordsOf(typo)).to.contain('`kind`');
    const odd = [
      '[pages]=many',
      '[kind]=',
      '[kind]=usage&filter[kind]=sale',
      '[__proto__]=x',
      '[constructor]=x',
    ];
    for (const asked of [...odd, '=usage', '[kind', '[]=x', '[pages]=99999999999999999999', '[kind][a]=x'])
      expect((await api.call('get', `${path}?filter${asked}`)).status, asked).to.equal(422);
    const unfiltered = await api.call('get', '/v1/admin/journal?month=2026-01&filter[kind]=sale');
    expect([unfiltered.status, issuesIn(unfiltered)]).to.deep.equal([422, ['query.filter extra_forbidden']]);
  });

  it('take several filters with a search and an order, as pages, CSV and sums', async () => {
    const filter = 'filter[kind]=usage&filter[project_id]=beta';
    const path = `/v1/admin/tenants/${tenant}/ledger?${filter}&sort=-pages`;
    const items = await walk(path);
    expect(items.map(({ project_id }) => project_id)).to.deep.equal(['beta', 'beta']);
    const { text } = await ask(path, { headers: { accept: 'text/csv' } });
    expect(text.trim().split('\r\n')).to.have.length(3);
    const { body } = await ask(`${path}&limit=1`);
    const turned = 'filter[project_id]=beta&filter[kind]=usage';
    const next = `/v1/admin/tenants/${tenant}/ledger?${turned}&sort=-pages&cursor=${String(body['next_cursor'])}`;
    expect((await ask(next)).body['items']).to.have.length(1);
    const paid = await ask(`/v1/admin/payments?filter[tenant_id]=${tenant}&filter[gross_amount_minor]=700`);
    expect([
      paid.body['total'],
      (paid.body['by_currency'] as readonly Item[])[0]?.['payments'],
    ]).to.deep.equal([1, 1]);
  });

  it('tell the nearest member where they know none of that name', async () => {
    const asked = (sort: string) => api.call('get', `/v1/admin/tenants?sort=${sort}`);
    const typo = await asked('-balance_credit');
    expect([typo.status, issuesIn(typo)]).to.deep.equal([422, ['query.sort custom']]);
    expect(wordsOf(typo)).to.contain('`-balance_credits`');
    for (const sort of ['position', 'constructor', '__proto__', '--plan', 'plan;drop', '-'])
      expect((await asked(sort)).status, sort).to.equal(422);
    expect((await api.call('get', '/v1/operations?tenant_id=x&q=')).status).to.equal(422);
  });

  it('do not take a cursor of another order or another search', async () => {
    const path = `/v1/admin/tenants/${tenant}/ledger?limit=2`;
    const { body } = await ask(`${path}&sort=credits_delta`);
    const cursor = String(body['next_cursor']);
    for (const other of ['', '&sort=-credits_delta', '&sort=credits_delta&q=usage'])
      expect((await api.call('get', `${path}${other}&cursor=${cursor}`)).status, other).to.equal(422);
    expect((await ask(`${path}&sort=credits_delta&cursor=${cursor}`)).body['items']).to.have.length(2);
  });

  const found = async (path: string, member: string) => {
    const { body } = await ask(path);
    const items = body['items'] as readonly Item[];
    expect(body['total'], path).to.equal(items.length);
    return items.map((item) => item[member]);
  };

  it('find what people wrote, in any case, and nothing by how it is kept', async () => {
    const documents = `/v1/documents?tenant_id=${tenant}`;
    const all = ['another.txt', 'receipt.txt', 'Müller invoice.txt'];
    expect(await found(documents, 'file_name')).to.deep.equal(all);
    expect(await found(`${documents}&q=${encodeURIComponent('MÜLLER')}`, 'file_name')).to.deep.equal([
      all[2],
    ]);
    expect(await found(`${documents}&q=.txt&sort=project_id`, 'file_name')).to.deep.equal([
      all[1],
      all[0],
      all[2],
    ]);
    expect(await found(`${documents}&q=quire:text`, 'file_name')).to.deep.equal([]);
    expect(await found(`/v1/api-keys/${tenant}?q=account`, 'name')).to.deep.equal(['Accounting']);
    expect(await found(`/v1/configs?tenant_id=${tenant}&q=RECEIPT`, 'name')).to.deep.equal(['Receipts']);
    expect(await found(`/v1/webhooks?tenant_id=${tenant}&q=EXAMPLE.com`, 'webhook_id')).to.deep.equal([
      webhook,
    ]);
    const ledger = `/v1/admin/tenants/${tenant}/ledger`;
    expect(await found(`${ledger}?q=mistake`, 'reason')).to.deep.equal(['A mistake']);
    // `%` and `_` are no wildcards.
    expect(await found(`${ledger}?q=${encodeURIComponent('0% o')}`, 'reason')).to.deep.equal(['100% off']);
    expect(await found(`${ledger}?q=_`, 'kind'))
      .to.include('usage')
      .and.not.deep.equal([]);
    expect(await found(`${ledger}?q=${encodeURIComponent('%%%')}`, 'id')).to.deep.equal([]);
  });

  it('have sums of the payments that a search leaves', async () => {
    const { body } = await ask(`/v1/admin/payments?q=${tenant.toUpperCase()}`);
    expect(body['total']).to.equal(3);
    expect((body['by_currency'] as readonly Item[]).map(({ payments }) => payments)).to.deep.equal([3]);
    const none = await ask('/v1/admin/payments?q=no-such-payment');
    expect([none.body['total'], none.body['by_currency']]).to.deep.equal([0, []]);
  });

  it('are CSV in the same order, and of the same rows', async () => {
    const path = `/v1/admin/tenants/${tenant}/ledger?sort=-credits_delta&q=admin_adjustment`;
    const { text } = await ask(path, { headers: { accept: 'text/csv' } });
    const rows = text.trim().split('\r\n').slice(1);
    expect(rows.map((row) => row.split(',')[0])).to.deep.equal(await found(path, 'id'));
    expect(rows).to.have.length(3);
  });

  it('say nothing of a balance beside rows that are not in a row', async () => {
    const path = `/v1/admin/tenants/${tenant}/ledger`;
    const { body } = await ask(`${path}?sort=-pages`);
    expect([body['opening_balance_credits'], body['closing_balance_credits']]).to.deep.equal([null, null]);
    expect((await ask(path)).body['closing_balance_credits']).to.be.a('number');
  });
});
