import type { RowPage } from '../balances/balances.queries.ts';
import { textOf, wholeOf } from '../engine/apply/columns.ts';
import type { SqlTx } from '../engine/ports.ts';

export interface ArtifactsQuery {
  readonly tenant_id: string;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

const CHOSEN = `from read.artifacts
  where tenant_id = $1 and is_usable
    and ($2::text is null or project_id = $2) and ($3::text is null or task_id = $3)`;

/** IDs of a tenant's artifacts that may be used, newest first, and how many there are in all. */
export const artifactsOfTenant =
  (sql: SqlTx) =>
  async (query: ArtifactsQuery): Promise<RowPage<string>> => {
    const values = [query.tenant_id, query.project_id ?? null, query.task_id ?? null];
    const page = `select artifact_id ${CHOSEN} order by position desc limit $4 offset $5`;
    const rows = await sql.query(page, [...values, query.limit, query.offset]);
    const [count] = await sql.query(`select count(*) as total ${CHOSEN}`, values);
    return {
      items: rows.map((row) => textOf(row, 'artifact_id')),
      total: count === undefined ? 0 : wholeOf(count, 'total'),
    };
  };
