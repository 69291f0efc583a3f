import type { AccountCommand } from '../../domain/account/commands.ts';

/**
 * A second opinion on the account: a plain journal of rows that is summed afresh at every question, in
 * ordinary numbers. It shares neither code nor data structures with the decider, and is correct only for
 * amounts small enough for that arithmetic.
 */
interface Row {
  readonly kind: 'sale' | 'refund' | 'adjustment' | 'hold' | 'release' | 'usage';
  readonly id: string;
  readonly credits: number;
  readonly free: number;
  readonly pages: number;
  readonly rate: number;
  readonly of: string;
  readonly gross: number;
  readonly vat: number;
  readonly fee: number;
  readonly currency: string;
  readonly payload: string;
}

export interface LedgerModel {
  readonly rows: Row[];
  plan: string;
}

export const newLedger = (): LedgerModel => ({ rows: [], plan: 'free' });

const BLANK = {
  ...{ id: '', credits: 0, free: 0, pages: 0, rate: 0, of: '', gross: 0, vat: 0, fee: 0 },
  ...{ currency: '', payload: '' },
};
const txn = (provider: string, id: string) => JSON.stringify([provider.toLowerCase(), id]);
const sum = (rows: readonly Row[], pick: (row: Row) => number) => rows.reduce((n, row) => n + pick(row), 0);
const of = ({ rows }: LedgerModel, ...kinds: readonly Row['kind'][]) =>
  rows.filter(({ kind }) => kinds.includes(kind));

/** Holds that neither a release nor a usage row names. */
const openHolds = (ledger: LedgerModel) =>
  of(ledger, 'hold').filter((row) => !of(ledger, 'release', 'usage').some((end) => end.of === row.id));

export const figuresOf = (ledger: LedgerModel) => ({
  balance: sum(of(ledger, 'sale', 'refund', 'adjustment', 'usage'), (row) => row.credits),
  held: sum(openHolds(ledger), (row) => row.credits),
  purchased: sum(of(ledger, 'sale', 'refund'), (row) => row.credits),
  adjusted: sum(of(ledger, 'adjustment'), (row) => row.credits),
  used: 0 - sum(of(ledger, 'usage'), (row) => row.credits),
  free_pages_used: sum(of(ledger, 'usage'), (row) => row.free),
  free_pages_held: sum(openHolds(ledger), (row) => row.free),
  plan: ledger.plan,
});

