import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parquetReadObjects } from 'hyparquet';
import Papa from 'papaparse';
import { monthBounds } from '../../domain/books.ts';
import { DEFAULT_JOURNAL, type JournalSettings } from '../../domain/journal.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { deferredIn, marginFlows, type CurrencyFlows } from '../../projections/marginFlows.ts';
import { paymentSums } from '../../projections/payments.ts';
import { EXPORT_NAMES, EXPORTS } from '../../src/exports/exports.ts';
import { exportMonth, type ExportTarget, writeExport } from '../../src/operator/monthExport.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { emptySql } from '../support/emptySql.ts';
import { type MemoryLog, memoryLog } from '../support/logs/memoryLog.ts';
import { eventsIn, type Step, world } from '../support/money/bookedWorld.ts';
import { runnerOn, wipe } from '../support/projecting.ts';

const MONTHS = 36;
const MOVES = ['sell', 'use', 'use', 'refund', 'give', 'take', 'tell', 'rerate', 'reverse', 'sell'] as const;
const DAY_MINUTES = 24 * 60;

/** Three years of two tenants: all but the last months are closed, and clocks are set back now and then. */
const threeYears = async (seed: number): Promise<readonly RecordedEvent[]> => {
  const random = seededRandom(seed);
  const { store, step, close } = world();
  const any = (below: number) => Math.floor(random.next() * below);
  const move = (): Step => ({
    kind: MOVES[any(MOVES.length)] ?? 'sell',
    tenant: any(2) === 0 ? 'a' : 'b',
    credits: 1 + any(5_000),
  });
  for (let month = 0; month < MONTHS; month += 1) {
    for (let n = 0; n < 8; n += 1) {
      await step(move());
      await step({ kind: 'clock', minutes: any(2 * DAY_MINUTES) });
    }
    await step({ kind: 'edge' });
    await step({ kind: 'clock', minutes: -any(20) });
    await step(move());
    await step({ kind: 'clock', minutes: 60 });
    if (month < MONTHS - 2) await step({ kind: 'close' });
  }
  await close();
  return eventsIn(store);
};

/** A cell as the reader of Parquet gives it. */
type Cell = string | bigint | number | null;

/** Whole units of a decimal text, whatever its digits. */
const units = (text = '0'): bigint => BigInt(text.replace('.', ''));

interface TeamUse {
  /** JSON, or nothing. */
  readonly tags: string | undefined;
  readonly credits: number;
}

/** Credits by the tag `team`; '' has those without. */
const creditsByTeam = (uses: readonly TeamUse[]): Readonly<Record<string, number>> => {
  const sums: Record<string, number> = {};
  for (const { tags = '', credits } of uses) {
    const { team = '' } = JSON.parse(tags === '' ? '{}' : tags) as { readonly team?: string };
    sums[team] = (sums[team] ?? 0) + credits;
  }
  return sums;
};

const monthsFrom = (first: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) =>
    new Date(Date.UTC(Number(first.slice(0, 4)), Number(first.slice(5)) - 1 + n)).toISOString().slice(0, 7),
  );

