import type { Api, PaymentsComparison, PayoutFinding } from '@quire/client';
import { api, fileOf } from '../../api/connection.ts';
import { BOM } from '../../ui/csv.ts';

/** A payout file, and how it is read and of what it should have the payments. */
export type PayoutAsked = NonNullable<Parameters<Api['comparePayments']>[0]>['body'];

type Finding = PayoutFinding['finding'];

/** What one side says of a payment, in minor units; null: nothing. */
interface Side {
  readonly currency: string;
  readonly amount_minor: number | null;
  readonly fee_minor: number | null;
  readonly payout_id: string | null;
}

/** One difference, as the table shows it. */
export interface PayoutLine {
  /** Its place among all. */
  readonly at: number;
  readonly finding: Finding;
  readonly row: number | null;
  readonly row_id: string | null;
  readonly kind: PayoutKind | null;
  readonly tenant_id: string | null;
  readonly provider_txn_id: string | null;
  readonly file: Side | null;
  readonly booked: Side | null;
}

export type PayoutKind = NonNullable<PayoutFinding['row']>['kind'];

const ofRow = (row: PayoutFinding['row']) =>
  row === null ? { row: null, row_id: null } : { row: row.row, row_id: row.row_id };

const ofPayment = (payment: PayoutFinding['payment']) =>
  payment === null
    ? { tenant_id: null, provider_txn_id: null }
    : { tenant_id: payment.tenant_id, provider_txn_id: payment.provider_txn_id };

const lineOf = ({ finding, row, payment }: PayoutFinding, at: number): PayoutLine => ({
  at,
  finding,
  ...ofRow(row),
  ...ofPayment(payment),
  kind: (row ?? payment)?.kind ?? null,
  file: row,
  booked: payment,
});

type Cells = Readonly<Record<string, string | undefined>>;

const textIn = (cells: Cells, name: string): string | null => {
  const text = cells[name];
  return text === undefined || text === '' ? null : text;
};

const numberIn = (cells: Cells, name: string): number | null => {
  const text = textIn(cells, name);
  return text === null ? null : Number(text);
};

const sideIn = (cells: Cells, side: 'file' | 'booked'): Side | null => {
  const currency = textIn(cells, `${side}_currency`);
  if (currency === null) return null;
  return {
    currency,
    amount_minor: numberIn(cells, `${side}_amount_minor`),
    fee_minor: numberIn(cells, `${side}_fee_minor`),
    payout_id: textIn(cells, `${side}_payout_id`),
  };
};

const lineIn = (cells: Cells, at: number): PayoutLine => ({
  at,
  finding: cells['finding'] as Finding,
  row: numberIn(cells, 'row'),
  row_id: textIn(cells, 'row_id'),
  kind: textIn(cells, 'kind') as PayoutKind | null,
  tenant_id: textIn(cells, 'tenant_id'),
  provider_txn_id: textIn(cells, 'provider_txn_id'),
  file: sideIn(cells, 'file'),
  booked: sideIn(cells, 'booked'),
});

/** Bytes that are read at once: the page answers in between. */
const PIECE_BYTES = 262_144;

const linesIn = async (csv: Blob): Promise<readonly PayoutLine[]> => {
  const { default: papa } = await import('papaparse');
  const lines: PayoutLine[] = [];
  return new Promise((resolve, reject) => {
    papa.parse<Cells>(new File([csv], 'findings.csv'), {
      header: true,
      skipEmptyLines: true,
      chunkSize: PIECE_BYTES,
      step: ({ data }) => void lines.push(lineIn(data, lines.length)),
      complete: () => resolve(lines),
      error: reject,
    });
  });
};

/** A comparison with all its differences. */
export interface Compared {
  readonly asked: PayoutAsked;
  readonly answer: PaymentsComparison;
  readonly lines: readonly PayoutLine[];
}

const tableOf = (body: PayoutAsked): Promise<Blob> => fileOf('comparePayments', { body }, 'text/csv');

/** All differences as the service writes them, for spreadsheets. */
export const findingsFile = async (body: PayoutAsked): Promise<Blob> => new Blob([BOM, await tableOf(body)]);

/** Compares a file; of more differences than the answer has, all are read from the service's table. */
export const comparedFile = async (body: PayoutAsked): Promise<Compared> => {
  const answer = await api.comparePayments({ body });
  const isWhole = answer.items_left_out === 0;
  const lines = isWhole ? answer.items.map(lineOf) : await linesIn(await tableOf(body));
  return { asked: body, answer, lines };
};