/** Carries out a command and says what should come of it: `done`, `repeat`, or a rejection's code. */
export const carryOut = (ledger: LedgerModel, { type, data }: AccountCommand): string => {
  const { balance, held, free_pages_used, free_pages_held } = figuresOf(ledger);
  const free = balance - held;
  const add = (row: Partial<Row> & Pick<Row, 'kind'>) => {
    ledger.rows.push({ ...BLANK, ...row });
    return 'done';
  };
  const find = (id: string, ...kinds: readonly Row['kind'][]) =>
    of(ledger, ...kinds).find((row) => row.id === id);

  if (type === 'OpenAccount') return 'done';
  if (type === 'SetPlan') {
    ledger.plan = data.plan;
    return 'done';
  }
  if (type === 'GrantCredits') {
    const id = txn(data.provider, data.provider_txn_id);
    const twin = find(id, 'sale', 'refund');
    if (twin)
      return twin.kind === 'sale' && twin.payload === data.fingerprint ? 'repeat' : 'idempotency_key_reused';
    if (ledger.plan === 'free' && of(ledger, 'sale').length === 0) ledger.plan = 'paid';
    const { credits, gross_amount_minor, vat_amount_minor: vat, provider_fee_minor: fee, currency } = data;
    const gross = gross_amount_minor ?? 0;
    return add({ kind: 'sale', id, credits, gross, vat, fee, currency, payload: data.fingerprint });
  }
  if (type === 'RefundCredits') {
    const id = txn(data.provider, data.provider_txn_id);
    const twin = find(id, 'sale', 'refund');
    if (twin)
      return twin.kind === 'refund' && twin.payload === data.fingerprint
        ? 'repeat'
        : 'idempotency_key_reused';
    const sale = find(txn(data.original_provider, data.original_provider_txn_id), 'sale');
    if (!sale) return 'original_grant_not_found';
    if (data.currency !== null && data.currency !== sale.currency) return 'refund_mismatch';
    const rows = [sale, ...of(ledger, 'refund').filter((row) => row.of === sale.id)];
    const left = {
      credits: sum(rows, (row) => row.credits),
      gross: sum(rows, (row) => row.gross),
      vat: sum(rows, (row) => row.vat),
      fee: sum(rows, (row) => row.fee),
    };
    const gross = data.gross_amount_minor ?? 0;
    const part = (whole: number, rest: number) =>
      gross === 0
        ? 0
        : gross === left.gross
          ? rest
          : Math.min(rest, Math.floor((whole * gross) / sale.gross));
    const credits = data.credits ?? part(sale.credits, left.credits);
    const vat = data.vat_amount_minor ?? Math.min(gross, part(sale.vat, left.vat));
    const fee = data.provider_fee_minor;
    const tooMuch = credits > left.credits || gross > left.gross || vat > left.vat || fee > left.fee;
    if (tooMuch || vat > gross) return 'refund_exceeds_original';
    if (credits > 0 && credits > free) return 'insufficient_balance';
    const taken = { credits: 0 - credits, gross: 0 - gross, vat: 0 - vat, fee: 0 - fee };
    return add({ kind: 'refund', id, of: sale.id, ...taken, payload: data.fingerprint });
  }
  if (type === 'AdjustCredits') {
    const twin = data.idempotency_key === null ? undefined : find(data.idempotency_key, 'adjustment');
    if (twin) return twin.payload === data.fingerprint ? 'repeat' : 'idempotency_key_reused';
    if (data.credits < 0 && free + data.credits < 0 && !data.allow_negative) return 'insufficient_balance';
    const id = data.idempotency_key ?? '';
    return add({ kind: 'adjustment', id, credits: data.credits, payload: data.fingerprint });
  }
  if (type === 'HoldCredits') {
    const payload = JSON.stringify([data.operation_id, data.pages, data.billing_type]);
    const isOpen = (row: Row) => openHolds(ledger).includes(row);
    const twin = find(data.hold_id, 'hold');
    if (twin)
      return !isOpen(twin) ? 'hold_not_open' : twin.payload === payload ? 'repeat' : 'idempotency_key_reused';
    const same = of(ledger, 'hold').filter((row) => JSON.parse(row.payload)[0] === data.operation_id);
    if (same.some(isOpen)) return 'idempotency_key_reused';
    if (same.some((row) => of(ledger, 'usage').some((use) => use.of === row.id))) return 'hold_not_open';
    const freeLeft = Math.max(0, data.free_pages_allowance - free_pages_used - free_pages_held);
    const freePages = Math.min(freeLeft, data.pages);
    const credits = (data.pages - freePages) * data.credits_per_page;
    if (credits > 0 && credits > free) return 'insufficient_credits';
    const { hold_id: id, pages, credits_per_page: rate } = data;
    return add({ kind: 'hold', id, credits, free: freePages, pages, rate, payload });
  }
  if (type === 'ChargeCredits') {
    const twin = find(data.idempotency_key, 'usage');
    if (twin) return twin.payload === data.fingerprint ? 'repeat' : 'idempotency_key_reused';
    if (data.paid_plan_required && ledger.plan === 'free') return 'plan_required';
    if (data.credits > 0 && data.credits > free) return 'insufficient_credits';
    const { idempotency_key: id, fingerprint: payload } = data;
    return add({ kind: 'usage', id, credits: 0 - data.credits, payload });
  }
  const row = openHolds(ledger).find(({ id }) => id === data.hold_id);
  const end = of(ledger, 'release', 'usage').find((ended) => ended.of === data.hold_id);
  if (type === 'ReleaseHold') {
    if (row) return add({ kind: 'release', of: data.hold_id });
    return end?.kind === 'release' ? 'repeat' : 'hold_not_open';
  }
  if (!row) return end?.payload === data.usage_id ? 'repeat' : 'hold_not_open';
  if (data.pages > row.pages) return 'burn_exceeds_hold';
  const freePages = Math.min(row.free, data.pages);
  const credits = 0 - (data.pages - freePages) * row.rate;
  return add({ kind: 'usage', of: row.id, credits, free: freePages, payload: data.usage_id });
};
