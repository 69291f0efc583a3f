import { BOOKS_STREAM, bookedAt } from '../domain/books.ts';
import { bulk, inserting, upserting } from './engine/bulk.ts';
import { only, type ProjectedEvent, type ProjectedEventOf, type SqlTx, tenantOf } from './engine/ports.ts';
import { pick, type Projector, type Row, rowReader, table, textOf } from './engine/table.ts';

/**
 * Money that came, or went back: then its sums are negative. Rows of closed months never change; facts that become
 * known after that are rows of their own, `correction`.
 */
export const paymentLines = table({
  name: 'payment_lines',
  key: ['position', 'line'],
  columns: {
    position: 'position',
    /** From 0; only corrections may have several. */
    line: 'int4',
    tenant_id: 'sorted',
    grant_id: 'sorted',
    kind: 'text',
    /** `sale` or `refund`: the column of the tax report; `fee`: of a dispute, in none of them. */
    side: 'text',
    /** The sale that it belongs to. */
    sale_id: 'sorted',
    credits: 'int8',
    currency: 'text',
    gross_amount_minor: 'int8?',
    vat_amount_minor: 'int8 replace',
    provider_fee_minor: 'int8 replace',
    net_amount_minor: 'int8? replace',
    price_list_version: 'int4?',
    fx_rate_to_usd: 'text? replace',
    fx_rate_date: 'text? replace',
    provider: 'text',
    provider_txn_id: 'text',
    invoice_ref: 'text? replace',
    payout_id: 'text? replace',
    tax_rate: 'text? replace',
    tax_country: 'text? replace',
    dispute_fee_minor: 'int8',
    occurred_at: 'text',
    created_at: 'text',
    booked_at: 'sorted',
  },
  indexes: ['(tenant_id, sale_id)', '(booked_at)', '(payout_id)'],
  fillfactor: 80,
});

/** Rates of sales that became known, or were corrected, after the sale. */
export const paymentRates = table({
  name: 'payment_rates',
  key: ['position'],
  columns: {
    position: 'position',
    tenant_id: 'sorted',
    sale_id: 'sorted',
    fx_rate_to_usd: 'text',
    fx_rate_date: 'text',
    /** First instant that was open for booking then: lines before it keep what they had. Empty: all were open. */
    opens_at: 'text',
    booked_at: 'text',
  },
  indexes: ['(tenant_id, sale_id)'],
});

/** Where the books are open: one row, once a month was closed. */
export const paymentBooks = table({
  name: 'payment_books',
  rowsOf: 'shared',
  key: ['stream'],
  columns: { stream: 'sorted', opens_at: 'text replace' },
});

export type PaymentLine = Row<typeof paymentLines>;
type PaymentRate = Row<typeof paymentRates>;

/** The lines of the sales that a batch names, by tenant and sale, in the order of the log. */
type LinesBySale = Map<string, readonly PaymentLine[]>;

/** The last of the later rates of each sale, by tenant and sale. */
type RatesBySale = Map<string, PaymentRate>;

interface PaymentFold {
  readonly sales: LinesBySale;
  readonly lastRates: RatesBySale;
  /** That a batch has. */
  readonly rates: PaymentRate[];
  /** Made or changed, by position and line. */
  readonly changed: Map<string, PaymentLine>;
  /** First instant that is open for booking; empty: no month is closed. */
  opensAt: string;
}

const saleKey = (tenant_id: string, sale_id: string): string => `${tenant_id} ${sale_id}`;

type MoneyEvent = ProjectedEventOf<
  | 'CreditsGranted'
  | 'SaleDetailsAdded'
  | 'SaleRateBooked'
  | 'CreditsRefunded'
  | 'RefundReversed'
  | 'DisputeChanged'
>;

