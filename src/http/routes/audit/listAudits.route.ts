import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { pagingQuery } from '../../wire/basics.ts';
import { auditList } from '../../wire/audit.ts';

export const listAudits = get('/v1/admin/audits', {
  summary: 'The audits that are kept, newest first',
  description: 'The last 100, of all processes; `findings` counts them, and `GET` of one shows them.',
  access: 'admin',
  query: z.object(pagingQuery),
  reply: { status: 200, schema: auditList },
  handle: async ({ query }, { audits }) => {
    const { items, total } = await audits.list(query);
    const shown = items.map(({ report, ...item }) => ({ ...item, findings: report?.total ?? null }));
    return { items: shown, total, ...query };
  },
});
