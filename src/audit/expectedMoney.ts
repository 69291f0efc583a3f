import {
  accountOf,
  type AuditedEvent,
  type AuditedEventOf,
  byType,
  type Emit,
  type ExpectedModel,
  type ExpectedRow,
  type ExpectedSum,
  type Handlers,
  keptRows,
  noneOf,
} from './auditedEvent.ts';
import { balances, openHolds } from '../../projections/balances.ts';
import { noSums } from '../../projections/engine/table.ts';
import { paymentStream } from '../../domain/account/messages.ts';
import { grants } from '../../projections/grants.ts';
import { openClaims, openTransfers } from '../../projections/openClaims.ts';
import { ledger, ledgerBlocks } from '../../projections/ledger.ts';
import { atScale, parseDecimal } from '../../domain/kernel/amounts.ts';
import { freeOperations, llmCostDays, llmCosts, modelPrices } from '../../projections/llmCosts.ts';

type BalanceRow = ExpectedSum<typeof balances>;

const timeOf = ({ type, data }: AuditedEvent): string => {
  if (type === 'PlanSet') return data.set_at;
  if (type === 'HoldReleased') return data.released_at;
  return 'created_at' in data ? data.created_at : '';
};

const newRow = (tenant_id: string, at: string): BalanceRow => ({
  ...noSums(balances.columns),
  tenant_id,
  plan: null,
  created_at: at,
  last_activity_at: at,
  last_used_at: null,
});

/** Totals of all tenants by event; also what balances at a moment are made of. */
export const balanceTotals = (emit: Emit = () => undefined) => {
  const rows = keptRows<typeof balances, BalanceRow>(balances, emit);
  const holds = keptRows(openHolds, emit);

  const close = (row: BalanceRow, holdId: string | null): void => {
    const hold = holds.take(`${row.tenant_id} ${holdId ?? ''}`);
    row.held_credits -= BigInt(hold?.credits ?? 0);
    row.free_pages_held -= BigInt(hold?.free_pages ?? 0);
  };
  const grant = (row: BalanceRow, credits: bigint): void => {
    row.purchased_credits += credits;
    row.grants_count += 1n;
  };
  // Whatever else an account's stream holds (budgets, facts of sales that became known later) moves no credits.
  const moves: Handlers<[BalanceRow]> = {
    AccountOpened: (_, row) => void (row.plan = 'free'),
    PlanSet: ({ data }, row) => void (row.plan = data.plan),
    CreditsGranted: ({ data }, row) => grant(row, BigInt(data.credits)),
    CreditsRefunded: ({ data }, row) => grant(row, -BigInt(data.credits)),
    RefundReversed: ({ data }, row) => grant(row, BigInt(data.credits)),
    CreditsTransferredOut: ({ data }, row) => void (row.adjusted_credits -= BigInt(data.credits)),
    CreditsTransferredIn: ({ data }, row) => void (row.adjusted_credits += BigInt(data.credits)),
    CreditsAdjusted: ({ data }, row) => void (row.adjusted_credits += BigInt(data.credits)),
    CreditsHeld: ({ data }, row) => {
      holds.set(`${row.tenant_id} ${data.hold_id}`, { ...data, tenant_id: row.tenant_id });
      row.held_credits += BigInt(data.credits);
      row.free_pages_held += BigInt(data.free_pages);
    },
    HoldReleased: ({ data }, row) => close(row, data.hold_id),
    CreditsBurned: ({ data }, row) => {
      row.used_credits += BigInt(data.credits);
      row.free_pages_used += BigInt(data.free_pages);
      row.last_used_at = data.created_at;
      close(row, data.hold_id);
    },
  };
  const move = byType<[BalanceRow]>(moves);
  return {
    rows: rows.values,
    apply: (event: AuditedEvent): void => {
      const tenant = accountOf(event.stream);
      if (tenant === undefined || !Object.hasOwn(moves, event.type)) return;
      const row = rows.at(tenant, () => newRow(tenant, timeOf(event)));
      row.last_activity_at = timeOf(event);
      move(event, row);
      row.balance_credits = row.purchased_credits + row.adjusted_credits - row.used_credits;
    },
    finish: (): void => {
      rows.emitAll();
      holds.emitAll();
    },
  };
};

