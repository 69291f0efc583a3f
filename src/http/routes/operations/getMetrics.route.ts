import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';

export const getMetrics = ({ metrics }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Figures for Prometheus',
    tag: 'Operations',
    access: 'public',
    always: true,
    reply: { status: 200, contentType: 'text/plain' },
    problems: [],
    handle: async () => ({ contentType: metrics.contentType, body: await metrics.text() }),
  });
