import { Map as ImmutableMap } from 'immutable';
import { type Credits, minus, NO_CREDITS, plus } from '../kernel/amounts.ts';
import {
  type Budgets,
  type BudgetState,
  budgetAlertTold,
  budgetPut,
  budgetRefusalTold,
  budgetsFreed,
  budgetsHeld,
  budgetsUsed,
  budgetTaken,
  counts,
} from './budgetTotals.ts';
import { type AccountEvent, type AccountEventOf, paymentKey, type Plan } from './messages.ts';
import { type CommandMeta, type EarlierEvents, EventsNeeded } from '../kernel/decider.ts';
import {
  allKept,
  type History,
  keep,
  type Kept,
  KEPT_MAX,
  keptAt,
  NO_HISTORY,
  nothingKept,
  revisionsOf,
  withNext,
} from '../kernel/history.ts';

type Data<Type extends AccountEvent['type']> = AccountEventOf<Type>['data'];

/** A sale and what of it was refunded so far, less what of the refunds was reversed. */
export interface SaleState {
  readonly sale: Data<'CreditsGranted'>;
  readonly refunded_credits: Credits;
  readonly refunded_gross_minor: number;
  readonly refunded_vat_minor: number;
  readonly refunded_fee_minor: number;
  /** Of its refunds. */
  readonly reversals: readonly Data<'RefundReversed'>[];
}

/** Operations that are remembered after their hold was closed: enough for the retries of any client. */
export const CLOSED_OPERATIONS_MAX = 1_000;

/** In the place of a hold: there was one, and it was released. */
export const RELEASED = '';

/**
 * What an account remembers in order to decide. Persistent maps: a batch is decided on successors of
 * one state, and the old state stays valid when the append conflicts. Keys of `sales`, `refunds` and
 * `reversals` are payment keys (`payment/identity.ts`), of `holds` hold IDs, of the others idempotency keys.
 * Sales, refunds, adjustments and charges are those of late and those that were read again: `history` knows where all
 * of them are in the log, so none takes effect twice. Ask by `paymentAt`, `saleOfGrant` and the like, never the maps.
 */
export interface AccountState {
  readonly opened: boolean;
  readonly tenant_id: string | null;
  readonly plan: Plan;
  readonly balance: Credits;
  readonly held: Credits;
  readonly purchased: Credits;
  readonly adjusted: Credits;
  readonly used: Credits;
  readonly free_pages_used: number;
  readonly free_pages_held: number;
  readonly hasSales: boolean;
  /** Whether credits ever left for another tenant. */
  readonly hasSent: boolean;
  readonly history: History;
  /** Each with all that was refunded of it. */
  readonly sales: Kept<SaleState>;
  /** Payment key of a sale by its grant ID. */
  readonly saleKeys: Kept<string>;
  readonly refunds: Kept<Data<'CreditsRefunded'>>;
  readonly reversals: Kept<Data<'RefundReversed'>>;
  /** Those sent by idempotency key, and those received by ID. */
  readonly sent: Kept<Data<'CreditsTransferredOut'>>;
  readonly received: Kept<Data<'CreditsTransferredIn'>>;
  readonly adjustments: Kept<Data<'CreditsAdjusted'>>;
  readonly charges: Kept<Data<'CreditsBurned'>>;
  /** Names of events that were read again, by revision. */
  readonly recalled: ImmutableMap<number, readonly string[]>;
  readonly holds: ImmutableMap<string, Data<'CreditsHeld'>>;
  /**
   * Hold of each operation that has an open one (the latest, if it has several) or was billed lately; `RELEASED` of one
   * that was given up lately.
   */
  readonly operations: ImmutableMap<string, string>;
  /** The operations whose hold was settled or released last, in a ring of `CLOSED_OPERATIONS_MAX`, by place. */
  readonly closed: ImmutableMap<string, string>;
  /** Holds closed so far. */
  readonly closed_count: number;
  readonly budgets: Budgets;
}

