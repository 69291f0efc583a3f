import { allKept } from '../../domain/kernel/history.ts';
import { expect } from 'chai';
import fc from 'fast-check';
import { account } from '../../domain/account/account.ts';
import { remainingOf } from '../../domain/account/payments.ts';
import { asCredits, decimalOf, MOVEMENT_MAX } from '../../domain/kernel/amounts.ts';
import { priceList, priceSale } from '../../domain/priceList.ts';
import { meta, NOW, refund, sell } from '../support/money/moneyCommands.ts';
import { holds } from '../../engine/test/support/properties.ts';
import { after } from '../support/specFor.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const most = BigInt(MAX);
/** Amounts of every size up to 2^53 − 1, small ones as often as large ones. */
const amount = fc
  .integer({ min: 1, max: 53 })
  .chain((bits) => fc.bigInt({ min: 1n, max: 2n ** BigInt(bits) - 1n }))
  .map(Number);

const soldInParts = fc
  .record({
    // One movement has no more.
    credits: amount.map((one) => Math.min(one, MOVEMENT_MAX)),
    gross: amount,
    vat: amount,
    fee: amount,
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
  })
  .map(({ credits, gross, vat, fee, cuts }) => {
    const edges = [0, ...cuts.map((cut) => Math.floor(cut * gross)), gross].sort((a, b) => a - b);
    const parts = edges.slice(1).map((edge, at) => edge - edges[at]!);
    return { credits, gross, vat: Math.min(vat, gross), fee: Math.min(fee, gross), parts };
  });

describe('money', () => {
  holds(
    'nets to exactly nothing over a sale and any split of its full refund',
    fc.property(soldInParts, ({ credits, gross, vat, fee, parts }) => {
      const sale = sell({
        credits: asCredits(credits),
        gross_amount_minor: gross,
        vat_amount_minor: vat,
        provider_fee_minor: fee,
      });
      const refunds = parts
        .filter((part) => part > 0)
        .map((part, at, all) =>
          refund({
            provider_txn_id: `ref_${at}`,
            gross_amount_minor: part,
            provider_fee_minor: at === all.length - 1 ? fee : 0,
          }),
        );
      const state = after(account, [sale, ...refunds]);
      const [sold] = allKept(state.sales);
      expect(remainingOf(sold!)).to.deep.equal({ credits: 0, gross: 0, vat: 0, fee: 0 });
      expect([state.balance, state.purchased]).to.deep.equal([0, 0]);
      const taken = [...allKept(state.refunds)];
      for (const [member, whole] of [
        ['credits', credits],
        ['gross_amount_minor', gross],
        ['vat_amount_minor', vat],
        ['provider_fee_minor', fee],
      ] as const)
        expect(taken.reduce((sum, row) => sum + BigInt(row[member]), 0n)).to.equal(BigInt(whole));
    }),
  );

  holds(
    'is given back in shares: credits never more than exact, VAT the nearest unit',
    fc.property(soldInParts, ({ credits, gross, vat, parts }) => {
      const part = parts[0]!;
      if (part === 0 || part === gross) return;
      const state = after(account, [
        sell({
          credits: asCredits(credits),
          gross_amount_minor: gross,
          vat_amount_minor: vat,
          provider_fee_minor: 0,
        }),
        refund({ gross_amount_minor: part }),
      ]);
      const [refunded] = allKept(state.refunds);
      const row = refunded!;
      const apartOf = (share: number, whole: number) =>
        BigInt(whole) * BigInt(part) - BigInt(share) * BigInt(gross);
      const ofCredits = apartOf(row.credits, credits);
      expect(ofCredits >= 0n && ofCredits < BigInt(gross)).to.equal(true);
      const ofVat = 2n * apartOf(row.vat_amount_minor, vat);
      expect(ofVat <= BigInt(gross) && -ofVat <= BigInt(gross)).to.equal(true);
    }),
    0.5,
  );
});

