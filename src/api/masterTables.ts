import { z } from 'zod';
import { columnsOf, type TableVersion } from '../../domain/rules/masterTable.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import {
  type findTable,
  type ownerOfTable,
  type PublishedTable,
  type tableRows,
  type TableRequest,
  tableNotFound,
} from '../commands/masterTables.ts';
import type { WorkProblem } from '../commands/workProblem.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { jsonIn } from '../../domain/kernel/json.ts';
import { withTexts } from '../writer/vault.ts';
import type { LogToRead } from '../queries/log.ts';
import { KEPT_A_DAY, routesOver } from '../server/routes.ts';
import { invalid, problem, workFailure } from '../server/problems.ts';
import {
  checkKnown,
  instantOut,
  listQuery,
  orAbsent,
  pageFacts,
  pageOf,
  plainText,
  tenantIdText,
  whoOut,
  wholeNumberText,
} from './schemas/basics.ts';
import { tablesOfTenant } from '../../projections/rules/masterTables.ts';
import { sightOf } from './training.ts';

type Rest<Does> = Does extends (deps: infer _, ...rest: infer Asked) => infer Answer
  ? (...asked: Asked) => Answer
  : never;

/** What routes call for tables. */
export interface TableCommands {
  readonly publish: (request: TableRequest, meta: CommandMeta) => Promise<PublishedTable | WorkProblem>;
  readonly remove: (tableId: string, tenantId: string, meta: CommandMeta) => Promise<WorkProblem | undefined>;
  readonly find: Rest<typeof findTable>;
  readonly ownerOf: Rest<typeof ownerOfTable>;
  readonly rows: Rest<typeof tableRows>;
}

/** What these routes need. */
export interface TablesDeps {
  readonly tables: TableCommands;
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'tablesOfTenant'>;
  readonly reads: ReadYourWrites;
  readonly log: LogToRead;
}

const { get, post, remove } = routesOver<TablesDeps>();

const tableForm = z
  .strictObject({
    tenant_id: tenantIdText,
    table_id: orAbsent(plainText(1, 128)).meta({
      description: 'ID of the table that gets a new version; left out: a new table.',
    }),
    name: orAbsent(plainText(1, 200)).meta({
      description: 'Left out: the name of the file; a new version keeps the name that the table has.',
    }),
  })
  .meta({ id: 'TableForm' });

const tableMembers = {
  table_id: z.string(),
  version: z.int().meta({ description: 'Starts at 1; another content or name makes the next.' }),
  tenant_id: z.string(),
  name: z.string().nullable(),
  columns: z.array(z.string()).meta({ description: 'Names of the columns, in their order.' }),
  rows: z.int().meta({ description: 'Number of rows, without the names of the columns.' }),
  bytes: z.int().meta({ description: 'Bytes of this version as it is kept.' }),
  sha256: z.string().meta({
    description: 'Digest of the names and rows as lines of JSON: versions of one content have one digest.',
  }),
  created_at: instantOut.meta({ description: 'When the first version was published.' }),
  published_at: instantOut.meta({ description: 'When this version was published.' }),
  published_by: whoOut,
};
const tableBody = z.strictObject(tableMembers).meta({ id: 'Table' });

const tableWithRows = z
  .strictObject({
    ...tableMembers,
    items: z.array(z.array(z.string())).meta({
      description: 'Rows of this version, each with a text for every column.',
    }),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `cursor` for the next rows; null: these are the last.' }),
  })
  .meta({ id: 'TableWithRows' });

const bodyOf = ({ header, table_name: name, ...version }: TableVersion) => ({
  ...version,
  name,
  columns: [...columnsOf({ header })],
});

const ROWS_DEFAULT = 50;
const ROWS_MAX = 1_000;
const MAX_VERSION = 1_000_000;