export const NEW_ACCOUNT: AccountState = {
  opened: false,
  tenant_id: null,
  plan: 'free',
  balance: NO_CREDITS,
  held: NO_CREDITS,
  purchased: NO_CREDITS,
  adjusted: NO_CREDITS,
  used: NO_CREDITS,
  free_pages_used: 0,
  free_pages_held: 0,
  hasSales: false,
  hasSent: false,
  history: NO_HISTORY,
  sales: nothingKept(),
  saleKeys: nothingKept(),
  refunds: nothingKept(),
  reversals: nothingKept(),
  sent: nothingKept(),
  received: nothingKept(),
  adjustments: nothingKept(),
  charges: nothingKept(),
  recalled: ImmutableMap(),
  holds: ImmutableMap(),
  operations: ImmutableMap(),
  closed: ImmutableMap(),
  closed_count: 0,
  budgets: [],
};

/** Credits that a command may take: balance − open holds. */
export const availableIn = (state: AccountState): Credits => minus(state.balance, state.held);

const paymentName = (key: string): string => `payment ${key}`;
const grantName = (grantId: string): string => `grant ${grantId}`;
const adjustmentName = (key: string): string => `adjustment ${key}`;
const sentName = (key: string): string => `sent ${key}`;
const receivedName = (id: string): string => `received ${id}`;
const chargeName = (key: string): string => `charge ${key}`;
const exportName = (jobId: string): string => `export ${jobId}`;

const NAMELESS: readonly string[] = [];

const keyed = (
  name: (key: string) => string,
  { idempotency_key: key }: { readonly idempotency_key: string | null },
): readonly string[] => (key === null ? NAMELESS : [name(key)]);

/** Later facts have the name of their sale, and a transfer that arrived has its own. */
const namedBy = (data: AccountEvent['data']): readonly string[] => {
  if ('from_tenant_id' in data) return [receivedName(data.transfer_id)];
  return 'grant_id' in data ? [grantName(data.grant_id)] : NAMELESS;
};

/** What a later decision finds an event by. A sale, its later facts, its refunds and their reversals share a name. */
const namesOf = ({ type, data }: AccountEvent): readonly string[] => {
  switch (type) {
    case 'CreditsGranted':
    case 'CreditsRefunded':
    case 'DisputeChanged':
      return [paymentName(paymentKey(data)), grantName(data.grant_id)];
    case 'RefundReversed':
      return isOfDispute(data)
        ? [grantName(data.grant_id)]
        : [paymentName(paymentKey(data)), grantName(data.grant_id)];
    case 'CreditsTransferredOut':
      return keyed(sentName, data);
    case 'CreditsAdjusted':
      return keyed(adjustmentName, data);
    case 'CreditsBurned':
      return isExport(data) ? [...keyed(chargeName, data), exportName(data.job_id)] : keyed(chargeName, data);
    default:
      return namedBy(data);
  }
};

/** Whether a dispute was won by it: then its transaction is that of the dispute, which is found by it. */
const isOfDispute = ({ dispute }: Data<'RefundReversed'>): boolean => dispute === true;

const isExport = (burn: Data<'CreditsBurned'>): burn is Data<'CreditsBurned'> & { readonly job_id: string } =>
  burn.operation === 'examples_export' && burn.job_id !== null;

/** Whether the last event of the account is found by its names. */
export const isNoted = ({ history }: AccountState, event: AccountEvent): boolean =>
  namesOf(event).every((name) => revisionsOf(history, name).includes(history.events - 1));

/**
 * What is kept under a name; undefined: the account never had it. Throws EventsNeeded for an event that may have the
 * name and is not kept: it has to be read again first.
 */
const found = <T>({ history, recalled }: AccountState, name: string, kept: T | undefined): T | undefined => {
  if (kept !== undefined) return kept;
  const unread = revisionsOf(history, name).filter(
    (revision) => recalled.get(revision)?.includes(name) !== false,
  );
  if (unread.length > 0) throw new EventsNeeded(unread);
  return undefined;
};

interface PaymentMade {
  readonly sale?: SaleState;
  readonly refund?: Data<'CreditsRefunded'>;
  readonly reversal?: Data<'RefundReversed'>;
}

const paymentKept = (state: AccountState, key: string): PaymentMade | undefined => {
  const sale = keptAt(state.sales, key);
  if (sale !== undefined) return { sale };
  const refund = keptAt(state.refunds, key);
  if (refund !== undefined) return { refund };
  const reversal = keptAt(state.reversals, key);
  return reversal && { reversal };
};

/** The sale, refund or reversal of this account under a payment key. Throws EventsNeeded. */
export const paymentAt = (state: AccountState, key: string): PaymentMade | undefined =>
  found(state, paymentName(key), paymentKept(state, key));

