import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { readyResponse } from '../../wire/reports.ts';

export const getReadiness = ({ ready }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/health/ready',
    operationId: 'getReadiness',
    summary: 'Whether requests should be sent here',
    description:
      '503 with the same body while shutting down, while the event log or the read models ' +
      'cannot be reached, and in a process that projects until the read models have caught up ' +
      'after its start. So is a process that finds tables of read models dropped, until they ' +
      'are filled again. `waiting_for` says why, and names such tables.',
    tag: 'Operations',
    access: 'public',
    always: true,
    reply: { status: 200, schema: readyResponse },
    alsoStatus: [503],
    problems: [],
    handle: async ({ answer }) => {
      const report = await ready();
      if (report.status !== 'ready') answer.status(503);
      return report;
    },
  });
