import { get } from '../../defineRoute.ts';

export const getMetrics = get('/metrics', {
  summary: 'Figures for Prometheus',
  access: 'public',
  always: true,
  reply: { status: 200, contentType: 'text/plain' },
  handle: async (_request, { metrics }) => ({ contentType: metrics.contentType, body: await metrics.text() }),
});
