import { table } from '../engine/table.ts';

/** Payment identities that were claimed and have neither an effect nor a release yet. */
export const openClaims = table({
  name: 'open_claims',
  key: ['stream'],
  columns: {
    stream: 'sorted',
    tenant_id: 'sorted replace',
    kind: 'text replace',
    claimed_at: 'sorted replace',
  },
  indexes: ['(claimed_at)'],
});
