import { expect } from 'chai';
import {
  activePriceList,
  priceList,
  priceListFor,
  priceSale,
  type PublishPriceList,
  type SaleOffer,
} from '../../domain/priceList.ts';
import { meta } from '../support/money/moneyCommands.ts';
import { after, specFor } from '../support/specFor.ts';

const { given } = specFor(priceList);

type Entry = PublishPriceList['data']['entries'][number];
const entry = (currency: string, price_per_1000_credits: string, over: Partial<Entry> = {}): Entry => ({
  currency,
  price_per_1000_credits,
  tax_basis: 'exclusive',
  minor_unit_digits: 2,
  ...over,
});

const publish = (
  now: string,
  entries: readonly Entry[] = [entry('USD', '1.00')],
  expected_version: number | null = null,
): PublishPriceList => ({
  type: 'PublishPriceList',
  data: { entries, expected_version, note: null },
  meta: { ...meta, now },
});

const MONDAY = '2026-01-05T12:00:00.000Z';
const WEDNESDAY = '2026-01-07T12:00:00.000Z';
const THURSDAY = '2026-01-08T12:00:00.000Z';

describe('publishing a price list', () => {
  it('makes the next version, with who and when', () => {
    given(publish(MONDAY))
      .when(publish(WEDNESDAY, [entry('EUR', '0.92')]))
      .then(['PriceListPublished', { version: 2, published_at: WEDNESDAY, published_by: 'key_1' }]);
  });

  it('takes the version that the publisher saw, and refuses another', () => {
    given()
      .when(publish(MONDAY, undefined, 0))
      .then(['PriceListPublished', { version: 1 }]);
    given(publish(MONDAY))
      .when(publish(WEDNESDAY, undefined, 1))
      .then(['PriceListPublished']);
    given(publish(MONDAY))
      .when(publish(WEDNESDAY, undefined, 0))
      .thenRejected({ code: 'version_conflict', version: 1 });
    given()
      .when(publish(MONDAY, undefined, 1))
      .thenRejected({ code: 'version_conflict', version: 0 });
  });

  it('never changes what was published', () => {
    const before = given(publish(MONDAY)).state();
    const then = given(publish(MONDAY), publish(WEDNESDAY, [entry('EUR', '0.92')])).state();
    expect(then.versions[0]).to.deep.equal(before.versions[0]);
    expect(activePriceList(then)?.entries.map(({ currency }) => currency)).to.deep.equal(['EUR']);
  });
});

describe('the price list of a sale', () => {
  const lists = after(priceList, [publish(MONDAY), publish(WEDNESDAY)]);
  const versionAt = (version: number | null, at: string) => priceListFor(lists, version, at)?.version;

  it('is the active one when none is named', () => {
    expect(versionAt(null, MONDAY)).to.equal(2);
    expect(versionAt(2, MONDAY)).to.equal(2);
  });

  it('is the one named if it was active then, or 24 hours before', () => {
    expect(versionAt(1, MONDAY)).to.equal(1);
    expect(versionAt(1, '2026-01-07T11:59:59.999Z')).to.equal(1);
    expect(versionAt(1, THURSDAY)).to.equal(1);
    expect(versionAt(1, '2026-01-08T12:00:00.001Z')).to.equal(undefined);
    expect(versionAt(1, '2026-01-05T11:59:59.999Z')).to.equal(undefined);
  });

  it('is the one published within the second that a provider tells', () => {
    const published = '2026-01-05T12:00:00.400Z';
    const seconds = after(priceList, [publish(published), publish(WEDNESDAY)]);
    const versionOf = (at: string) => priceListFor(seconds, 1, at)?.version;
    expect(versionOf('2026-01-05T12:00:00.000Z')).to.equal(1);
    expect(versionOf('2026-01-05T12:00:00.399Z')).to.equal(undefined);
    expect(versionOf('2026-01-05T11:59:59.000Z')).to.equal(undefined);
  });

  it('is none for a version that does not exist', () => {
    for (const version of [-1, 0, 3, 1.5]) expect(versionAt(version, MONDAY)).to.equal(undefined);
    expect(priceListFor({ versions: [] }, null, MONDAY)).to.equal(undefined);
  });

  it('is exactly one, active or in grace, for each of 1,000 sales while lists are published', () => {
    const at = (minute: number) => new Date(Date.parse(MONDAY) + minute * 60_000).toISOString();
    let state = priceList.initialState;
    for (let sale = 0; sale < 1_000; sale += 1) {
      if (sale % 50 === 0)
        state = [publish(at(sale))].reduce((s, c) => after(priceList, [...replay(s), c]), state);
      const named = 1 + (sale % state.versions.length);
      const list = priceListFor(state, named, at(sale));
      const next = state.versions[named];
      const inForce =
        next === undefined || Date.parse(at(sale)) <= Date.parse(next.published_at) + 86_400_000;
      expect(list?.version).to.equal(inForce ? named : undefined);
    }
  });
});

/** The commands that made a state. */
const replay = (state: typeof priceList.initialState) =>
  state.versions.map(({ published_at, entries }) => publish(published_at, entries));

const offer = (over: Partial<SaleOffer> = {}): SaleOffer => ({
  currency: 'EUR',
  credits: null,
  gross_amount_minor: 1_190,
  vat_amount_minor: 190,
  discount_minor: 0,
  price_list_version: null,
  occurred_at: MONDAY,
  ...over,
});