/** Balances and open holds. */
export const balanceRows: ExpectedModel = {
  name: 'balances',
  tables: [balances, openHolds],
  start: balanceTotals,
};

type Moved = AuditedEventOf<'CreditsGranted' | 'CreditsRefunded' | 'RefundReversed'>;

const moneyOf = ({ stream, position, data }: Moved) => ({
  ...noneOf(grants.columns),
  tenant_id: accountOf(stream) ?? '',
  position,
  net_amount_minor: data.gross_amount_minor === null ? null : data.gross_amount_minor - data.vat_amount_minor,
  refunded_credits: 0n,
  refunded_amount_minor: 0n,
  bonus_credits: 0,
  discount_minor: 0,
  dispute_fee_minor: 0,
});

const soldGrant = (event: AuditedEventOf<'CreditsGranted'>) => ({
  ...moneyOf(event),
  ...event.data,
  bonus_credits: event.data.bonus_credits ?? 0,
  discount_minor: event.data.discount_minor ?? 0,
  discount_code: event.data.discount_code ?? null,
  payout_id: event.data.payout_id ?? null,
  tax_rate: event.data.tax_rate ?? null,
  tax_country: event.data.tax_country ?? null,
  kind: 'sale',
});

type Sold =
  | Pick<ReturnType<typeof soldGrant>, 'price_list_version' | 'fx_rate_to_usd' | 'fx_rate_date'>
  | undefined;

const reversedGrant = (event: AuditedEventOf<'RefundReversed'>, sale: Sold): ExpectedRow<typeof grants> => ({
  ...moneyOf(event),
  ...event.data,
  grant_id: event.data.reversal_id,
  kind: 'reversal',
  original_grant_id: event.data.grant_id,
  price_list_version: sale?.price_list_version ?? null,
  fx_rate_to_usd: sale?.fx_rate_to_usd ?? null,
  fx_rate_date: sale?.fx_rate_date ?? null,
});

type News = Pick<AuditedEventOf<'DisputeChanged'>['data'], 'status' | 'fee_minor'>;

const asDispute = (of: News | undefined) =>
  of === undefined
    ? { kind: 'refund', dispute_status: null, dispute_fee_minor: 0 }
    : { kind: 'dispute', dispute_status: of.status, dispute_fee_minor: of.fee_minor };

/** Price list and rate are those of the sale. `dispute`: the last that is known of it. */
const refundedGrant = (
  event: AuditedEventOf<'CreditsRefunded'>,
  sale: Sold,
  dispute: News | undefined,
): ExpectedRow<typeof grants> => ({
  ...moneyOf(event),
  ...event.data,
  refund_id: null,
  grant_id: event.data.refund_id,
  ...asDispute(dispute),
  credits: 0 - event.data.credits,
  original_grant_id: event.data.grant_id,
  price_list_version: sale?.price_list_version ?? null,
  fx_rate_to_usd: sale?.fx_rate_to_usd ?? null,
  fx_rate_date: sale?.fx_rate_date ?? null,
});

/** Sales with what of them was refunded, and refunds. */
export const grantRows: ExpectedModel = {
  name: 'grants',
  tables: [grants],
  start: (emit) => {
    const sales = keptRows<typeof grants, ReturnType<typeof soldGrant>>(grants, emit);
    /** Their rate is that of their sale, which may be corrected after them. */
    const refunds: (() => ExpectedRow<typeof grants>)[] = [];
    const news = new Map<string, News>();
    const apply = byType({
      CreditsGranted: (event) => sales.set(`${event.stream} ${event.data.grant_id}`, soldGrant(event)),
      SaleDetailsAdded: ({ stream, data: { grant_id, details } }) => {
        const sale = sales.get(`${stream} ${grant_id}`);
        if (sale === undefined) return;
        const { vat_amount_minor: vat = 0, provider_fee_minor: fee = 0, ...told } = details;
        Object.assign(sale, told);
        sale.vat_amount_minor += vat;
        sale.provider_fee_minor += fee;
        if (sale.net_amount_minor !== null) sale.net_amount_minor -= vat;
      },
      SaleRateBooked: ({ stream, data: { grant_id, fx_rate_to_usd, fx_rate_date } }) => {
        const sale = sales.get(`${stream} ${grant_id}`);
        if (sale !== undefined) Object.assign(sale, { fx_rate_to_usd, fx_rate_date });
      },
      CreditsRefunded: (event) => {
        const sale = sales.get(`${event.stream} ${event.data.grant_id}`);
        if (sale !== undefined) {
          sale.refunded_credits += BigInt(event.data.credits);
          sale.refunded_amount_minor += BigInt(event.data.gross_amount_minor);
        }
        const { refund_id, dispute } = event.data;
        refunds.push(() => refundedGrant(event, sale, news.get(`${event.stream} ${refund_id}`) ?? dispute));
      },
      DisputeChanged: ({ stream, data }) => void news.set(`${stream} ${data.refund_id}`, data),
      RefundReversed: (event) => {
        const sale = sales.get(`${event.stream} ${event.data.grant_id}`);
        if (sale !== undefined) {
          sale.refunded_credits -= BigInt(event.data.credits);
          sale.refunded_amount_minor -= BigInt(event.data.gross_amount_minor);
        }
        refunds.push(() => reversedGrant(event, sale));
      },
    });
    const finish = (): void => {
      for (const row of refunds) emit(grants, row());
      sales.emitAll();
    };
    return { apply, finish };
  },
};

