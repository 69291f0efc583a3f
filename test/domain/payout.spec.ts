import { expect } from 'chai';
import fc from 'fast-check';
import { decimalOf, minorUnitDigits } from '../../domain/kernel/amounts.ts';
import {
  type BookedPayment,
  comparePayout,
  type PayoutFinding,
  type PayoutFindingKind,
} from '../../domain/payout.ts';
import {
  OWN_MAPPING,
  PAYOUT_MAPPINGS,
  payoutMapping,
  type PayoutKind,
  type PayoutLine,
  payoutReader,
  UnreadablePayoutFile,
} from '../../domain/payoutFile.ts';
import { holds } from '../../engine/test/support/properties.ts';

const HEADER = [
  'balance_transaction_id',
  'created_utc',
  'reporting_category',
  'source_id',
  'payment_intent_id',
  'currency',
  'gross',
  'fee',
  'net',
  'automatic_payout_id',
];
type Cells = Record<string, string>;

const linesOf = (rows: readonly Cells[]): readonly PayoutLine[] => {
  const reader = payoutReader(HEADER);
  return rows.flatMap((cells) => reader.read(HEADER.map((name) => cells[name] ?? '')) ?? []);
};

const decimal = (minor: number, currency: string): string =>
  decimalOf(BigInt(minor), minorUnitDigits(currency) ?? 0);

const CATEGORIES = { sale: 'charge', refund: 'refund', dispute: 'dispute', reversal: 'dispute_reversal' };

/** The row that Stripe would write of a payment. */
const cellsOf = (payment: BookedPayment, at: number): Cells => {
  const { kind, provider_txn_id, currency, amount_minor, fee_minor, payout_id } = payment;
  const amount = amount_minor ?? 0;
  return {
    balance_transaction_id: kind === 'reversal' ? provider_txn_id : `txn_${at}`,
    created_utc: '2026-11-03 10:11:12',
    reporting_category: CATEGORIES[kind],
    source_id: kind === 'sale' ? `ch_${at}` : provider_txn_id,
    payment_intent_id: kind === 'sale' ? provider_txn_id : '',
    currency: currency.toLowerCase(),
    gross: decimal(amount, currency),
    fee: decimal(fee_minor, currency),
    net: decimal(amount - fee_minor, currency),
    automatic_payout_id: payout_id ?? '',
  };
};

const bookedBy = (at: number, facts: Partial<BookedPayment>): BookedPayment => ({
  tenant_id: 'acme',
  grant_id: `grt_${at}`,
  kind: 'sale',
  provider: 'stripe',
  provider_txn_id: `pi_${at}`,
  currency: 'USD',
  amount_minor: 1000,
  fee_minor: 59,
  payout_id: 'po_1',
  credits: 10_000,
  bonus_credits: 0,
  discount_minor: 0,
  occurred_at: '2026-11-03T10:11:12.000Z',
  ...facts,
});

/** All findings and the end. */
const compare = (lines: readonly PayoutLine[], payments: readonly BookedPayment[]) => {
  const steps = comparePayout({ lines, payments, isExpected: () => true });
  const findings: PayoutFinding[] = [];
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { ...step.value, findings, kinds: findings.map(({ finding }) => finding) };
    if (step.value !== undefined) findings.push(step.value);
  }
};

