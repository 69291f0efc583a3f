import { bulk, records } from '../engine/bulk.ts';
import type { Projector } from '../engine/projector.ts';
import { ledgerDdl, ledgerTables } from './ledger.schema.ts';
import type { LedgerRow } from './ledgerRows.ts';
import { LEDGER_EVENTS, ledgerRowsOf } from './ledgerRows.ts';

const postings = records({
  tenant_id: 'text',
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
  day: 'text',
  kind: 'text',
  operation: 'text',
  rows: 'int8',
  credits_delta: 'int8',
  pages: 'int8',
  free_pages: 'int8',
  first_position: 'int8',
  last_position: 'int8',
});

interface DayCount {
  readonly tenant_id: string;
  readonly day: string;
  readonly kind: string;
  readonly operation: string;
  rows: number;
  credits_delta: bigint;
  pages: number;
  free_pages: number;
  first_position: bigint;
  last_position: bigint;
}

const countsOf = (rows: readonly LedgerRow[]): readonly DayCount[] => {
  const days = new Map<string, DayCount>();
  for (const row of rows) {
    const { tenant_id, kind, position } = row;
    const day = row.created_at.slice(0, 10);
    const operation = row.operation ?? '';
    const key = `${tenant_id} ${day} ${kind} ${operation}`;
    let count = days.get(key);
    if (count === undefined) {
      const nothing = { rows: 0, credits_delta: 0n, pages: 0, free_pages: 0 };
      count = {
        tenant_id,
        day,
        kind,
        operation,
        ...nothing,
        first_position: position,
        last_position: position,
      };
      days.set(key, count);
    }
    count.rows += 1;
    count.credits_delta += BigInt(row.credits_delta);
    count.pages += row.pages;
    count.free_pages += row.free_pages;
    count.last_position = position;
  }
  return [...days.values()];
};

const POST = (schema: string) => `
  insert into ${schema}.ledger (${postings.names}) select ${postings.names} from ${postings.source(`${schema}.ledger`)}`;

const COUNT = (schema: string) => `
  insert into ${schema}.ledger_days as d (${counts.names}) select ${counts.names} from ${counts.source()}
  on conflict (tenant_id, day, kind, operation) do update set
    rows = d.rows + excluded.rows,
    credits_delta = d.credits_delta + excluded.credits_delta,
    pages = d.pages + excluded.pages,
    free_pages = d.free_pages + excluded.free_pages,
    last_position = excluded.last_position`;

/** Every posting of every tenant, with counts by day, kind and operation. */
export const ledgerProjector: Projector = {
  name: 'ledger',
  version: 1,
  eventTypes: LEDGER_EVENTS,
  tables: ledgerTables,
  ddl: ledgerDdl,
  apply: async (tx, { schema, events }) => {
    const rows = events.flatMap(ledgerRowsOf);
    await tx.query(POST(schema), postings.values(rows));
    await tx.query(COUNT(schema), counts.values(countsOf(rows)));
  },
};