/** What all lines of an event have in common. */
const placeOf = ({ opensAt }: PaymentFold, event: MoneyEvent, sale_id: string) => ({
  position: event.position,
  line: 0,
  tenant_id: tenantOf(event),
  sale_id,
  created_at: event.data.created_at,
  booked_at: bookedAt(event.data.created_at, opensAt),
});

const saleLine = (fold: PaymentFold, event: ProjectedEventOf<'CreditsGranted'>): PaymentLine => {
  const { data } = event;
  const gross = data.gross_amount_minor;
  return {
    ...placeOf(fold, event, data.grant_id),
    grant_id: data.grant_id,
    kind: 'sale',
    side: 'sale',
    credits: data.credits,
    currency: data.currency,
    gross_amount_minor: gross,
    vat_amount_minor: data.vat_amount_minor,
    provider_fee_minor: data.provider_fee_minor,
    net_amount_minor: gross === null ? null : gross - data.vat_amount_minor,

    price_list_version: data.price_list_version,

    fx_rate_to_usd: data.fx_rate_to_usd,
    fx_rate_date: data.fx_rate_date,

    provider: data.provider,
    provider_txn_id: data.provider_txn_id,
    invoice_ref: data.invoice_ref,

    payout_id: data.payout_id ?? null,
    occurred_at: data.occurred_at,

    tax_rate: data.tax_rate ?? null,
    tax_country: data.tax_country ?? null,
    dispute_fee_minor: 0,
  };
};

/** Rate and country of a sale's VAT: each is told once. */
const taxOf = (lines: readonly PaymentLine[]) => ({
  tax_rate: lines.find(({ tax_rate }) => tax_rate !== null)?.tax_rate ?? null,
  tax_country: lines.find(({ tax_country }) => tax_country !== null)?.tax_country ?? null,
});

const hasTax = (line: PaymentLine, { tax_rate, tax_country }: ReturnType<typeof taxOf>): boolean =>
  line.tax_rate === tax_rate && line.tax_country === tax_country;

/** A refund, dispute or reversal by itself. */
const returnOf = ({ type, data }: ProjectedEventOf<'CreditsRefunded' | 'RefundReversed'>) => {
  if (type === 'RefundReversed')
    return { grant_id: data.reversal_id, kind: 'reversal', dispute_fee_minor: 0 };
  const { refund_id: grant_id, dispute } = data;
  return dispute === undefined
    ? { grant_id, kind: 'refund', dispute_fee_minor: 0 }
    : { grant_id, kind: 'dispute', dispute_fee_minor: dispute.fee_minor };
};

/** A refund or dispute has negative sums, a reversal positive ones; price list, rate and tax are those of the sale. */
const returnLine = (
  fold: PaymentFold,
  event: ProjectedEventOf<'CreditsRefunded' | 'RefundReversed'>,
): PaymentLine => {
  const { data } = event;
  const key = saleKey(tenantOf(event), data.grant_id);
  const lines = fold.sales.get(key) ?? [];
  const rated = fold.lastRates.get(key) ?? lines[0];
  const isRefund = event.type === 'CreditsRefunded';
  const signed = (amount: number) => (isRefund ? 0 - amount : amount);
  return {
    ...placeOf(fold, event, data.grant_id),
    ...returnOf(event),
    side: 'refund',
    credits: signed(data.credits),
    currency: data.currency,
    gross_amount_minor: signed(data.gross_amount_minor),
    vat_amount_minor: signed(data.vat_amount_minor),
    provider_fee_minor: signed(data.provider_fee_minor),
    net_amount_minor: signed(data.gross_amount_minor - data.vat_amount_minor),
    price_list_version: lines[0]?.price_list_version ?? null,

    fx_rate_to_usd: rated?.fx_rate_to_usd ?? null,
    fx_rate_date: rated?.fx_rate_date ?? null,

    provider: data.provider,
    provider_txn_id: data.provider_txn_id,
    invoice_ref: null,
    payout_id: null,
    ...taxOf(lines),
    occurred_at: data.occurred_at,
  };
};

