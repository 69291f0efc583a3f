import { expect } from 'chai';
import fc from 'fast-check';
import { bookedBy, monthAfter, monthBounds, type Opening } from '../../domain/books.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import { documentNumber, statementOf, type StatementLine } from '../../domain/statement.ts';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf } from '../../projections/engine/table.ts';
import { grantsProjector } from '../../projections/grants.ts';
import { paymentsProjector } from '../../projections/paymentLines.ts';
import { BLOCK_ROWS, ledgerProjector } from '../../projections/ledger.ts';
import { documentedPayment, statementOfTenant } from '../../projections/statements.ts';
import { propertyRuns } from '../../engine/test/support/properties.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { emptySql } from '../support/emptySql.ts';

const START = Date.parse('2025-11-20T00:00:00.000Z');
const HOUR = 3_600_000;
const EVENTS = 2 * BLOCK_ROWS + 900;
const MONTHS = ['2025-11', '2025-12', '2026-01', '2026-02', '2026-03', '2026-04', '2026-05'] as const;

interface Posted {
  readonly event: ProjectedEvent;
  readonly position: bigint;
  readonly created_at: string;
  readonly credits: number;
  readonly project: string;
}

const moneyOf = (n: number) => ({
  provider: 'stripe',
  provider_txn_id: `pay_${n}`,
  currency: 'EUR',
  gross_amount_minor: 119,
  vat_amount_minor: 19,
  provider_fee_minor: 0,
  fingerprint: '',
  reason: null,
});

/** One event of an account: mostly burns, of two projects and keys, and now and then a sale or its refund. */
const dataOf = (n: number, sold: number[]): { type: string; credits: number; data: object } => {
  if (n % 401 === 0) {
    sold.push(n);
    const sale = {
      grant_id: `grt_${n}`,
      credits: asCredits(50_000),
      price_list_version: 1,
      invoice_ref: null,
    };
    const rate = { fx_rate_to_usd: null, fx_rate_date: null, price_per_1000_credits: '1', note: null };
    const data = { ...moneyOf(n), ...sale, ...rate, tax_basis: 'exclusive' };
    return { type: 'CreditsGranted', credits: 50_000, data };
  }
  if (n % 577 === 0) {
    const data = { ...moneyOf(n), refund_id: `ref_${n}`, grant_id: `grt_${sold.shift() ?? 0}` };
    return { type: 'CreditsRefunded', credits: -40, data: { ...data, credits: asCredits(40) } };
  }
  if (n % 997 === 0)
    return {
      type: 'CreditsAdjusted',
      credits: 7,
      data: { adjustment_id: `adj_${n}`, credits: asCredits(7), reason: '', allow_negative: false },
    };
  const free_pages = n % 5 === 1 ? 1 : 0;
  const scope = { project_id: n % 3 === 0 ? 'a' : 'b', task_id: 't', api_key_id: n % 7 === 0 ? null : 'key' };
  const data = {
    usage_id: `use_${n}`,
    operation_id: `ext_${n}`,
    operation: 'extract',
    category: 'extraction',
    pages: 2,
    free_pages,
    credits_per_page: asCredits(1),
    credits: asCredits(2 - free_pages),
    ...scope,
  };
  return { type: 'CreditsBurned', credits: free_pages - 2, data };
};

/** A clock that goes on by some 20 minutes and steps back by days now and then. */
const history = (): readonly Posted[] => {
  const random = seededRandom(11);
  const sold: number[] = [];
  let [at, balance] = [START, 0];
  return Array.from({ length: EVENTS }, (_, n) => {
    at += random.next() < 0.005 ? -random.between(1, 90) * HOUR : random.between(0, HOUR);
    const { type, credits, data } = dataOf(n, sold);
    balance += credits;
    const created_at = new Date(at).toISOString();
    const when = { created_at, occurred_at: created_at, balance_after: asCredits(balance) };
    const position = BigInt(10 * n + 1);
    const event = { type, stream: 'account-acme', position, metadata: {}, data: { ...data, ...when } };
    const project = (data as { project_id?: string }).project_id ?? '';
    return { event: event as unknown as ProjectedEvent, position, created_at, credits, project };
  });
};

