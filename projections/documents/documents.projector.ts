import { inserting, updating } from '../engine/apply/bulk.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { omit } from '../engine/table.ts';
import { documents } from './documents.schema.ts';

const register = inserting(documents, { columns: omit(documents.columns, 'removed_at'), firstStands: true });
const remove = updating(documents, 'document_id', 'removed_at');

/**
 * Registered documents; the first registration of an ID stands. A document is registered before its upload is
 * removed, or the removal is said again after it.
 */
export const documentsProjector: Projector = {
  name: 'documents',
  version: 2,
  eventTypes: ['DocumentRegistered', 'UploadRemoved'],
  tables: [documents],
  apply: async (tx, { schema, events }) => {
    const rows = only(events, 'DocumentRegistered').map(({ data, position }) => ({ ...data, position }));
    const gone = new Map(only(events, 'UploadRemoved').map(({ data }) => [data.document_id, data]));
    await register(tx, schema, rows);
    await remove(tx, schema, [...gone.values()]);
  },
};
