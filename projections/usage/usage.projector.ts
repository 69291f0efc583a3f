import { upserting } from '../engine/apply/bulk.ts';
import type { Projector } from '../engine/projector.ts';
import { usageDays, usageDocuments } from './usage.schema.ts';
import { daySums, documentSums } from './usageSums.ts';

const addDays = upserting(usageDays);
const addDocuments = upserting(usageDocuments);

/** Consumption by day and dimensions, and by document. */
export const usageProjector: Projector = {
  name: 'usage',
  version: 1,
  eventTypes: ['CreditsBurned', 'CreditsAdjusted'],
  tables: [usageDays, usageDocuments],
  apply: async (tx, { schema, events }) => {
    await addDays(tx, schema, daySums(events));
    await addDocuments(tx, schema, documentSums(events));
  },
};
