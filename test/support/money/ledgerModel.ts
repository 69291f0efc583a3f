import type { AccountCommand } from '../../../domain/account/messages.ts';

/**
 * A second opinion on the account: a plain journal of rows that is summed afresh at every question, in
 * ordinary numbers. It shares neither code nor data structures with the decider, and is correct only for
 * amounts small enough for that arithmetic.
 */
interface Row {
  readonly kind:
    | 'sale'
    | 'refund'
    | 'reversal'
    | 'sent'
    | 'received'
    | 'adjustment'
    | 'hold'
    | 'release'
    | 'usage';
  readonly id: string;
  readonly credits: number;
  readonly free: number;
  readonly pages: number;
  readonly rate: number;
  readonly of: string;
  readonly gross: number;
  readonly vat: number;
  readonly fee: number;
  readonly bonus: number;
  readonly payout: string;
  readonly currency: string;
  readonly payload: string;
  readonly operation: string;
  /** Of a dispute; empty for what is none. */
  readonly status: string;
  readonly dispute_fee: number;
}

export interface LedgerModel {
  readonly rows: Row[];
  plan: string;
}

export const newLedger = (): LedgerModel => ({ rows: [], plan: 'free' });

const BLANK = {
  id: '',
  credits: 0,
  free: 0,
  pages: 0,
  rate: 0,
  of: '',
  gross: 0,
  vat: 0,
  fee: 0,
  bonus: 0,
  payout: '',
  currency: '',
  payload: '',
  operation: '',
  status: '',
  dispute_fee: 0,
};
const txn = (provider: string, id: string) => JSON.stringify([provider.toLowerCase(), id]);
const sum = (rows: readonly Row[], pick: (row: Row) => number) => rows.reduce((n, row) => n + pick(row), 0);
const of = ({ rows }: LedgerModel, ...kinds: readonly Row['kind'][]) =>
  rows.filter(({ kind }) => kinds.includes(kind));

/** Holds that neither a release nor a usage row names. */
const openHolds = (ledger: LedgerModel) =>
  of(ledger, 'hold').filter((row) => {
    const ends = of(ledger, 'release', 'usage').filter((end) => end.of === row.id);
    const sameId = of(ledger, 'hold').filter((other) => other.id === row.id);
    return sameId.indexOf(row) >= ends.length;
  });

export const figuresOf = (ledger: LedgerModel) => ({
  balance: sum(
    of(ledger, 'sale', 'refund', 'reversal', 'sent', 'received', 'adjustment', 'usage'),
    (row) => row.credits,
  ),
  held: sum(openHolds(ledger), (row) => row.credits),
  purchased: sum(of(ledger, 'sale', 'refund', 'reversal'), (row) => row.credits),
  adjusted: sum(of(ledger, 'adjustment', 'sent', 'received'), (row) => row.credits),
  used: 0 - sum(of(ledger, 'usage'), (row) => row.credits),
  free_pages_used: sum(of(ledger, 'usage'), (row) => row.free),
  free_pages_held: sum(openHolds(ledger), (row) => row.free),
  plan: ledger.plan,
});

type DataOf<Type extends AccountCommand['type']> = Extract<AccountCommand, { type: Type }>['data'];
type Verdicts = {
  readonly [Type in AccountCommand['type']]: (ledger: LedgerModel, data: DataOf<Type>) => string;
};

const available = (ledger: LedgerModel) => figuresOf(ledger).balance - figuresOf(ledger).held;
const lacks = (ledger: LedgerModel, credits: number) => credits > 0 && credits > available(ledger);
const find = (ledger: LedgerModel, id: string, ...kinds: readonly Row['kind'][]) =>
  of(ledger, ...kinds).find((row) => row.id === id);
const add = (ledger: LedgerModel, row: Partial<Row> & Pick<Row, 'kind'>) => {
  ledger.rows.push({ ...BLANK, ...row });
  return 'done';
};
/** What becomes of a command whose identity a row has already. */
const again = (twin: Row, kind: Row['kind'], payload: string) =>
  twin.kind === kind && twin.payload === payload ? 'repeat' : 'idempotency_key_reused';

const leftOf = (ledger: LedgerModel, sale: Row) => {
  const refunds = of(ledger, 'refund').filter((row) => row.of === sale.id);
  const undone = of(ledger, 'reversal').filter((row) => refunds.some(({ id }) => id === row.of));
  const rows = [sale, ...refunds, ...undone];
  return {
    credits: sum(rows, (row) => row.credits),
    gross: sum(rows, (row) => row.gross),
    vat: sum(rows, (row) => row.vat),
    fee: sum(rows, (row) => row.fee),
  };
};

