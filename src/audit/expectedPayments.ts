import { paymentBooks, paymentLines, paymentRates } from '../../projections/paymentLines.ts';
import {
  accountOf,
  type AuditedEvent,
  type AuditedEventOf,
  byType,
  type ExpectedModel,
  type ExpectedRow,
  openBooks,
} from './auditedEvent.ts';

type Line = ExpectedRow<typeof paymentLines>;

/** Rate and country, as far as they are known. */
type Tax = readonly [rate: string | null, country: string | null];

/** US dollars for one unit, and the day of it. */
type Rate = readonly [rate: string | null, date: string | null];

/** A line as it is being written: sums are gross, VAT and fee. */
interface Draft {
  readonly head: Omit<Line, keyof typeof NO_SUMS>;
  readonly hasGross: boolean;
  sums: [gross: number, vat: number, fee: number];
  tax: Tax;
  rate: Rate;
  invoice: string | null;
  payout: string | null;
}

const NO_SUMS = {
  gross_amount_minor: 0,
  vat_amount_minor: 0,
  provider_fee_minor: 0,
  net_amount_minor: 0,

  tax_rate: null,
  tax_country: null,
  fx_rate_to_usd: null,
  fx_rate_date: null,

  invoice_ref: null,
  payout_id: null,
};

/** What is known of a sale, and its lines. */
interface SaleBook {
  readonly drafts: Draft[];
  tax: Tax;
  rate: Rate;
}

const rowOf = ({ head, hasGross, sums: [gross, vat, fee], tax, rate, invoice, payout }: Draft): Line => ({
  ...head,
  gross_amount_minor: hasGross ? gross : null,
  vat_amount_minor: vat,
  provider_fee_minor: fee,
  net_amount_minor: hasGross ? gross - vat : null,

  tax_rate: tax[0],
  tax_country: tax[1],
  fx_rate_to_usd: rate[0],
  fx_rate_date: rate[1],

  invoice_ref: invoice,
  payout_id: payout,
});

const isSame = (a: Tax, b: Tax): boolean => a[0] === b[0] && a[1] === b[1];

const told = <Value>(value: Value | undefined, before: Value): Value => value ?? before;

type Money = AuditedEventOf<'CreditsGranted' | 'CreditsRefunded' | 'RefundReversed'>;

const SIDES = { CreditsGranted: 'sale', CreditsRefunded: 'refund', RefundReversed: 'refund' } as const;
const kindOf = ({ type, data }: Money): string => {
  if (type === 'CreditsRefunded') return data.dispute === undefined ? 'refund' : 'dispute';
  return type === 'CreditsGranted' ? 'sale' : 'reversal';
};

const idOf = (event: Money): string => {
  if (event.type === 'CreditsRefunded') return event.data.refund_id;
  return event.type === 'RefundReversed' ? event.data.reversal_id : event.data.grant_id;
};

/** What a sale says, of which the rest of its lines have only a part. */
interface Said extends Pick<Draft, 'tax' | 'rate' | 'invoice' | 'payout'> {
  readonly list: Line['price_list_version'];
}

const saidBy = ({ data }: AuditedEventOf<'CreditsGranted'>): Said => ({
  list: data.price_list_version,
  tax: [data.tax_rate ?? null, data.tax_country ?? null],
  rate: [data.fx_rate_to_usd, data.fx_rate_date],
  invoice: data.invoice_ref,
  payout: data.payout_id ?? null,
});

const takenFrom = ({ drafts, tax, rate }: SaleBook): Said => ({
  list: drafts[0]?.head.price_list_version ?? null,

  tax,
  rate,
  invoice: null,
  payout: null,
});

const draftOf = (event: Money, sale: SaleBook, booked_at: string): Draft => {
  const { stream, position, data, type } = event;
  const sign = type === 'CreditsRefunded' ? -1 : 1;
  const times = (amount: number) => (amount === 0 ? 0 : sign * amount);
  const { list, ...said } = event.type === 'CreditsGranted' ? saidBy(event) : takenFrom(sale);
  return {
    head: {
      tenant_id: accountOf(stream) ?? '',
      position,
      line: 0,
      grant_id: idOf(event),
      kind: kindOf(event),
      side: SIDES[type],
      sale_id: data.grant_id,
      credits: times(data.credits),
      dispute_fee_minor: event.type === 'CreditsRefunded' ? (event.data.dispute?.fee_minor ?? 0) : 0,
      currency: data.currency,
      provider: data.provider,
      provider_txn_id: data.provider_txn_id,
      price_list_version: list,
      occurred_at: data.occurred_at,
      created_at: data.created_at,
      booked_at,
    },
    hasGross: data.gross_amount_minor !== null,
    sums: [times(data.gross_amount_minor ?? 0), times(data.vat_amount_minor), times(data.provider_fee_minor)],
    ...said,
  };
};

type Added = AuditedEventOf<'SaleDetailsAdded'>;

const totalOf = (drafts: readonly Draft[]): Draft['sums'] =>
  drafts.reduce<Draft['sums']>(
    ([gross, vat, fee], { sums }) => [gross + sums[0], vat + sums[1], fee + sums[2]],
    [0, 0, 0],
  );

/** What is to be booked of lines whose month is closed: out of the old tax, into the new one. */
const movedOf = (closed: readonly Draft[], [before, now]: readonly [Tax, Tax], extra: Draft['sums']) => {
  const [gross, vat, fee] = isSame(before, now)
    ? [0, 0, 0]
    : totalOf(closed.filter(({ tax }) => isSame(tax, before)));
  const out: Draft['sums'] = [0 - gross, 0 - vat, 0 - fee];
  const into: Draft['sums'] = [gross + extra[0], vat + extra[1], fee + extra[2]];
  return [
    { sums: out, tax: before },
    { sums: into, tax: now },
  ].filter(({ sums }) => sums.some((sum) => sum !== 0));
};

