import { onlyRow, textOf, textOrNull, wholeOf } from '../engine/apply/columns.ts';
import type { SqlTx } from '../engine/ports.ts';

/** Payment streams claimed before an instant and still open, oldest first. */
export const openClaimsBefore =
  (sql: SqlTx) =>
  async (before: string, limit: number): Promise<readonly string[]> =>
    (
      await sql.query(
        'select stream from read.open_claims where claimed_at < $1 order by claimed_at, stream limit $2',
        [before, limit],
      )
    ).map((row) => textOf(row, 'stream'));

/** All claims that are open: how many, and when the oldest was made (null: there is none). */
export const openClaimsSummary =
  (sql: SqlTx) => async (): Promise<{ readonly count: number; readonly oldest_at: string | null }> => {
    const row = onlyRow(
      await sql.query('select count(*) as n, min(claimed_at) as oldest from read.open_claims'),
    );
    return { count: wholeOf(row, 'n'), oldest_at: textOrNull(row, 'oldest') };
  };
