import { get } from '../../defineRoute.ts';
import { serviceState } from '../../wire/serviceState.ts';

export const getServiceState = get('/v1/admin/service-state', {
  summary: 'How the service does: its parts, read models, slots and open work',
  description:
    'Of the process that answers: its version, its roles, the slots that tenants hold on it and the rate-limit ' +
    'buckets that are not full. Parts, read models and open work are those that all processes share.',
  access: 'admin',
  reply: { status: 200, schema: serviceState },
  handle: (_request, deps) => deps.serviceState(),
});