describe('the price of a sale', () => {
  const lists = after(priceList, [
    publish(MONDAY, [
      entry('EUR', '0.92'),
      entry('USD', '1.00'),
      entry('GBP', '1.00', { tax_basis: 'inclusive' }),
      entry('JPY', '150', { minor_unit_digits: 0 }),
      entry('KWD', '0.307125', { minor_unit_digits: 3 }),
      entry('CHF', '25.00'),
      entry('ISK', '140', { minor_unit_digits: 0 }),
    ]),
  ]);
  const creditsOf = (over: Partial<SaleOffer>) => {
    const result = priceSale(lists, offer(over));
    return result.kind === 'priced' ? result.credits : result.rejection;
  };

  it('is checked net of VAT, and says which list and price it was', () => {
    expect(priceSale(lists, offer({ credits: 10_870 }))).to.deep.equal({
      kind: 'priced',
      credits: 10_870,
      priced: { price_list_version: 1, price_per_1000_credits: '0.92', tax_basis: 'exclusive' },
    });
  });

  it('is checked with VAT where the list says so', () => {
    expect(creditsOf({ currency: 'GBP', credits: 11_900 })).to.equal(11_900);
    expect(creditsOf({ currency: 'GBP', credits: 10_000 })).to.deep.equal({
      code: 'price_mismatch',
      expected_minor: 1_000,
    });
  });

  it('derives the count that was left out, rounded down, at least 1', () => {
    expect(creditsOf({})).to.equal(10_869);
    expect(creditsOf({ currency: 'JPY', gross_amount_minor: 100, vat_amount_minor: 0 })).to.equal(666);
    expect(creditsOf({ currency: 'KWD', gross_amount_minor: 307, vat_amount_minor: 0 })).to.equal(999);
    expect(creditsOf({ currency: 'CHF', gross_amount_minor: 1, vat_amount_minor: 0 })).to.equal(1);
  });

  it('allows less than one minor unit and refuses one, in both directions', () => {
    const usd = { currency: 'USD', gross_amount_minor: 1_000, vat_amount_minor: 0 };
    expect(creditsOf({ ...usd, credits: 10_009 })).to.equal(10_009);
    expect(creditsOf({ ...usd, credits: 9_991 })).to.equal(9_991);
    expect(creditsOf({ ...usd, credits: 10_010 })).to.deep.equal({
      code: 'price_mismatch',
      expected_minor: 1_001,
    });
    expect(creditsOf({ ...usd, credits: 9_990 })).to.deep.equal({
      code: 'price_mismatch',
      expected_minor: 999,
    });
  });

  it('names the gross amount that it expected', () => {
    expect(creditsOf({ credits: 5_000 })).to.deep.equal({ code: 'price_mismatch', expected_minor: 650 });
  });

  it('is the list price less the discount, net or gross as the list is', () => {
    expect(creditsOf({ credits: 10_870, gross_amount_minor: 990, discount_minor: 200 })).to.equal(10_870);
    expect(creditsOf({ gross_amount_minor: 990, discount_minor: 200 })).to.equal(10_869);
    const gbp = { currency: 'GBP', credits: 11_900, gross_amount_minor: 952, vat_amount_minor: 152 };
    expect(creditsOf({ ...gbp, discount_minor: 238 })).to.equal(11_900);
    expect(creditsOf({ ...gbp, discount_minor: 0 })).to.deep.equal({
      code: 'price_mismatch',
      expected_minor: 1_190,
    });
    expect(creditsOf({ ...gbp, discount_minor: 200 })).to.deep.equal({
      code: 'price_mismatch',
      expected_minor: 990,
    });
  });

  it('may be discounted to nothing, and not below', () => {
    const usd = { currency: 'USD', gross_amount_minor: 0, vat_amount_minor: 0 };
    expect(creditsOf({ ...usd, credits: 10_000, discount_minor: 1_000 })).to.equal(10_000);
    expect(creditsOf({ ...usd, discount_minor: 1_000 })).to.equal(10_000);
    expect(creditsOf({ ...usd, credits: 10_000, discount_minor: 1_100 })).to.deep.equal({
      code: 'price_mismatch',
      expected_minor: 0,
    });
  });

  it('refuses credits for no money: that is an adjustment', () => {
    for (const currency of ['EUR', 'USD', 'GBP', 'JPY', 'CHF'])
      for (const credits of [1, 1_000, null])
        expect(creditsOf({ currency, credits, gross_amount_minor: 0, vat_amount_minor: 0 })).to.have.property(
          'code',
          'price_mismatch',
        );
  });

  it('derives no credits where providers send other minor units than ISO 4217', () => {
    const isk = { currency: 'ISK', vat_amount_minor: 0 };
    expect(creditsOf({ ...isk, gross_amount_minor: 140_000 })).to.deep.equal({
      code: 'ambiguous_minor_units',
      currency: 'ISK',
    });
    expect(creditsOf({ ...isk, gross_amount_minor: 1_400, credits: 10_000 })).to.equal(10_000);
    expect(creditsOf({ ...isk, gross_amount_minor: 140_000, credits: 10_000 })).to.deep.equal({
      code: 'price_mismatch',
      expected_minor: 1_400,
    });
  });

  it('takes a count without money as it is', () => {
    expect(creditsOf({ credits: 500, gross_amount_minor: null, vat_amount_minor: 0 })).to.equal(500);
  });

  it('refuses a currency that is not on the list, and a version that cannot be used', () => {
    expect(creditsOf({ currency: 'SEK' })).to.deep.equal({ code: 'currency_not_offered', currency: 'SEK' });
    expect(creditsOf({ price_list_version: 9 })).to.deep.equal({ code: 'price_list_version_unknown' });
  });
});