/** The sale with this grant ID. Throws EventsNeeded. */
export const saleOfGrant = (state: AccountState, grantId: string): SaleState | undefined =>
  found(state, grantName(grantId), keptAt(state.sales, keptAt(state.saleKeys, grantId) ?? ''));

/** A refund of this account, and its sale as it is now. Throws EventsNeeded. */
export const refundAt = (
  state: AccountState,
  key: string,
): { readonly refund: Data<'CreditsRefunded'>; readonly of: SaleState } | undefined => {
  const refund = paymentAt(state, key)?.refund;
  const of = refund && saleOfGrant(state, refund.grant_id);
  return refund && of && { refund, of };
};

/** The adjustment under an idempotency key. Throws EventsNeeded. */
export const adjustmentAt = (state: AccountState, key: string): Data<'CreditsAdjusted'> | undefined =>
  found(state, adjustmentName(key), keptAt(state.adjustments, key));

/** The transfer that was sent under an idempotency key. Throws EventsNeeded. */
export const sentAt = (state: AccountState, key: string): Data<'CreditsTransferredOut'> | undefined =>
  found(state, sentName(key), keptAt(state.sent, key));

/** A transfer that arrived. Throws EventsNeeded. */
export const receivedAt = (state: AccountState, id: string): Data<'CreditsTransferredIn'> | undefined =>
  found(state, receivedName(id), keptAt(state.received, id));

/** The keyed charge under an idempotency key. Throws EventsNeeded. */
export const chargeAt = (state: AccountState, key: string): Data<'CreditsBurned'> | undefined =>
  found(state, chargeName(key), keptAt(state.charges, key));

/** The charge for the export of a job's examples. Throws EventsNeeded. */
export const exportChargeOf = (state: AccountState, jobId: string): Data<'CreditsBurned'> | undefined =>
  found(
    state,
    exportName(jobId),
    [...allKept(state.charges)].find((charge) => isExport(charge) && charge.job_id === jobId),
  );

const withSale = (state: AccountState, sale: SaleState): AccountState => {
  const key = paymentKey(sale.sale);
  return {
    ...state,
    sales: keep(state.sales, key, sale),
    saleKeys: keep(state.saleKeys, sale.sale.grant_id, key),
  };
};

const notRefunded = (sale: Data<'CreditsGranted'>): SaleState => ({
  sale,
  refunded_credits: NO_CREDITS,
  refunded_gross_minor: 0,
  refunded_vat_minor: 0,
  refunded_fee_minor: 0,
  reversals: [],
});

const lessRefund = (of: SaleState, refund: Data<'CreditsRefunded'>): SaleState => ({
  ...of,
  refunded_credits: plus(of.refunded_credits, refund.credits),
  refunded_gross_minor: of.refunded_gross_minor + refund.gross_amount_minor,
  refunded_vat_minor: of.refunded_vat_minor + refund.vat_amount_minor,
  refunded_fee_minor: of.refunded_fee_minor + refund.provider_fee_minor,
});

/** A sale with the facts that became known after it. */
const withDetails = (of: SaleState, { details }: Data<'SaleDetailsAdded'>): SaleState => {
  const { vat_amount_minor, provider_fee_minor, invoice_ref, ...further } = details;
  const { sale } = of;
  const known = {
    vat_amount_minor: vat_amount_minor ?? sale.vat_amount_minor,
    provider_fee_minor: provider_fee_minor ?? sale.provider_fee_minor,
    invoice_ref: invoice_ref ?? sale.invoice_ref,
  };
  return { ...of, sale: { ...sale, ...known, ...further } };
};

const withRate = (of: SaleState, { fx_rate_to_usd, fx_rate_date }: Data<'SaleRateBooked'>): SaleState => ({
  ...of,
  sale: { ...of.sale, fx_rate_to_usd, fx_rate_date },
});

type LaterFacts = AccountEventOf<'SaleDetailsAdded' | 'SaleRateBooked'>;

/** A sale that is not kept is read again with its later facts when somebody asks for it. */
const toldLater = (state: AccountState, { type, data }: LaterFacts): AccountState => {
  const of = keptAt(state.sales, keptAt(state.saleKeys, data.grant_id) ?? '');
  if (of === undefined) return state;
  return withSale(state, type === 'SaleDetailsAdded' ? withDetails(of, data) : withRate(of, data));
};

