import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { shapeOf } from '../../../domain/kernel/json.ts';
import { BODY_LIMITS, memberTwiceIn, membersOf, withHalves } from '../../../src/server/jsonBody.ts';
import { holds } from '../../../engine/test/support/properties.ts';
import { formOf, INVOICE, issuesIn } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

const DAY_MS = 24 * 60 * 60_000;

describe('numbers, members and times as they were written', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const send = (path: string, raw: string) =>
    api.call('post', path, { raw, headers: { 'content-type': 'application/json' } });
  const sale = (members: string) =>
    send('/v1/billing/credits', `{"tenant_id":"w","provider_txn_id":"${randomUUID()}",${members}}`);

  describe('an integer', () => {
    for (const written of ['100.0', '1e2', '1E+2', '9007199254740991.4', '9007199254740993', '1.0e2'])
      it(`is refused as ${written}, where it stands`, async () => {
        const reply = await sale(`"gross_amount_minor":${written}`);
        expect(reply.status).to.equal(422);
        expect(issuesIn(reply).join()).to.match(/^body\.gross_amount_minor /);
      });

    it('is refused inside of an operation’s payload', async () => {
      const listed = (limit: string) =>
        send(
          '/v1/canonical',
          `{"schema_version":"1.0","operation":"artifact.list","scope":{"tenant_id":"w"},"payload":{"limit":${limit}}}`,
        );
      expect((await listed('10')).status).to.equal(200);
      expect(issuesIn(await listed('10.0'))).to.deep.equal(['body.payload.limit invalid_type']);
    });

    it('is refused after any number of those that may be written so', async () => {
      const schema = `{"type":"object","properties":{"a":{"enum":[${Array(60).fill('1.0').join()}]}}}`;
      const config = `{"tenant_id":"w","schema":${schema},"llm":{"provider_model":"openai/x","max_tokens":1e3}}`;
      expect(issuesIn(await send('/v1/configs', config))).to.deep.equal(['body.llm.max_tokens invalid_type']);
    });

    it('is refused in a member that may be another type, too', async () => {
      const reply = await sale('"gross_amount_minor":100,"price_list_version":1.0');
      expect(issuesIn(reply)).to.deep.equal(['body.price_list_version invalid_type']);
    });

    it('is taken where any number is wanted', async () => {
      const schema = '{"type":"object","properties":{"a":{"type":"number","minimum":1.0}}}';
      const saved = (llm: string) =>
        send(
          '/v1/configs',
          `{"tenant_id":"w","schema":${schema},"llm":{"provider_model":"openai/x",${llm}}}`,
        );
      expect((await saved('"temperature":1.0')).status).to.equal(200);
      expect((await saved('"temperature":0.7')).status).to.equal(200);
      expect(issuesIn(await saved('"temperature":1.0,"max_tokens":1e3'))).to.deep.equal([
        'body.llm.max_tokens invalid_type',
      ]);
    });
  });

  describe('a member that stands twice', () => {
    for (const [where, members] of [
      ['at the top', '"credits":1,"credits":1000'],
      ['with the same value', '"note":"x","credits":1,"note":"x"'],
      ['in another spelling', '"credits":1,"cr\\u0065dits":1000'],
    ] as const)
      it(`is refused ${where}`, async () => {
        const reply = await sale(`"gross_amount_minor":100,${members}`);
        expect([reply.status, reply.code]).to.deep.equal([400, 'malformed_json']);
        expect(reply.body['detail']).to.match(/"(credits|note)" occurs twice/);
      });

    it('is refused deep inside', async () => {
      const reply = await send(
        '/v1/admin/fx-rates',
        '{"date":"2026-01-30","rates":{"USD":"1.1","GBP":"0.9","USD":"11"}}',
      );
      expect([reply.status, reply.code]).to.deep.equal([400, 'malformed_json']);
    });
  });

  describe('a number beyond those of a double', () => {
    const schema = (number: string) =>
      `{"type":"object","properties":{"a":{"type":"number","maximum":${number}}}}`;

    for (const number of ['1e400', '-1e400', `1${'0'.repeat(320)}`])
      it(`is refused as ${number.slice(0, 8)}, wherever it stands`, async () => {
        for (const [path, raw] of [
          ['/v1/configs', `{"tenant_id":"w","schema":${schema(number)}}`],
          ['/v1/training/jobs', `{"tenant_id":"w","schema":${schema(number)},"examples":[]}`],
          [
            '/v1/canonical',
            '{"schema_version":"1.0","operation":"artifact.list","scope":{"tenant_id":"w"},' +
              `"payload":{"a":[${number}]}}`,
          ],
        ] as const) {
          const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
          const reply = await api.call('post', path, { raw, headers });
          expect([reply.status, reply.code], path).to.deep.equal([400, 'malformed_json']);
        }
      });

    it('is refused in the schema of a form', async () => {
      const form = formOf({ tenant_id: 'w', schema: schema('1e400') }, INVOICE);
      const reply = await api.call('post', '/v1/extract', { form });
      expect([reply.status, reply.code]).to.deep.equal([400, 'invalid_schema']);
    });
  });

  describe('a time', () => {
    const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
    const refund = (at: string) =>
      send(
        '/v1/billing/refunds',
        JSON.stringify({
          tenant_id: 'w',
          provider_txn_id: randomUUID(),
          original_provider_txn_id: 'o',
          credits: 1,
          occurred_at: at,
        }),
      );
    const cost = (at: string) =>
      send(
        '/v1/internal/llm-cost',
        JSON.stringify({
          tenant_id: 'w',
          job_id: 'j',
          operation: 'extract',
          provider: 'p',
          model_name: 'm',
          input_tokens: 1,
          output_tokens: 1,
          occurred_at: at,
        }),
      );
    const price = (at: string) =>
      send(
        '/v1/admin/provider-pricing',
        JSON.stringify({
          provider: 'p',
          model_name: 'm',
          input_usd_per_million_tokens: '1',
          output_usd_per_million_tokens: '1',
          effective_from: at,
        }),
      );
    const routes = {
      'a sale': (at: string) => sale(`"gross_amount_minor":100,"occurred_at":"${at}"`),
      'a refund': refund,
      'a model call': cost,
      'a model price': price,
    };
    for (const [what, post] of Object.entries(routes)) {
      for (const at of [
        '0000-01-01T00:00:00+14:00',
        '1970-01-01T00:00:00Z',
        '1999-12-31T23:59:59.999Z',
        '9999-12-31T23:59:59-14:00',
      ])
        it(`of ${what} is refused: ${at}`, async () => {
          const reply = await post(at);
          expect(reply.status, reply.text).to.equal(422);
          expect(issuesIn(reply).join()).to.match(/^body\.(occurred_at|effective_from) /);
        });

      it(`of ${what} is refused more than a day ahead, and taken within it`, async () => {
        expect((await post(ahead(DAY_MS + 60_000))).status).to.equal(422);
        expect((await post(ahead(DAY_MS - 60_000))).status).to.not.equal(422);
      });

      it(`of ${what} without a zone is refused with a sentence that says so`, async () => {
        const reply = await post('2026-01-31T08:00:00');
        expect(reply.status).to.equal(422);
        expect(reply.text).to.contain('The time has no zone');
      });
    }

    it('takes nothing away from the payment: the corrected sale is taken', async () => {
      const txn = randomUUID();
      const of = (at: string) =>
        send(
          '/v1/billing/credits',
          `{"tenant_id":"w","provider_txn_id":"${txn}","gross_amount_minor":100,"occurred_at":"${at}"}`,
        );
      expect((await of('0000-01-01T00:00:00+14:00')).status).to.equal(422);
      expect((await of('2026-01-31T08:00:00Z')).body['credited']).to.equal(true);
    });

    it('of a key is refused beyond the year 9999', async () => {
      const json = { tenant_id: 'w', expires_at: '9999-12-31T23:59:59-14:00' };
      expect((await api.call('post', '/v1/api-keys', { json })).status).to.equal(422);
    });

    it('of exchange rates is refused before the euro and more than a day ahead', async () => {
      for (const date of ['1998-12-31', '0000-01-01', ahead(2 * DAY_MS).slice(0, 10)]) {
        const json = { date, rates: { USD: '1.1' } };
        expect((await api.call('post', '/v1/admin/fx-rates', { json })).status, date).to.equal(422);
      }
    });
  });

  describe('a movement of credits', () => {
    const sell = (tenant_id: string, sold: Readonly<Record<string, unknown>>) =>
      api.call('post', '/v1/billing/credits', {
        json: { tenant_id, provider_txn_id: randomUUID(), ...sold },
      });

    it('is of 10^12 credits at most, also where money alone says how many: sums are exact', async () => {
      const most = { credits: 1e12, gross_amount_minor: 1e11 };
      expect((await sell('giant', most)).status).to.equal(200);
      for (const more of [
        { ...most, credits: 1e12 + 1 },
        { gross_amount_minor: 2e11 },
        { credits: Number.MAX_SAFE_INTEGER },
      ]) {
        const reply = await sell('giant', more);
        expect([reply.status, reply.code], JSON.stringify(more)).to.deep.equal([422, 'validation_error']);
      }
      const { body } = await api.call('get', '/v1/billing/balance/giant');
      expect(body['balance_credits']).to.equal(1e12);
    });
  });

  describe('a billing config', () => {
    const post = (path: string, json: unknown) => api.call('post', path, { json });

    it('is refused when the most pages would cost more than 2^53 − 1', async () => {
      const rate = { operation: 'extract', extraction_mode: 'robust', billing_type: 'full_service' };
      const at = (credits_per_page: number) => post('/v1/billing/rates', { ...rate, credits_per_page });
      const refused = await at(4_503_599_627_371);
      expect(issuesIn(refused)).to.deep.equal(['body.credits_per_page too_big']);
      expect((await at(4_503_599_627_370)).status).to.equal(200);
      expect((await at(80)).status).to.equal(200);
    });

    for (const training of [
      { credits_per_example: 9_007_200 },
      { credits_per_metric_call: 9_007_200 },
      { base_credits: { heavy: Number.MAX_SAFE_INTEGER } },
    ])
      it(`is refused with ${JSON.stringify(training)}`, async () => {
        for (const path of ['/v1/billing/config', '/v1/admin/billing-config']) {
          const reply = await post(path, { training });
          expect(issuesIn(reply).join()).to.match(/^body\.training.* too_big$/);
        }
      });
  });
});