/** Claims without an effect or a release, and transfers on their way. */
export const openClaimRows: ExpectedModel = {
  name: 'open_claims',
  tables: [openClaims, openTransfers],
  start: (emit) => {
    const claims = keptRows(openClaims, emit);
    const transfers = keptRows(openTransfers, emit);
    const end = ({ data }: Moved) => void claims.take(paymentStream(data));
    const apply = byType({
      PaymentClaimed: ({ stream, data: { tenant_id, kind, claimed_at } }) =>
        claims.set(stream, { stream, tenant_id, kind, claimed_at }),
      PaymentReleased: ({ stream }) => void claims.take(stream),
      CreditsGranted: end,
      CreditsRefunded: end,
      RefundReversed: end,
      CreditsTransferredOut: ({ stream, data: { transfer_id, to_tenant_id, credits, created_at } }) => {
        const from_tenant_id = accountOf(stream) ?? '';
        transfers.set(transfer_id, { transfer_id, from_tenant_id, to_tenant_id, credits, created_at });
      },
      CreditsTransferredIn: ({ data }) => void transfers.take(data.transfer_id),
    });
    const finish = (): void => {
      claims.emitAll();
      transfers.emitAll();
    };
    return { apply, finish };
  },
};

type Granted = AuditedEventOf<'CreditsGranted'>;
type Refunded = AuditedEventOf<'CreditsRefunded'>;
type Reversed = AuditedEventOf<'RefundReversed'>;
type Sent = AuditedEventOf<'CreditsTransferredOut'>;
type Received = AuditedEventOf<'CreditsTransferredIn'>;
type Burned = AuditedEventOf<'CreditsBurned'>;

type Posting = Omit<ExpectedRow<typeof ledger>, 'ordinal'>;

/** What every posting has; a burn fills in the rest. */
const posting = (
  event: Granted | Refunded | Reversed | Sent | Received | AuditedEventOf<'CreditsAdjusted'> | Burned,
  of: { readonly id: string; readonly kind: string; readonly credits_delta: number },
): Posting => ({
  ...noneOf(ledger.columns),
  tenant_id: accountOf(event.stream) ?? '',
  position: event.position,
  part: 1,
  pages: 0,
  free_pages: 0,
  balance_after: event.data.balance_after,
  created_at: event.data.created_at,
  ...of,
});

const money = ({ data }: Granted | Refunded | Reversed, grant_id: string): Record<string, unknown> => ({
  grant_id,
  currency: data.currency,
  gross_amount_minor: data.gross_amount_minor,
  vat_amount_minor: data.vat_amount_minor,
  provider_fee_minor: data.provider_fee_minor,
  net_amount_minor: data.gross_amount_minor === null ? null : data.gross_amount_minor - data.vat_amount_minor,
  provider: data.provider,
  provider_txn_id: data.provider_txn_id,
  occurred_at: data.occurred_at,
});

const saleRow = (event: Granted): Posting => {
  const { grant_id, credits, price_list_version, invoice_ref } = event.data;
  return {
    ...posting(event, { id: grant_id, kind: 'sale', credits_delta: credits }),
    details: { ...money(event, grant_id), price_list_version, invoice_ref },
  };
};

