import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { CLOSED_SUMS, monthAfter } from '../../domain/books.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { DEFAULT_JOURNAL, entryKindOf, linesOf, pairsOf } from '../../domain/journal.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import type { RecordedEvent } from '../../domain/ports/log.ts';
import { foldMargin } from '../../projections/margin.ts';
import { deferredIn } from '../../projections/marginFlows.ts';
import { foldPayments, type PaymentLine, paymentLines } from '../../projections/paymentLines.ts';
import { auditedEvent } from '../../src/audit/auditedEvent.ts';
import { paymentRows } from '../../src/audit/expectedPayments.ts';
import { runAudit } from '../../src/audit/runAudit.ts';
import { booksCommands } from '../../src/commands/money/books.ts';
import { flowsIn, projected } from '../support/money/bookedFlows.ts';
import { eventsIn, feedOf, queriesOver, steps, world } from '../support/money/bookedWorld.ts';
import { meta } from '../support/money/moneyCommands.ts';

type Lines = readonly PaymentLine[];

/** Payments as the projector books them: batch by batch, each on what the ones before it left. */
const paymentsIn = (events: readonly RecordedEvent[], batch = 1): Lines => {
  const given = events.filter(({ type }) => type !== 'MonthClosed').map(projected);
  let [sales, opensAt]: [ReadonlyMap<string, Lines>, string] = [new Map(), ''];
  const lines = new Map<string, PaymentLine>();
  for (let at = 0; at < given.length; at += batch) {
    const fold = foldPayments({ sales, opensAt }, given.slice(at, at + batch));
    ({ sales, opensAt } = fold);
    for (const [key, line] of fold.changed) lines.set(key, line);
  }
  return [...lines.values()].sort((a, b) => Number(a.position - b.position) || a.line - b.line);
};

/** What is money in them, of the time until an instant. */
const moneyUntil = (lines: Lines, to: string) =>
  lines
    .filter(({ booked_at }) => booked_at <= to)
    .map(({ payout_id: _, invoice_ref: __, ...money }) => money);

/** Payments as the auditor expects them. */
const expectedPayments = (events: readonly RecordedEvent[]): readonly unknown[] => {
  const rows: PaymentLine[] = [];
  const model = paymentRows.start((table, row) => {
    if (table.name === paymentLines.name) rows.push(row as unknown as PaymentLine);
  }, new Set());
  for (const event of events) model.apply(auditedEvent(event, decodeAny(event)));
  model.finish();
  return rows.sort((a, b) => Number(a.position - b.position) || a.line - b.line);
};

