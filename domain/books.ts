import { z } from 'zod';
import {
  accept,
  type Command,
  type Decider,
  type Decision,
  event,
  reject,
  type StreamKind,
} from './kernel/decider.ts';
import { canonicalJson, sha256 } from './kernel/chain.ts';
import { instant, laterBy } from './kernel/amounts.ts';

/** A calendar month (UTC): `2026-11`. */
export const calendarMonth = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/);

/** A whole number as text: sums of money may leave the range of safe numbers. */
const wholeText = z.string().regex(/^-?(0|[1-9]\d*)$/);

/**
 * Sums by currency that every closing states: those of the margin report, in credits, minor units of the currency
 * and micro-USD. A closing may state more; a name never changes its meaning.
 */
export const CLOSED_SUMS = [
  'priced_credits',
  'given_credits',
  'unpriced_credits',
  'net',
  'amount',
  'implied',
  'fee',
  'vat',
  'true_up',
  'booked',
  'refunded',
  'sales',
  'refunds',
  'gross_minor',
  'vat_minor',
  'fee_minor',
  'refunded_minor',
  'without_amount',
  'without_rate',
  'stale_rate',
  'dispute_fee',
  'dispute_fee_minor',
] as const;

/** Model costs of the platform, in pico-USD as text. */
const costsOf = { billed_pico_usd: wholeText, free_tier_pico_usd: wholeText } as const;

/** The figures of a month as its cut-off leaves them. */
const monthFigures = z.strictObject({
  by_currency: z.array(
    z.strictObject({
      /** Empty for given credits, and for credits without a lot. */
      currency: z.string(),
      /** Sums of the month by name (`CLOSED_SUMS`). */
      sums: z.record(z.string(), wholeText),
      /** Value of credits that are sold and not used at the end of the month, micro-USD. */
      deferred: wholeText,
    }),
  ),
  /** Of calls made in the month, and what changed of the costs of months closed before. */
  costs: z.strictObject({
    ...costsOf,
    /** Calls of the month that had no price yet. */
    unpriced_calls: z.number().int().min(0),
    /** Part of the costs: what became known late of months closed before. */
    late: z.strictObject(costsOf),
  }),
});

export type MonthFigures = z.output<typeof monthFigures>;

/** Number of a cut-off, from 1: a month that is closed again has another one. */
const closing = z.number().int().min(1);

/**
 * Draws the line under a month. Events that follow in the log are booked at `opens_at` or later, whatever their time.
 * The figures follow in `MonthClosed`, as of the position of this event.
 */
const monthCutOff = event('MonthCutOff', {
  closing,
  month: calendarMonth,
  /** First instant that is open for booking from here on. */
  opens_at: instant,
  cut_off_at: instant,
  cut_off_by: z.string(),
});

