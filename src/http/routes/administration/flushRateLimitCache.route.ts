import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { flushResponse } from '../../wire/keys.ts';

export const flushRateLimitCache = ({ limits }: ApiDeps) =>
  defineRoute({
    method: 'post',
    path: '/v1/admin/tenants/rate-limits/cache/flush',
    operationId: 'flushRateLimitCache',
    summary: "Forget this process's cached rate-limit overrides",
    description: 'Other processes refresh within 60 seconds.',
    tag: 'Administration',
    access: 'admin',
    bucket: 'general',
    reply: { status: 200, schema: flushResponse },
    problems: [],
    handle: () => Promise.resolve({ flushed: limits.flush() }),
  });
