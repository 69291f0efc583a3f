import { table } from '../engine/table.ts';

/** Documents that the service has seen: what identifies and measures them. `removed_at`: its upload is gone. */
export const documents = table({
  name: 'documents',
  key: ['document_id'],
  columns: {
    document_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    file_name: 'text?',
    mime_type: 'text',
    bytes: 'int8',
    pages: 'int8',
    sha256: 'text',
    source: 'text',
    created_at: 'text',
    removed_at: 'text?',
  },
  indexes: ['(tenant_id, position desc)'],
});