const plusReversal = (of: SaleState, reversal: Data<'RefundReversed'>): SaleState => ({
  ...of,
  refunded_credits: minus(of.refunded_credits, reversal.credits),
  refunded_gross_minor: of.refunded_gross_minor - reversal.gross_amount_minor,
  refunded_vat_minor: of.refunded_vat_minor - reversal.vat_amount_minor,
  refunded_fee_minor: of.refunded_fee_minor - reversal.provider_fee_minor,
  reversals: [...of.reversals, reversal],
});

const granted = (state: AccountState, sale: Data<'CreditsGranted'>): AccountState => ({
  ...withSale(state, notRefunded(sale)),
  balance: plus(state.balance, sale.credits),
  purchased: plus(state.purchased, sale.credits),
  hasSales: true,
});

/** A sale that is not kept is read again with all its refunds when somebody asks for it. */
const refunded = (state: AccountState, refund: Data<'CreditsRefunded'>): AccountState => {
  const key = keptAt(state.saleKeys, refund.grant_id) ?? '';
  const of = keptAt(state.sales, key);
  if (of === undefined && revisionsOf(state.history, grantName(refund.grant_id)).length === 0)
    throw new Error(`refund ${refund.refund_id} names no sale of this account`);
  return {
    // The sale stays for as long as its refund does.
    ...(of === undefined ? state : withSale(state, lessRefund(of, refund))),
    balance: minus(state.balance, refund.credits),
    purchased: minus(state.purchased, refund.credits),
    refunds: keep(state.refunds, paymentKey(refund), refund),
  };
};

/** As `refunded`, the other way round. */
const reversed = (state: AccountState, reversal: Data<'RefundReversed'>): AccountState => {
  const of = keptAt(state.sales, keptAt(state.saleKeys, reversal.grant_id) ?? '');
  return {
    ...(of === undefined ? state : withSale(state, plusReversal(of, reversal))),
    balance: plus(state.balance, reversal.credits),
    purchased: plus(state.purchased, reversal.credits),
    reversals: reversalsWith(state, reversal),
  };
};

/** That of a dispute is not asked for by its payment. */
const reversalsWith = ({ reversals }: AccountState, reversal: Data<'RefundReversed'>) =>
  isOfDispute(reversal) ? reversals : keep(reversals, paymentKey(reversal), reversal);

/** A dispute that is not kept is read again with its news when somebody asks for it. */
const disputeTold = (state: AccountState, news: Data<'DisputeChanged'>): AccountState => {
  const key = paymentKey(news);
  const refund = keptAt(state.refunds, key);
  if (refund === undefined) return state;
  const { status, fee_minor } = news;
  return { ...state, refunds: keep(state.refunds, key, { ...refund, dispute: { status, fee_minor } }) };
};

/** A sale after an event that names it. */
const after = (of: SaleState, { type, data }: AccountEvent): SaleState => {
  switch (type) {
    case 'CreditsRefunded':
      return lessRefund(of, data);
    case 'RefundReversed':
      return plusReversal(of, data);
    case 'SaleDetailsAdded':
      return withDetails(of, data);
    case 'SaleRateBooked':
      return withRate(of, data);
    default:
      return of;
  }
};

/** The sale of an event with its later facts, its refunds and their reversals, among events that were read again. */
const recalledSale = (
  { history }: AccountState,
  sale: Data<'CreditsGranted'>,
  earlier: EarlierEvents<AccountEvent>,
): SaleState => {
  const unread = revisionsOf(history, grantName(sale.grant_id)).filter((revision) => !earlier.has(revision));
  if (unread.length > 0) throw new EventsNeeded([...earlier.keys(), ...unread]);
  let state = notRefunded(sale);
  for (const event of earlier.values())
    if ('grant_id' in event.data && event.data.grant_id === sale.grant_id) state = after(state, event);
  return state;
};

