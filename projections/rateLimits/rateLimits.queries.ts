import type { OwnBucket, RateLimitOverride } from '../../domain/rateLimits/decider.ts';
import { textOf, wholeOrNull } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';

const bucketOf = (row: SqlRow, name: 'heavy' | 'general'): OwnBucket | null => {
  const [rate_per_second, burst] = [wholeOrNull(row, `${name}_rate`), wholeOrNull(row, `${name}_burst`)];
  return rate_per_second === null || burst === null ? null : { rate_per_second, burst };
};

/** Tenants' own limits; those with the defaults are not in the map. */
export const rateLimitsOfTenants =
  (sql: SqlTx) =>
  async (tenantIds: readonly string[]): Promise<ReadonlyMap<string, RateLimitOverride>> => {
    const rows = await sql.query('select * from read.rate_limits where tenant_id = any($1::text[])', [
      tenantIds,
    ]);
    return new Map(
      rows.map((row) => [
        textOf(row, 'tenant_id'),
        {
          heavy: bucketOf(row, 'heavy'),
          general: bucketOf(row, 'general'),
          updated_at: textOf(row, 'updated_at'),
          updated_by: textOf(row, 'updated_by'),
        },
      ]),
    );
  };
