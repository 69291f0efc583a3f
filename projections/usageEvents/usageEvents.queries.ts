import { textOf, textOrNull, wholeOf, wholeOrNull } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';

/** One extraction or conversion and what became of it. `state`: running, success, partial or failed. */
export interface UsageEventRow {
  readonly id: string;
  readonly kind: string;
  readonly tenant_id: string;
  readonly document_id: string;
  readonly state: string;
  readonly pages: number;
  readonly free_pages: number | null;
  readonly hold_id: string | null;
  readonly problem_code: string | null;
  readonly duration_ms: number | null;
  readonly requested_at: string;
  readonly finished_at: string | null;
}

const rowOf = (row: SqlRow): UsageEventRow => ({
  id: textOf(row, 'id'),
  kind: textOf(row, 'kind'),
  tenant_id: textOf(row, 'tenant_id'),
  document_id: textOf(row, 'document_id'),
  state: textOf(row, 'state'),
  pages: wholeOf(row, 'pages'),
  free_pages: wholeOrNull(row, 'free_pages'),
  hold_id: textOrNull(row, 'hold_id'),
  problem_code: textOrNull(row, 'problem_code'),
  duration_ms: wholeOrNull(row, 'duration_ms'),
  requested_at: textOf(row, 'requested_at'),
  finished_at: textOrNull(row, 'finished_at'),
});

export const usageEventById =
  (sql: SqlTx) =>
  async (id: string): Promise<UsageEventRow | undefined> =>
    (await sql.query('select * from read.usage_events where id = $1', [id])).map(rowOf)[0];

/** A burned extraction or conversion without its usage event. */
export interface UnrecordedWorkRow {
  readonly operation_id: string;
  readonly operation: 'extract' | 'to_markdown';
  readonly tenant_id: string;
  readonly pages: number;
  readonly free_pages: number;
  readonly status: 'success' | 'partial';
  readonly duration_ms: number;
  readonly burned_at: string;
}

const unrecordedOf = (row: SqlRow): UnrecordedWorkRow => ({
  operation_id: textOf(row, 'operation_id'),
  operation: textOf(row, 'operation') === 'extract' ? 'extract' : 'to_markdown',
  tenant_id: textOf(row, 'tenant_id'),
  pages: wholeOf(row, 'pages'),
  free_pages: wholeOf(row, 'free_pages'),
  status: textOf(row, 'status') === 'partial' ? 'partial' : 'success',
  duration_ms: wholeOf(row, 'duration_ms'),
  burned_at: textOf(row, 'burned_at'),
});

/** Burned before an instant and still without a usage event, oldest first. */
export const unrecordedWorkBefore =
  (sql: SqlTx) =>
  async (before: string, limit: number): Promise<readonly UnrecordedWorkRow[]> =>
    (
      await sql.query(
        `select * from read.unrecorded_work where burned_at < $1
         order by burned_at, operation_id limit $2`,
        [before, limit],
      )
    ).map(unrecordedOf);