const recalledOne = (
  state: AccountState,
  { type, data }: AccountEvent,
  earlier: EarlierEvents<AccountEvent>,
): AccountState => {
  switch (type) {
    case 'CreditsGranted':
      return keptAt(state.sales, paymentKey(data)) !== undefined
        ? state
        : withSale(state, recalledSale(state, data, earlier));
    case 'CreditsRefunded':
      return { ...state, refunds: keep(state.refunds, paymentKey(data), data) };
    case 'RefundReversed':
      return { ...state, reversals: reversalsWith(state, data) };
    case 'DisputeChanged':
      return disputeTold(state, data);
    case 'CreditsTransferredOut':
      return { ...state, sent: keptBy(state.sent, data) };
    case 'CreditsTransferredIn':
      return { ...state, received: keep(state.received, data.transfer_id, data) };
    case 'CreditsAdjusted':
      return { ...state, adjustments: keptBy(state.adjustments, data) };
    case 'CreditsBurned':
      return { ...state, charges: keptBy(state.charges, data) };
    default:
      return state;
  }
};

/** The account with what earlier events said. Throws EventsNeeded for refunds of a sale that are not among them. */
export const recall = (state: AccountState, earlier: EarlierEvents<AccountEvent>): AccountState => {
  const names = state.recalled.size > 2 * KEPT_MAX ? state.recalled.clear() : state.recalled;
  let next: AccountState = { ...state, recalled: names };
  for (const [revision, event] of earlier) {
    next = recalledOne(next, event, earlier);
    next = { ...next, recalled: next.recalled.set(revision, namesOf(event)) };
  }
  return next;
};

/** What has no key is not asked for again. */
const keptBy = <T extends { readonly idempotency_key: string | null }>(map: Kept<T>, data: T): Kept<T> =>
  data.idempotency_key === null ? map : keep(map, data.idempotency_key, data);

const adjusted = (state: AccountState, data: Data<'CreditsAdjusted'>): AccountState => ({
  ...state,
  balance: plus(state.balance, data.credits),
  adjusted: plus(state.adjusted, data.credits),
  adjustments: keptBy(state.adjustments, data),
});

/** What moves between tenants was adjusted, not bought: purchases stay with the tenant that made them. */
const sent = (state: AccountState, data: Data<'CreditsTransferredOut'>): AccountState => ({
  ...state,
  balance: minus(state.balance, data.credits),
  adjusted: minus(state.adjusted, data.credits),
  hasSent: true,
  sent: keptBy(state.sent, data),
});

const received = (state: AccountState, data: Data<'CreditsTransferredIn'>): AccountState => ({
  ...state,
  balance: plus(state.balance, data.credits),
  adjusted: plus(state.adjusted, data.credits),
  received: keep(state.received, data.transfer_id, data),
});

const held = (state: AccountState, hold: Data<'CreditsHeld'>): AccountState => ({
  ...state,
  held: plus(state.held, hold.credits),
  free_pages_held: state.free_pages_held + hold.free_pages,
  holds: state.holds.set(hold.hold_id, hold),
  operations: state.operations.set(hold.operation_id, hold.hold_id),
  budgets: budgetsHeld(state.budgets, hold, hold.created_at),
});

/** Gives back what a hold had set aside; unknown holds change nothing. */
const withoutHold = (state: AccountState, holdId: string, at: string): AccountState => {
  const hold = state.holds.get(holdId);
  if (hold === undefined) return state;
  return {
    ...state,
    held: minus(state.held, hold.credits),
    free_pages_held: state.free_pages_held - hold.free_pages,
    holds: state.holds.delete(holdId),
    budgets: budgetsFreed(state.budgets, hold, at),
  };
};

/** An operation whose hold is closed may not be held again, for as long as it is remembered; the oldest makes room. */
const closed = (state: AccountState, operation: string): AccountState => {
  const place = String(state.closed_count % CLOSED_OPERATIONS_MAX);
  const oldest = state.closed.get(place);
  const { operations } = state;
  const isForgotten = oldest !== undefined && oldest !== operation && !isHeld(state, oldest);
  return {
    ...state,
    operations: isForgotten ? operations.delete(oldest) : operations,
    closed: state.closed.set(place, operation),
    closed_count: state.closed_count + 1,
  };
};

/** Whether an operation was held again after its hold was closed. */
const isHeld = ({ operations, holds }: AccountState, operation: string): boolean =>
  holds.get(operations.get(operation) ?? '')?.operation_id === operation;

const released = (
  state: AccountState,
  { hold_id: holdId, released_at }: Data<'HoldReleased'>,
): AccountState => {
  const operation = state.holds.get(holdId)?.operation_id;
  const open = withoutHold(state, holdId, released_at);
  if (operation === undefined) return open;
  if (open.operations.get(operation) !== holdId) return closed(open, operation);
  const other = open.holds.find((hold) => hold.operation_id === operation);
  return closed(
    { ...open, operations: open.operations.set(operation, other?.hold_id ?? RELEASED) },
    operation,
  );
};

