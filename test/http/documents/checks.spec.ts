import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { formOf, INVOICE } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { reviewedTenant } from './later/reviewing.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    invoice_number: { type: 'string' },
    total: { type: 'number' },
    iban: { type: 'string' },
  },
};

/** Nobody waits for its end: each step doubles a list. */
const ENDLESS = `[1]${Array.from({ length: 30 }, () => '.map(x, x)').join('')}.all(x, x > 0) && ${Array.from(
  { length: 9 },
  (_, n) => `[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20].all(v${String(n)}, `,
).join('')}total > 0${')'.repeat(9)}`;

interface Outcome {
  readonly name: string;
  readonly passed: boolean | null;
  readonly message?: string;
}

describe('checks of a saved config', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const publish = (tenant_id: string, rest: object): Promise<Reply> =>
    api.call('post', '/v1/configs', { json: { tenant_id, schema: SCHEMA, mode: 'fast', ...rest } });

  const published = async (tenant_id: string, rest: object): Promise<string> => {
    const reply = await publish(tenant_id, rest);
    expect(reply.status, reply.text).to.equal(200);
    return String(reply.body['config_id']);
  };

  const outcomesIn = ({ body }: Reply): readonly Outcome[] =>
    (body['meta'] as { readonly checks: readonly Outcome[] }).checks;

  it('are judged for each result, and their outcomes are in its meta', async () => {
    const { tenant_id, call } = await reviewedTenant(api);
    const checks = [
      { name: 'positive', expression: 'total > 0' },
      { name: 'small', expression: 'total < 100', message: 'Large invoices need an order.' },
      { name: 'account', expression: 'is_iban(iban)' },
    ];
    const config_id = await published(tenant_id, { checks });
    const reply = await call('post', '/v1/extract', { form: formOf({ config_id }, INVOICE) });
    expect(reply.status, reply.text).to.equal(200);
    expect(outcomesIn(reply)).to.deep.equal([
      { name: 'positive', passed: true },
      { name: 'small', passed: false, message: 'Large invoices need an order.' },
      { name: 'account', passed: null, message: 'A value that the check names is missing.' },
    ]);
    const { body } = await call('get', `/v1/configs/${config_id}`);
    expect(body['versions']).to.have.nested.property('[0].checks').that.deep.equals(checks);

    await published(tenant_id, { config_id });
    const without = await call('post', '/v1/extract', { form: formOf({ config_id }, INVOICE) });
    expect(without.body['meta']).to.not.have.property('checks');
  });

  it('bring a result to a person if they fail and the config has its rules reviewed', async () => {
    const { tenant_id, extracted, review } = await reviewedTenant(api);
    const checks = [{ name: 'small', expression: 'total < 100' }];
    const config_id = await published(tenant_id, { checks, review: { rules: true } });
    const asked = { config_id, schema: '', mode: '', review: '' };
    const { body, status } = await extracted(asked);
    expect(status).to.equal(202);
    const reply = await review(String(body['review_id']));
    expect(reply.body['reasons']).to.deep.equal([{ code: 'check_failed', path: '/total' }]);
    expect(reply.body['checks']).to.deep.equal([{ name: 'small', passed: false }]);

    const passing = [{ name: 'small', expression: 'total < 1000' }];
    await published(tenant_id, { config_id, checks: passing, review: { rules: true } });
    expect((await extracted(asked)).body).to.have.nested.property('meta.checks[0].passed', true);
  });

  it('are refused with their place if they can never be judged', async () => {
    const { tenant_id } = await reviewedTenant(api);
    for (const [checks, loc] of [
      [[{ name: 'a', expression: 'totel > 0' }], ['body', 'checks', '0', 'expression']],
      [
        [
          { name: 'a', expression: 'total > 0' },
          { name: 'b', expression: 'total >' },
        ],
        ['body', 'checks', '1', 'expression'],
      ],
      [
        [
          { name: 'a', expression: 'true' },
          { name: 'a', expression: 'true' },
        ],
        ['body', 'checks', '1', 'name'],
      ],
      [[{ name: 'a' }], ['body', 'checks', 0, 'expression']],
      [[{ name: 'a', expression: 'true', severity: 1 }], ['body', 'checks', 0, 'severity']],
      [[{ name: 'a', expression: `true ${' '.repeat(2_000)}` }], ['body', 'checks', 0, 'expression']],
    ] as const) {
      const reply = await publish(tenant_id, { checks });
      expect(reply.status, JSON.stringify(checks)).to.equal(422);
      const [issue] = (reply.body['errors'] ?? reply.body['detail']) as readonly { loc: unknown[] }[];
      expect(issue?.loc.map(String), reply.text).to.deep.equal(loc.map(String));
    }
  });

  it('that have no end stop nobody: they fail, and other tenants are served meanwhile', async () => {
    const hostile = await reviewedTenant(api);
    const other = await reviewedTenant(api);
    const config_id = await published(hostile.tenant_id, {
      checks: [{ name: 'endless', expression: ENDLESS }],
    });
    const small = await published(other.tenant_id, {
      checks: [{ name: 'small', expression: 'total < 1000' }],
    });
    const slow = hostile.call('post', '/v1/extract', { form: formOf({ config_id }, INVOICE) });
    const quick = other.call('post', '/v1/extract', { form: formOf({ config_id: small }, INVOICE) });
    expect(outcomesIn(await quick)).to.deep.equal([{ name: 'small', passed: true }]);
    const [outcome] = outcomesIn(await slow);
    expect(outcome).to.deep.include({ name: 'endless', passed: false });
    expect(outcome?.message).to.match(/more time or memory/);
  });
});
