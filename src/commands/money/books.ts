import {
  BOOKS_STREAM,
  books,
  booksEvent,
  type BooksEvent,
  type BooksEventOf,
  type BooksKind,
  CLOSED_SUMS,
  monthBounds,
  type MonthFigures,
} from '../../../domain/books.ts';
import { deterministicEventId } from '../../../domain/kernel/chain.ts';
import { type Codec, eventCodec } from '../../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { laterBy } from '../../../domain/kernel/amounts.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import {
  type lateModelCosts,
  llmCostsProjector,
  type modelCostAt,
  type modelCostOfPeriod,
  type PeriodCosts,
} from '../../../projections/llmCosts.ts';
import { marginProjector } from '../../../projections/margin.ts';
import { type CurrencyFlows, deferredIn, type marginFlows } from '../../../projections/marginFlows.ts';
import { commandHandler, type HandlerOptions } from '../../writer/commandHandler.ts';
import type { Outcome } from '../../writer/decideBatch.ts';
import { cachedStream } from '../../writer/streamFold.ts';

type CutOffData = BooksEventOf<'MonthCutOff'>['data'];

/** A month that is cut off. */
export interface ClosedMonth extends Omit<CutOffData, 'opens_at'> {
  /** Of the cut-off, in this log. */
  readonly position: bigint;
  /** null: its figures are not known yet; closing it again goes on. */
  readonly closed: BooksEventOf<'MonthClosed'>['data'] | null;
}

/** The closed months as the log has them. */
export interface BooksView {
  /** In order, without a gap. */
  readonly months: readonly ClosedMonth[];
  /** First instant that is open for booking; null: no month is closed. */
  readonly opensAt: string | null;
  /** Oldest first. */
  readonly reopenings: readonly BooksEventOf<'MonthReopened'>['data'][];
}

type Placed = BooksEvent & { readonly position: bigint };

const plain = eventCodec(booksEvent);
const placed: Codec<Placed> = {
  ...plain,
  decode: (recorded) => ({ ...plain.decode(recorded), position: recorded.position }),
};

const NO_BOOKS: BooksView = { months: [], opensAt: null, reopenings: [] };

const seen = (view: BooksView, event: Placed): BooksView => {
  switch (event.type) {
    case 'MonthCutOff': {
      const { opens_at, ...cutOff } = event.data;
      const month = { ...cutOff, position: event.position, closed: null };
      return { ...view, months: [...view.months, month], opensAt: opens_at };
    }
    case 'MonthClosed': {
      const closed = event.data;
      const withFigures = (one: ClosedMonth) => (one.closing === closed.closing ? { ...one, closed } : one);
      return { ...view, months: view.months.map(withFigures) };
    }
    case 'MonthReopened':
      return {
        months: view.months.filter(({ closing }) => closing !== event.data.closing),
        opensAt: event.data.opens_at,
        reopenings: [...view.reopenings, event.data],
      };
  }
};

/** The queries that the figures of a month are made of. */
export interface FigureQueries {
  readonly marginFlows: ReturnType<typeof marginFlows>;
  readonly modelCostOfPeriod: ReturnType<typeof modelCostOfPeriod>;
  readonly modelCostAt: ReturnType<typeof modelCostAt>;
  readonly lateModelCosts: ReturnType<typeof lateModelCosts>;
}

const NO_LATE = { billed_pico_usd: 0n, free_tier_pico_usd: 0n };

/** What became known of earlier closed months' model costs between their cut-off and that of a month; or until now. */
export const lateCostsAfter = async (
  queries: Pick<FigureQueries, 'lateModelCosts'>,
  before: ClosedMonth | undefined,
  until?: bigint,
): Promise<typeof NO_LATE> =>
  before === undefined
    ? NO_LATE
    : queries.lateModelCosts({ to: monthBounds(before.month).to, after: before.position, until });

/** Model costs of a month as its cut-off leaves them, with what became known late of months before it. */
export const costsOfMonth = async (
  queries: FigureQueries,
  { months }: BooksView,
  month: ClosedMonth,
): Promise<PeriodCosts & { readonly late: typeof NO_LATE }> => {
  const before = months[months.indexOf(month) - 1];
  const [own, late] = await Promise.all([
    queries.modelCostAt({ ...monthBounds(month.month), position: month.position }),
    lateCostsAfter(queries, before, month.position),
  ]);
  return {
    billed_pico_usd: own.billed_pico_usd + late.billed_pico_usd,
    free_tier_pico_usd: own.free_tier_pico_usd + late.free_tier_pico_usd,
    unpriced_calls: own.unpriced_calls,
    late,
  };
};

const sumsIn = (flow: CurrencyFlows | undefined) =>
  Object.fromEntries(CLOSED_SUMS.map((name) => [name, String(flow?.[name] ?? 0n)]));

/**
 * The figures of a month that is cut off. What comes after its cut-off is booked later, so the read models have the
 * same figures at that position and ever after.
 */
const figuresOf = async (
  queries: FigureQueries,
  view: BooksView,
  month: ClosedMonth,
): Promise<MonthFigures> => {
  const { from, to } = monthBounds(month.month);
  const [period, sinceEver, costs] = await Promise.all([
    queries.marginFlows({ from, to }),
    queries.marginFlows({ to }),
    costsOfMonth(queries, view, month),
  ]);
  return {
    by_currency: sinceEver.map((all) => ({
      currency: all.currency,
      sums: sumsIn(period.find(({ currency }) => currency === all.currency)),
      deferred: String(deferredIn([all])),
    })),
    costs: {
      billed_pico_usd: String(costs.billed_pico_usd),
      free_tier_pico_usd: String(costs.free_tier_pico_usd),
      unpriced_calls: costs.unpriced_calls,
      late: {
        billed_pico_usd: String(costs.late.billed_pico_usd),
        free_tier_pico_usd: String(costs.late.free_tier_pico_usd),
      },
    },
  };
};

