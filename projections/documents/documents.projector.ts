import { bulk } from '../engine/bulk.ts';
import { only } from '../engine/event.ts';
import type { Projector } from '../engine/projector.ts';
import { documentsDdl, documentsTables } from './documents.schema.ts';

const documents = bulk({
  document_id: 'text',
  tenant_id: 'text',
  position: 'int8',
  project_id: 'text',
  task_id: 'text',
  file_name: 'text',
  mime_type: 'text',
  bytes: 'int8',
  pages: 'int8',
  sha256: 'text',
  source: 'text',
  created_at: 'text',
});

const removed = bulk({ document_id: 'text', removed_at: 'text' });

const REMOVE = (schema: string) => `
  update ${schema}.documents d set removed_at = u.removed_at
  from ${removed.source()} where d.document_id = u.document_id`;

/**
 * Registered documents; the first registration of an ID stands. A document is registered before its upload is
 * removed, or the removal is said again after it.
 */
export const documentsProjector: Projector = {
  name: 'documents',
  version: 2,
  eventTypes: ['DocumentRegistered', 'UploadRemoved'],
  tables: documentsTables,
  ddl: documentsDdl,
  apply: async (tx, { schema, events }) => {
    const rows = only(events, 'DocumentRegistered').map(({ data, position }) => ({ ...data, position }));
    const gone = new Map(only(events, 'UploadRemoved').map(({ data }) => [data.document_id, data]));
    if (rows.length > 0)
      await tx.query(
        `insert into ${schema}.documents (${documents.names}) select ${documents.names} from ${documents.source()}
         on conflict (document_id) do nothing`,
        documents.values(rows),
      );
    if (gone.size > 0) await tx.query(REMOVE(schema), removed.values([...gone.values()]));
  },
};
