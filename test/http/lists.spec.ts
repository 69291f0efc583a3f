import { randomUUID } from 'node:crypto';
import { get as httpGet } from 'node:http';
import { expect } from 'chai';
import { sha256 } from '../../domain/kernel/chain.ts';
import fc from 'fast-check';
import { propertyRuns } from '../../engine/test/support/properties.ts';
import { csvColumns } from '../../src/server/csvColumns.ts';
import { csvLine } from '../../src/server/csv.ts';
import { inputOf, pathOf } from './access/verdicts.ts';
import { issuesIn } from './support/client.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { testApi, type TestApi } from './support/testApi.ts';

type Item = Readonly<Record<string, unknown>>;
const CSV = { accept: 'text/csv' };

/** The rows of a CSV, by RFC 4180 and nothing else. */
const rowsOf = (text: string): readonly (readonly string[])[] => {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const quoted = /"((?:[^"]|"")*)"/y;
    const bare = /[^",\r\n]*/y;
    quoted.lastIndex = bare.lastIndex = at;
    const isQuoted = text[at] === '"';
    const [whole = '', inner = ''] = (isQuoted ? quoted : bare).exec(text) ?? [];
    row.push(isQuoted ? inner.replaceAll('""', '"') : whole);
    at += whole.length;
    const end = text.slice(at, at + 2);
    if (end.startsWith(',')) at += 1;
    else if (end === '\r\n') {
      rows.push(row);
      row = [];
      at += 2;
    } else throw new Error(`neither a comma nor the end of a line at ${at}: ${JSON.stringify(end)}`);
  }
  return rows;
};

