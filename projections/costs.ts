import { onlyRow, pick, type RowOf, rowReader, type TimeRange, wholeOf } from './engine/table.ts';
import type { SqlTx } from './engine/ports.ts';
import { behindKey, keyColumns, orderBy } from './engine/cursor.ts';
import { askableOf, walked, type Page, type RowPage } from './engine/query.ts';
import { filterIn, orderOf, patternOf, sortsBy } from './engine/sorts.ts';
import { PRICED_CALLS } from './llmCosts.ts';
import { partsOf, USAGE_PARTS, usageDocuments } from './usage.ts';

const WORK_COST = { operations: 'int8', pages: 'int8', credits: 'int8', cost_pico: 'numeric' } as const;

/** What work cost its tenant in credits, and the platform in pico-USD. */
export type WorkCost = RowOf<typeof WORK_COST>;

const readTask = rowReader({ task_id: 'text', ...WORK_COST });

interface TaskCostsQuery extends TimeRange {
  readonly tenant_id: string;
  readonly operation?: string | undefined;
  readonly include_adjustments: boolean;
}

const MIN_TIME = '0000-01-01T00:00:00.000Z';
const MAX_TIME = '9999-12-31T23:59:59.999Z';

/**
 * A tenant's costs by task, in the order of their names. A model call without a task belongs to that of its
 * operation. Calls with the tenant's own key cost the platform nothing.
 */
export const costsByTask = (sql: SqlTx) => async (query: TaskCostsQuery) => {
  const { tenant_id, operation = null, from = MIN_TIME, to = MAX_TIME } = query;
  const adjustments = query.include_adjustments && operation === null;
  const rows = await sql.query(
    `with work as (
         select task_id, sum(operations)::int8 as operations, sum(pages)::int8 as pages,
           sum(credits)::int8 as credits
         from (${USAGE_PARTS}) parts
         where tenant_id = $6 and ($7::text is null or operation = $7) group by task_id
       ), models as (
         select coalesce(c.task_id, e.task_id, 'none') as task_id, sum(c.cost)::numeric as cost
         from (${PRICED_CALLS} where c.tenant_id = $6 and c.occurred_at between $8 and $9
           and c.billing_type = 'full_service' and ($7::text is null or c.operation = $7)) c
         left join read.usage_events e on c.task_id is null and e.id = c.job_id and e.tenant_id = c.tenant_id
         group by 1
       )
       select task_id, coalesce(operations, 0) as operations, coalesce(pages, 0) as pages,
         coalesce(credits, 0) as credits, coalesce(cost, 0) as cost_pico
       from work full join models using (task_id) order by task_id`,
    [...partsOf(query, adjustments), tenant_id, operation, from, to],
  );
  return rows.map(readTask);
};

interface DocumentCostsQuery extends Page {
  readonly document_id?: string | undefined;
  readonly tenant_id?: string | undefined;
  readonly task_id?: string | undefined;
}

const readDocument = rowReader({
  ...pick(usageDocuments.columns, 'document_id', 'tenant_id', 'task_id', 'last_used_at'),
  ...WORK_COST,
  file_name: 'text?',
});

const DOCUMENTS = `from read.usage_documents u where ($1::text is null or u.document_id = $1)
  and ($2::text is null or u.tenant_id = $2) and ($3::text is null or u.task_id = $3)
  and ($4::text is null or u.document_id ilike $4 or u.tenant_id ilike $4 or u.task_id ilike $4)`;

/** Model costs of the page's documents only: by the call's document, else by that of its operation. */
const COSTS = `
  select c.tenant_id, coalesce(c.document_id, e.document_id) as document_id, sum(c.cost)::numeric as cost
  from (${PRICED_CALLS} where c.billing_type = 'full_service' and c.tenant_id in (select tenant_id from page)
    and (c.document_id in (select document_id from page) or (c.document_id is null and c.job_id in (
      select id from read.usage_events where document_id in (select document_id from page))))) c
  left join read.usage_events e on c.document_id is null and e.id = c.job_id and e.tenant_id = c.tenant_id
  where coalesce(c.document_id, e.document_id) in (select document_id from page)
  group by 1, 2`;

const LAST_USED_FIRST = {
  name: 'document_costs',
  order: [{ by: 'last_position', as: 'int8' }],
} as const;

const SORTS = sortsBy(
  usageDocuments.columns,
  'document_id',
  'tenant_id',
  'task_id',
  'last_used_at',
  'operations',
  'pages',
  'credits',
);

/** Costs by document, last used first or as they are asked for. */
const documentCosts =
  (sql: SqlTx) =>
  (query: DocumentCostsQuery): Promise<RowPage<ReturnType<typeof readDocument>>> => {
    const { document_id = null, tenant_id = null, task_id = null, q } = query;
    const { name, order } = LAST_USED_FIRST;
    const list = { name, order: [...orderOf(SORTS, query.sort), ...order] };
    return walked(list, query, {
      find: async ({ limit, place }) => {
        const named = [document_id, tenant_id, task_id, q === undefined ? null : patternOf(q)];
        const { where, values } = filterIn(SORTS, query.filter, named.length + 1);
        const filter = [...named, ...values];
        const chosen = `${DOCUMENTS} ${where}`;
        const [most, skipped, first] = [1, 2, 3].map((at) => filter.length + at);
        const behind = place === undefined ? '' : `and ${behindKey(list, first ?? 0)}`;
        const rows = await sql.query(
          `with page as (
             select u.*, ${keyColumns(list)}, row_number() over (order by ${orderBy(list)}) as place
             ${chosen} ${behind} order by ${orderBy(list)} limit $${String(most)} offset $${String(skipped)}
           ), models as (${COSTS})
           select page.*, d.file_name, coalesce(models.cost, 0) as cost_pico
           from page left join read.documents d on d.document_id = page.document_id
           left join models on models.tenant_id = page.tenant_id and models.document_id = page.document_id
           order by page.place`,
          [...filter, limit, place === undefined ? query.offset : 0, ...(place?.key ?? [])],
        );
        if (place !== undefined) return { rows, total: place.total };
        const total = onlyRow(await sql.query(`select count(*) as n ${chosen}`, filter));
        return { rows, total: wholeOf(total, 'n') };
      },
      read: readDocument,
    });
  };

export const costsByDocument = Object.assign(documentCosts, askableOf({ sorts: SORTS }));