/** Months that are closed some time after they end, and sometimes opened again. */
const openings: fc.Arbitrary<readonly Opening[]> = fc
  .array(fc.record({ month: fc.nat(MONTHS.length - 2), after: fc.nat(EVENTS), isBack: fc.boolean() }), {
    maxLength: 5,
  })
  .map((drawn) =>
    drawn
      .map(({ month, after, isBack }) => ({
        position: BigInt(10 * after + 5),
        opensAt: isBack && month === 0 ? '' : monthAfter(MONTHS[month] ?? ''),
      }))
      .sort((a, b) => Number(a.position - b.position)),
  );

const sum = (posted: readonly Posted[]): number => posted.reduce((total, { credits }) => total + credits, 0);

describe('statements of a large account', () => {
  let sql: Sql;
  const past = history();
  before(async () => {
    sql = await emptySql();
    const tables = [...ledgerProjector.tables, ...grantsProjector.tables, ...paymentsProjector.tables];
    await sql.script(`create schema read; create schema rm; ${ddlOf(tables, 'rm')};
      ${tables.map(({ name }) => `create view read.${name} as select * from rm.${name};`).join('\n')}`);
    for (let at = 0; at < past.length; at += 700) {
      const events = past.slice(at, at + 700).map(({ event }) => event);
      await sql.transaction(async (tx) => {
        await ledgerProjector.apply(tx, { schema: 'rm', events });
        for (const projector of [grantsProjector, paymentsProjector]) {
          const own = events.filter(({ type }) => projector.eventTypes.some((one) => one === type));
          await projector.apply(tx, { schema: 'rm', events: own });
        }
      });
    }
  });
  after(() => sql.close());

  const statement = (month: string, books: readonly Opening[], tenant_id = 'acme') =>
    statementOfTenant(sql)({ tenant_id, ...monthBounds(month), openings: books });

  it('have what was booked in their month, with any clock and any closings, and lead to each other', async () => {
    await fc.assert(
      fc.asyncProperty(openings, async (books) => {
        let opening = 0;
        for (const month of MONTHS) {
          const { from, to } = monthBounds(month);
          const bookedIn = past.filter(({ position, created_at }) => {
            const at = bookedBy(books, position, created_at);
            return at >= from && at <= to;
          });
          const found = await statement(month, books);
          expect(found.opening_balance_credits, month).to.equal(opening);
          const used = (project: string) =>
            sum(bookedIn.filter((one) => one.event.type === 'CreditsBurned' && one.project === project));
          const usage = found.lines.filter(({ kind }) => kind === 'usage');
          for (const project of ['a', 'b'])
            expect(
              usage.reduce((total, row) => total + (row.project_id === project ? row.credits : 0), 0),
            ).to.equal(used(project));
          expect(
            found.lines.filter(({ kind }) => kind !== 'usage').map(({ credits }) => credits),
          ).to.deep.equal(
            bookedIn.filter(({ event }) => event.type !== 'CreditsBurned').map(({ credits }) => credits),
          );
          const operations = bookedIn.filter(({ event }) => event.type === 'CreditsBurned').length;
          expect(usage.reduce((total, { count }) => total + count, 0)).to.equal(operations);
          opening += sum(bookedIn);
        }
        expect(opening).to.equal(sum(past));
      }),
      { numRuns: propertyRuns(0.05) },
    );
  });

  it('number sales and refunds from 1 in the order of the log, whatever month they are in', async () => {
    const lines: StatementLine[] = [];
    for (const month of MONTHS) lines.push(...(await statement(month, [])).lines);
    const numbersOf = (wanted: string) =>
      lines
        .filter(({ kind }) => kind === wanted)
        .sort((a, b) => Number(a.id?.split('_')[1]) - Number(b.id?.split('_')[1]))
        .map(({ document }) => document);
    for (const kind of ['sale', 'refund']) {
      const numbers = numbersOf(kind);
      expect(numbers.length).to.be.greaterThan(10);
      expect(numbers).to.deep.equal(numbers.map((_, at) => at + 1));
    }
    const second = await documentedPayment(sql)('grt_401');
    expect(second).to.include({ ordinal: 2, sale_ordinal: 0, refund_ordinal: 0 });
    const refund = await documentedPayment(sql)('ref_1154');
    expect(refund).to.include({ ordinal: 2, sale_ordinal: 2 });
    expect(await documentedPayment(sql)('use_1')).to.equal(undefined);
  });

  it('are empty for a tenant without movements', async () => {
    expect(await statement('2026-01', [], 'nobody')).to.deep.equal({
      opening_balance_credits: 0,
      position: null,
      lines: [],
    });
  });

  it('have a thousand projects at most one by one, and the rest as one line', async () => {
    const of = (n: number) => ({
      usage_id: `use_${n}`,
      operation_id: `ext_${n}`,
      operation: 'extract',
      category: 'extraction',
      pages: 1,
      free_pages: 0,
      credits_per_page: asCredits(1),
      credits: asCredits(1),
      project_id: `p${n}`,
      task_id: 't',
      api_key_id: 'key',
      balance_after: asCredits(-n - 1),
      created_at: '2026-01-05T00:00:00.000Z',
    });
    const events = Array.from({ length: 2_500 }, (_, n) => {
      const place = { stream: 'account-many', position: BigInt(1_000_000 + n), metadata: {} };
      return { type: 'CreditsBurned', ...place, data: of(n) } as unknown as ProjectedEvent;
    });
    await sql.transaction((tx) => ledgerProjector.apply(tx, { schema: 'rm', events }));
    const { lines } = await statement('2026-01', [], 'many');
    expect(lines).to.have.length(1_001);
    expect(lines.at(-1)).to.include({ kind: 'usage', project_id: null, count: 1_500, credits: -1_500 });
    expect((await statement('2026-02', [], 'many')).opening_balance_credits).to.equal(-2_500);
  });
});

