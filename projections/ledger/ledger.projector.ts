import { bulk, records, upserting } from '../engine/apply/bulk.ts';
import type { Projector } from '../engine/projector.ts';
import { bigintOf, textOf } from '../engine/apply/columns.ts';
import type { SqlTx } from '../engine/ports.ts';
import { pick } from '../engine/table.ts';
import { ledger, ledgerBlocks } from './ledger.schema.ts';
import { blocksOf } from './ledgerBlocks.ts';
import type { LedgerRow } from './ledgerRows.ts';
import { LEDGER_EVENTS, ledgerRowsOf } from './ledgerRows.ts';

const postings = records(ledger.columns);
const addCounts = upserting(ledgerBlocks);
const tenants = bulk(pick(ledger.columns, 'tenant_id'));

/** The newest row of each tenant tells how many it has. */
const NEWEST = (schema: string) => `
  select u.tenant_id, l.ordinal from ${tenants.source()} cross join lateral (
    select ordinal from ${schema}.ledger where tenant_id = u.tenant_id order by ordinal desc limit 1
  ) l`;

const POST = (schema: string) => `
  insert into ${schema}.ledger (${postings.names})
  select ${postings.names} from ${postings.source(`${schema}.ledger`)}`;

/** Numbers new rows from their tenant's next ordinal on. */
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
  tables: [ledger, ledgerBlocks],
  apply: async (tx, { schema, events }) => {
    const rows = events.flatMap(ledgerRowsOf);
    await number(tx, schema, rows);
    await tx.query(POST(schema), postings.values(rows));
    await addCounts(tx, schema, blocksOf(rows));
  },
};
