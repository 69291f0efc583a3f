import type { OwnBucket, RateLimitOverride } from '../../domain/rateLimits/decider.ts';
import { textOf, wholeOrNull } from '../engine/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';

const bucketOf = (row: SqlRow, name: 'heavy' | 'general'): OwnBucket | null => {
  const [rate_per_second, burst] = [wholeOrNull(row, `${name}_rate`), wholeOrNull(row, `${name}_burst`)];
  return rate_per_second === null || burst === null ? null : { rate_per_second, burst };
};

/** A tenant's own limits; null where it has the defaults. */
export const rateLimitsOfTenant =
  (sql: SqlTx) =>
  async (tenantId: string): Promise<RateLimitOverride | null> => {
    const [row] = await sql.query('select * from read.rate_limits where tenant_id = $1', [tenantId]);
    if (row === undefined) return null;
    return {
      heavy: bucketOf(row, 'heavy'),
      general: bucketOf(row, 'general'),
      updated_at: textOf(row, 'updated_at'),
      updated_by: textOf(row, 'updated_by'),
    };
  };
