import fc from 'fast-check';
import type { AccountCommand } from '../../../domain/account/messages.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import {
  adjust,
  charge,
  dispute,
  hold,
  open,
  receive,
  refund,
  release,
  reverse,
  sell,
  send,
  setPlan,
  settle,
  tellDispute,
  tellMore,
} from './moneyCommands.ts';

/** Few identities and round amounts, so that repeats, clashes and exact remainders are frequent. */
const provider = fc.constantFrom('stripe', 'Stripe', 'manual');
const providerTxn = fc.constantFrom('t1', 't2', 't3', 't4', 't5');
const holdId = fc.constantFrom('h1', 'h2', 'h3', 'h4', 'h5', 'h6');
const key = fc.constantFrom('k1', 'k2', 'k3');
const money = fc.constantFrom(0, 1, 19, 50, 100, 119, 238, 333, 1_000);
const count = fc.constantFrom(1, 10, 40, 99, 100, 400, 1_000, 2_000);

const sale = fc
  .record({ provider, provider_txn_id: providerTxn, credits: count, gross: money, vat: money, fee: money })
  .chain((sold) =>
    fc.record({
      sold: fc.constant(sold),
      priced: fc.boolean(),
      eur: fc.boolean(),
      bonus: fc.constantFrom(0, 0, 0, 40),
    }),
  )
  .map(({ sold: { gross, vat, fee, credits, ...identity }, priced, eur, bonus }) =>
    sell({
      ...identity,
      credits: asCredits(credits + bonus),
      ...(bonus === 0 ? {} : { bonus_credits: asCredits(bonus) }),
      currency: eur ? 'EUR' : 'USD',
      gross_amount_minor: priced ? gross : null,
      vat_amount_minor: priced ? Math.min(vat, gross) : 0,
      provider_fee_minor: priced ? Math.min(fee, gross) : 0,
    }),
  );

const facts = fc
  .record({
    payment: fc.record({ provider, provider_txn_id: providerTxn }),
    fee: fc.constantFrom(0, 1, 19),
    vat: fc.constantFrom(0, 0, 19, 50),
    payout_id: fc.constantFrom(undefined, 'po_1', 'po_2'),
  })
  .map(({ payment, fee, vat, payout_id }) =>
    tellMore(
      { provider_fee_minor: fee, vat_amount_minor: vat, ...(payout_id === undefined ? {} : { payout_id }) },
      payment,
    ),
  );

const refunds = fc
  .record({
    provider,
    provider_txn_id: fc.constantFrom('t1', 't2', 'r1', 'r2', 'r3', 'r4'),
    original_provider: provider,
    original_provider_txn_id: providerTxn,
    credits: fc.option(fc.oneof(count, fc.constant(0)), { nil: null }),
    currency: fc.constantFrom(null, null, 'EUR', 'USD'),
    gross_amount_minor: fc.option(money, { nil: null }),
    vat_amount_minor: fc.option(money, { nil: null, freq: 1 }),
    provider_fee_minor: fc.constantFrom(0, 0, 0, 1, 19, null),
  })
  .map(({ credits, ...rest }) => refund({ ...rest, credits: credits === null ? null : asCredits(credits) }));

const reversals = fc
  .record({
    provider,
    provider_txn_id: fc.constantFrom('r1', 'v1', 'v2', 'v3', 'v4', 'v5'),
    refund_provider_txn_id: fc.constantFrom('r1', 'r2', 'r3', 'r4', 't2'),
    credits: fc.option(fc.oneof(count, fc.constant(0)), { nil: null }),
    gross_amount_minor: fc.option(money, { nil: null }),
  })
  .map(({ credits, ...rest }) => reverse({ ...rest, credits: credits === null ? null : asCredits(credits) }));

const statuses = fc.constantFrom('opened' as const, 'won' as const, 'lost' as const);
const disputeFee = fc.constantFrom(0, 0, 15, 20);
const disputed = fc.option(money, { nil: null });