describe('the text of a JSON body', () => {
  const membersIn = (text: string): unknown => {
    const shape = shapeOf(text, BODY_LIMITS);
    return typeof shape === 'string' ? shape : shape.members;
  };

  holds(
    'has as many members as its value, unless one stands twice',
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      expect(membersIn(text)).to.equal(membersOf(JSON.parse(text)));
      expect(memberTwiceIn(text)).to.equal(undefined);
    }),
    0.2,
  );

  holds(
    'names a member that was put in twice',
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 }),
      fc.jsonValue({ maxDepth: 2 }),
      (object, again) => {
        const [name = ''] = Object.keys(object);
        const member = `${JSON.stringify(name)}:${JSON.stringify(again)}`;
        const text = `${JSON.stringify(object).slice(0, -1)},${member}}`;
        expect(membersIn(text)).to.not.equal(membersOf(JSON.parse(text)));
        expect(memberTwiceIn(text)).to.equal(name);
      },
    ),
    0.2,
  );

  holds(
    'has halves exactly where whole numbers have a point or an exponent',
    fc.property(
      fc.array(
        fc.oneof(
          fc.integer().map((n) => [String(n), false] as const),
          fc.integer().map((n) => [`${String(n)}.0`, true] as const),
          fc.integer({ min: 1, max: 99 }).map((n) => [`${String(n)}e3`, true] as const),
          fc.integer().map((n) => [`${String(n)}.25`, false] as const),
          fc.string().map((text) => [JSON.stringify(`${text}:5.0`), false] as const),
        ),
      ),
      (items) => {
        const text = `{"a":[${items.map(([written]) => written).join(' , ')}]}`;
        const due = items.map(([written, isOdd]) => (isOdd ? 0.5 : (JSON.parse(written) as unknown)));
        const halves = withHalves(text);
        expect(halves === undefined).to.equal(items.every(([, isOdd]) => !isOdd));
        expect(JSON.parse(halves ?? text)).to.deep.equal({ a: due });
      },
    ),
    0.2,
  );
});