interface Sums {
  readonly gross: number;
  readonly vat: number;
  readonly fee: number;
}

const sumOfLines = (lines: readonly PaymentLine[]): Sums => ({
  gross: lines.reduce((sum, line) => sum + (line.gross_amount_minor ?? 0), 0),
  vat: lines.reduce((sum, line) => sum + line.vat_amount_minor, 0),
  fee: lines.reduce((sum, line) => sum + line.provider_fee_minor, 0),
});

const plus = (a: Sums, b: Sums, sign: 1 | -1 = 1): Sums => ({
  gross: a.gross + sign * b.gross,
  vat: a.vat + sign * b.vat,
  fee: a.fee + sign * b.fee,
});

const NOTHING: Sums = { gross: 0, vat: 0, fee: 0 };
const isNothing = ({ gross, vat, fee }: Sums): boolean => gross === 0 && vat === 0 && fee === 0;

type Details = ProjectedEventOf<'SaleDetailsAdded'>['data']['details'];

/** A line whose month is open takes the facts in place. */
const inPlace = (line: PaymentLine, told: Details, tax: { before: Tax; now: Tax }): PaymentLine => {
  const taxed = hasTax(line, tax.before) ? { ...line, ...tax.now } : line;
  if (line.kind !== 'sale') return taxed;
  const vat = told.vat_amount_minor ?? 0;
  return {
    ...taxed,
    vat_amount_minor: line.vat_amount_minor + vat,
    net_amount_minor: line.net_amount_minor === null ? null : line.net_amount_minor - vat,
    provider_fee_minor: line.provider_fee_minor + (told.provider_fee_minor ?? 0),
  };
};

type Tax = ReturnType<typeof taxOf>;

/** What the lines of closed months lack: their sums under the tax that is known now, less those they have. */
const correctionsOf = (
  closed: readonly PaymentLine[],
  told: Details,
  tax: { before: Tax; now: Tax },
): readonly (Sums & Tax & { side: string })[] => {
  const isMoved = tax.before.tax_rate !== tax.now.tax_rate || tax.before.tax_country !== tax.now.tax_country;
  return ['sale', 'refund'].flatMap((side) => {
    const lines = closed.filter((line) => line.side === side);
    const had = isMoved ? sumOfLines(lines.filter((line) => hasTax(line, tax.before))) : NOTHING;
    const isSale = side === 'sale' && lines.length > 0;
    const added = isSale
      ? { gross: 0, vat: told.vat_amount_minor ?? 0, fee: told.provider_fee_minor ?? 0 }
      : NOTHING;
    return [
      { ...plus(NOTHING, had, -1), ...tax.before, side },
      { ...plus(had, added), ...tax.now, side },
    ].filter((line) => !isNothing(line));
  });
};

const keep = (fold: PaymentFold, lines: readonly PaymentLine[]): void => {
  for (const line of lines) fold.changed.set(`${line.position} ${line.line}`, line);
};