const settled = (
  state: AccountState,
  { operation_id: operation, created_at }: Data<'CreditsBurned'>,
  holdId: string,
): AccountState => {
  const open = withoutHold(state, holdId, created_at);
  const isKnown = open.operations.get(operation) === holdId;
  return closed(isKnown ? open : { ...open, operations: open.operations.set(operation, holdId) }, operation);
};

const burned = (state: AccountState, burn: Data<'CreditsBurned'>): AccountState => {
  const open = burn.hold_id === null ? state : settled(state, burn, burn.hold_id);
  return {
    ...open,
    balance: minus(open.balance, burn.credits),
    used: plus(open.used, burn.credits),
    free_pages_used: open.free_pages_used + burn.free_pages,
    charges: keptBy(open.charges, burn),
    budgets: budgetsUsed(open.budgets, burn, burn.created_at),
  };
};

/** What is held now of what a budget counts. */
const heldFor =
  ({ holds }: AccountState) =>
  (budget: Pick<BudgetState, 'counting'>): Credits =>
    holds.reduce((sum, hold) => (counts(budget, hold) ? plus(sum, hold.credits) : sum), NO_CREDITS);

type BudgetEvent = AccountEventOf<'BudgetSet' | 'BudgetRemoved' | 'BudgetAlerted' | 'BudgetReached'>;

const budgeted = (state: AccountState, { type, data }: BudgetEvent): AccountState => {
  switch (type) {
    case 'BudgetSet':
      return { ...state, budgets: budgetPut(state.budgets, data, heldFor(state)) };
    case 'BudgetRemoved':
      return { ...state, budgets: budgetTaken(state.budgets, data.budget_id) };
    case 'BudgetAlerted':
      return { ...state, budgets: budgetAlertTold(state.budgets, data) };
    case 'BudgetReached':
      return { ...state, budgets: budgetRefusalTold(state.budgets, data) };
  }
};

/** What the account remembers of an event. It only remembers: every rule is in `decide`. */
export const evolve = (state: AccountState, event: AccountEvent): AccountState => ({
  ...(isPayment(event) ? paid(state, event) : changed(state, event)),
  history: withNext(state.history, namesOf(event)),
});

type PaymentEvent = AccountEventOf<
  'CreditsGranted' | 'CreditsRefunded' | 'RefundReversed' | 'DisputeChanged' | LaterFacts['type']
>;

const isPayment = (event: AccountEvent): event is PaymentEvent => 'grant_id' in event.data;

/** A sale, and what became of it. */
const paid = (state: AccountState, event: PaymentEvent): AccountState => {
  switch (event.type) {
    case 'CreditsGranted':
      return granted(state, event.data);
    case 'CreditsRefunded':
      return refunded(state, event.data);
    case 'RefundReversed':
      return reversed(state, event.data);
    case 'DisputeChanged':
      return disputeTold(state, event.data);
    default:
      return toldLater(state, event);
  }
};

const isOfBudget = (event: AccountEvent): event is BudgetEvent => 'budget_id' in event.data;

const changed = (state: AccountState, event: Exclude<AccountEvent, PaymentEvent>): AccountState => {
  if (isOfBudget(event)) return budgeted(state, event);
  const { type, data } = event;
  switch (type) {
    case 'AccountOpened':
      return { ...state, opened: true, tenant_id: data.tenant_id };
    case 'PlanSet':
      return { ...state, plan: data.plan };
    case 'CreditsTransferredOut':
      return sent(state, data);
    case 'CreditsTransferredIn':
      return received(state, data);
    case 'CreditsAdjusted':
      return adjusted(state, data);
    case 'CreditsHeld':
      return held(state, data);
    case 'HoldReleased':
      return released(state, data);
    case 'CreditsBurned':
      return burned(state, data);
  }
};

/** The event that opens an account, when this command is its first; nothing otherwise. */
export const opening = (
  state: AccountState,
  tenantId: string,
  { now }: CommandMeta,
): readonly AccountEvent[] =>
  state.opened ? [] : [{ type: 'AccountOpened', data: { tenant_id: tenantId, created_at: now } }];