/** The figures of a month that was cut off. */
const monthClosed = event('MonthClosed', {
  closing,
  month: calendarMonth,
  /** Position of the cut-off in the log, as text. */
  position: z.string().regex(/^\d+$/),
  figures: monthFigures,
  /** SHA-256 over closing, month, position and figures as canonical JSON. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  closed_at: instant,
  closed_by: z.string(),
});

/** Takes the last cut-off back: what was booked stays where it is, and the month is open for what follows. */
const monthReopened = event('MonthReopened', {
  closing,
  month: calendarMonth,
  /** First instant that is open for booking from here on; null: no month is closed any more. */
  opens_at: instant.nullable(),
  reason: z.string().min(1),
  reopened_at: instant,
  reopened_by: z.string(),
});

export const booksEvent = z.discriminatedUnion('type', [monthCutOff, monthClosed, monthReopened]);

export type BooksEvent = z.output<typeof booksEvent>;
export type BooksEventOf<Type extends BooksEvent['type']> = Extract<BooksEvent, { type: Type }>;

/** The one stream of the books. */
export const BOOKS_STREAM = 'books';

/** The first instant after a month. */
export const monthAfter = (month: string): string => {
  const [year = 0, index = 0] = month.split('-').map(Number);
  const next =
    index === 12
      ? `${String(year + 1).padStart(4, '0')}-01`
      : `${month.slice(0, 5)}${String(index + 1).padStart(2, '0')}`;
  return `${next}-01T00:00:00.000Z`;
};

/** The first and the last instant of a month. */
export const monthBounds = (month: string): { readonly from: string; readonly to: string } => ({
  from: `${month}-01T00:00:00.000Z`,
  to: laterBy(monthAfter(month), -1),
});

/**
 * When an event is booked: at its own time, but not before what is open. `opensAt` is that of the last cut-off or
 * re-opening before it in the log; empty where no month is closed. Source: docs/explanation/closed-months.md.
 */
export const bookedAt = (time: string, opensAt: string): string => (time < opensAt ? opensAt : time);

/** From a position of the log on, what follows is booked at `opensAt` or later; empty: at its own time. */
export interface Opening {
  readonly position: bigint;
  readonly opensAt: string;
}

/** Where the books open by an event of theirs; undefined where they stay as they are. */
export const openingBy = (position: bigint, { type, data }: BooksEvent): Opening | undefined =>
  type === 'MonthClosed' ? undefined : { position, opensAt: data.opens_at ?? '' };

/** When an event at a position is booked; `openings` in the order of the log. */
export const bookedBy = (openings: readonly Opening[], position: bigint, time: string): string =>
  bookedAt(time, openings.findLast((opening) => opening.position < position)?.opensAt ?? '');

type Figured = Pick<BooksEventOf<'MonthClosed'>['data'], 'closing' | 'month' | 'position' | 'figures'>;

/** What binds a closing's figures to its month and to its place in the log. */
export const digestOfClosing = ({ closing: number, month, position, figures }: Figured): string =>
  sha256(canonicalJson({ closing: number, month, position, figures }));

/** Draws the line under a month; nothing where it is drawn already. */
type CutOffMonth = Command<'CutOffMonth', { readonly month: string }>;

/** Writes down the figures of a month that was cut off; nothing where they are known. */
type CloseMonth = Command<'CloseMonth', Figured>;

/** Opens the month that was closed last. */
type ReopenMonth = Command<'ReopenMonth', { readonly month: string; readonly reason: string }>;

/** Why a month cannot be closed. */
export interface MonthNotClosable {
  readonly code: 'month_not_closable';
  /** It is not over, others come first, or the books begin after it; `superseded`: it was opened again meanwhile. */
  readonly why: 'not_over' | 'not_next' | 'before_first' | 'superseded';
  /** The month that is to be closed next; null where any past month may be. */
  readonly next_month: string | null;
}

/** Why a month cannot be opened again. */
export interface MonthNotReopenable {
  readonly code: 'month_not_reopenable';
  /** It is not closed, or a later month is. */
  readonly why: 'not_closed' | 'not_last';
  /** The month that was closed last; null where none is. */
  readonly last_month: string | null;
}

/** A month that is cut off. */
export interface CutOff {
  readonly closing: number;
  readonly month: string;
  /** False until its figures are known. */
  readonly isClosed: boolean;
}

export interface BooksState {
  /** Cut-offs so far. */
  readonly closings: number;
  /** Months that are closed, in order and without a gap. */
  readonly months: readonly CutOff[];
}

export type BooksKind = StreamKind<
  BooksState,
  CutOffMonth | CloseMonth | ReopenMonth,
  BooksEvent,
  MonthNotClosable | MonthNotReopenable
>;

type BooksDecision = Decision<BooksEvent, MonthNotClosable | MonthNotReopenable>;

const nextMonth = ({ months }: BooksState): string | null => {
  const last = months.at(-1);
  if (last === undefined) return null;
  return last.isClosed ? monthAfter(last.month).slice(0, 7) : last.month;
};

const cutOff = (state: BooksState, { data: { month }, meta }: CutOffMonth): BooksDecision => {
  const refuse = (why: MonthNotClosable['why']) =>
    reject({ code: 'month_not_closable', why, next_month: nextMonth(state) } as const);
  if (state.months.some((one) => one.month === month)) return accept();
  const opens_at = monthAfter(month);
  const [first, next] = [state.months[0], nextMonth(state)];
  if (first !== undefined && month < first.month) return refuse('before_first');
  if (next !== null && month !== next) return refuse('not_next');
  if (meta.now < opens_at) return refuse('not_over');
  const data = {
    closing: state.closings + 1,
    month,
    opens_at,
    cut_off_at: meta.now,
    cut_off_by: meta.actor.key_id,
  };
  return accept({ type: 'MonthCutOff', data });
};

const close = (state: BooksState, { data, meta }: CloseMonth): BooksDecision => {
  const found = state.months.find((one) => one.closing === data.closing && one.month === data.month);
  if (found === undefined)
    return reject({ code: 'month_not_closable', why: 'superseded', next_month: nextMonth(state) });
  if (found.isClosed) return accept();
  const digest = digestOfClosing(data);
  const { closing: number, month, position, figures } = data;
  const said = { closing: number, month, position, figures, digest };
  return accept({
    type: 'MonthClosed',
    data: { ...said, closed_at: meta.now, closed_by: meta.actor.key_id },
  });
};

const reopen = ({ months }: BooksState, { data: { month, reason }, meta }: ReopenMonth): BooksDecision => {
  const [last, before] = [months.at(-1), months.at(-2)];
  if (last?.month !== month) {
    const why = months.some((one) => one.month === month) ? 'not_last' : 'not_closed';
    return reject({ code: 'month_not_reopenable', why, last_month: last?.month ?? null });
  }
  const opens_at = before === undefined ? null : monthAfter(before.month);
  const who = { reopened_at: meta.now, reopened_by: meta.actor.key_id };
  return accept({ type: 'MonthReopened', data: { closing: last.closing, month, opens_at, reason, ...who } });
};

/** Months are closed in order; the last one can be opened again. */
export const books: Decider<BooksKind> = {
  initialState: { closings: 0, months: [] },
  decide: (state, command) => {
    switch (command.type) {
      case 'CutOffMonth':
        return cutOff(state, command);
      case 'CloseMonth':
        return close(state, command);
      case 'ReopenMonth':
        return reopen(state, command);
    }
  },
  evolve: (state, { type, data }) => {
    const { closing: number, month } = data;
    switch (type) {
      case 'MonthCutOff':
        return { closings: number, months: [...state.months, { closing: number, month, isClosed: false }] };
      case 'MonthClosed':
        return {
          ...state,
          months: state.months.map((one) => (one.closing === number ? { ...one, isClosed: true } : one)),
        };
      case 'MonthReopened':
        return { ...state, months: state.months.filter((one) => one.closing !== number) };
    }
  },
};