describe('a statement', () => {
  const KINDS = [
    'sale',
    'refund',
    'reversal',
    'transfer_out',
    'transfer_in',
    'admin_adjustment',
    'usage',
  ] as const;
  const line = fc.record({
    kind: fc.constantFrom(...KINDS),
    booked_at: fc.constant(null),
    id: fc.constant(null),
    document: fc.constant(null),
    project_id: fc.constant(null),
    api_key_id: fc.constant(null),
    count: fc.nat(9),
    pages: fc.nat(9),
    credits: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    currency: fc.constant(null),
    gross_amount_minor: fc.constant(null),
  });
  const figures = fc.record({
    tenant_id: fc.constant('acme'),
    month: fc.constant('2026-01'),
    closing: fc.constant(3),
    position: fc.constant('77'),
    opening_balance_credits: fc.integer({ min: -9e9, max: 9e9 }),
    lines: fc.array(line, { maxLength: 20 }),
  });

  it('adds up: by its totals, and from row to row', () => {
    fc.assert(
      fc.property(figures, (drawn) => {
        const one = statementOf(drawn);
        const moved = one.purchased_credits - one.refunded_credits + one.adjusted_credits - one.used_credits;
        const sent = one.transferred_credits;
        expect(one.opening_balance_credits + moved + sent).to.equal(one.closing_balance_credits);
        let balance = one.opening_balance_credits;
        for (const row of one.items) {
          balance += row.credits;
          expect(row.balance_credits).to.equal(balance);
        }
        expect(balance).to.equal(one.closing_balance_credits);
        expect(statementOf(drawn)).to.deep.equal(one);
      }),
      { numRuns: propertyRuns() },
    );
  });

  it('has another digest with any other figure', () => {
    fc.assert(
      fc.property(figures, fc.integer({ min: 1, max: 5 }), (drawn, more) => {
        const { digest } = statementOf(drawn);
        const opening_balance_credits = drawn.opening_balance_credits + more;
        expect(statementOf({ ...drawn, opening_balance_credits }).digest).not.to.equal(digest);
        expect(statementOf({ ...drawn, closing: drawn.closing + more }).digest).not.to.equal(digest);
      }),
      { numRuns: propertyRuns() },
    );
  });

  it('is numbered by tenant, month and closing once its month is closed', () => {
    const open = {
      tenant_id: 'acme',
      month: '2026-01',
      position: null,
      opening_balance_credits: 0,
      lines: [],
    };
    expect(statementOf({ ...open, closing: null }).number).to.equal(null);
    expect(statementOf({ ...open, closing: 3 }).number).to.equal('S-acme-2026-01-3');
    expect(documentNumber('acme', 'refund', 12)).to.equal('C-acme-000012');
  });
});
