import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { liveResponse } from '../../wire/reports.ts';

export const getLiveness = (_: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/health/live',
    operationId: 'getLiveness',
    summary: 'Whether the process runs',
    description:
      'Asks no part, and answers 200 while shutting down too: restart a process that does not answer.',
    tag: 'Operations',
    access: 'public',
    always: true,
    reply: { status: 200, schema: liveResponse },
    problems: [],
    handle: () => Promise.resolve({ status: 'live' as const }),
  });