/** Later facts of a sale: in place while its month is open, else as corrections in the month that is. */
const addDetails = (fold: PaymentFold, event: ProjectedEventOf<'SaleDetailsAdded'>): void => {
  const { details: told, grant_id } = event.data;
  const key = saleKey(tenantOf(event), grant_id);
  const lines = fold.sales.get(key) ?? [];
  const [sale] = lines;
  if (sale === undefined) return;
  const before = taxOf(lines);
  const now = {
    tax_rate: told.tax_rate ?? before.tax_rate,
    tax_country: told.tax_country ?? before.tax_country,
  };
  const tax = { before, now };
  const { fx_rate_to_usd, fx_rate_date } = fold.lastRates.get(key) ?? sale;
  const isOpen = (line: PaymentLine) => line.booked_at >= fold.opensAt;
  const closed = lines.filter((line) => !isOpen(line));
  const corrections = correctionsOf(closed, told, tax).map((sums, line): PaymentLine => ({
    ...sale,
    ...placeOf(fold, event, grant_id),
    line,
    kind: 'correction',
    side: sums.side,
    credits: 0,
    dispute_fee_minor: 0,
    gross_amount_minor: sums.gross,
    vat_amount_minor: sums.vat,
    provider_fee_minor: sums.fee,
    net_amount_minor: sums.gross - sums.vat,
    tax_rate: sums.tax_rate,
    tax_country: sums.tax_country,
    fx_rate_to_usd,
    fx_rate_date,
  }));
  const known = { invoice_ref: told.invoice_ref, payout_id: told.payout_id };
  const named = (line: PaymentLine): PaymentLine =>
    line.side === 'refund'
      ? line
      : {
          ...line,
          invoice_ref: known.invoice_ref ?? line.invoice_ref,
          payout_id: known.payout_id ?? line.payout_id,
        };
  const all = [...lines.map((line) => (isOpen(line) ? inPlace(line, told, tax) : line)), ...corrections].map(
    named,
  );
  fold.sales.set(key, all);
  keep(fold, all);
};

/** A rate that became known; lines of closed months keep theirs. */
const bookRate = (fold: PaymentFold, event: ProjectedEventOf<'SaleRateBooked'>): void => {
  const { grant_id, fx_rate_to_usd, fx_rate_date } = event.data;
  const key = saleKey(tenantOf(event), grant_id);
  const { position, tenant_id, sale_id, booked_at } = placeOf(fold, event, grant_id);
  const told = { fx_rate_to_usd, fx_rate_date };
  const rate = {
    position,
    tenant_id,
    sale_id,
    booked_at,
    ...told,
    opens_at: fold.opensAt,
  };
  fold.lastRates.set(key, rate);
  fold.rates.push(rate);
  const lines = (fold.sales.get(key) ?? []).map((line) =>
    line.booked_at < fold.opensAt ? line : { ...line, ...told },
  );
  fold.sales.set(key, lines);
  keep(fold, lines);
};

/** The fee of a dispute, once it is known: beside the lines of its sale, and the same for ever. */
const addFee = (fold: PaymentFold, event: ProjectedEventOf<'DisputeChanged'>): void => {
  const { refund_id, grant_id, currency, fee_minor, previous_fee_minor, created_at } = event.data;
  if (fee_minor === previous_fee_minor) return;
  const { provider, provider_txn_id } = event.data;
  const line: PaymentLine = {
    ...placeOf(fold, event, grant_id),

    grant_id: refund_id,
    kind: 'dispute',
    side: 'fee',
    credits: 0,
    currency,
    provider,
    provider_txn_id,

    gross_amount_minor: 0,
    vat_amount_minor: 0,
    provider_fee_minor: 0,
    net_amount_minor: 0,

    price_list_version: null,
    fx_rate_to_usd: null,
    fx_rate_date: null,

    invoice_ref: null,
    payout_id: null,
    tax_rate: null,
    tax_country: null,
    occurred_at: created_at,
    dispute_fee_minor: fee_minor - previous_fee_minor,
  };
  keep(fold, [line]);
};

const addLine = (fold: PaymentFold, line: PaymentLine): void => {
  const key = saleKey(line.tenant_id, line.sale_id);
  fold.sales.set(key, [...(fold.sales.get(key) ?? []), line]);
  keep(fold, [line]);
};

const follow = (fold: PaymentFold, event: ProjectedEvent): void => {
  switch (event.type) {
    case 'CreditsGranted':
      addLine(fold, saleLine(fold, event));
      return;
    case 'CreditsRefunded':
    case 'RefundReversed':
      addLine(fold, returnLine(fold, event));
      return;
    case 'DisputeChanged':
      addFee(fold, event);
      return;
    case 'SaleDetailsAdded':
      addDetails(fold, event);
      return;
    case 'SaleRateBooked':
      bookRate(fold, event);
      return;
    default:
      if ('opens_at' in event.data) fold.opensAt = event.data.opens_at ?? '';
  }
};

