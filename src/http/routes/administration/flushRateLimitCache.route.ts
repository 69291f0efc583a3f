import { post } from '../../defineRoute.ts';
import { flushResponse } from '../../wire/keys.ts';

export const flushRateLimitCache = post('/v1/admin/tenants/rate-limits/cache/flush', {
  summary: "Forget this process's cached rate-limit overrides",
  description: 'Other processes refresh within 60 seconds.',
  access: 'admin',
  reply: { status: 200, schema: flushResponse },
  handle: (_request, { limits }) => Promise.resolve({ flushed: limits.flush() }),
});