const grossOf = ({ dispute, gross_amount_minor: told }: DataOf<'RefundCredits'>, left: number): number => {
  if (dispute?.status === 'won') return 0;
  return told ?? (dispute === undefined ? 0 : left);
};

/** A dispute takes what is there, and one that was won nothing. */
const takenOf = (
  dispute: DataOf<'RefundCredits'>['dispute'],
  { due, all, ledger }: { readonly due: number; readonly all: number; readonly ledger: LedgerModel },
): number => {
  if (dispute === undefined) return due;
  return dispute.status === 'won' ? 0 : Math.min(all, Math.max(0, available(ledger)));
};

const told = ({ dispute }: DataOf<'RefundCredits'>) =>
  dispute === undefined
    ? { status: '', dispute_fee: 0 }
    : { status: dispute.status, dispute_fee: dispute.fee_minor };

/** Neither more than is left of the sale, nor more VAT than money. */
const isBeyond = (wanted: Amounts, left: Amounts): boolean =>
  (['credits', 'gross', 'vat', 'fee'] as const).some((name) => wanted[name] > left[name]) ||
  wanted.vat > wanted.gross;
type Amounts = Pick<Row, 'credits' | 'gross' | 'vat' | 'fee'>;

const refundOf = (ledger: LedgerModel, data: DataOf<'RefundCredits'>, sale: Row): string => {
  const left = leftOf(ledger, sale);
  const gross = grossOf(data, left.gross);
  const part = (whole: number, rest: number) =>
    gross === 0 ? 0 : gross === left.gross ? rest : Math.min(rest, Math.floor((whole * gross) / sale.gross));
  // A bonus that was used is not asked back.
  const used = Math.max(0, left.credits - Math.max(0, available(ledger)));
  const bonus = Math.floor((sale.bonus * left.credits) / sale.credits);
  const gone = gross > 0 && gross === left.gross ? Math.min(used, bonus) : 0;
  const due = data.credits ?? part(sale.credits, left.credits) - gone;
  const credits = takenOf(data.dispute, { due, all: sale.gross === 0 ? left.credits : due, ledger });
  // What stays with the seller of VAT or fee after this refund: nearest, a half to the even neighbour.
  const stays = (whole: number) => {
    const refunded = whole * (sale.gross - left.gross + gross);
    const [down, over] = [Math.floor(refunded / sale.gross), refunded % sale.gross];
    const isUp = 2 * over === sale.gross ? down % 2 === 1 : 2 * over > sale.gross;
    return whole - down - (isUp ? 1 : 0);
  };
  const share = (whole: number, rest: number) =>
    gross === 0 ? 0 : gross === left.gross ? rest : Math.max(0, Math.min(rest, rest - stays(whole)));
  // What is left of the sale never holds more VAT than money.
  const kept = Math.min(left.vat - share(sale.vat, left.vat), left.gross - gross);
  const vat = data.vat_amount_minor ?? Math.min(gross, left.vat, left.vat - kept);
  const fee = data.provider_fee_minor ?? Math.min(gross, share(sale.fee, left.fee));
  if (isBeyond({ credits, gross, vat, fee }, left)) return 'refund_exceeds_original';
  if (lacks(ledger, credits)) return 'insufficient_balance';
  const taken = { credits: 0 - credits, gross: 0 - gross, vat: 0 - vat, fee: 0 - fee };
  const id = txn(data.provider, data.provider_txn_id);
  return add(ledger, { kind: 'refund', id, of: sale.id, ...taken, ...told(data), payload: data.fingerprint });
};

/** A refund less its reversals, in positive numbers. */
const undoable = (ledger: LedgerModel, refund: Row) => {
  const rows = [refund, ...of(ledger, 'reversal').filter((row) => row.of === refund.id)];
  const left = (pick: (row: Row) => number) => 0 - sum(rows, pick);
  return {
    credits: left((row) => row.credits),
    gross: left((row) => row.gross),
    vat: left((row) => row.vat),
    fee: left((row) => row.fee),
  };
};

const reversalOf = (ledger: LedgerModel, data: DataOf<'ReverseRefund'>, refund: Row): string => {
  const left = undoable(ledger, refund);
  const isWhole = data.credits === null && data.gross_amount_minor === null;
  const gross = isWhole ? left.gross : (data.gross_amount_minor ?? 0);
  const part = (taken: number, rest: number) =>
    isWhole || (gross > 0 && gross === left.gross)
      ? rest
      : Math.min(rest, refund.gross === 0 ? 0 : Math.floor((taken * gross) / (0 - refund.gross)));
  const credits = data.credits ?? part(0 - refund.credits, left.credits);
  if (credits > left.credits || gross > left.gross || credits + gross === 0) return 'reversal_exceeds_refund';
  const kept = Math.min(left.vat - part(0 - refund.vat, left.vat), left.gross - gross);
  const vat = Math.min(gross, left.vat, left.vat - kept);
  const fee = part(0 - refund.fee, left.fee);
  const id = txn(data.provider, data.provider_txn_id);
  return add(ledger, {
    kind: 'reversal',
    id,
    of: refund.id,
    credits,
    gross,
    vat,
    fee,
    payload: data.fingerprint,
  });
};

