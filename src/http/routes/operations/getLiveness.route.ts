import { get } from '../../defineRoute.ts';
import { liveResponse } from '../../wire/health.ts';

export const getLiveness = get('/health/live', {
  summary: 'Whether the process runs',
  description:
    'Asks no part, and answers 200 while shutting down too: restart a process that does not answer.',
  access: 'public',
  always: true,
  reply: { status: 200, schema: liveResponse },
  handle: () => Promise.resolve({ status: 'live' as const }),
});
