import { get } from '../../defineRoute.ts';

export const getMetrics = get('/metrics', {
  summary: 'Figures for Prometheus',
  description: 'In the text format of Prometheus; the list is in the documentation.',
  access: 'public',
  always: true,
  reply: { status: 200, contentType: 'text/plain' },
  handle: async (_request, { metrics }) => ({ contentType: metrics.contentType, body: await metrics.text() }),
});