const holdOf = (ledger: LedgerModel, data: DataOf<'HoldCredits'>, payload: string): string => {
  const figures = figuresOf(ledger);
  const taken = figures.free_pages_used + figures.free_pages_held;
  const free = Math.min(Math.max(0, data.free_pages_allowance - taken), data.pages);
  const credits = (data.pages - free) * data.credits_per_page;
  if (lacks(ledger, credits)) return 'insufficient_credits';
  const { hold_id: id, pages, credits_per_page: rate, operation_id: operation } = data;
  return add(ledger, { kind: 'hold', id, credits, free, pages, rate, payload, operation });
};

const isOther = (known: number | string, told: number | string) => !!known && !!told && known !== told;

const detailsOf = (ledger: LedgerModel, data: DataOf<'AddSaleDetails'>): string => {
  const at = ledger.rows.findIndex(
    (row) => row.kind === 'sale' && row.id === txn(data.provider, data.provider_txn_id),
  );
  const sale = ledger.rows[at];
  if (sale === undefined) return 'original_grant_not_found';
  const { vat_amount_minor: vat = 0, provider_fee_minor: fee = 0, payout_id: payout = '' } = data.details;
  const clashes = [
    isOther(sale.vat, vat),
    isOther(sale.fee, fee),
    isOther(sale.payout, payout),
    Math.max(vat, fee) > sale.gross,
  ];
  if (clashes.includes(true)) return 'idempotency_key_reused';
  const next = { ...sale, vat: sale.vat || vat, fee: sale.fee || fee, payout: sale.payout || payout };
  ledger.rows[at] = next;
  return JSON.stringify(next) === JSON.stringify(sale) ? 'repeat' : 'done';
};

const contradicts = (row: Row, { status, gross_amount_minor: gross, fee_minor }: DataOf<'TellDispute'>) => {
  const ends = [row.status, status].filter((one) => one !== 'opened');
  const isAnother = row.gross !== 0 && gross !== null && gross !== 0 - row.gross;
  return new Set(ends).size > 1 || isAnother || isOther(row.dispute_fee, fee_minor);
};

const newsOf = (ledger: LedgerModel, data: DataOf<'TellDispute'>): string => {
  const id = txn(data.provider, data.provider_txn_id);
  const at = ledger.rows.findIndex((row) => row.kind === 'refund' && row.id === id && row.status !== '');
  const row = ledger.rows[at];
  if (row === undefined) return 'refund_not_found';
  if (contradicts(row, data)) return 'idempotency_key_reused';
  const status = row.status === 'opened' ? data.status : row.status;
  const dispute_fee = row.dispute_fee || data.fee_minor;
  if (status === row.status && dispute_fee === row.dispute_fee) return 'repeat';
  ledger.rows[at] = { ...row, status, dispute_fee };
  const isWon = status === 'won' && row.status === 'opened';
  const back = { credits: 0 - row.credits, gross: 0 - row.gross, vat: 0 - row.vat, fee: 0 - row.fee };
  return isWon ? add(ledger, { kind: 'reversal', id: `won ${id}`, of: id, ...back }) : 'done';
};

