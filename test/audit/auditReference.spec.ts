import { expect } from 'chai';
import type { AuditedEvent, AuditedEventOf } from '../../src/audit/auditedEvent.ts';
import { compactSet } from '../../src/audit/streams.ts';
import { findingsKept } from '../../src/audit/findings.ts';
import { fxPublications, reference } from '../../src/audit/margin.ts';

const published = (version: number, published_at: string): AuditedEvent => ({
  id: '',
  stream: 'priceList',
  revision: BigInt(version - 1),
  position: BigInt(version),
  metadata: { recorded_at: published_at },
  type: 'PriceListPublished',
  data: { version, entries: [], note: null, published_at, published_by: 'key_1' },
});

/** A sale as far as the date and the list matter. */
const sale = (occurred_at: string, recorded_at: string, currency = 'JPY') =>
  ({
    metadata: { recorded_at },
    type: 'CreditsGranted',
    data: { occurred_at, currency },
  }) as unknown as AuditedEventOf<'CreditsGranted'>;

describe('what the auditor holds sales against', () => {
  describe('price lists', () => {
    const books = reference(findingsKept(9));
    books.apply(published(1, '2026-01-01T00:00:00.000Z'));
    books.apply(published(2, '2026-01-10T00:00:00.000Z'));
    const inForce = (version: number, occurred: string, recorded = '2026-01-20T00:00:00.000Z') =>
      books.wasInForce(version, sale(occurred, recorded));

    it('lets the active list price any sale', () => {
      expect(inForce(2, '2026-01-02T00:00:00.000Z')).to.equal(true);
      expect(inForce(2, '2026-01-20T00:00:00.000Z')).to.equal(true);
    });
    it('lets a superseded one price what happened until a day after it', () => {
      expect(inForce(1, '2026-01-11T00:00:00.000Z')).to.equal(true);
      expect(inForce(1, '2026-01-11T00:00:00.001Z')).to.equal(false);
      expect(inForce(1, '2025-12-31T23:59:59.999Z')).to.equal(false);
    });
    it('lets it price a sale that was under way when it was superseded', () => {
      expect(inForce(1, '2025-12-01T00:00:00.000Z', '2026-01-10T00:05:00.000Z')).to.equal(true);
      expect(inForce(1, '2025-12-01T00:00:00.000Z', '2026-01-10T00:11:00.000Z')).to.equal(false);
    });
    it('knows no list that was not published', () => {
      expect(inForce(3, '2026-01-20T00:00:00.000Z')).to.equal(false);
    });
    it('reports a version that leaves one out', () => {
      const findings = findingsKept(9);
      const gap = reference(findings);
      gap.apply(published(1, '2026-01-01T00:00:00.000Z'));
      gap.apply(published(3, '2026-01-02T00:00:00.000Z'));
      expect(findings.result().findings.map(({ check, expected }) => [check, expected])).to.deep.equal([
        ['version', '2'],
      ]);
    });
  });

  describe('exchange rates', () => {
    const EARLY = '2026-01-01T00:00:00.000Z';
    const LATE = '2026-01-09T00:00:00.000Z';
    const day = (
      date: string,
      rates: Record<string, string>,
      over: { published_at?: string; base?: string } = {},
    ) => ({
      date,
      base: 'EUR',
      rates,
      published_at: EARLY,
      ...over,
    });
    const rateOf = (currency: string, on: string, ...tables: ReturnType<typeof day>[]) => {
      const fx = fxPublications();
      for (const table of tables) fx.apply(table);
      return fx.bookable({ currency, day: on }, '2026-01-05T00:00:00.000Z');
    };

    it('takes the last day on or before the sale, through the base of the table', () => {
      const tables = [
        day('2026-01-02', { USD: '1.1', JPY: '160' }),
        day('2026-01-05', { USD: '1.2', JPY: '150' }),
      ];
      expect(rateOf('EUR', '2026-01-04', ...tables)[0]).to.deep.equal({ rate: '1.1', date: '2026-01-02' });
      expect(rateOf('EUR', '2026-01-05', ...tables)[0]).to.deep.equal({ rate: '1.2', date: '2026-01-05' });
      expect(rateOf('JPY', '2026-01-09', ...tables)[0]).to.deep.equal({
        rate: '0.008000000000000000',
        date: '2026-01-05',
      });
      expect(rateOf('EUR', '2026-01-01', ...tables)[0]).to.deep.equal({ rate: null, date: null });
      expect(rateOf('USD', '2026-01-01')).to.deep.equal([{ rate: '1', date: '2026-01-01' }]);
    });
    it('takes a correction, passes over a rate of nothing, and prefers the table of the euro', () => {
      const tables = [
        day('2026-01-02', { USD: '1.1' }),
        day('2026-01-03', { USD: '1.2' }),
        day('2026-01-03', { EUR: '0.5' }, { base: 'USD' }),
        day('2026-01-03', { USD: '1.3' }),
        day('2026-01-04', { USD: '0' }),
      ];
      expect(rateOf('EUR', '2026-01-05', ...tables)[0]).to.deep.equal({ rate: '1.3', date: '2026-01-03' });
    });
    it('also takes what was known when the sale was made, while rates were being published', () => {
      const tables = [
        day('2026-01-02', { USD: '1.1' }),
        day('2026-01-03', { USD: '1.2' }, { published_at: LATE }),
      ];
      const rates = rateOf('EUR', '2026-01-05', ...tables).map(({ rate }) => rate);
      expect(rates).to.deep.equal(['1.2', '1.1']);
      const long = rateOf('EUR', '2026-01-05', tables[0]!, day('2026-01-03', { USD: '1.2' }));
      expect(long.map(({ rate }) => rate)).to.deep.equal(['1.2']);
    });
  });
});

describe('the compact set', () => {
  it('knows what was added, UUIDs and texts, however many', () => {
    const set = compactSet();
    const uuid = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
    let added = 0;
    for (let n = 0; n < 20_000; n += 1) {
      if (set.add(uuid(n))) added += 1;
      if (set.add(`text ${String(n)}`)) added += 1;
    }
    expect(added).to.equal(40_000);
    for (let n = 0; n < 20_000; n += 100) {
      expect(set.add(uuid(n))).to.equal(false);
      expect(set.has(`text ${String(n)}`)).to.equal(true);
    }
    expect(set.has('text 20000')).to.equal(false);
    expect(set.add('00000000-0000-0000-0000-000000000000')).to.equal(true);
    expect(set.add('00000000-0000-0000-0000-000000000000')).to.equal(false);
  });
});
