import { sha256 } from './kernel/chain.ts';
import { canonicalJson } from './kernel/json.ts';
import type { Tags } from './tags.ts';

/** A movement of credits that a statement lists by itself. */
type MovedKind = 'sale' | 'refund' | 'reversal' | 'transfer_out' | 'transfer_in' | 'admin_adjustment';

/** A line of a statement, as the read models give it: a movement, or the use of a project by a key with some tags. */
export interface StatementLine {
  readonly kind: MovedKind | 'usage';
  /** Date of booking; null for sums of several movements. */
  readonly booked_at: string | null;
  /** Of a sale, a refund, a reversal or an adjustment; null for sums. */
  readonly id: string | null;
  /** Number of its receipt or note among the tenant's; null where it has none. */
  readonly document: number | null;
  readonly project_id: string | null;
  readonly api_key_id: string | null;
  /** Left out where there are none: statements of months without tags stay the same bytes. */
  readonly tags?: Tags;
  /** Movements that the line sums up. */
  readonly count: number;
  readonly pages: number;
  /** Whole credits by which the balance changed. */
  readonly credits: number;
  readonly currency: string | null;
  /** Money that was taken (+) or given back (−), minor units of the currency. */
  readonly gross_amount_minor: number | null;
}

/** The figures of a tenant's month. */
export interface StatementFigures {
  readonly tenant_id: string;
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  /** The closing that closed the month; null: it is open, and its statement may change. */
  readonly closing: number | null;
  /** Position in the log up to which it counts, as text; null: nothing happened yet. */
  readonly position: string | null;
  /** Whole credits when the month began. */
  readonly opening_balance_credits: number;
  readonly lines: readonly StatementLine[];
}

/** Series of the documents of one tenant: what each is of, and what its numbers begin with. */
export const DOCUMENTS = {
  sale: { document: 'receipt', prefix: 'R' },
  refund: { document: 'credit_note', prefix: 'C' },
  reversal: { document: 'debit_note', prefix: 'D' },
} as const;

/** What has a receipt or a note. */
export type DocumentedKind = keyof typeof DOCUMENTS;

export const isDocumented = (kind: string): kind is DocumentedKind => kind in DOCUMENTS;

/**
 * The number of a receipt or note: the `ordinal`-th of its kind in the tenant's stream, from 1, so that the log alone
 * decides it and no number is left out. Source: docs/adr/0086-numbers-from-the-log.md.
 */
export const documentNumber = (tenantId: string, kind: DocumentedKind, ordinal: number): string =>
  `${DOCUMENTS[kind].prefix}-${tenantId}-${String(ordinal).padStart(6, '0')}`;

/** The number of a closed month's statement; a month that is closed again has another one. null while it is open. */
export const statementNumber = ({
  tenant_id,
  month,
  closing,
}: Pick<StatementFigures, 'tenant_id' | 'month' | 'closing'>): string | null =>
  closing === null ? null : `S-${tenant_id}-${month}-${String(closing)}`;

/** What a row of a statement tells. */
export const STATEMENT_KINDS = [
  'opening_balance',
  'sale',
  'refund',
  'reversal',
  'transfer_out',
  'transfer_in',
  'admin_adjustment',
  'usage',
  'closing_balance',
] as const;

/** A row of a statement: of its table, of its CSV, of an export. */
export interface StatementRow extends Omit<StatementLine, 'kind' | 'document'> {
  readonly tenant_id: string;
  readonly month: string;
  /** Number of the statement. */
  readonly statement: string | null;
  readonly kind: (typeof STATEMENT_KINDS)[number];
  /** Number of a receipt or note. */
  readonly document: string | null;
  /** Whole credits after the row. */
  readonly balance_credits: number;
}

/** Totals of a statement, whole credits: opening + all but the closing = closing. */
export interface StatementTotals {
  readonly opening_balance_credits: number;
  readonly purchased_credits: number;
  readonly refunded_credits: number;
  /** From other tenants (+) and to them (−). */
  readonly transferred_credits: number;
  readonly adjusted_credits: number;
  readonly used_credits: number;
  readonly closing_balance_credits: number;
}

/** A statement whole: its rows and their totals, and the digest that a copy can be held against. */
export interface Statement extends Omit<StatementFigures, 'lines'>, StatementTotals {
  readonly number: string | null;
  readonly items: readonly StatementRow[];
  /** SHA-256 over number, tenant, month, position, totals and items as canonical JSON (RFC 8785). */
  readonly digest: string;
}

/** Movements that belong together in the totals; `used_credits` counts what left the balance. */
const TOTAL_OF: Readonly<Record<StatementLine['kind'], { readonly total: Summed; readonly sign: 1 | -1 }>> = {
  sale: { total: 'purchased_credits', sign: 1 },
  reversal: { total: 'refunded_credits', sign: -1 },
  refund: { total: 'refunded_credits', sign: -1 },
  transfer_out: { total: 'transferred_credits', sign: 1 },
  transfer_in: { total: 'transferred_credits', sign: 1 },
  admin_adjustment: { total: 'adjusted_credits', sign: 1 },
  usage: { total: 'used_credits', sign: -1 },
};

type Summed = Exclude<keyof StatementTotals, 'opening_balance_credits' | 'closing_balance_credits'>;

const totalsOf = ({ opening_balance_credits, lines }: StatementFigures): StatementTotals => {
  const sums = {
    purchased_credits: 0,
    refunded_credits: 0,
    transferred_credits: 0,
    adjusted_credits: 0,
    used_credits: 0,
  };
  let closing_balance_credits = opening_balance_credits;
  for (const { kind, credits } of lines) {
    const { total, sign } = TOTAL_OF[kind];
    // No sum is −0.
    sums[total] = sums[total] + sign * credits + 0;
    closing_balance_credits += credits;
  }
  return { opening_balance_credits, ...sums, closing_balance_credits };
};

const NOTHING = {
  booked_at: null,
  id: null,
  document: null,
  project_id: null,
  api_key_id: null,
  count: 0,
  pages: 0,
  credits: 0,
  currency: null,
  gross_amount_minor: null,
} as const;

/** The rows of a statement in their order, from the opening balance to the closing one. */
export const statementRows = (figures: StatementFigures): readonly StatementRow[] => {
  const { tenant_id, month, opening_balance_credits: opening } = figures;
  const of = { tenant_id, month, statement: statementNumber(figures) };
  let balance_credits = opening;
  const moved = figures.lines.map(({ kind, document, ...line }): StatementRow => {
    balance_credits += line.credits;
    const number = document !== null && isDocumented(kind) ? documentNumber(tenant_id, kind, document) : null;
    return { ...of, kind, ...line, document: number, balance_credits };
  });
  return [
    { ...of, kind: 'opening_balance', ...NOTHING, balance_credits: opening },
    ...moved,
    { ...of, kind: 'closing_balance', ...NOTHING, balance_credits },
  ];
};

/** A tenant's month as it is answered, printed and exported: from figures to rows, totals and their digest. */
export const statementOf = (figures: StatementFigures): Statement => {
  const { tenant_id, month, closing, position } = figures;
  const number = statementNumber(figures);
  const [items, totals] = [statementRows(figures), totalsOf(figures)];
  const told = { number, tenant_id, month, position, ...totals, items: items.map((row) => ({ ...row })) };
  return {
    tenant_id,
    month,
    closing,
    position,
    number,
    ...totals,
    items,
    digest: sha256(canonicalJson(told)),
  };
};