const VERDICTS: Verdicts = {
  OpenAccount: () => 'done',
  SetPlan: (ledger, { plan }) => {
    ledger.plan = plan;
    return 'done';
  },
  GrantCredits: (ledger, data) => {
    const id = txn(data.provider, data.provider_txn_id);
    const twin = find(ledger, id, 'sale', 'refund', 'reversal');
    const { credits, gross_amount_minor, vat_amount_minor: vat, provider_fee_minor: fee, currency } = data;
    const bonus = data.bonus_credits ?? 0;
    // The same credits and money are the same sale, whatever else is said of it; 0 says nothing.
    const payload = JSON.stringify([credits, bonus, currency, gross_amount_minor]);
    if (twin) {
      const clash = twin.vat * vat * (twin.vat - vat) !== 0 || twin.fee * fee * (twin.fee - fee) !== 0;
      return clash ? 'idempotency_key_reused' : again(twin, 'sale', payload);
    }
    if (ledger.plan === 'free' && of(ledger, 'sale').length === 0) ledger.plan = 'paid';
    const money = { gross: gross_amount_minor ?? 0, vat, fee, bonus, currency };
    return add(ledger, { kind: 'sale', id, credits, ...money, payload });
  },
  AddSaleDetails: detailsOf,
  // The independent ledger has no rates and no budgets: no history draws one.
  BookSaleRate: () => 'repeat',
  SetBudget: () => 'done',
  ChangeBudget: () => 'budget_not_found',
  RemoveBudget: () => 'budget_not_found',
  RefundCredits: (ledger, data) => {
    const twin = find(ledger, txn(data.provider, data.provider_txn_id), 'sale', 'refund', 'reversal');
    if (twin) return again(twin, 'refund', data.fingerprint);
    const sale = find(ledger, txn(data.original_provider, data.original_provider_txn_id), 'sale');
    if (!sale) return 'original_grant_not_found';
    if (data.currency !== null && data.currency !== sale.currency) return 'refund_mismatch';
    return refundOf(ledger, data, sale);
  },
  ReverseRefund: (ledger, data) => {
    const twin = find(ledger, txn(data.provider, data.provider_txn_id), 'sale', 'refund', 'reversal');
    if (twin) return again(twin, 'reversal', data.fingerprint);
    const refund = find(ledger, txn(data.provider, data.refund_provider_txn_id), 'refund');
    if (!refund || refund.status !== '') return 'refund_not_found';
    return reversalOf(ledger, data, refund);
  },
  TellDispute: newsOf,
  SendCredits: (ledger, { idempotency_key: key, credits, fingerprint }) => {
    const twin = key === null ? undefined : find(ledger, key, 'sent');
    if (twin) return again(twin, 'sent', fingerprint);
    const there = available(ledger);
    if (there < 1 || (credits ?? 0) > there) return 'insufficient_balance';
    return add(ledger, {
      kind: 'sent',
      id: key ?? '',
      credits: 0 - (credits ?? there),
      payload: fingerprint,
    });
  },
  ReceiveCredits: (ledger, { transfer_id: id, credits }) =>
    find(ledger, id, 'received') ? 'repeat' : add(ledger, { kind: 'received', id, credits }),
  AdjustCredits: (ledger, { idempotency_key: key, credits, allow_negative, fingerprint }) => {
    const twin = key === null ? undefined : find(ledger, key, 'adjustment');
    if (twin) return again(twin, 'adjustment', fingerprint);
    if (lacks(ledger, 0 - credits) && !allow_negative) return 'insufficient_balance';
    return add(ledger, { kind: 'adjustment', id: key ?? '', credits, payload: fingerprint });
  },
  HoldCredits: (ledger, data) => {
    const { operation_id, pages, billing_type } = data;
    const payload = JSON.stringify([operation_id, pages, billing_type]);
    const open = openHolds(ledger);
    const twin = open.find((row) => row.id === data.hold_id);
    if (twin) return again(twin, 'hold', payload);
    if (open.some((row) => row.operation === operation_id)) return 'idempotency_key_reused';
    const before = of(ledger, 'hold', 'usage').some((row) => row.operation === operation_id);
    if (before) return 'hold_not_open';
    return holdOf(ledger, data, payload);
  },
  SettleHold: (ledger, { hold_id, pages }) => {
    const row = openHolds(ledger).find(({ id }) => id === hold_id);
    if (!row) return 'hold_not_open';
    if (pages > row.pages) return 'burn_exceeds_hold';
    const free = Math.min(row.free, pages);
    const credits = 0 - (pages - free) * row.rate;
    return add(ledger, { kind: 'usage', of: row.id, credits, free, operation: row.operation });
  },
  ReleaseHold: (ledger, { hold_id }) => {
    if (!openHolds(ledger).some(({ id }) => id === hold_id)) return 'hold_not_open';
    return add(ledger, { kind: 'release', of: hold_id });
  },
  ChargeCredits: (ledger, { idempotency_key: id, fingerprint: payload, credits, paid_plan_required }) => {
    const twin = find(ledger, id, 'usage');
    if (twin) return again(twin, 'usage', payload);
    if (paid_plan_required && ledger.plan === 'free') return 'plan_required';
    if (lacks(ledger, credits)) return 'insufficient_credits';
    return add(ledger, { kind: 'usage', id, credits: 0 - credits, payload });
  },
};

/** Carries out a command and says what should come of it: `done`, `repeat`, or a rejection's code. */
export const carryOut = (ledger: LedgerModel, command: AccountCommand): string => {
  const verdict = VERDICTS[command.type] as (ledger: LedgerModel, data: unknown) => string;
  return verdict(ledger, command.data);
};
