import { textOf } from '../engine/columns.ts';
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