describe('exports of three generated years', () => {
  const seed = Number(process.env['SEED'] ?? 20261128);
  let sql: Sql;
  let log: MemoryLog;
  let folder: TempFolder;
  let events: readonly RecordedEvent[];
  let months: readonly string[];

  const project = async (): Promise<void> => {
    const runner = runnerOn(sql, log);
    runner.start();
    expect(await runner.waitFor((await log.head()) ?? 0n, { timeoutMs: 300_000 })).to.equal(true);
    await runner.stop();
  };
  const write = (over: Partial<ExportTarget>, journal: JournalSettings = DEFAULT_JOURNAL) => {
    const target = {
      what: 'journal' as const,
      month: '2026-01',
      layout: 'generic' as const,
      format: 'csv' as const,
    };
    const operation = exportMonth({ sql, feed: log, journal });
    const { signal } = new AbortController();
    return writeExport({ ...target, folder: folder.path, ...over }, (input, send) =>
      operation(input, { send, signal }),
    );
  };
  const flowsOf = (month: string) => marginFlows(sql)(monthBounds(month));
  const total = (
    flows: readonly CurrencyFlows[],
    ...names: readonly (keyof Omit<CurrencyFlows, 'currency'>)[]
  ) => flows.reduce((sum, flow) => sum + names.reduce((own, name) => own + flow[name], 0n), 0n);
  const rowsIn = (file: string): readonly Readonly<Record<string, string>>[] =>
    Papa.parse<Record<string, string>>(readFileSync(join(folder.path, file), 'utf8'), {
      header: true,
      skipEmptyLines: true,
    }).data;

  before(async () => {
    sql = await emptySql();
    await wipe(sql);
    log = memoryLog();
    folder = tempFolder();
    events = await threeYears(seed);
    months = [
      ...new Set(
        events.filter(({ type }) => type === 'MonthClosed').map(({ data }) => data['month'] as string),
      ),
    ];
    const half = events.findIndex(({ type, data }) => type === 'MonthClosed' && data['month'] === months[17]);
    for (const { stream, type, data } of events.slice(0, half + 1)) log.append(stream, type, data);
    await project();
  });
  after(async () => {
    await wipe(sql);
    await sql.close();
    folder.remove();
  });
  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.error(`SEED=${String(seed)}`);
  });

  it('give a closed month the same bytes when three years are over as when it was closed', async () => {
    const closed = months.slice(0, 18);
    const before = new Map<string, string>();
    for (const month of closed)
      for (const what of EXPORT_NAMES) {
        const { exported } = await write({ what, month });
        expect(exported.is_closed, month).to.equal(true);
        before.set(exported.file, exported.sha256);
      }
    for (const { stream, type, data } of events.slice(log.events().length)) log.append(stream, type, data);
    await project();
    for (const month of closed)
      for (const what of EXPORT_NAMES) {
        const { exported, isUnchanged } = await write({ what, month });
        expect([exported.sha256, isUnchanged], exported.file).to.deep.equal([
          before.get(exported.file),
          true,
        ]);
      }
    expect(before.size).to.equal(18 * EXPORT_NAMES.length);
  });

  it('have the sums of the reports in each month', async () => {
    let [lines, uses] = [0, 0];
    for (const month of months) {
      const flows = await flowsOf(month);
      const { from, to } = monthBounds(month);
      const journal = (await write({ what: 'journal', month })).exported;
      expect(journal.sums['debit_usd'], month).to.equal(journal.sums['credit_usd']);
      const balance = new Map<string, bigint>();
      for (const row of rowsIn(journal.file)) {
        const moved = units(row['debit_usd']) - units(row['credit_usd']);
        balance.set(row['account'] ?? '', (balance.get(row['account'] ?? '') ?? 0n) + moved);
      }
      lines += journal.rows;
      const of = (name: keyof JournalSettings['accounts']) =>
        balance.get(DEFAULT_JOURNAL.accounts[name].code) ?? 0n;
      expect(-of('deferred_revenue'), month).to.equal(deferredIn(flows));
      expect(
        -(of('revenue') + of('refunds') + of('forfeited') + of('fx_difference') + of('provider_fees')),
      ).to.equal(total(flows, 'net', 'true_up'));

      const payments = (await write({ what: 'payments', month })).exported;
      const sums = await paymentSums(sql)({ from, to });
      for (const name of [
        'gross_amount_minor',
        'vat_amount_minor',
        'provider_fee_minor',
        'net_amount_minor',
      ] as const)
        expect(BigInt(payments.sums[name] ?? '0'), `${month} ${name}`).to.equal(
          sums.reduce((sum, row) => sum + row[name], 0n),
        );
      expect(payments.rows).to.equal(sums.reduce((sum, row) => sum + row.payments, 0));

      const focus = (await write({ what: 'focus', month })).exported;
      uses += focus.rows;
      const credits = total(flows, 'priced_credits', 'given_credits', 'unpriced_credits');
      expect(units(focus.sums['EffectiveCost']), month).to.equal(total(flows, 'net', 'fee'));
      expect(BigInt(focus.sums['PricingQuantity'] ?? '0'), month).to.equal(credits);
      expect(units(focus.sums['ListCost']), month).to.equal(credits * 1_000n);
      expect(focus.format).to.equal('FOCUS 1.2');
    }
    expect(lines).to.be.greaterThan(300);
    expect(uses).to.be.greaterThan(30);
  });

  it('give the customer’s tags in FOCUS and in statements, with the credits that were used under them', async () => {
    const expected = creditsByTeam(
      events
        .filter(({ type }) => type === 'CreditsBurned')
        .map(({ data }) => ({ tags: JSON.stringify(data['tags'] ?? {}), credits: Number(data['credits']) })),
    );
    const focus: TeamUse[] = [];
    const statements: TeamUse[] = [];
    for (const month of monthsFrom(months[0] ?? '2026-01', MONTHS + 4)) {
      for (const row of rowsIn((await write({ what: 'focus', month })).exported.file))
        focus.push({ tags: row['Tags'], credits: Number(row['PricingQuantity']) });
      for (const row of rowsIn((await write({ what: 'statements', month })).exported.file))
        if (row['kind'] === 'usage') statements.push({ tags: row['tags'], credits: -Number(row['credits']) });
    }
    expect(creditsByTeam(focus)).to.deep.equal(expected);
    expect(creditsByTeam(statements)).to.deep.equal(expected);
    expect(Object.keys(expected)).to.have.members(['', 'a', 'b']);
  });

  it('state balances that begin in each month where the one before it ended', async () => {
    let [posted, closedWith] = [0, '0'];
    for (const month of months) {
      const statements = (await write({ what: 'statements', month })).exported;
      const {
        opening_credits: opening = '0',
        credits: moves = '0',
        closing_credits: closing = '0',
      } = statements.sums;
      expect(BigInt(opening) + BigInt(moves), month).to.equal(BigInt(closing));
      expect(opening, `${month} begins where the month before it ended`).to.equal(closedWith);
      closedWith = closing;
      posted += statements.rows;
    }
    expect(posted).to.be.greaterThan(200);
  });

  it('say the same in Parquet as in CSV', async () => {
    for (const what of EXPORT_NAMES) {
      const month = months[9] ?? '';
      const csv = (await write({ what, month })).exported;
      const parquet = (await write({ what, month, format: 'parquet' })).exported;
      expect([parquet.rows, parquet.sums]).to.deep.equal([csv.rows, csv.sums]);
      const bytes = await readFile(join(folder.path, parquet.file));
      const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
      const rows = (await parquetReadObjects({ file })) as readonly Readonly<Record<string, Cell>>[];
      expect(rows).to.have.length(csv.rows);
      const lines = rowsIn(csv.file);
      // The reader gives decimals as floats.
      const textOf = (value: Cell | undefined, type: string): string =>
        type === 'usd' ? String(Math.round(Number(value) * 1e6)) : String(value ?? '');
      const plain = (cell: string, type: string): string => (type === 'usd' ? String(units(cell)) : cell);
      const read = rows.map((row) =>
        EXPORTS[what].columns.map(({ name, type }) =>
          textOf((row as Readonly<Record<string, string>>)[name], type),
        ),
      );
      expect(read).to.deep.equal(
        lines.map((line) => EXPORTS[what].columns.map(({ name, type }) => plain(line[name] ?? '', type))),
      );
      const again = (await write({ what, month, format: 'parquet' })).exported;
      expect(again.sha256).to.equal(parquet.sha256);
    }
  });

  it('lay the journal out for other programs, with the sums of the exact one to the cent', async () => {
    const month = months[5] ?? '';
    const exact = (await write({ what: 'journal', month })).exported;
    for (const layout of ['datev', 'xero', 'quickbooks'] as const) {
      const { exported } = await write({ what: 'journal', month, layout });
      expect(exported.format).to.match(/DATEV-Format, EXTF 700|Xero|QuickBooks/);
      const off = units(exported.sums['debit_usd']) - units(exact.sums['debit_usd']);
      // Half a cent for each two accounts.
      expect(off < 50_000n && off > -50_000n, `${layout}: ${String(off)}`).to.equal(true);
      expect(exported.rows).to.be.greaterThan(3);
    }
  });

  it('write an open month anew, and name what a month that is closed as before came out with', async () => {
    const open = (events.at(-1)?.data['created_at'] as string).slice(0, 7);
    const first = (await write({ what: 'payments', month: open })).exported;
    expect([first.is_closed, first.digest]).to.deep.equal([false, null]);
    const sale = events.findLast(({ type }) => type === 'CreditsGranted');
    if (sale === undefined) throw new Error('nothing was sold');
    const created_at = `${open}-28T00:00:00.000Z`;
    log.append(sale.stream, sale.type, { ...sale.data, grant_id: 'one_more', created_at });
    await project();
    const second = (await write({ what: 'payments', month: open })).exported;
    expect(second.rows).to.equal(first.rows + 1);
    expect(second.position).to.not.equal(first.position);
    const renamed = { ...DEFAULT_JOURNAL.accounts, revenue: { code: '8400', name: 'Sales' } };
    const other = await write({ month: months[3] ?? '' }, { ...DEFAULT_JOURNAL, accounts: renamed }).catch(
      (error: unknown) => error,
    );
    expect(String(other)).to.include('the file is another one than before');
  });
});