const addFacts = (
  sale: SaleBook,
  event: Added,
  { bookedAt, opensAt }: ReturnType<typeof openBooks>,
): void => {
  const { details, created_at } = event.data;
  const [first] = sale.drafts;
  if (first === undefined) return;
  const [before, now]: [Tax, Tax] = [
    sale.tax,
    [told(details.tax_rate, sale.tax[0]), told(details.tax_country, sale.tax[1])],
  ];
  const extra: Draft['sums'] = [0, details.vat_amount_minor ?? 0, details.provider_fee_minor ?? 0];
  const isClosed = ({ head }: Draft) => head.booked_at < (opensAt() ?? '');
  const closed = sale.drafts.filter(isClosed);
  for (const draft of sale.drafts.filter((one) => !isClosed(one))) {
    if (isSame(draft.tax, before)) draft.tax = now;
    if (draft.head.kind === 'sale')
      draft.sums = draft.sums.map((sum, at) => sum + (extra[at] ?? 0)) as Draft['sums'];
  }
  const corrections = (['sale', 'refund'] as const).flatMap((side) => {
    const lines = closed.filter(({ head }) => head.side === side);
    const hasExtra = side === 'sale' && lines.length > 0;
    return movedOf(lines, [before, now], hasExtra ? extra : [0, 0, 0]).map((moved) => ({ ...moved, side }));
  });
  for (const [line, { sums, tax, side }] of corrections.entries())
    sale.drafts.push({
      ...first,
      head: {
        ...first.head,
        position: event.position,
        line,
        kind: 'correction',
        side,
        credits: 0,
        dispute_fee_minor: 0,
        created_at,
        booked_at: bookedAt(created_at),
      },
      hasGross: true,
      sums,
      tax,
      rate: sale.rate,
    });
  sale.tax = now;
  for (const draft of sale.drafts.filter(({ head }) => head.side === 'sale')) {
    draft.invoice = told(details.invoice_ref, draft.invoice);
    draft.payout = told(details.payout_id, draft.payout);
  }
};

/** The fee of a dispute that became known after it. */
const feeLine = ({ stream, position, data }: AuditedEventOf<'DisputeChanged'>, booked_at: string): Line => ({
  ...NO_SUMS,
  tenant_id: accountOf(stream) ?? '',
  position,
  line: 0,
  grant_id: data.refund_id,
  kind: 'dispute',
  side: 'fee',
  sale_id: data.grant_id,
  credits: 0,
  price_list_version: null,
  currency: data.currency,
  provider: data.provider,
  provider_txn_id: data.provider_txn_id,
  occurred_at: data.created_at,
  created_at: data.created_at,
  booked_at,
  dispute_fee_minor: data.fee_minor - data.previous_fee_minor,
});

/** Money that came and went, by a second writing of the rules of closed months. */
export const paymentRows: ExpectedModel = {
  name: 'payments',
  tables: [paymentLines, paymentRates, paymentBooks],
  start: (emit) => {
    const open = openBooks();
    const sales = new Map<string, SaleBook>();
    const saleOf = ({ stream, data }: Money | Added | AuditedEventOf<'SaleRateBooked'>): SaleBook => {
      const key = `${stream} ${data.grant_id}`;
      const sale: SaleBook = sales.get(key) ?? { drafts: [], tax: [null, null], rate: [null, null] };
      sales.set(key, sale);
      return sale;
    };
    const draw = (event: Money): void => {
      const sale = saleOf(event);
      const draft = draftOf(event, sale, open.bookedAt(event.data.created_at));
      sale.drafts.push(draft);
      sale.tax = draft.tax;
      sale.rate = draft.rate;
    };
    const follow = byType({
      CreditsGranted: draw,
      CreditsRefunded: draw,
      RefundReversed: draw,
      DisputeChanged: (event) => {
        const { fee_minor, previous_fee_minor, created_at } = event.data;
        if (fee_minor !== previous_fee_minor) emit(paymentLines, feeLine(event, open.bookedAt(created_at)));
      },
      SaleDetailsAdded: (event) => addFacts(saleOf(event), event, open),
      SaleRateBooked: (event) => {
        const { position, stream, data } = event;
        const { grant_id: sale_id, fx_rate_to_usd, fx_rate_date, created_at } = data;
        const sale = saleOf(event);
        sale.rate = [fx_rate_to_usd, fx_rate_date];
        const opens_at = open.opensAt() ?? '';
        for (const draft of sale.drafts) if (draft.head.booked_at >= opens_at) draft.rate = sale.rate;
        emit(paymentRates, {
          position,
          tenant_id: accountOf(stream) ?? '',
          sale_id,
          fx_rate_to_usd,
          fx_rate_date,

          opens_at,
          booked_at: open.bookedAt(created_at),
        });
      },
    });
    const apply = (event: AuditedEvent): void => {
      open.see(event);
      follow(event);
    };
    const finish = (): void => {
      for (const { drafts } of sales.values()) for (const draft of drafts) emit(paymentLines, rowOf(draft));
      const opens_at = open.opensAt();
      if (opens_at !== undefined) emit(paymentBooks, { stream: 'books', opens_at });
    };
    return { apply, finish };
  },
};
