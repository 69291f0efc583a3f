import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type AccountCommand, accountStream } from '../../../domain/account/messages.ts';
import { BOOKS_STREAM, books, booksEvent, type BooksKind, monthAfter } from '../../../domain/books.ts';
import { categoryOfStream } from '../../../domain/catalogue.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import { asCredits, laterBy } from '../../../domain/kernel/amounts.ts';
import type { EventFeed, EventStore, RecordedEvent } from '../../../domain/ports/log.ts';
import { flowsIn } from './bookedFlows.ts';
import { booksCommands, type FigureQueries } from '../../../src/commands/money/books.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import { commandHandler } from '../../../src/writer/commandHandler.ts';
import { memoryEventStore } from '../logs/memoryEventStore.ts';
import {
  adjust,
  bookRate,
  charge,
  dispute,
  meta,
  receive,
  refund,
  reverse,
  sell,
  send,
  tellDispute,
  tellMore,
} from './moneyCommands.ts';

const MINUTE_MS = 60_000;
const START = '2026-01-20T08:00:00.000Z';
const TENANTS = ['a', 'b'] as const;
const NO_COSTS = { billed_pico_usd: 0n, free_tier_pico_usd: 0n, unpriced_calls: 0 };

const MOVES = [
  'sell',
  'give',
  'take',
  'use',
  'refund',
  'tell',
  'rerate',
  'reverse',
  'dispute',
  'settle',
  'send',
] as const;

/** Tags of a use: of every third there are none. */
const tagsOf = (credits: number) => {
  if (credits % 3 === 0) return {};
  return { tags: credits % 3 === 1 ? { team: 'a' } : { team: 'b', app: 'ü "x"' } };
};

/** What happens next in a world: time goes by, a clock is set back, credits move, a month is closed or opened again. */
export type Step =
  | { readonly kind: 'clock'; readonly minutes: number }
  | {
      readonly kind: (typeof MOVES)[number];
      readonly tenant: string;
      readonly credits: number;
    }
  /** To some minutes after the month's end, where a clock that is set back matters most. */
  | { readonly kind: 'edge' }
  | { readonly kind: 'close' | 'die' | 'reopen' };

const tenant = fc.constantFrom(...TENANTS);
const moves = fc.record({
  kind: fc.constantFrom(...MOVES, 'tell' as const, 'sell' as const, 'use' as const, 'refund' as const),
  tenant,
  credits: fc.integer({ min: 1, max: 5_000 }),
});
const DAY = 24 * 60;
const clock = (min: number, max: number) =>
  fc.record({ kind: fc.constant('clock' as const), minutes: fc.integer({ min, max }) });
const closings = fc.constantFrom('close' as const, 'close' as const, 'die' as const, 'reopen' as const);
/** What happens in a world, one after the other. */
export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
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
export const eventsIn = async (store: EventStore): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for (const stream of [...TENANTS.map(accountStream), BOOKS_STREAM])
    for await (const event of store.read(stream)) events.push(event);
  return events.sort((a, b) => Number(a.position - b.position));
};

/** The log as the audit reads it. */
export const feedOf = (events: readonly RecordedEvent[]): Pick<EventFeed, 'subscribe'> => ({
  subscribe: async function* ({ categories }) {
    for (const event of events) {
      await Promise.resolve();
      if (categories?.includes(categoryOfStream(event.stream)) !== false)
        yield { kind: 'event' as const, event };
    }
    yield { kind: 'caught_up' as const };
  },
});

/** The figures that a closing asks for. */
export const queriesOver = (store: EventStore): FigureQueries => ({
  marginFlows: async (range) => flowsIn(await eventsIn(store), range),
  modelCostOfPeriod: () => Promise.resolve(NO_COSTS),
  modelCostAt: () => Promise.resolve(NO_COSTS),
  lateModelCosts: () => Promise.resolve(NO_COSTS),
});

