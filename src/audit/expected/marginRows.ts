import { accountOf, type AuditedEvent } from '../log/auditedEvent.ts';
import type { MarginBook, Moves } from '../money/marginBook.ts';
import { noWorth } from '../money/marginBook.ts';
import { post } from '../money/marginPosting.ts';
import type { Emit, ExpectedModel, ExpectedRow } from './expectedRows.ts';

type Sums = Record<string, bigint>;

const BURN = (): Sums => ({ priced_credits: 0n, given_credits: 0n, unpriced_credits: 0n, ...noWorth() });
const BOOKING = (): Sums => ({
  ...{ true_up: 0n, booked: 0n, refunded: 0n, sales: 0n, refunds: 0n, gross_minor: 0n, vat_minor: 0n },
  ...{ fee_minor: 0n, refunded_minor: 0n, without_amount: 0n, without_rate: 0n },
});

const burnRows = ({ used }: Moves): Map<string, Sums> =>
  new Map(
    [...used].map(([currency, { priced, gift, unpriced, ...worth }]) => [
      currency,
      { priced_credits: priced, given_credits: gift, unpriced_credits: unpriced, ...worth },
    ]),
  );

/** What a sale or a refund books in its own currency; nothing of its own for an adjustment. */
const ownBooking = (event: AuditedEvent, book: MarginBook, moves: Moves): Map<string, Sums> => {
  if (event.type === 'CreditsRefunded') {
    const { currency, gross_amount_minor } = event.data;
    const own = { refunded: moves.refunded, refunds: 1n, refunded_minor: BigInt(gross_amount_minor) };
    return new Map([[currency, { ...BOOKING(), ...own }]]);
  }
  if (event.type !== 'CreditsGranted') return new Map();
  const { data } = event;
  const lot = book.lots.find(({ id }) => id === data.grant_id);
  const coins = [data.gross_amount_minor ?? 0, data.vat_amount_minor, data.provider_fee_minor] as const;
  const [gross, vat, fee] = [BigInt(coins[0]), BigInt(coins[1]), BigInt(coins[2])];
  const own = {
    ...{ booked: lot?.worth([gross, vat, fee]).net ?? 0n, sales: 1n },
    ...{ gross_minor: gross, vat_minor: vat, fee_minor: fee },
    without_amount: data.gross_amount_minor === null ? 1n : 0n,
    without_rate: data.gross_amount_minor !== null && data.fx_rate_to_usd === null ? 1n : 0n,
  };
  return new Map([[data.currency, { ...BOOKING(), ...own }]]);
};

const bookingRows = (event: AuditedEvent, book: MarginBook, moves: Moves): Map<string, Sums> => {
  const rows = ownBooking(event, book, moves);
  for (const [currency, net] of moves.trueUps)
    rows.set(currency, { ...(rows.get(currency) ?? BOOKING()), true_up: net });
  return rows;
};

interface Day {
  readonly day: string;
  readonly currency: string;
  first_position: bigint;
  last_position: bigint;
  readonly sums: Sums;
}

const addToDay = (
  days: Map<string, Day>,
  row: Omit<Day, 'first_position' | 'last_position'>,
  at: bigint,
): void => {
  const key = `${row.day} ${row.currency}`;
  const day = days.get(key) ?? {
    ...{ day: row.day, currency: row.currency, first_position: at, last_position: at },
    sums: { ...BURN(), ...BOOKING() },
  };
  day.last_position = at;
  for (const [name, value] of Object.entries(row.sums)) day.sums[name] = (day.sums[name] ?? 0n) + value;
  days.set(key, day);
};

const lotRow = (tenant_id: string, lot: MarginBook['lots'][number]): ExpectedRow => ({
  ...{ tenant_id, lot_id: lot.id, position: lot.position, currency: lot.currency },
  ...{ fx_rate: lot.rate, price: lot.price, credits: lot.credits, used: lot.gone, ...lot.value },
  ...{ refunded_gross: lot.back[0], refunded_vat: lot.back[1], refunded_fee: lot.back[2] },
});

const marginFold = () => {
  const books = new Map<string, MarginBook>();
  const days = new Map<string, Day>();

  const enter = (event: AuditedEvent, tenant: string, emit: Emit): void => {
    const book = books.get(tenant) ?? { lots: [], hole: 0n };
    books.set(tenant, book);
    const moves = post(book, event);
    if (moves === undefined || !('created_at' in event.data)) return;
    const { created_at } = event.data;
    const isBurn = event.type === 'CreditsBurned';
    const rows = isBurn ? burnRows(moves) : bookingRows(event, book, moves);
    for (const [currency, sums] of rows) {
      const place = { position: event.position, currency, created_at };
      emit(isBurn ? 'margin_burns' : 'margin_bookings', { ...place, ...sums });
      addToDay(days, { day: created_at.slice(0, 10), currency, sums }, event.position);
    }
  };

  return {
    apply: (event: AuditedEvent, emit: Emit): void => {
      const tenant = accountOf(event.stream);
      if (tenant !== undefined) enter(event, tenant, emit);
    },
    finish: (emit: Emit): void => {
      for (const [tenant_id, { lots, hole }] of books) {
        for (const lot of lots) emit('margin_lots', lotRow(tenant_id, lot));
        if (hole > 0n) emit('margin_deficits', { tenant_id, credits: hole });
      }
      for (const { sums, ...day } of days.values()) emit('margin_days', { ...day, ...sums });
    },
  };
};

/** Lots, and what was recognised of them, by a second writing of the report's rules. */
export const marginRows: ExpectedModel = {
  name: 'margin',
  tables: ['margin_lots', 'margin_deficits', 'margin_burns', 'margin_bookings', 'margin_days'],
  start: marginFold,
};