const books = fc
  .array(
    fc.record({
      kind: fc.constantFrom<PayoutKind>('sale', 'refund', 'dispute', 'reversal'),
      currency: fc.constantFrom('USD', 'EUR', 'JPY', 'BHD'),
      amount: fc.integer({ min: 1, max: 99_999_999 }),
      fee: fc.integer({ min: 1, max: 100 }),
      payout: fc.constantFrom('po_1', 'po_2'),
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map((all) =>
    all.map(({ kind, currency, amount, fee, payout }, at) => {
      const isBack = kind === 'refund' || kind === 'dispute';
      return bookedBy(at, {
        kind,
        currency,
        provider_txn_id: `${kind}_${at}`,
        payout_id: kind === 'sale' ? payout : null,
        amount_minor: isBack ? -amount : amount,
        fee_minor: isBack ? -fee : fee,
      });
    }),
  );

type Edit = (rows: readonly Cells[], at: number, booked: BookedPayment) => readonly Cells[];

const changed =
  (change: (cells: Cells, booked: BookedPayment) => Cells): Edit =>
  (rows, at, booked) =>
    rows.map((cells, n) => (n === at ? { ...cells, ...change(cells, booked) } : cells));

const EDITS: readonly (readonly [string, PayoutFindingKind, Edit])[] = [
  ['a row that is left out', 'missing_in_file', (rows, at) => rows.filter((_, n) => n !== at)],
  ['a row that comes twice', 'doubled_in_file', (rows, at) => [...rows, { ...rows[at] }]],
  [
    'the same payment with another row id',
    'doubled_in_file',
    (rows, at, { kind }) => [
      ...rows,
      // A reversal is found by its object too.
      {
        ...rows[at],
        balance_transaction_id: 'txn_again',
        ...(kind === 'reversal' && { source_id: rows[at]?.['balance_transaction_id'] ?? '' }),
      },
    ],
  ],
  [
    'an amount that is one minor unit more',
    'other_amount',
    changed((_, { amount_minor, currency }) => ({ gross: decimal((amount_minor ?? 0) + 1, currency) })),
  ],
  [
    'a fee that is one minor unit more',
    'other_fee',
    // One more than −1 is no fee.
    changed((_, { fee_minor, currency }) => ({
      fee: decimal(fee_minor + (fee_minor === -1 ? 2 : 1), currency),
    })),
  ],
  ['another currency', 'other_currency', changed(() => ({ currency: 'chf', gross: '12.00', fee: '0.30' }))],
];

describe('a file of a provider', () => {
  holds(
    'that is made of the payments in the books agrees with them wholly',
    fc.property(books, (payments) => {
      const result = compare(linesOf(payments.map(cellsOf)), payments);
      expect(result.kinds).to.deep.equal([]);
      expect(result.matched).to.equal(payments.length);
      for (const sum of result.totals) {
        expect(sum.rows).to.equal(sum.payments);
        expect(sum.file_amount_minor).to.equal(sum.booked_amount_minor);
        expect(sum.file_fee_minor).to.equal(sum.booked_fee_minor);
      }
    }),
  );

  for (const [name, finding, edit] of EDITS)
    holds(
      `has ${name}: that is found, and nothing else`,
      fc.property(books, fc.nat(), (payments, n) => {
        const at = n % payments.length;
        const booked = payments[at]!;
        const result = compare(linesOf(edit(payments.map(cellsOf), at, booked)), payments);
        expect(result.kinds).to.deep.equal([finding]);
        const [found] = result.findings;
        if (found?.payment !== null) expect(found?.payment.grant_id).to.equal(booked.grant_id);
      }),
    );

  holds(
    'has a payment that the books do not have: that is found, and nothing else',
    fc.property(books, fc.nat(), (payments, n) => {
      const at = n % payments.length;
      const known = payments.filter((_, place) => place !== at);
      const { findings, kinds } = compare(linesOf(payments.map(cellsOf)), known);
      expect(kinds).to.deep.equal(['missing_in_books']);
      expect(findings[0]?.line?.row).to.equal(at + 1);
    }),
  );
});

describe('the comparison of payments with a file', () => {
  const one = (facts: Partial<BookedPayment>, cells: Cells = {}) => {
    const booked = bookedBy(1, facts);
    return compare(linesOf([{ ...cellsOf(bookedBy(1, {}), 1), ...cells }]), [booked]);
  };

  it('says how a fee and a payout that only the file has are told to the sale', () => {
    const { findings, kinds, matched } = one({
      fee_minor: 0,
      payout_id: null,
      credits: 11_000,
      bonus_credits: 1000,
      discount_minor: 50,
    });
    expect(kinds).to.deep.equal(['fee_not_booked', 'payout_not_booked']);
    expect(matched).to.equal(0);
    for (const { tell } of findings)
      expect(tell).to.deep.equal({
        tenant_id: 'acme',
        provider: 'stripe',
        provider_txn_id: 'pi_1',
        currency: 'USD',
        credits: 10_000,
        bonus_credits: 1000,
        gross_amount_minor: 1000,
        discount_minor: 50,
        provider_fee_minor: 59,
        payout_id: 'po_1',
      });
  });

  it('takes a payout that the books do not know for no difference, and another one for one', () => {
    expect(one({ payout_id: null })).to.include({ matched: 1 });
    expect(one({ payout_id: 'po_2' }).kinds).to.deep.equal(['other_payout']);
    expect(one({}, { automatic_payout_id: '' }).kinds).to.deep.equal([]);
  });

  it('finds a sale that was booked under two of its names', () => {
    const twice = bookedBy(2, { provider_txn_id: 'ch_1' });
    const { findings, matched } = compare(linesOf([cellsOf(bookedBy(1, {}), 1)]), [bookedBy(1, {}), twice]);
    expect(findings.map(({ finding, payment }) => [finding, payment?.grant_id])).to.deep.equal([
      ['doubled_in_books', 'grt_2'],
    ]);
    expect(matched).to.equal(0);
  });

  it('takes a sale whose amount the books do not know for another amount', () => {
    expect(one({ amount_minor: null }).kinds).to.deep.equal(['other_amount']);
  });

  it('finds a dispute that was booked as a refund', () => {
    const booked = bookedBy(1, {
      kind: 'refund',
      provider_txn_id: 'dp_1',
      amount_minor: -1000,
      fee_minor: 0,
    });
    const row = cellsOf({ ...booked, kind: 'dispute' }, 1);
    expect(compare(linesOf([row]), [booked])).to.include({ matched: 1 });
  });
});

describe('the mapping of a provider’s file', () => {
  const ACME = payoutMapping.parse({
    provider: 'acme',
    amounts: 'decimal',
    decimal_separator: ',',
    amount_sign: 'unsigned',
    fee_sign: 'negative',
    date_order: 'dmy',
    digits: { ISK: 2 },
    columns: { type: ['Art'], row_id: 'Nr', currency: 'W', amount: 'Betrag', fee: 'Geb', date: ['Datum'] },
    names: { sale: ['Zahlung'], refund: ['Zahlung'] },
    types: { zahlung: 'sale', erstattung: 'refund' },
  });
  const NAMES = ['Nr', 'Datum', 'Art', 'Zahlung', 'W', 'Betrag', 'Geb'];
  const own = { name: OWN_MAPPING, mapping: ACME };
  const read = (...cells: readonly string[]) => payoutReader(NAMES, own).read(cells);

  it('says columns, separator, signs, the order of dates and digits', () => {
    expect(read('1', '31.12.2026', 'Zahlung', 'p1', 'EUR', '12,50', '-0,35')).to.include({
      row: 1,
      kind: 'sale',
      amount_minor: 1250,
      fee_minor: 35,
      day: '2026-12-31',
      currency: 'EUR',
    });
    expect(read('1', '1.2.2026', 'Erstattung', 'p1', 'isk', '12', '')).to.include({
      kind: 'refund',
      amount_minor: -1200,
      fee_minor: 0,
      day: '2026-02-01',
      currency: 'ISK',
    });
  });

  it('leaves rows of other types out, and adds them up', () => {
    const reader = payoutReader(NAMES, own);
    for (const amount of ['5,00', '7,01'])
      expect(reader.read(['1', '31.12.2026', 'Auszahlung', '', 'EUR', amount, '-1'])).to.equal(undefined);
    expect(reader.others()).to.deep.equal([
      { type: 'auszahlung', currency: 'EUR', rows: 2, amount_minor: 1201n, fee_minor: 200n },
    ]);
  });

  it('refuses a row that does not fit, and says what of it', () => {
    const wrong = (told: string, ...cells: readonly string[]) =>
      expect(() => read(...cells), told).to.throw(UnreadablePayoutFile, told);
    wrong('Row 1: "12.50" is not an amount', '1', '31.12.2026', 'Zahlung', 'p1', 'EUR', '12.50', '');
    wrong('more than the 2 digits of EUR', '1', '31.12.2026', 'Zahlung', 'p1', 'EUR', '12,505', '');
    wrong('"ABC" is not a currency', '1', '31.12.2026', 'Zahlung', 'p1', 'ABC', '12,50', '');
    wrong('"31.2.2026" is not a date', '1', '31.2.2026', 'Zahlung', 'p1', 'EUR', '12,50', '');
    wrong('a sale without a name', '1', '31.12.2026', 'Zahlung', '', 'EUR', '12,50', '');
    wrong('it has 8 cells, the header 7', '1', '31.12.2026', 'Zahlung', 'p1', 'EUR', '12,50', '', 'x');
  });

  it('is found by the header: Stripe’s report, its dashboard’s export, rows of its API', () => {
    const nameFor = (header: string) => payoutReader(header.split(',')).named.name;
    expect(nameFor(HEADER.join(','))).to.equal('stripe');
    const history =
      'id,Type,Source,Amount,Fee,Net,Currency,Created (UTC),Available On (UTC),Description,Transfer';
    expect(nameFor(history)).to.equal('stripe-history');
    expect(nameFor('id,type,source,amount,fee,net,currency,created,available_on')).to.equal('stripe-api');
    expect(() => nameFor('Name,Street')).to.throw(UnreadablePayoutFile, 'stripe: no balance_transaction_id');
    const stripe = { name: 'stripe', mapping: PAYOUT_MAPPINGS['stripe']! };
    expect(() => payoutReader(['id'], stripe)).to.throw(UnreadablePayoutFile, 'stripe: no');
  });

  it('takes amounts of Stripe’s API in minor units, and times in seconds', () => {
    const header = ['id', 'type', 'source', 'amount', 'fee', 'net', 'currency', 'created', 'payout'];
    const cells = ['txn_1', 'charge', 'ch_1', '1000', '59', '941', 'usd', '1793786400', 'po_1'];
    expect(payoutReader(header).read(cells)).to.include({
      amount_minor: 1000,
      fee_minor: 59,
      day: '2026-11-04',
    });
    const decimals = [...cells.slice(0, 3), '10.00', ...cells.slice(4)];
    expect(() => payoutReader(header).read(decimals)).to.throw(UnreadablePayoutFile, 'not in minor units');
  });

  it('compares what the customer saw where Stripe has converted it, and then no fee', () => {
    const header = [...HEADER, 'customer_facing_amount', 'customer_facing_currency'];
    const cells: Cells = { ...cellsOf(bookedBy(1, {}), 1), currency: 'eur', gross: '9.20', fee: '0.55' };
    const line = payoutReader(header).read([...HEADER.map((name) => cells[name] ?? ''), '10.00', 'usd']);
    expect(line).to.include({ currency: 'USD', amount_minor: 1000, fee_minor: null });
    expect(compare([line!], [bookedBy(1, {})])).to.include({ matched: 1 });
  });
});
