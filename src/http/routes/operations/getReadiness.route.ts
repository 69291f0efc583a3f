import { get } from '../../defineRoute.ts';
import { readyResponse } from '../../wire/health.ts';

export const getReadiness = get('/health/ready', {
  summary: 'Whether requests should be sent here',
  description:
    '503 with the same body while shutting down, while the event log or the read models ' +
    'cannot be reached, and in a process that projects until the read models have caught up ' +
    'after its start. So is a process that finds tables of read models dropped, until they ' +
    'are filled again. `waiting_for` says why, and names such tables.',
  access: 'public',
  always: true,
  reply: { status: 200, schema: readyResponse },
  alsoStatus: [503],
  handle: async ({ answer }, { ready }) => {
    const report = await ready();
    if (report.status !== 'ready') answer.status(503);
    return report;
  },
});
