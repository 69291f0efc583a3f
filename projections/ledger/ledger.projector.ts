import { bulk, records } from '../engine/apply/bulk.ts';
import type { Projector } from '../engine/projector.ts';
import { ledgerDdl, ledgerTables } from './ledger.schema.ts';
import { bigintOf, textOf } from '../engine/apply/columns.ts';
import type { SqlTx } from '../engine/ports.ts';
import { blocksOf } from './ledgerBlocks.ts';
import type { LedgerRow } from './ledgerRows.ts';
import { LEDGER_EVENTS, ledgerRowsOf } from './ledgerRows.ts';

const postings = records({
  tenant_id: 'text',
  ordinal: 'int8',
  position: 'int8',
  part: 'int4',
  id: 'text',
  kind: 'text',
  operation: 'text',
  category: 'text',
  extraction_mode: 'text',
  billing_type: 'text',
  pages: 'int8',
  free_pages: 'int8',
  credits_per_page: 'int8',
  credits_delta: 'int8',
  balance_after: 'int8',
  billing_config_version: 'int4',
  project_id: 'text',
  task_id: 'text',
  document_id: 'text',
  job_id: 'text',
  api_key_id: 'text',
  details: 'jsonb',
  created_at: 'text',
});
const counts = bulk({
  tenant_id: 'text',
  block: 'int4',
  kind: 'text',
  operation: 'text',
  rows: 'int8',
  first_ordinal: 'int8',
  last_ordinal: 'int8',
  first_created_at: 'text',
  last_created_at: 'text',
});
const tenants = bulk({ tenant_id: 'text' });

/** The newest row of each tenant tells how many it has. */
const NEWEST = (schema: string) => `
  select u.tenant_id, l.ordinal from ${tenants.source()} cross join lateral (
    select ordinal from ${schema}.ledger where tenant_id = u.tenant_id order by ordinal desc limit 1
  ) l`;

const POST = (schema: string) => `
  insert into ${schema}.ledger (${postings.names}) select ${postings.names} from ${postings.source(`${schema}.ledger`)}`;

const COUNT = (schema: string) => `
  insert into ${schema}.ledger_blocks as b (${counts.names}) select ${counts.names} from ${counts.source()}
  on conflict (tenant_id, block, kind, operation) do update set
    rows = b.rows + excluded.rows,
    last_ordinal = excluded.last_ordinal,
    first_created_at = least(b.first_created_at, excluded.first_created_at),
    last_created_at = greatest(b.last_created_at, excluded.last_created_at)`;

/** Numbers new rows after those that their tenants have. */
const number = async (tx: SqlTx, schema: string, rows: readonly LedgerRow[]): Promise<void> => {
  const ids = [...new Set(rows.map(({ tenant_id }) => tenant_id))];
  const newest = await tx.query(NEWEST(schema), tenants.values(ids.map((tenant_id) => ({ tenant_id }))));
  const next = new Map(newest.map((row) => [textOf(row, 'tenant_id'), Number(bigintOf(row, 'ordinal')) + 1]));
  for (const row of rows) {
    row.ordinal = next.get(row.tenant_id) ?? 0;
    next.set(row.tenant_id, row.ordinal + 1);
  }
};

/** Every posting of every tenant, with counts by block of rows, kind and operation. */
export const ledgerProjector: Projector = {
  name: 'ledger',
  version: 2,
  eventTypes: LEDGER_EVENTS,
  tables: ledgerTables,
  ddl: ledgerDdl,
  apply: async (tx, { schema, events }) => {
    const rows = events.flatMap(ledgerRowsOf);
    await number(tx, schema, rows);
    await tx.query(POST(schema), postings.values(rows));
    await tx.query(COUNT(schema), counts.values(blocksOf(rows)));
  },
};