/** The closed months as a log has them now. */
export const booksIn = async (log: Pick<EventStore, 'read'>): Promise<BooksView> => {
  let view = NO_BOOKS;
  for await (const recorded of log.read(BOOKS_STREAM)) view = seen(view, placed.decode(recorded));
  return view;
};

interface BooksDeps {
  readonly store: EventStore;
  readonly queries: FigureQueries;
  /** As of the runner: whether the read models named have committed a position. */
  readonly waitFor: (
    position: bigint,
    options: { readonly timeoutMs: number; readonly projectors: readonly string[] },
  ) => Promise<boolean>;
  readonly options?: HandlerOptions;
}

/** Closing and re-opening months. */
export interface BooksCommands {
  /** As of the log at most a second ago. */
  readonly view: () => Promise<BooksView>;
  /** `behind`: the line is drawn, and the read models do not have it yet; the same command goes on. */
  readonly close: (
    month: string,
    meta: CommandMeta,
  ) => Promise<Outcome<BooksKind> | { readonly kind: 'behind' }>;
  readonly reopen: (
    data: { readonly month: string; readonly reason: string },
    meta: CommandMeta,
  ) => Promise<Outcome<BooksKind>>;
  /** Reads everything again: the log is another one. */
  readonly forget: () => void;
}

/** How long a closing waits for the read models to have its cut-off, ms. */
const CAUGHT_UP_MS = 10_000;
const MAX_AGE_MS = 1_000;
const FIGURED = { timeoutMs: CAUGHT_UP_MS, projectors: [marginProjector.name, llmCostsProjector.name] };

/** A second command of the same request. */
const nextOf = (meta: CommandMeta): CommandMeta => ({
  ...meta,
  command_id: deterministicEventId(BOOKS_STREAM, meta.command_id, 1),
});

export const booksCommands = ({ store, queries, waitFor, options = {} }: BooksDeps): BooksCommands => {
  const cache = cachedStream(
    { store, stream: BOOKS_STREAM, maxAgeMs: MAX_AGE_MS },
    { initialState: NO_BOOKS, evolve: seen, codec: placed },
  );
  const handler = commandHandler<BooksKind>({
    store,
    codec: plain,
    decider: books,
    tenantOf: () => null,
    options,
  });
  const handle = async (command: BooksKind['command']): Promise<Outcome<BooksKind>> => {
    const outcome = await handler(BOOKS_STREAM, command);
    if (outcome.kind === 'done') await cache.refresh();
    return outcome;
  };
  return {
    view: () => cache.current(),
    forget: () => cache.forget(),
    reopen: (data, meta) => handle({ type: 'ReopenMonth', data, meta }),
    close: async (month, meta) => {
      const drawn = await handle({ type: 'CutOffMonth', data: { month }, meta });
      if (drawn.kind !== 'done') return drawn;
      const view = await cache.refresh();
      const cutOff = view.months.find((one) => one.month === month);
      if (cutOff === undefined || cutOff.closed !== null) return drawn;
      const { closing, position } = cutOff;
      if (!(await waitFor(position, FIGURED))) return { kind: 'behind' };
      const figures = await figuresOf(queries, view, cutOff);
      const data = { closing, month, position: String(position), figures };
      return handle({ type: 'CloseMonth', data, meta: nextOf(meta) });
    },
  };
};

interface Piece {
  readonly from: string;
  readonly to: string;
}

const overlap = (a: Piece, b: Piece): Piece | undefined => {
  const [from, to] = [a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to];
  return from > to ? undefined : { from, to };
};

const has = ({ from, to }: Piece, at: string): boolean => from <= at && at <= to;

const plusCosts = (a: PeriodCosts, b: Partial<PeriodCosts>): PeriodCosts => ({
  billed_pico_usd: a.billed_pico_usd + (b.billed_pico_usd ?? 0n),
  free_tier_pico_usd: a.free_tier_pico_usd + (b.free_tier_pico_usd ?? 0n),
  unpriced_calls: a.unpriced_calls + (b.unpriced_calls ?? 0),
});

const NO_COSTS: PeriodCosts = { ...NO_LATE, unpriced_calls: 0 };
const LONG_AGO = '0000-01-01T00:00:00.000Z';

/**
 * Model costs that are booked in a period: in closed months as they were known at their cut-offs; what became known
 * later of a closed month is booked at the first instant that was open then.
 */
export const bookedCosts = async (
  queries: FigureQueries,
  view: BooksView,
  period: Piece,
): Promise<{ readonly costs: PeriodCosts; readonly late: PeriodCosts }> => {
  let [costs, late] = [NO_COSTS, NO_COSTS];
  let from = LONG_AGO;
  for (const [at, month] of view.months.entries()) {
    const { to } = monthBounds(month.month);
    const [piece, opensAt] = [overlap(period, { from, to }), from];
    from = laterBy(to, 1);
    if (piece === undefined) continue;
    costs = plusCosts(costs, await queries.modelCostAt({ ...piece, position: month.position }));
    if (at === 0 || !has(piece, opensAt)) continue;
    late = plusCosts(late, await lateCostsAfter(queries, view.months[at - 1], month.position));
  }
  const open = overlap(period, { from, to: period.to });
  if (open === undefined) return { costs: plusCosts(costs, late), late };
  costs = plusCosts(costs, await queries.modelCostOfPeriod(open));
  if (has(open, from)) late = plusCosts(late, await lateCostsAfter(queries, view.months.at(-1)));
  return { costs: plusCosts(costs, late), late };
};