const disputes = fc
  .record({
    provider,
    provider_txn_id: fc.constantFrom('d1', 'd2', 'r1', 't2'),
    original_provider: provider,
    original_provider_txn_id: providerTxn,
    status: statuses,
    fee_minor: disputeFee,
    gross_amount_minor: disputed,
  })
  .map(({ status, fee_minor, ...rest }) => dispute({ status, fee_minor }, rest));

const disputeNews = fc
  .record({
    provider,
    provider_txn_id: fc.constantFrom('d1', 'd1', 'd2', 'r1'),
    status: statuses,
    fee_minor: disputeFee,
    gross_amount_minor: disputed,
  })
  .map(({ status, ...rest }) => tellDispute(status, rest));

const sends = fc
  .record({
    credits: fc.option(count, { nil: null }),
    idempotency_key: fc.constantFrom('s1', 's2', 's3', null),
    to_tenant_id: fc.constantFrom('other', 'other', 'third'),
  })
  .map(({ credits, ...rest }) => send(credits, rest));

const receipts = fc.tuple(count, fc.constantFrom('trf_1', 'trf_2', 'trf_3')).map((of) => receive(...of));

const adjustments = fc
  .record({
    credits: fc.constantFrom(-1_000, -100, -1, 1, 50, 500, 2_000),
    idempotency_key: fc.option(key, { nil: null }),
    allow_negative: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  .map(({ credits, ...rest }) => adjust(credits, rest));

const holds = fc
  .record({
    hold_id: holdId,
    pages: fc.integer({ min: 0, max: 40 }),
    rate: fc.constantFrom(2, 10, 40),
    byok: fc.boolean(),
    free_pages_allowance: fc.constantFrom(50, 50, 50, 20, 0),
    operation: fc.option(fc.constantFrom('o1', 'o2', 'o3'), { nil: null }),
  })
  .map(({ hold_id, pages, rate, byok, free_pages_allowance, operation }) =>
    hold(pages, {
      hold_id,
      operation_id: operation ?? `ext_${hold_id}`,
      credits_per_page: asCredits(rate),
      billing_type: byok ? 'byok' : 'full_service',
      free_pages_allowance,
    }),
  );

const settles = fc
  .record({ hold_id: holdId, pages: fc.integer({ min: 0, max: 42 }), other: fc.boolean() })
  .map(({ hold_id, pages, other }) =>
    settle(pages, { hold_id, usage_id: `use_${hold_id}${other ? '_other' : ''}` }),
  );

const charges = fc
  .record({ idempotency_key: key, credits: count, paid_plan_required: fc.boolean() })
  .map(({ credits, ...rest }) => charge(credits, rest));

/** Any command of an account. */
export const anyCommand: fc.Arbitrary<AccountCommand> = fc.oneof(
  { weight: 4, arbitrary: sale },
  { weight: 2, arbitrary: facts },
  { weight: 5, arbitrary: refunds },
  { weight: 4, arbitrary: reversals },
  { weight: 4, arbitrary: disputes },
  { weight: 4, arbitrary: disputeNews },
  { weight: 2, arbitrary: sends },
  { weight: 2, arbitrary: receipts },
  { weight: 3, arbitrary: adjustments },
  { weight: 5, arbitrary: holds },
  { weight: 5, arbitrary: settles },
  { weight: 2, arbitrary: holdId.map((hold_id) => release({ hold_id })) },
  { weight: 2, arbitrary: charges },
  { weight: 1, arbitrary: fc.constantFrom('free', 'paid', 'enterprise').map((plan) => setPlan(plan)) },
  { weight: 1, arbitrary: fc.constant(open()) },
);

/** A sale and a refund of part of it, which reversals find. */
const begun: readonly AccountCommand[] = [
  sell({ provider_txn_id: 't1' }),
  refund({ provider_txn_id: 'r1', original_provider_txn_id: 't1', gross_amount_minor: 333 }),
];

/** A history: commands as they arrive, many of which will be refused. */
export const anyHistory = fc
  .tuple(fc.constantFrom([], begun), fc.array(anyCommand, { maxLength: 40 }))
  .map(([first, rest]) => [...first, ...rest]);
