import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { accountStream } from '../../domain/account/messages.ts';
import {
  BOOKS_STREAM,
  books,
  booksEvent,
  type BooksKind,
  CLOSED_SUMS,
  monthAfter,
} from '../../domain/books.ts';
import { categoryOfStream, decodeAny } from '../../domain/catalogue.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { asCredits, laterBy } from '../../domain/kernel/amounts.ts';
import type { EventFeed, EventStore, RecordedEvent } from '../../domain/ports/log.ts';
import { deferredIn } from '../../projections/marginFlows.ts';
import { foldPayments, type PaymentLine, paymentLines } from '../../projections/paymentLines.ts';
import { auditedEvent } from '../../src/audit/auditedEvent.ts';
import { paymentRows } from '../../src/audit/expectedPayments.ts';
import { runAudit } from '../../src/audit/runAudit.ts';
import { booksCommands, type FigureQueries } from '../../src/commands/books.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { commandHandler } from '../../src/writer/commandHandler.ts';
import { memoryEventStore } from '../support/logs/memoryEventStore.ts';
import { flowsIn, projected } from '../support/money/bookedFlows.ts';
import { adjust, charge, meta, refund, sell, tellMore } from '../support/money/moneyCommands.ts';

const MINUTE_MS = 60_000;
const START = '2026-01-20T08:00:00.000Z';
const TENANTS = ['a', 'b'] as const;
const NO_COSTS = { billed_pico_usd: 0n, free_tier_pico_usd: 0n, unpriced_calls: 0 };

/** What happens next: time goes by, a clock is set back, credits move, a month is closed or opened again. */
type Step =
  | { readonly kind: 'clock'; readonly minutes: number }
  | {
      readonly kind: 'sell' | 'give' | 'take' | 'use' | 'refund' | 'tell';
      readonly tenant: string;
      readonly credits: number;
    }
  /** To some minutes after the month's end, where a clock that is set back matters most. */
  | { readonly kind: 'edge' }
  | { readonly kind: 'close' | 'die' | 'reopen' };

const tenant = fc.constantFrom(...TENANTS);
const moves = fc.record({
  kind: fc.constantFrom('sell', 'give', 'take', 'use', 'refund', 'tell', 'tell' as const),
  tenant,
  credits: fc.integer({ min: 1, max: 5_000 }),
});
const DAY = 24 * 60;
const clock = (min: number, max: number) =>
  fc.record({ kind: fc.constant('clock' as const), minutes: fc.integer({ min, max }) });
const closings = fc.constantFrom('close' as const, 'close' as const, 'die' as const, 'reopen' as const);
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: moves },
    { weight: 1, arbitrary: clock(1, 20 * DAY) },
    { weight: 2, arbitrary: fc.constant({ kind: 'edge' as const }) },
    { weight: 1, arbitrary: clock(-3 * DAY, -1) },
    { weight: 2, arbitrary: clock(-30, -1) },
    { weight: 4, arbitrary: fc.record({ kind: closings }) },
  ),
  { minLength: 20, maxLength: 60 },
);

/** The log of some tenants, in its order. */
const eventsIn = async (store: EventStore): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for (const stream of [...TENANTS.map(accountStream), BOOKS_STREAM])
    for await (const event of store.read(stream)) events.push(event);
  return events.sort((a, b) => Number(a.position - b.position));
};

const feedOf = (events: readonly RecordedEvent[]): Pick<EventFeed, 'subscribe'> => ({
  subscribe: async function* ({ categories }) {
    for (const event of events) {
      await Promise.resolve();
      if (categories?.includes(categoryOfStream(event.stream)) !== false)
        yield { kind: 'event' as const, event };
    }
    yield { kind: 'caught_up' as const };
  },
});

type Lines = readonly PaymentLine[];

