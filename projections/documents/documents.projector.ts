import { inserting } from '../engine/bulk.ts';
import { only } from '../engine/event.ts';
import type { Projector } from '../engine/projector.ts';
import { documents } from './documents.schema.ts';

const register = inserting(documents, { firstStands: true });

/** Registered documents; the first registration of an ID stands. */
export const documentsProjector: Projector = {
  name: 'documents',
  version: 1,
  eventTypes: ['DocumentRegistered'],
  tables: [documents],
  apply: async (tx, { schema, events }) => {
    const rows = only(events, 'DocumentRegistered').map(({ data, position }) => ({ ...data, position }));
    await register(tx, schema, rows);
  },
};