/** Tenants, a clock, and the books over one log. */
export const world = () => {
  const store = memoryEventStore();
  const writer = accountWriter({ store });
  const months = booksCommands({ store, queries: queriesOver(store), waitFor: () => Promise.resolve(true) });
  const draw = commandHandler<BooksKind>({
    store,
    decider: books,
    codec: eventCodec(booksEvent),
    tenantOf: () => null,
  });
  let [now, made] = [START, 0];
  const sales = new Map<string, string>();
  const refunds = new Map<string, string>();
  const disputes = new Map<string, string>();
  /** What the provider tells later: one fact at a time. */
  const facts = [
    { provider_fee_minor: 31 },
    { tax_rate: '19' },
    { vat_amount_minor: 40 },
    { tax_country: 'DE', payout_id: 'po_1' },
  ] as const;
  const metaNow = () => ({ ...meta, now, command_id: randomUUID() });

  /** The command of each move: of a tenant, under a fresh ID, with as many credits. */
  const COMMANDS = {
    sell: (tenant_id: string, id: string, credits: number) => {
      sales.set(tenant_id, id);
      // Of one in three nothing is known yet; one in five is so small that VAT and fee are more than it brings in.
      const known = credits % 3 === 0 ? { vat_amount_minor: 0, provider_fee_minor: 0 } : {};
      const money = { gross_amount_minor: credits % 5 === 0 ? 200 : credits + 250, ...known };
      return sell({ provider_txn_id: id, credits: asCredits(credits), ...money });
    },
    refund: (tenant_id: string, id: string, credits: number) => {
      refunds.set(tenant_id, id);
      const of = { original_provider_txn_id: sales.get(tenant_id) ?? 'none', provider_txn_id: id };
      const part = asCredits(credits % 4 === 0 ? 0 : Math.ceil(credits / 9));
      return refund({ ...of, credits: part, ...(part === 0 && { gross_amount_minor: 100 }) });
    },
    tell: (tenant_id: string, _id: string, credits: number) =>
      tellMore(facts[credits % facts.length] ?? {}, { provider_txn_id: sales.get(tenant_id) ?? 'none' }),
    rerate: (tenant_id: string, _id: string, credits: number) => {
      const rate = { fx_rate_to_usd: `1.${String(credits)}`, fx_rate_date: '2026-01-29' };
      return bookRate({
        grant_id: `grt_stripe_${sales.get(tenant_id) ?? 'none'}`,
        ...rate,
        reason: 'mistyped',
      });
    },
    reverse: (tenant_id: string, id: string) => {
      const of = refunds.get(tenant_id) ?? 'none';
      const named = { refund_id: `rfd_${of}`, refund_provider_txn_id: of, provider_txn_id: id };
      return reverse({ ...named, reversal_id: `rev_${id}` });
    },
    dispute: (tenant_id: string, id: string, credits: number) => {
      disputes.set(tenant_id, id);
      const of = { original_provider_txn_id: sales.get(tenant_id) ?? 'none', provider_txn_id: id };
      return dispute({ fee_minor: credits % 2 === 0 ? 15 : 0 }, of);
    },
    settle: (tenant_id: string, _id: string, credits: number) =>
      tellDispute(credits % 3 === 0 ? 'won' : 'lost', {
        provider_txn_id: disputes.get(tenant_id) ?? 'none',
        fee_minor: 15,
      }),
    send: (tenant_id: string, id: string, credits: number) =>
      send(Math.ceil(credits / 2), {
        idempotency_key: id,
        to_tenant_id: TENANTS.find((other) => other !== tenant_id) ?? 'b',
      }),
    use: (_tenant: string, id: string, credits: number) =>
      charge(asCredits(Math.ceil(credits / 3)), {
        idempotency_key: id,
        usage_id: `use_${id}`,
        paid_plan_required: false,
        ...tagsOf(credits),
      }),
    give: (_tenant: string, id: string, credits: number) => adjust(credits, { adjustment_id: `adj_${id}` }),
    take: (_tenant: string, id: string, credits: number) =>
      adjust(-Math.ceil(credits / 5), { adjustment_id: `adj_${id}` }),
  } as const;

  const commandOf = ({ kind, tenant: tenant_id, credits }: Extract<Step, { readonly tenant: string }>) => {
    made += 1;
    const command: AccountCommand = COMMANDS[kind](tenant_id, String(made), credits);
    return { ...command, data: { ...command.data, tenant_id }, meta: metaNow() } as AccountCommand;
  };
  const nextMonth = async (): Promise<string> => {
    const { months: closed, opensAt } = await months.view();
    const last = closed.at(-1);
    if (last?.closed === null) return last.month;
    return opensAt?.slice(0, 7) ?? laterBy(`${now.slice(0, 7)}-01T00:00:00.000Z`, -1).slice(0, 7);
  };
  /** What leaves a tenant arrives at once. */
  const act = async (one: Extract<Step, { readonly tenant: string }>): Promise<void> => {
    const outcome = await writer.execute(commandOf(one));
    for (const event of outcome.kind === 'done' ? outcome.events : []) {
      if (event.type !== 'CreditsTransferredOut') continue;
      const { transfer_id, to_tenant_id: tenant_id, credits, created_at } = event.data;
      const arrival = { tenant_id, from_tenant_id: one.tenant, left_at: created_at };
      const meta = metaNow();
      const at = meta.now < created_at ? created_at : meta.now;
      await writer.execute({ ...receive(credits, transfer_id, arrival), meta: { ...meta, now: at } });
    }
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
    } else if ('tenant' in one) await act(one);
    months.forget();
  };
  return { store, months, step, close: () => writer.close() };
};
