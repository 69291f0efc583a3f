import { bulk } from '../engine/apply/bulk.ts';
import type { Projector } from '../engine/projector.ts';
import { usageDdl, usageTables } from './usage.schema.ts';
import { usageDays, usageDocuments } from './usageSums.ts';

const days = bulk({
  day: 'text',
  tenant_id: 'text',
  kind: 'text',
  operation: 'text',
  category: 'text',
  extraction_mode: 'text',
  billing_type: 'text',
  task_id: 'text',
  operations: 'int8',
  pages: 'int8',
  free_pages: 'int8',
  credits: 'int8',
});
const documents = bulk({
  tenant_id: 'text',
  document_id: 'text',
  task_id: 'text',
  operations: 'int8',
  pages: 'int8',
  credits: 'int8',
  last_used_at: 'text',
  last_position: 'int8',
});

const ADD_DAYS = (schema: string) => `
  insert into ${schema}.usage_days as d (${days.names}) select ${days.names} from ${days.source()}
  on conflict (day, tenant_id, kind, operation, category, extraction_mode, billing_type, task_id) do update set
    operations = d.operations + excluded.operations,
    pages = d.pages + excluded.pages,
    free_pages = d.free_pages + excluded.free_pages,
    credits = d.credits + excluded.credits`;

const ADD_DOCUMENTS = (schema: string) => `
  insert into ${schema}.usage_documents as d (${documents.names})
  select ${documents.names} from ${documents.source()}
  on conflict (tenant_id, document_id) do update set
    task_id = excluded.task_id,
    operations = d.operations + excluded.operations,
    pages = d.pages + excluded.pages,
    credits = d.credits + excluded.credits,
    last_used_at = excluded.last_used_at,
    last_position = excluded.last_position`;

/** Consumption by day and dimensions, and by document. */
export const usageProjector: Projector = {
  name: 'usage',
  version: 1,
  eventTypes: ['CreditsBurned', 'CreditsAdjusted'],
  tables: usageTables,
  ddl: usageDdl,
  apply: async (tx, { schema, events }) => {
    await tx.query(ADD_DAYS(schema), days.values(usageDays(events)));
    const used = usageDocuments(events);
    if (used.length > 0) await tx.query(ADD_DOCUMENTS(schema), documents.values(used));
  },
};