export const publishTable = post(
  '/v1/tables',
  {
    summary: 'Publish a table of master data, or a new version of one',
    description:
      'A CSV file or an XLSX workbook (its first sheet) such as a list of vendors, in which `lookups` of saved ' +
      'configs find values. The first row has the names of the columns; cells are texts as they are shown, and no ' +
      'formula is computed from them. A version is complete; the same content and name again make none. At most ' +
      '100,000 rows, 100 columns, 1,000 characters a cell, 4,000 a row, 20 MiB; a tenant has at most 100 tables ' +
      'and 256 MiB of all versions together.',
    access: 'admin',
    tenantSessions: true,
    tenant: 'body',
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    body: tableForm,
    upload: true,
    reply: { status: 201, schema: tableBody },
    problems: [
      'table_not_found',
      'missing_file',
      'empty_file',
      'unsupported_file_type',
      'unreadable_file',
      'file_too_large',
      'table_beyond_limits',
      'upload_quota_exceeded',
      'storage_error',
      'busy',
    ],
  },
  async (request, { tables }) => {
    const { file, body, meta, idempotency_key, signal } = request;
    if (file === undefined) throw problem('missing_file', 'The form has no part named file.');
    const { tenant_id, table_id = null, name } = body;
    const published = await tables.publish(
      { tenant_id, table_id, name, file, idempotency_key, signal },
      meta,
    );
    if (published.kind === 'problem') throw workFailure(published);
    request.answer.header('Location', `/v1/tables/${published.version.table_id}`);
    return bodyOf(published.version);
  },
);

export const listTables = get(
  '/v1/tables',
  {
    summary: 'The tables of a tenant, last published first',
    description: 'The latest version of each table that was not removed, without its rows.',
    access: 'any',
    tenant: 'query',
    query: z.object({ tenant_id: tenantIdText, ...listQuery(tablesOfTenant) }),
    reply: { status: 200, schema: pageOf(tableBody, 'TableList') },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ query }, deps) => {
    const { tenant_id } = query;
    const found = await deps.queries.tablesOfTenant(query);
    await checkKnown(deps, tenant_id, { isEmpty: found.total === 0 });
    const headers = await withTexts(
      deps.log,
      found.items.map(({ header }) => (header === null ? null : (jsonIn(header) as TableVersion['header']))),
    );
    const items = found.items.map(({ position: _, ...table }, at) =>
      bodyOf({ ...table, header: headers[at] ?? null }),
    );
    return { items, ...pageFacts(query, found) };
  },
);

const tableParams = z.object({ table_id: plainText(1, 128) });

const rowsQuery = z.object({
  version: wholeNumberText(1, MAX_VERSION).optional().meta({ description: 'Default: the latest version.' }),
  limit: wholeNumberText(0, ROWS_MAX)
    .default(ROWS_DEFAULT)
    .meta({ description: 'Most rows of the answer; 0: none.' }),
  cursor: plainText(1, 20).optional().meta({ description: '`next_cursor` of the answer before.' }),
});

/** The number of the row before the next one. A version never changes, so it says enough. */
const placeOf = (cursor: string | undefined): number => {
  if (cursor === undefined) return 0;
  if (!/^\d{1,7}$/.test(cursor))
    throw invalid({
      loc: ['query', 'cursor'],
      msg: 'Send a next_cursor as it was given.',
      type: 'value_error',
    });
  return Number(cursor);
};

export const getTable = get(
  '/v1/tables/{table_id}',
  {
    summary: 'A table with its rows',
    description:
      'Any version of a table that was not removed: `meta.checks` of a result name the version that a look-up used.',
    access: 'any',
    params: tableParams,
    query: rowsQuery,
    reply: { status: 200, schema: tableWithRows },
    problems: ['table_not_found', 'storage_error'],
  },
  async (request, { tables }) => {
    const { table_id } = request.params;
    const { version, limit, cursor } = request.query;
    const found = await tables.find(sightOf(request), { table_id, version });
    const after = placeOf(cursor);
    const items = found && (limit === 0 ? [] : await tables.rows(found, { after, limit }));
    if (found === undefined || items === undefined) throw workFailure(tableNotFound());
    const upTo = after + items.length;
    const next_cursor = limit > 0 && upTo < found.rows ? String(upTo) : null;
    return { ...bodyOf(found), items: items.map((row) => [...row]), next_cursor };
  },
);

export const removeTable = remove(
  '/v1/tables/{table_id}',
  {
    summary: 'Remove a table with the rows of all its versions',
    description:
      'This is final. Look-ups of saved configs in it find nothing from then on, and are doubtful.',
    access: 'admin',
    tenantSessions: true,
    params: tableParams,
    reply: { status: 204 },
    problems: ['table_not_found', 'storage_error', 'busy'],
  },
  async (request, { tables }) => {
    const { table_id } = request.params;
    const [owner, sight] = [await tables.ownerOf(table_id), sightOf(request)];
    if (owner === undefined || (sight !== null && sight !== owner)) throw workFailure(tableNotFound());
    const refused = await tables.remove(table_id, owner, request.meta);
    if (refused !== undefined) throw workFailure(refused);
    return undefined;
  },
);