const refundRow = (event: Refunded): Posting => {
  const { refund_id, grant_id, credits, reason } = event.data;
  return {
    ...posting(event, { id: refund_id, kind: 'refund', credits_delta: 0 - credits }),
    details: { ...money(event, refund_id), original_grant_id: grant_id, reason },
  };
};

const reversalRow = (event: Reversed): Posting => {
  const { reversal_id, refund_id, grant_id, credits, reason } = event.data;
  return {
    ...posting(event, { id: reversal_id, kind: 'reversal', credits_delta: credits }),
    details: { ...money(event, reversal_id), original_grant_id: grant_id, refund_id, reason },
  };
};

const sentRow = (event: Sent): Posting => {
  const { transfer_id, to_tenant_id, credits, reason } = event.data;
  return {
    ...posting(event, { id: transfer_id, kind: 'transfer_out', credits_delta: 0 - credits }),
    details: { other_tenant_id: to_tenant_id, reason },
  };
};

const receivedRow = (event: Received): Posting => {
  const { transfer_id, from_tenant_id, credits } = event.data;
  return {
    ...posting(event, { id: transfer_id, kind: 'transfer_in', credits_delta: credits }),
    details: { other_tenant_id: from_tenant_id },
  };
};

const adjustmentRow = (event: AuditedEventOf<'CreditsAdjusted'>): Posting => {
  const { adjustment_id, credits, reason, allow_negative } = event.data;
  return {
    ...posting(event, { id: adjustment_id, kind: 'admin_adjustment', credits_delta: credits }),
    category: 'adjustment',
    details: { reason, allow_negative, actor: event.metadata['actor'] ?? null },
  };
};

/** Free pages are a row of their own, without credits, before the paid ones. */
const usageInLedger = (event: Burned): readonly Posting[] => {
  const { data } = event;
  const paid = data.pages - data.free_pages;
  const shared = {
    ...posting(event, { id: data.usage_id, kind: 'usage', credits_delta: 0 - data.credits }),
    ...data,
    completion_window: data.completion_window ?? null,
    tags: data.tags ?? null,
    free_pages: 0,
  };
  const free = {
    ...shared,
    part: 0,
    id: paid === 0 ? data.usage_id : `${data.usage_id}_free`,
    pages: data.free_pages,
    free_pages: data.free_pages,
    credits_delta: 0,
    balance_after: data.balance_after + data.credits,
  };
  const rest = { ...shared, pages: paid };
  if (data.free_pages === 0) return [rest];
  return paid === 0 ? [free] : [free, rest];
};

/** Rows of a tenant that one row of `ledger_blocks` counts. */
const BLOCK_ROWS = 4096;

type BlockRow = ExpectedSum<typeof ledgerBlocks>;

/** The ledger, its rows numbered by tenant, and its counts by block. */
export const ledgerRows: ExpectedModel = {
  name: 'ledger',
  tables: [ledger, ledgerBlocks],
  start: (emit) => {
    const blocks = keptRows<typeof ledgerBlocks, BlockRow>(ledgerBlocks, emit);
    const next = new Map<string, number>();
    const addToBlock = (row: Posting, ordinal: number): void => {
      const { tenant_id, kind, created_at: at } = row;
      const [block, place, operation] = [
        Math.floor(ordinal / BLOCK_ROWS),
        BigInt(ordinal),
        row.operation ?? '',
      ];
      const count = blocks.at(`${tenant_id} ${block} ${kind} ${operation}`, () => ({
        tenant_id,
        block: BigInt(block),
        kind,
        operation,
        rows: 0n,
        first_ordinal: place,
        last_ordinal: place,
        first_created_at: at,
        last_created_at: at,
      }));
      count.rows += 1n;
      count.last_ordinal = place;
      if (at < count.first_created_at) count.first_created_at = at;
      if (at > count.last_created_at) count.last_created_at = at;
    };
    const add = (row: Posting): void => {
      const ordinal = next.get(row.tenant_id) ?? 0;
      next.set(row.tenant_id, ordinal + 1);
      emit(ledger, { ...row, ordinal });
      addToBlock(row, ordinal);
    };
    const apply = byType({
      CreditsGranted: (event) => add(saleRow(event)),
      CreditsRefunded: (event) => add(refundRow(event)),
      RefundReversed: (event) => add(reversalRow(event)),
      CreditsTransferredOut: (event) => add(sentRow(event)),
      CreditsTransferredIn: (event) => add(receivedRow(event)),
      CreditsAdjusted: (event) => add(adjustmentRow(event)),
      CreditsBurned: (event) => usageInLedger(event).forEach(add),
    });
    return { apply, finish: blocks.emitAll };
  },
};

