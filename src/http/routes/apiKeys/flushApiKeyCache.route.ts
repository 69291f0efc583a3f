import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { flushResponse } from '../../wire/keys.ts';

export const flushApiKeyCache = ({ keys }: ApiDeps) =>
  defineRoute({
    method: 'post',
    path: '/v1/admin/api-keys/cache/flush',
    operationId: 'flushApiKeyCache',
    summary: "Forget this process's cached key look-ups",
    description: 'Other processes refresh within 60 seconds.',
    tag: 'API keys',
    access: 'admin',
    bucket: 'general',
    reply: { status: 200, schema: flushResponse },
    problems: [],
    handle: () => Promise.resolve({ flushed: keys.flush() }),
  });