describe('closed months in random worlds whose clocks are set', () => {
  it('have the same figures after everything that follows, and an audit that agrees', async () => {
    let [closings, late, corrections] = [0, 0, 0];
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { store, months, step, close } = world();
        for (const one of all) await step(one);
        const events = await eventsIn(store);
        const payments = paymentsIn(events);
        expect(paymentsIn(events, events.length)).to.deep.equal(payments);
        expect(expectedPayments(events)).to.deep.equal(payments);
        corrections += payments.filter(({ kind }) => kind === 'correction').length;
        for (const { month, closed, position } of (await months.view()).months) {
          if (closed === null) continue;
          closings += 1;
          const to = laterBy(monthAfter(month), -1);
          const then = paymentsIn(events.filter((event) => event.position <= position));
          expect(moneyUntil(payments, to)).to.deep.equal(moneyUntil(then, to));
          const period = flowsIn(events, { from: `${month}-01`, to });
          const stated = closed.figures.by_currency;
          expect(stated.map(({ currency }) => currency)).to.deep.equal(
            flowsIn(events, { to }).map(({ currency }) => currency),
          );
          for (const { currency, sums, deferred } of stated) {
            const flow = period.find((found) => found.currency === currency);
            for (const name of CLOSED_SUMS)
              expect(sums[name], `${month} ${currency} ${name}`).to.equal(String(flow?.[name] ?? 0n));
            const ever = flowsIn(events, { to }).filter((found) => found.currency === currency);
            expect(deferred).to.equal(String(deferredIn(ever)));
          }
        }
        const { findings, notes } = (await runAudit({ feed: feedOf(events), dense: false })).report;
        expect(findings.filter(({ check }) => check === 'books')).to.deep.equal([]);
        if (notes.some((note) => note.includes('after it was closed'))) late += 1;
        await close();
      }),
      { numRuns: 150 },
    );
    // The worlds have what this is about.
    expect(closings).to.be.greaterThan(30);
    expect(late).to.be.greaterThan(3);
    expect(corrections).to.be.greaterThan(10);
  });

  it('recognise and defer by lot, to the micro-dollar, what the margin report adds up', async () => {
    let days = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { store, step, close } = world();
        for (const one of all) await step(one);
        const events = (await eventsIn(store)).filter(({ type }) => type !== 'MonthClosed');
        const { recognised, tenants } = foldMargin(
          { lots: new Map(), transit: new Map(), opensAt: '' },
          events.map(projected),
        );
        const rows = [...recognised.lots.values()];
        for (const day of new Set(rows.map((row) => row.day))) {
          days += 1;
          const until = rows.filter((row) => row.day <= day);
          const flows = flowsIn(events, { to: `${day}T23:59:59.999Z` });
          const sum = (name: 'paid' | 'deferred') => until.reduce((total, row) => total + row[name], 0n);
          expect(sum('deferred'), day).to.equal(deferredIn(flows));
          const recognisedBy = flows.reduce((total, { net, true_up }) => total + net + true_up, 0n);
          expect(sum('paid') - sum('deferred'), day).to.equal(recognisedBy);
        }
        const uses = [...recognised.uses.values()];
        const flows = flowsIn(events, {});
        for (const name of ['net', 'fee'] as const)
          expect(uses.reduce((total, use) => total + use[name], 0n)).to.equal(
            flows.reduce((total, flow) => total + flow[name], 0n),
          );
        const left = [...tenants.values()]
          .flatMap(({ lots }) => lots)
          .reduce((n, lot) => n + lot.credits - lot.used, 0);
        expect(rows.reduce((total, { credits }) => total + credits, 0n)).to.equal(BigInt(left));
        await close();
      }),
      { numRuns: 150 },
    );
    expect(days).to.be.greaterThan(300);
  });

  it('defer no lot below 0 on any day, where the clock goes on', async () => {
    let partly = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { store, step, close } = world();
        for (const one of all) if (one.kind !== 'clock' || one.minutes > 0) await step(one);
        const events = (await eventsIn(store)).filter(({ type }) => type !== 'MonthClosed');
        const { recognised } = foldMargin(
          { lots: new Map(), transit: new Map(), opensAt: '' },
          events.map(projected),
        );
        const deferred = new Map<string, bigint>();
        for (const { lot_id, day, deferred: change } of [...recognised.lots.values()].sort((a, b) =>
          a.day < b.day ? -1 : 1,
        )) {
          const now = (deferred.get(lot_id) ?? 0n) + change;
          deferred.set(lot_id, now);
          expect(now >= 0n, `${lot_id} on ${day}: ${String(now)}`).to.equal(true);
          if (now > 0n) partly += 1;
        }
        await close();
      }),
      { numRuns: 150 },
    );
    expect(partly).to.be.greaterThan(100);
  });

  it('have a journal whose entries balance, and whose accounts are the margin report', async () => {
    let entries = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { store, step, close } = world();
        for (const one of all) await step(one);
        const events = (await eventsIn(store)).filter(({ type }) => type !== 'MonthClosed');
        const { bookings, recognised } = foldMargin(
          { lots: new Map(), transit: new Map(), opensAt: '' },
          events.map(projected),
        );
        const none = {
          paid: 0n,
          vat_due: 0n,
          true_up: 0n,
          net: 0n,
          fee: 0n,
          dispute_fee: 0n,
          provider: 'stripe',
        };
        const moved = [
          ...bookings.map((row) => ({
            ...none,
            ...row,
            kind: entryKindOf(row.kind),
            paid: row.booked - row.refunded,
          })),
          ...[...recognised.uses.values()].map((use) => ({ ...none, ...use, kind: 'use' as const })),
        ];
        const balances = new Map<string, bigint>();
        for (const one of moved) {
          const lines = linesOf(pairsOf(DEFAULT_JOURNAL, one));
          entries += lines.length > 0 ? 1 : 0;
          expect(lines.reduce((sum, { debit, credit }) => sum + debit - credit, 0n)).to.equal(0n);
          for (const { code, debit, credit } of lines)
            balances.set(code, (balances.get(code) ?? 0n) + debit - credit);
        }
        const flows = flowsIn(events, {});
        const total = (name: 'net' | 'fee' | 'true_up') => flows.reduce((sum, flow) => sum + flow[name], 0n);
        const { accounts } = DEFAULT_JOURNAL;
        const of = (...names: readonly (keyof typeof accounts)[]) =>
          names.reduce((sum, name) => sum + (balances.get(accounts[name].code) ?? 0n), 0n);
        expect(-of('deferred_revenue')).to.equal(deferredIn(flows));
        expect(of('provider_fees')).to.equal(total('fee'));
        expect(-of('revenue', 'refunds', 'forfeited', 'fx_difference', 'provider_fees')).to.equal(
          total('net') + total('true_up'),
        );
        await close();
      }),
      { numRuns: 150 },
    );
    expect(entries).to.be.greaterThan(300);
  });
});

describe('closing a month', () => {
  it('has no figures before the read models have its line, and goes on with the same line then', async () => {
    const { store, step, close } = world();
    await step({ kind: 'sell', tenant: 'a', credits: 100 });
    let isThere = false;
    const waitFor = () => Promise.resolve(isThere);
    const months = booksCommands({ store, queries: queriesOver(store), waitFor });
    const metaNow = { ...meta, now: '2026-02-01T00:00:01.000Z', command_id: randomUUID() };
    expect(await months.close('2026-01', metaNow)).to.deep.equal({ kind: 'behind' });
    const [drawn] = (await months.view()).months;
    expect(drawn).to.include({ month: '2026-01', closed: null });
    isThere = true;
    expect(await months.close('2026-01', metaNow)).to.include({ kind: 'done' });
    const [closed] = (await months.view()).months;
    expect(closed).to.include({ closing: 1, position: drawn?.position });
    expect(closed?.closed?.figures.by_currency).to.have.length(1);
    await close();
  });
});
