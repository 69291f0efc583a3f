import { type Projector, rowReader, table } from '../engine/table.ts';
import { lastOf, upserting } from '../engine/bulk.ts';
import { only, type ProjectedEventOf } from '../engine/ports.ts';
import { type Page, paging, telling } from '../engine/query.ts';
import { sortsBy } from '../engine/sorts.ts';

/** Tables of master data that were not removed, each by its latest version. */
export const masterTables = table({
  name: 'master_tables',
  key: ['table_id'],
  columns: {
    table_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position replace',
    version: 'int4 replace',
    table_name: 'text? replace',
    /** The names of the columns, as JSON text. */
    header: 'text? replace',
    columns: 'int8 replace',
    rows: 'int8 replace',
    bytes: 'int8 replace',
    sha256: 'text replace',
    created_at: 'text replace',
    published_at: 'text replace',
    published_by: 'text replace',
  },
  indexes: ['(tenant_id, position desc)'],
});

/** What each version keeps: versions of one content keep it once. */
export const masterTableContents = table({
  name: 'master_table_contents',
  key: ['table_id', 'sha256'],
  columns: { table_id: 'sorted', sha256: 'sorted', tenant_id: 'sorted', bytes: 'int8 replace' },
  indexes: ['(tenant_id)'],
});

const keep = upserting(masterTables);
const keepContents = upserting(masterTableContents);

export const tableRow = ({
  data,
  position,
}: Pick<ProjectedEventOf<'TablePublished'>, 'data' | 'position'>) => {
  const { header, ...rest } = data;
  return { ...rest, position, header: header === null ? null : JSON.stringify(header) };
};

/** Tables of master data by their latest version; a removed one has no row. */
export const masterTablesProjector: Projector = {
  name: 'master_tables',
  version: 1,
  eventTypes: ['TablePublished', 'TableRemoved'],
  tables: [masterTables, masterTableContents],
  apply: async (tx, { schema, events }) => {
    const published = only(events, 'TablePublished').map(tableRow);
    await keep(
      tx,
      schema,
      lastOf(published, ({ table_id }) => table_id),
    );
    await keepContents(
      tx,
      schema,
      lastOf(
        published.map(({ table_id, sha256, tenant_id, bytes }) => ({ table_id, sha256, tenant_id, bytes })),
        ({ table_id, sha256 }) => `${table_id} ${sha256}`,
      ),
    );
    // Nothing follows a removal, so its rows are deleted.
    const removed = only(events, 'TableRemoved').map(({ data }) => data.table_id);
    if (removed.length === 0) return;
    for (const { name } of [masterTables, masterTableContents])
      await tx.query(`delete from ${schema}.${name} where table_id = any($1::text[])`, [removed]);
  },
};

interface TablesQuery extends Page {
  readonly tenant_id: string;
}

/** A tenant's tables, last published first, and how many there are in all. */
export const tablesOfTenant = paging(
  {
    name: 'master_tables',
    chosen: 'from read.master_tables where tenant_id = $1',
    sorts: sortsBy(
      masterTables.columns,
      'table_id',
      'version',
      'columns',
      'rows',
      'bytes',
      'created_at',
      'published_at',
    ),
    searched: { columns: ['table_id'], written: ['table_name'] },
  },
  ({ tenant_id }: TablesQuery) => [tenant_id],
  rowReader(masterTables.columns),
);

/** How many tables a tenant has, and the bytes of all that their versions keep. */
export const tableStockOfTenant = telling(
  `select (select count(*) from read.master_tables where tenant_id = $1)::int8 as tables,
     (select coalesce(sum(bytes), 0) from read.master_table_contents where tenant_id = $1)::int8 as bytes`,
  (tenantId: string) => [tenantId],
  rowReader({ tables: 'int8', bytes: 'int8' }),
);
