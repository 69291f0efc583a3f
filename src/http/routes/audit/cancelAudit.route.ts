import { post } from '../../defineRoute.ts';
import { problem } from '../../problems.ts';
import { auditBody, auditParams } from '../../wire/audit.ts';

export const cancelAudit = post('/v1/admin/audits/{audit_id}/cancel', {
  summary: 'Stop an audit',
  description: 'One that has ended, or that another process runs, stays as it is: `status` says so.',
  access: 'admin',
  params: auditParams,
  reply: { status: 200, schema: auditBody },
  problems: ['audit_not_found'],
  handle: async ({ params }, { audits }) => {
    const record = await audits.cancel(params.audit_id);
    if (record === undefined) throw problem('audit_not_found', 'No audit with this ID is kept.');
    return record;
  },
});
