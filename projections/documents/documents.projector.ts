import { bulk } from '../engine/apply/bulk.ts';
import { only } from '../engine/feed/event.ts';
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

/** Registered documents; the first registration of an ID stands. */
export const documentsProjector: Projector = {
  name: 'documents',
  version: 1,
  eventTypes: ['DocumentRegistered'],
  tables: documentsTables,
  ddl: documentsDdl,
  apply: async (tx, { schema, events }) => {
    const rows = only(events, 'DocumentRegistered').map(({ data, position }) => ({ ...data, position }));
    await tx.query(
      `insert into ${schema}.documents (${documents.names}) select ${documents.names} from ${documents.source()}
       on conflict (document_id) do nothing`,
      documents.values(rows),
    );
  },
};