/** Payments as the projector books them: batch by batch, each on what the ones before it left. */
const paymentsIn = (events: readonly RecordedEvent[], batch = 1): Lines => {
  const given = events.filter(({ type }) => type !== 'MonthClosed').map(projected);
  let [sales, opensAt]: [ReadonlyMap<string, Lines>, string] = [new Map(), ''];
  for (let at = 0; at < given.length; at += batch)
    ({ sales, opensAt } = foldPayments({ sales, opensAt }, given.slice(at, at + batch)));
  return [...sales.values()].flat().sort((a, b) => Number(a.position - b.position) || a.line - b.line);
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

const queriesOver = (store: EventStore): FigureQueries => ({
  marginFlows: async (range) => flowsIn(await eventsIn(store), range),
  modelCostOfPeriod: () => Promise.resolve(NO_COSTS),
  modelCostAt: () => Promise.resolve(NO_COSTS),
  lateModelCosts: () => Promise.resolve(NO_COSTS),
});

/** Tenants, a clock, and the books over one log. */
const world = () => {
  const store = memoryEventStore();
  const writer = accountWriter({ store });
  const months = booksCommands({ store, queries: queriesOver(store), waitFor: () => Promise.resolve(true) });
  const draw = commandHandler<BooksKind>({
    ...{ store, decider: books, codec: eventCodec(booksEvent), tenantOf: () => null },
  });
  let [now, made] = [START, 0];
  const sales = new Map<string, string>();
  /** What the provider tells later: one fact at a time. */
  const facts = [
    { provider_fee_minor: 31 },
    { tax_rate: '19' },
    { vat_amount_minor: 40 },
    { tax_country: 'DE', payout_id: 'po_1' },
  ] as const;
  const metaNow = () => ({ ...meta, now, command_id: randomUUID() });

  const commandOf = ({ kind, tenant: tenant_id, credits }: Extract<Step, { readonly tenant: string }>) => {
    made += 1;
    const id = String(made);
    const amount = asCredits(credits);
    switch (kind) {
      case 'sell': {
        sales.set(tenant_id, id);
        const unknown = { vat_amount_minor: 0, provider_fee_minor: 0 };
        const of = { provider_txn_id: id, credits: amount, gross_amount_minor: credits + 250, ...unknown };
        const data = sell(of).data;
        return { type: 'GrantCredits', data: { ...data, tenant_id }, meta: metaNow() } as const;
      }
      case 'tell': {
        const details = facts[credits % facts.length] ?? {};
        const { data } = tellMore(details, { provider_txn_id: sales.get(tenant_id) ?? 'none' });
        return { type: 'AddSaleDetails', data: { ...data, tenant_id }, meta: metaNow() } as const;
      }
      case 'refund': {
        const of = { original_provider_txn_id: sales.get(tenant_id) ?? 'none', provider_txn_id: id };
        const data = refund({ ...of, credits: asCredits(Math.ceil(credits / 9)) }).data;
        return { type: 'RefundCredits', data: { ...data, tenant_id }, meta: metaNow() } as const;
      }
      case 'use': {
        const over = { idempotency_key: id, usage_id: `use_${id}`, paid_plan_required: false };
        const data = charge(asCredits(Math.ceil(credits / 3)), over).data;
        return { type: 'ChargeCredits', data: { ...data, tenant_id }, meta: metaNow() } as const;
      }
      default: {
        const data = adjust(kind === 'give' ? credits : -Math.ceil(credits / 5), {
          adjustment_id: `adj_${id}`,
        }).data;
        return { type: 'AdjustCredits', data: { ...data, tenant_id }, meta: metaNow() } as const;
      }
    }
  };
  const nextMonth = async (): Promise<string> => {
    const { months: closed, opensAt } = await months.view();
    const last = closed.at(-1);
    if (last?.closed === null) return last.month;
    return opensAt?.slice(0, 7) ?? laterBy(`${now.slice(0, 7)}-01T00:00:00.000Z`, -1).slice(0, 7);
  };
  const step = async (one: Step): Promise<void> => {
    if (one.kind === 'clock') now = laterBy(now, one.minutes * MINUTE_MS);
    else if (one.kind === 'edge') now = laterBy(monthAfter(now.slice(0, 7)), 5 * MINUTE_MS);
    else if (one.kind === 'close') await months.close(await nextMonth(), metaNow());
    else if (one.kind === 'die')
      await draw(BOOKS_STREAM, { type: 'CutOffMonth', data: { month: await nextMonth() }, meta: metaNow() });
    else if (one.kind === 'reopen') {
      const last = (await months.view()).months.at(-1);
      if (last !== undefined) await months.reopen({ month: last.month, reason: 'again' }, metaNow());
    } else if ('tenant' in one) await writer.execute(commandOf(one));
    months.forget();
  };
  return { store, months, step, close: () => writer.close() };
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
