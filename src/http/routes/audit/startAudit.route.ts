import { post } from '../../defineRoute.ts';
import { problem } from '../../problems.ts';
import { auditBody, auditRequest } from '../../wire/audit.ts';

export const startAudit = post('/v1/admin/audits', {
  summary: 'Begin an audit of the event log and the read models',
  description:
    'What `quire audit` does, in a thread of its own; one at a time in each process. Ask ' +
    '`GET /v1/admin/audits/{audit_id}` until `status` is not `running`.',
  access: 'admin',
  bucket: 'heavy',
  body: auditRequest,
  reply: { status: 202, schema: auditBody },
  problems: ['audit_running'],
  handle: async ({ body, caller }, { audits }) => {
    const { kind, record } = await audits.start(body, caller.key_id);
    if (kind === 'started') return record;
    throw problem('audit_running', 'Another audit runs in this process.', { audit_id: record.audit_id });
  },
});