/** What a batch makes of the lines of its sales. */
export const foldPayments = (
  {
    sales,
    lastRates = new Map(),
    opensAt,
  }: {
    readonly sales: ReadonlyMap<string, readonly PaymentLine[]>;
    readonly lastRates?: ReadonlyMap<string, PaymentRate>;
    readonly opensAt: string;
  },
  events: readonly ProjectedEvent[],
): PaymentFold => {
  const known = { sales: new Map(sales), lastRates: new Map(lastRates), opensAt };
  const fold: PaymentFold = { ...known, rates: [], changed: new Map() };
  for (const event of events) follow(fold, event);
  return fold;
};

const named = bulk(pick(paymentLines.columns, 'tenant_id', 'sale_id'));
const saveLines = upserting(paymentLines);
const saveRates = inserting(paymentRates);
const saveBooks = upserting(paymentBooks);
const readLine = rowReader(paymentLines.columns);
const readRate = rowReader(paymentRates.columns);

const OF_SALES = (schema: string) => `
  select l.* from ${named.source()} join ${schema}.payment_lines l using (tenant_id, sale_id)
  where l.side <> 'fee'
  order by l.position, l.line`;

const LAST_RATES = (schema: string) => `
  select distinct on (r.tenant_id, r.sale_id) r.*
  from ${named.source()} join ${schema}.payment_rates r using (tenant_id, sale_id)
  order by r.tenant_id, r.sale_id, r.position desc`;

/** The lines and last rates of sales that are named by events other than their sale. */
const knownOf = async (
  tx: SqlTx,
  schema: string,
  events: readonly ProjectedEvent[],
): Promise<Pick<PaymentFold, 'sales' | 'lastRates'>> => {
  const asked = new Map(
    only(events, 'SaleDetailsAdded', 'SaleRateBooked', 'CreditsRefunded', 'RefundReversed').map((event) => {
      const row = { tenant_id: tenantOf(event), sale_id: event.data.grant_id };
      return [saleKey(row.tenant_id, row.sale_id), row];
    }),
  );
  const [sales, lastRates]: [LinesBySale, RatesBySale] = [new Map(), new Map()];
  if (asked.size === 0) return { sales, lastRates };
  const names = named.values([...asked.values()]);
  for (const row of (await tx.query(OF_SALES(schema), names)).map(readLine)) {
    const key = saleKey(row.tenant_id, row.sale_id);
    sales.set(key, [...(sales.get(key) ?? []), row]);
  }
  for (const row of (await tx.query(LAST_RATES(schema), names)).map(readRate))
    lastRates.set(saleKey(row.tenant_id, row.sale_id), row);
  return { sales, lastRates };
};

/** Money that came and went, by the month that it is booked in. */
export const paymentsProjector: Projector = {
  name: 'payments',
  version: 4,
  eventTypes: [
    'CreditsGranted',
    'SaleDetailsAdded',
    'SaleRateBooked',
    'CreditsRefunded',
    'RefundReversed',
    'DisputeChanged',
    'MonthCutOff',
    'MonthReopened',
  ],
  tables: [paymentLines, paymentRates, paymentBooks],
  apply: async (tx, { schema, events }) => {
    const [books] = await tx.query(`select opens_at from ${schema}.payment_books`);
    const opensAt = books === undefined ? '' : textOf(books, 'opens_at');
    const fold = foldPayments({ ...(await knownOf(tx, schema, events)), opensAt }, events);
    await saveLines(tx, schema, [...fold.changed.values()]);
    await saveRates(tx, schema, fold.rates);
    if (only(events, 'MonthCutOff', 'MonthReopened').length > 0)
      await saveBooks(tx, schema, [{ stream: BOOKS_STREAM, opens_at: fold.opensAt }]);
  },
};
