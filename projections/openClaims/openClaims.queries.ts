import { rowReader, textOf } from '../engine/apply/columns.ts';
import { listing, telling } from '../engine/query.ts';

/** Payment streams claimed before an instant and still open, oldest first. */
export const openClaimsBefore = listing(
  'select stream from read.open_claims where claimed_at < $1 order by claimed_at, stream limit $2',
  (before: string, limit: number) => [before, limit],
  (row) => textOf(row, 'stream'),
);

/** All claims that are open: how many, and when the oldest was made (null: there is none). */
export const openClaimsSummary = telling(
  'select count(*) as count, min(claimed_at) as oldest_at from read.open_claims',
  () => [],
  rowReader({ count: 'int8', oldest_at: 'text?' }),
);
