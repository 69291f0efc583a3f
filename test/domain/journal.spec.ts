import { expect } from 'chai';
import fc from 'fast-check';
import {
  DEFAULT_JOURNAL,
  ENTRY_KINDS,
  entryKindOf,
  inCents,
  journalSettings,
  linesOf,
  type Moved,
  pairsOf,
} from '../../domain/journal.ts';

const micro = fc.bigInt({ min: -50_000_000n, max: 50_000_000n });
const moved: fc.Arbitrary<Moved> = fc.record({
  kind: fc.constantFrom(...ENTRY_KINDS),
  provider: fc.constantFrom('stripe', 'Adyen', null),
  paid: micro,
  vat_due: micro,
  true_up: micro,
  dispute_fee: micro,
  net: micro,
  fee: micro,
});

const NOTHING = { provider: null, paid: 0n, vat_due: 0n, true_up: 0n, dispute_fee: 0n, net: 0n, fee: 0n };
const code = (name: keyof typeof DEFAULT_JOURNAL.accounts) => DEFAULT_JOURNAL.accounts[name].code;

describe('an entry of the journal', () => {
  it('balances, whatever was moved, with amounts above zero', () => {
    fc.assert(
      fc.property(moved, (one) => {
        const lines = linesOf(pairsOf(DEFAULT_JOURNAL, one));
        expect(lines.reduce((sum, { debit, credit }) => sum + debit - credit, 0n)).to.equal(0n);
        for (const { debit, credit } of lines) {
          expect([debit, credit].filter((side) => side === 0n)).to.have.length(1);
          expect(debit >= 0n && credit >= 0n).to.equal(true);
        }
      }),
    );
  });

  it('names the account that its kind trues up to', () => {
    const truedUpTo = (kind: Moved['kind']) =>
      linesOf(pairsOf(DEFAULT_JOURNAL, { ...NOTHING, kind, true_up: 7n })).map((line) => line.code)[1];
    expect(ENTRY_KINDS.map(truedUpTo)).to.deep.equal([
      code('revenue'),
      code('revenue'),
      code('revenue'),
      code('fx_difference'),
      code('refunds'),
      code('refunds'),
      code('refunds'),
      code('forfeited'),
      code('revenue'),
      code('revenue'),
    ]);
    expect(() => entryKindOf('gift')).to.throw('gift is no kind of journal entry');
  });

  it('has the fee of a dispute as a cost that the provider kept', () => {
    const lines = linesOf(pairsOf(DEFAULT_JOURNAL, { ...NOTHING, kind: 'dispute', dispute_fee: 15n }));
    expect(lines.map((line) => [line.code, line.debit, line.credit])).to.deep.equal([
      [code('dispute_fees'), 15n, 0n],
      [code('clearing'), 0n, 15n],
    ]);
  });

  it('has the clearing account of its payment provider, in any case of its name', () => {
    const stripe = { code: '1461', name: 'Stripe' };
    const settings = journalSettings.parse({ providers: { stripe } });
    const debited = (provider: string) =>
      linesOf(pairsOf(settings, { ...NOTHING, kind: 'sale', provider, paid: 5n }))[0]?.code;
    expect([debited('Stripe'), debited('adyen')]).to.deep.equal(['1461', code('clearing')]);
  });

  it('refuses settings with an account that there is not, or a number that is none', () => {
    expect(journalSettings.safeParse({ accounts: { cash: { code: '1', name: 'Cash' } } }).success).to.equal(
      false,
    );
    expect(journalSettings.safeParse({ accounts: { vat: { code: '38;06', name: 'VAT' } } }).success).to.equal(
      false,
    );
    expect(
      journalSettings.parse({ accounts: { vat: { code: '1776', name: 'USt' } } }).accounts,
    ).to.deep.include({ vat: { code: '1776', name: 'USt' }, revenue: DEFAULT_JOURNAL.accounts.revenue });
  });
});

describe('entries in cents', () => {
  it('balance one by one, and are right to half a cent between two accounts all together', () => {
    fc.assert(
      fc.property(fc.array(moved, { maxLength: 40 }), (all) => {
        const rounded = inCents();
        const sums = new Map<string, bigint>();
        const add = (from: string, to: string, amount: bigint) => {
          const key = from < to ? `${from} ${to}` : `${to} ${from}`;
          sums.set(key, (sums.get(key) ?? 0n) + (from < to ? amount : -amount));
        };
        for (const one of all) {
          const exact = pairsOf(DEFAULT_JOURNAL, one);
          const cents = rounded(exact);
          expect(cents.every(({ amount }) => amount > 0n && amount % 10_000n === 0n)).to.equal(true);
          for (const { debit, credit, amount } of exact) add(debit.code, credit.code, amount);
          for (const { debit, credit, amount } of cents) add(debit.code, credit.code, -amount);
        }
        for (const off of sums.values()) expect(off <= 5_000n && off >= -5_000n).to.equal(true);
      }),
    );
  });
});