describe('lists', () => {
  let api: TestApi;
  let tenant: string;
  const ledger = (query = '', of = tenant) => `/v1/admin/tenants/${of}/ledger${query}`;
  const adjust = async (credits: number, reason = 'lists', of = tenant) => {
    const json = { credits, reason };
    const reply = await api.call('post', `/v1/admin/tenants/${of}/adjust-credits`, { json });
    expect(reply.status, reply.text).to.equal(200);
  };
  const itemsOf = (body: Item) => body['items'] as readonly Item[];

  before(async () => {
    api = await testApi();
    tenant = `Lists-${randomUUID()}`;
    await api.sell(tenant, 100_000);
    for (let n = 1; n <= 24; n += 1) await adjust(n, `no ${n}`);
  });

  /** All items from a first page on; `between` happens after each page. */
  const walk = async (path: string, between: () => Promise<void> = () => Promise.resolve()) => {
    const pages: Item[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const asked = `${path}${path.includes('?') ? '&' : '?'}`;
      const reply = await api.call('get', cursor === '' ? path : `${asked}cursor=${cursor}`);
      expect(reply.status, reply.text).to.equal(200);
      pages.push(reply.body);
      cursor = reply.body['next_cursor'] as string | null;
      await between();
    }
    return pages;
  };

  it('have every row once under a cursor while rows come in, and the total with which the walk began', async () => {
    const before = itemsOf((await api.call('get', ledger('?limit=1000'))).body).map(({ id }) => id);
    let n = 0;
    const pages = await walk(ledger('?limit=7'), () => adjust(1000 + (n += 1)));
    expect(pages.flatMap(itemsOf).map(({ id }) => id)).to.deep.equal(before);
    expect(pages.map(({ total }) => total)).to.deep.equal(pages.map(() => before.length));
    // By offset the same walk repeats rows.
    const repeated: unknown[] = [];
    for (let offset = 0; offset < 21; offset += 7) {
      const { body } = await api.call('get', ledger(`?limit=7&offset=${offset}`));
      repeated.push(...itemsOf(body).map(({ id }) => id));
      await adjust(2000 + offset);
    }
    expect(new Set(repeated).size).to.be.below(repeated.length);
  });

  it('give the same rows by cursor as at once, whatever the filter and the size of pages', async () => {
    const filters = ['', '&operation=extract', '&from_date=2026-01-01', '&to_date=2100-01-01T00:00:00Z'];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(...filters),
        async (limit, filter) => {
          const all = itemsOf((await api.call('get', ledger(`?limit=1000${filter}`))).body);
          const walked = (await walk(ledger(`?limit=${limit}${filter}`))).flatMap(itemsOf);
          expect(walked).to.deep.equal(all);
        },
      ),
      { numRuns: propertyRuns(0.005) },
    );
  });

  it('all take a cursor, and end with null', async () => {
    const paged = api.routes.filter(({ query }) => 'cursor' in shapeOf(query));
    expect(paged.length).to.be.above(14);
    const odd: string[] = [];
    for (const route of paged) {
      const path = pathOf(route);
      const reply = await api.call(
        'get',
        `${path}${path.includes('?') ? '&' : '?'}cursor=abc`,
        inputOf(route),
      );
      if (reply.status !== 422 && reply.status !== 404) odd.push(`${route.operationId}: ${reply.text}`);
    }
    expect(odd).to.deep.equal([]);
    const { body } = await api.call('get', '/v1/admin/tenants?limit=1000');
    const names = (await walk('/v1/admin/tenants?limit=2'))
      .flatMap(itemsOf)
      .map(({ tenant_id }) => tenant_id);
    expect(names).to.deep.equal(itemsOf(body).map(({ tenant_id }) => tenant_id));
  });

  it('refuse a cursor that was changed, that another list gave, or that comes with an offset', async () => {
    const { body } = await api.call('get', ledger('?limit=3'));
    const cursor = String(body['next_cursor']);
    const refused = async (path: string) => {
      const reply = await api.call('get', path);
      expect(reply.status, path).to.equal(422);
      return `${issuesIn(reply).join()} ${String(reply.body['detail'])}`;
    };
    const made = ['', '{', 'null', '7', '[1]'].map((one) =>
      Buffer.from(`${sha256(one).slice(0, 16)} ${one}`).toString('base64url'),
    );
    for (const text of ['x', '%00', 'ä', cursor.slice(1), `${cursor}A`, cursor.toUpperCase(), ...made])
      expect(await refused(ledger(`?cursor=${text}`))).to.match(/^query\.cursor /u);
    const other = `Lists-${randomUUID()}`;
    await adjust(1, 'another', other);
    const elsewhere = [
      ledger(`?cursor=${cursor}`, other),
      ledger(`?operation=extract&cursor=${cursor}`),
      `/v1/billing/grants/${tenant}?cursor=${cursor}`,
      `/v1/billing/usage/${tenant}?cursor=${cursor}`,
    ];
    for (const path of elsewhere) expect(await refused(path)).to.contain('of another list');
    expect(await refused(ledger(`?cursor=${cursor}&offset=3`))).to.contain('query.offset');
    const same = await api.call('get', ledger(`?cursor=${cursor}&limit=2`));
    expect(itemsOf(same.body)).to.have.length(2);
  });

  describe('as CSV', () => {
    it('have every row of the query, not a page, under a line of names', async () => {
      const { body } = await api.call('get', ledger('?limit=1000'));
      const reply = await api.call('get', ledger('?limit=3'), { headers: CSV });
      expect(reply.status).to.equal(200);
      expect(reply.headers.get('content-type')).to.match(/^text\/csv; charset=utf-8/u);
      const [names = [], ...rows] = rowsOf(reply.text);
      expect(rows.map((row) => row[names.indexOf('id')])).to.deep.equal(itemsOf(body).map(({ id }) => id));
      expect(rows.every(({ length }) => length === names.length)).to.equal(true);
      const reasons = itemsOf(body).map(({ reason = '' }) => reason);
      expect(rows.map((row) => row[names.indexOf('reason')])).to.deep.equal(reasons);
      expect(names).to.include('actor.role');
    });

    it('are more rows than one statement reads, each once', async () => {
      const many = `Many-${randomUUID()}`;
      await api.sell(many, 1_000_000);
      for (let n = 0; n < 550; n += 50)
        await Promise.all(Array.from({ length: 50 }, (_, at) => adjust(1, `row ${n + at}`, many)));
      const reply = await api.call('get', ledger('', many), { headers: CSV });
      const [names = [], ...rows] = rowsOf(reply.text);
      const ids = rows.map((row) => row[names.indexOf('id')]);
      expect(ids).to.have.length(551);
      expect(new Set(ids).size).to.equal(551);
    });

    it('begin with a byte order mark where it is asked for', async () => {
      const marked = await fetch(`${api.url}${ledger('?bom=true')}`, {
        headers: { ...CSV, 'x-api-key': ADMIN_KEY },
      });
      const bytes = new Uint8Array(await marked.arrayBuffer());
      expect([...bytes.slice(0, 3)]).to.deep.equal([0xef, 0xbb, 0xbf]);
      const bare = await api.call('get', ledger(), { headers: CSV });
      expect(bare.text.startsWith('id,')).to.equal(true);
    });

    it('hold no formula, whatever was written', async () => {
      await adjust(1, '=HYPERLINK("http://x","y")');
      await adjust(1, '@SUM(1), "twice"\nand a line');
      const reply = await api.call('get', ledger(), { headers: CSV });
      const [names = [], ...rows] = rowsOf(reply.text);
      const reasons = rows.map((row) => row[names.indexOf('reason')]);
      expect(reasons).to.include(`'=HYPERLINK("http://x","y")`).and.include(`'@SUM(1), "twice"\nand a line`);
      expect(rows.some((row) => row[names.indexOf('total_cost_usd')]?.startsWith("'"))).to.equal(false);
      fc.assert(
        fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }), (cells) => {
          const [row = []] = rowsOf(csvLine(cells));
          const isSafe = (cell: string, at: number) =>
            cell === cells[at]
              ? !/^[=+\-@\t\r\n]/u.test(cell) || /^-?\d+(\.\d+)?$/u.test(cell)
              : cell === `'${cells[at]}`;
          expect(row.every(isSafe)).to.equal(true);
        }),
        { numRuns: propertyRuns() },
      );
    });

    it('are what every list offers, and no part of one', async () => {
      const lists = api.routes.filter((route) => csvColumns(route) !== undefined);
      expect(lists.map(({ operationId }) => operationId)).to.include.members([
        'listTenants',
        'listGrants',
        'listUsage',
        'listTenantLedger',
        'listOperations',
        'listRuns',
        'listDocuments',
        'listBatches',
        'listReviews',
        'listApiKeys',
        'getUsageStats',
        'getCostsByTask',
        'listAudits',
      ]);
      for (const { operationId, path } of lists) {
        const reply = await api.call('get', '/openapi.json');
        const paths = reply.body['paths'] as Readonly<Record<string, Item>>;
        expect(JSON.stringify(paths[path]), operationId).to.contain('text/csv').and.contain('"bom"');
      }
      const { body } = await api.call('get', ledger('?limit=1'));
      const part = await api.call('get', ledger(`?cursor=${String(body['next_cursor'])}`), { headers: CSV });
      expect(issuesIn(part)).to.deep.equal(['query.cursor value_error']);
      const unknown = await api.call('get', ledger('', 'nobody-at-all'), { headers: CSV });
      expect(unknown.status).to.equal(404);
    });

    it('end when the caller hangs up, and leave the service as it was', async () => {
      const { hostname, port } = new URL(api.url);
      await new Promise<void>((resolve, reject) => {
        const headers = { ...CSV, 'x-api-key': ADMIN_KEY };
        const request = httpGet({ hostname, port, path: ledger(), headers }, (answer) => {
          answer.once('data', () => request.destroy());
          answer.once('close', resolve);
        });
        request.once('error', () => resolve());
        request.setTimeout(60_000, () => reject(new Error('no answer')));
      });
      expect((await api.call('get', ledger('?limit=1'))).status).to.equal(200);
    });
  });
});

const shapeOf = (schema: unknown): object =>
  typeof schema === 'object' && schema !== null && 'shape' in schema ? (schema.shape as object) : {};
