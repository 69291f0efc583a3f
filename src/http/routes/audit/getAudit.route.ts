import { get } from '../../defineRoute.ts';
import { problem } from '../../problems.ts';
import { auditBody, auditParams } from '../../wire/audit.ts';

export const getAudit = get('/v1/admin/audits/{audit_id}', {
  summary: 'How far an audit is, and what it found',
  description:
    '`position` of `end_position` says how much is read. `interrupted`: its process ended before it did; ' +
    'start another. The last 100 are kept.',
  access: 'admin',
  params: auditParams,
  reply: { status: 200, schema: auditBody },
  problems: ['audit_not_found'],
  handle: async ({ params }, { audits }) => {
    const record = await audits.find(params.audit_id);
    if (record === undefined) throw problem('audit_not_found', 'No audit with this ID is kept.');
    return record;
  },
});