/** A price list of one currency: its digits, and the price of 1,000 credits in millionths of its major unit. */
const priced = fc.record({
  digits: fc.constantFrom(0, 2, 3),
  micros: fc.integer({ min: 1, max: 12 }).chain((n) => fc.bigInt({ min: 1n, max: 10n ** BigInt(n) })),
});

const listOf = (digits: number, micros: bigint) =>
  after(priceList, [
    {
      type: 'PublishPriceList',
      data: {
        entries: [
          {
            currency: 'XTS',
            price_per_1000_credits: decimalOf(micros, 6),
            tax_basis: 'exclusive',
            minor_unit_digits: digits,
          },
        ],
        expected_version: null,
        note: null,
      },
      meta,
    },
  ]);

const check = (digits: number, micros: bigint) => {
  const lists = listOf(digits, micros);
  return (credits: bigint | null, amountMinor: bigint) =>
    priceSale(lists, {
      currency: 'XTS',
      credits: credits === null ? null : Number(credits),
      gross_amount_minor: Number(amountMinor),
      vat_amount_minor: 0,
      discount_minor: 0,
      price_list_version: null,
      occurred_at: NOW,
    });
};

const ceil = (a: bigint, b: bigint) => (a + b - 1n) / b;
const round = (a: bigint, b: bigint) => (2n * a + b) / (2n * b);

describe('the price check', () => {
  /** credits × micros × 10^digits compares with amount × 1000 × 10^6. */
  const sides = (digits: number, micros: bigint) => ({
    p: micros * 10n ** BigInt(digits),
    unit: 1_000_000_000n,
  });

  holds(
    'passes the count rounded down, up and half up from any amount, and refuses one step beyond its tolerance',
    fc.property(priced, amount, ({ digits, micros }, gross) => {
      const { p, unit } = sides(digits, micros);
      const value = BigInt(gross) * unit;
      const passes = check(digits, micros);
      for (const credits of [value / p, ceil(value, p), round(value, p)])
        if (credits >= 1n && credits <= most) expect(passes(credits, BigInt(gross)).kind).to.equal('priced');
      const bound = p > unit ? p : unit;
      for (const credits of [ceil(value + bound, p), value - bound < 0n ? 0n : (value - bound) / p])
        if (credits >= 1n && credits <= most)
          expect(passes(credits, BigInt(gross)).kind).to.equal('rejected');
    }),
  );

  holds(
    'passes the amount rounded down, up and half up from any count, and refuses one step beyond its tolerance',
    fc.property(priced, amount, ({ digits, micros }, count) => {
      const { p, unit } = sides(digits, micros);
      const value = BigInt(count) * p;
      const passes = check(digits, micros);
      for (const gross of [value / unit, ceil(value, unit), round(value, unit)])
        if (gross >= 1n && gross <= most) expect(passes(BigInt(count), gross).kind).to.equal('priced');
      const bound = p > unit ? p : unit;
      for (const gross of [ceil(value + bound, unit), value - bound < 0n ? 0n : (value - bound) / unit])
        if (gross >= 1n && gross <= most) expect(passes(BigInt(count), gross).kind).to.equal('rejected');
    }),
  );

  holds(
    'derives a count that it would itself accept, or one that no account can hold',
    fc.property(priced, amount, ({ digits, micros }, gross) => {
      const { p, unit } = sides(digits, micros);
      const derived = check(digits, micros)(null, BigInt(gross));
      const exact = (BigInt(gross) * unit) / p;
      if (derived.kind === 'priced') expect(BigInt(derived.credits)).to.equal(exact < 1n ? 1n : exact);
      else expect(exact > most).to.equal(true);
    }),
  );

  holds(
    'names an amount that it would accept',
    fc.property(priced, amount, amount, ({ digits, micros }, count, gross) => {
      const result = check(digits, micros)(BigInt(count), BigInt(gross));
      if (result.kind === 'priced' || result.rejection.code !== 'price_mismatch') return;
      const { expected_minor } = result.rejection;
      if (expected_minor === MAX) return;
      expect(check(digits, micros)(BigInt(count), BigInt(expected_minor)).kind).to.equal('priced');
    }),
  );
});
