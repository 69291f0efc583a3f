import { get } from '../../defineRoute.ts';
import { healthResponse } from '../../wire/health.ts';

export const getHealth = get('/health', {
  summary: 'Whether the service runs, and each of its parts',
  description: '503 with the same body when the event log or the read models cannot be reached.',
  access: 'public',
  always: true,
  reply: { status: 200, schema: healthResponse },
  alsoStatus: [503],
  handle: async ({ answer }, { health }) => {
    const report = await health();
    const isDown = ['event_log', 'read_models'].some((part) => report.parts[part]?.['status'] === 'down');
    if (isDown) answer.status(503);
    return report;
  },
});
