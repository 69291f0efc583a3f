import { sealList as sealsOf } from '../../../queries/log/seals.ts';
import { get } from '../../defineRoute.ts';
import { sealList } from '../../wire/audit.ts';

export const listSeals = get('/v1/admin/seals', {
  summary: 'The seals of the log, newest first',
  description:
    '`state` is what the last audit that is kept found; `continues` whether it names the seal before it.',
  access: 'admin',
  reply: { status: 200, schema: sealList },
  handle: async (_request, { log, audits }) => ({ items: await sealsOf(log, await audits.lastReported()) }),
});
