import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { formOf, type Reply } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

type Item = Readonly<Record<string, unknown>>;

const HEADER =
  'balance_transaction_id,created_utc,reporting_category,source_id,payment_intent_id,' +
  'currency,gross,fee,net,automatic_payout_id';

describe('a provider’s file beside the payments', () => {
  let api: TestApi;
  const tenant_id = `Payout-${randomUUID()}`;
  const day = new Date().toISOString().slice(0, 10);
  /** Of this spec alone: the books of the service have payments of others. */
  const mine = { payout_id: `po_${tenant_id}` };
  const name = (what: string) => `${what}_${tenant_id}`;

  const post = async (path: string, json: object): Promise<Item> => {
    const reply = await api.call('post', path, { json });
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  };
  const sell = (id: string, facts: object = {}) =>
    post('/v1/billing/credits', {
      tenant_id,
      provider: 'stripe',
      provider_txn_id: name(id),
      ...mine,
      gross_amount_minor: 1190,
      vat_amount_minor: 190,
      provider_fee_minor: 65,
      ...facts,
    });
  const sale = (id: string, money = '11.90,0.65,11.25', payout = mine.payout_id) =>
    `${name(`txn_${id}`)},${day} 10:00:00,charge,${name(`ch_${id}`)},${name(id)},usd,${money},${payout}`;
  const back = () =>
    `${name('txn_re')},${day} 11:00:00,refund,${name('re')},,usd,-5.95,0.00,-5.95,${mine.payout_id}`;
  const send = (
    file: string | Uint8Array<ArrayBuffer>,
    fields: Readonly<Record<string, string>> = mine,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> =>
    api.call('post', '/v1/admin/payments/compare', {
      form: formOf(fields, new Blob([file], { type: 'text/csv' }), 'payout.csv'),
      headers,
    });
  const compare = async (lines: readonly string[], fields?: Readonly<Record<string, string>>) => {
    const reply = await send(`${[HEADER, ...lines].join('\r\n')}\r\n`, fields);
    expect(reply.status, reply.text).to.equal(200);
    const items = reply.body['items'] as readonly Item[];
    return { ...reply.body, items, found: items.map(({ finding }) => finding) } as Item & {
      readonly items: readonly Item[];
      readonly found: readonly unknown[];
    };
  };
  const whole = () => [sale('one'), sale('two'), back()];

  before(async () => {
    api = await testApi();
    await sell('one');
    await sell('two');
    await post('/v1/billing/refunds', {
      tenant_id,
      provider: 'stripe',
      provider_txn_id: name('re'),
      original_provider_txn_id: name('one'),
      gross_amount_minor: 595,
    });
  });

  it('matches them, with the same sums on both sides; rows that are no payments are told apart', async () => {
    const fee = `${name('txn_fee')},${day} 12:00:00,fee,,,usd,-2.00,0.00,-2.00,${mine.payout_id}`;
    const { is_matching, matched, rows, totals, not_compared, items, mapping } = await compare([
      ...whole(),
      fee,
    ]);
    expect({ is_matching, matched, rows, items, mapping }).to.deep.equal({
      is_matching: true,
      matched: 3,
      rows: 3,
      items: [],
      mapping: 'stripe',
    });
    expect(totals).to.deep.equal([
      {
        currency: 'USD',
        rows: 3,
        file_amount_minor: 1785,
        file_fee_minor: 130,
        payments: 3,
        booked_amount_minor: 1785,
        booked_fee_minor: 130,
      },
    ]);
    expect(not_compared).to.deep.equal([
      { type: 'fee', currency: 'USD', rows: 1, amount_minor: -200, fee_minor: 0 },
    ]);
  });

  it('that lacks a sale, has one twice, or has one that was never booked, is told so', async () => {
    const strange = sale('never');
    const { found, counts, is_matching, items } = await compare([sale('one'), sale('one'), strange, back()]);
    expect(found).to.have.members(['doubled_in_file', 'missing_in_books', 'missing_in_file']);
    expect(counts).to.include({ doubled_in_file: 1, missing_in_books: 1, missing_in_file: 1, other_fee: 0 });
    expect(is_matching).to.equal(false);
    const missing = items.find(({ finding }) => finding === 'missing_in_file');
    expect(missing?.['payment']).to.include({ tenant_id, provider_txn_id: name('two'), amount_minor: 1190 });
  });

  it('names a row with another amount, fee, currency or payout', async () => {
    const rest = [sale('two'), back()];
    expect((await compare([sale('one', '11.91,0.65,11.26'), ...rest])).found).to.deep.equal(['other_amount']);
    expect((await compare([sale('one', '11.90,0.66,11.24'), ...rest])).found).to.deep.equal(['other_fee']);
    expect((await compare([sale('one').replace('usd', 'eur'), ...rest])).found).to.deep.equal([
      'other_currency',
    ]);
    const elsewhere = sale('one', undefined, 'po_other');
    expect((await compare([elsewhere, ...rest])).found).to.deep.equal(['other_payout']);
  });

  it('tells a fee and a payout that only it has, and once they are told it matches', async () => {
    const bonus = { bonus_credits: 50, discount_minor: 10, gross_amount_minor: 990, vat_amount_minor: 0 };
    await sell('late', { ...bonus, credits: 10_000, provider_fee_minor: 0, payout_id: null });
    const row = sale('late', '9.90,0.59,9.31');
    const { items, found } = await compare([...whole(), row]);
    expect(found).to.deep.equal(['fee_not_booked', 'payout_not_booked']);
    const told = await post('/v1/billing/credits', items[0]?.['tell'] as object);
    expect(told).to.include({ credited: false });
    expect(told['details_added']).to.have.members(['provider_fee_minor', 'payout_id']);
    expect((await compare([...whole(), row]))['is_matching']).to.equal(true);
  });

  it('names differences before what is none', async () => {
    await sell('quiet', { payout_id: null });
    const { found, counts } = await compare([sale('quiet'), sale('one', '11.91,0.65,11.26')]);
    expect(counts).to.include({ other_amount: 1, payout_not_booked: 1 });
    expect(found.at(-1)).to.equal('payout_not_booked');
  });

  it('should have the payments of its days where nothing else is said', async () => {
    const all = await compare(whole(), {});
    expect(all['from']).to.equal(`${day}T00:00:00.000Z`);
    expect(all['to']).to.equal(`${day}T23:59:59.999Z`);
    const missing = all.items.map((one) => (one['payment'] as Item)['provider_txn_id']);
    expect(missing).to.include(name('late'));
    expect((await compare(whole(), { from: '2020-01-01', to: '2020-01-31' }))['is_matching']).to.equal(true);
  });

  it('comes back as CSV with all differences', async () => {
    const text = `${[HEADER, sale('one', '11.91,0.65,11.26'), sale('two')].join('\n')}\n`;
    const reply = await send(text, mine, { accept: 'text/csv' });
    expect(reply.headers.get('content-type')).to.contain('text/csv');
    const [names = '', ...lines] = reply.text.trimEnd().split('\r\n');
    expect(names).to.match(/^finding,row,row_id,names,/);
    expect(lines.map((line) => line.split(',').slice(0, 2))).to.deep.equal([
      ['other_amount', '1'],
      ['missing_in_file', ''],
    ]);
  });

  it('is read by a mapping that is sent with it', async () => {
    const mapping = {
      provider: 'Stripe',
      amounts: 'decimal',
      decimal_separator: ',',
      date_order: 'dmy',
      columns: { type: ['Art'], row_id: 'Nr', currency: 'W', amount: 'Betrag', date: ['Tag'] },
      names: { sale: ['Zahlung'] },
      types: { kauf: 'sale' },
    };
    const file = `Nr;Tag;Art;Zahlung;W;Betrag\n1;31.12.2026;Kauf;${name('one')};USD;"11,90"\n`;
    const fields = { from: '2020-01-01', to: '2020-01-31', mapping: JSON.stringify(mapping) };
    const { status, body, text } = await send(file, fields);
    expect(status, text).to.equal(200);
    expect(body).to.include({ mapping: 'own', provider: 'Stripe', matched: 1, is_matching: true });
    const wrong = await send(file, { mapping: JSON.stringify({ ...mapping, amounts: 'cents' }) });
    expect(wrong.code).to.equal('validation_error');
    expect(wrong.text).to.contain('"mapping","amounts"');
    expect((await send(file, { mapping: 'adyen' })).code).to.equal('validation_error');
    expect((await send(file, { source_url: 'https://example.com/x' })).code).to.equal('validation_error');
  });

  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const refused: readonly (readonly [string, string | Uint8Array<ArrayBuffer>, RegExp])[] = [
    ['no header', 'hello\nworld\n', /not the header of a file that can be read .*stripe: no/],
    ['only a header', `${HEADER}\n`, /no rows below its header/],
    ['another encoding', new Uint8Array([0xff, 0xfe, 0x61, 0x00, 0x0a, 0x00]), /not UTF-8/],
    ['letters of Windows', Uint8Array.from([...bytesOf(`${HEADER}\n`), 0xe9, 0x0a]), /not UTF-8/],
    ['a cell of 900 kB', `${HEADER}\n"${'x'.repeat(900_000)}",1\n`, /a row does not end/],
    ['a quote that is never closed', `${HEADER}\n"${'x\n'.repeat(200_000)}`, /a row does not end/],
    [
      'a row with text for an amount',
      `${HEADER}\n${sale('one', 'ten,0,10')}\n`,
      /Row 1: "ten" is not an amount/,
    ],
    ['a picture', Uint8Array.from({ length: 5000 }, (_, n) => (n * 7919) % 256), /not UTF-8/],
  ];
  for (const [what, file, detail] of refused)
    it(`is refused with a sentence: ${what}`, async () => {
      const reply = await send(file);
      expect(reply.code, reply.text).to.equal('unreadable_file');
      expect(String(reply.body['detail'])).to.match(detail);
    });

  it('is refused where it is empty, or larger than an upload may be', async () => {
    expect((await send('')).code).to.equal('empty_file');
    expect((await send(new Uint8Array(1_000_001))).code).to.equal('file_too_large');
  });

  it('is refused where it has more rows than are compared', async () => {
    const mapping = {
      provider: 'stripe',
      amounts: 'minor',
      names: { sale: ['n'] },
      types: { kauf: 'sale' },
      columns: { type: ['t'], row_id: 'n', currency: 'c', amount: 'a', date: ['d'] },
    };
    const reply = await send(`n,t,c,a,d\n${'x\n'.repeat(100_001)}`, { mapping: JSON.stringify(mapping) });
    expect(reply.body['detail']).to.equal(
      'The file has more than 100000 rows. Split it by payout or by day.',
    );
  });

  it('has letters that are cut between two pieces of it, and line ends of any kind', async () => {
    const lines = [sale('one'), sale('two'), back()].map((line) => `${line},${'é€'.repeat(15_000)}`);
    const reply = await send(`\uFEFF${HEADER},note\r\n${lines.join('\r')}`, mine);
    expect(reply.body, reply.text).to.include({ matched: 3 });
  });
});