export type Logged = AuditedEventOf<'LlmCostLogged'>;
export type Priced = AuditedEventOf<'ProviderPricePublished' | 'ModelPriceSet'>;

/** Decimals of a USD amount that one pico-USD is. */
export const PICO = 12;
/** Decimals that a price per million tokens has at most: one of them is a pico-USD a token. */
const PER_MILLION = 6;

const picoOf = (usd: string, scale: number): bigint => atScale(parseDecimal(usd), scale);
/** US dollars as 10^−scale of a dollar; null of nothing. */
export const inPico = (usd: string | null, scale: number): bigint | null =>
  usd === null ? null : picoOf(usd, scale);

const callRow = ({ data, position }: Logged) => ({
  ...data,
  position,
  cost_pico: inPico(data.cost_usd, PICO),
});

/** A published price, in pico-USD. */
export const priceRow = ({ type, data, position }: Priced) => {
  const { input_usd_per_million_tokens, output_usd_per_million_tokens, usd_per_page } = data;
  const { cached_input_usd_per_million_tokens } = data;
  const isProviders = type === 'ProviderPricePublished';
  return {
    price_id: data.price_id,
    position,
    provider: isProviders ? data.provider : null,
    model_name: data.model_name,
    input_pico: picoOf(input_usd_per_million_tokens, PER_MILLION),
    output_pico: picoOf(output_usd_per_million_tokens, PER_MILLION),
    cached_input_pico: inPico(cached_input_usd_per_million_tokens, PER_MILLION),
    page_pico: inPico(usd_per_page, PICO),
    prices: {
      input_usd_per_million_tokens,
      output_usd_per_million_tokens,
      cached_input_usd_per_million_tokens,
      usd_per_page,
    },
    effective_from: isProviders ? data.effective_from : data.updated_at,
    created_at: isProviders ? data.created_at : data.updated_at,
  };
};

type CostDay = ExpectedSum<typeof llmCostDays>;

/** Calls of models, their sums by day, prices, and operations with free pages. */
export const llmCostRows: ExpectedModel = {
  name: 'llm_costs',
  tables: [llmCosts, llmCostDays, modelPrices, freeOperations],
  start: (emit) => {
    const days = keptRows<typeof llmCostDays, CostDay>(llmCostDays, emit);
    /** Only calls with a cost in their event are summed up; the others are priced when they are read. */
    const addToDay = ({ data }: Logged): void => {
      const cost = inPico(data.cost_usd, PICO);
      if (cost === null) return;
      const { tenant_id, operation, provider, model_name, billing_type, free_tier } = data;
      const day = data.occurred_at.slice(0, 10);
      const dimensions = { day, tenant_id, operation, provider, model_name, billing_type, free_tier };
      const sums = days.at(JSON.stringify(Object.values(dimensions)), () => ({
        ...dimensions,
        ...noSums(llmCostDays.columns),
      }));
      sums.calls += 1n;
      sums.input_tokens += BigInt(data.input_tokens);
      sums.output_tokens += BigInt(data.output_tokens);
      sums.cost_pico += cost;
    };
    const addPrice = (event: Priced) => emit(modelPrices, priceRow(event));
    const apply = byType({
      LlmCostLogged: (event) => {
        emit(llmCosts, callRow(event));
        addToDay(event);
      },
      ProviderPricePublished: addPrice,
      ModelPriceSet: addPrice,
      CreditsBurned: ({ stream, position, data: { operation_id, pages, free_pages, created_at } }) => {
        const operation = { tenant_id: accountOf(stream) ?? '', operation_id, position };
        if (free_pages > 0) emit(freeOperations, { ...operation, pages, free_pages, created_at });
      },
    });
    return { apply, finish: days.emitAll };
  },
};
