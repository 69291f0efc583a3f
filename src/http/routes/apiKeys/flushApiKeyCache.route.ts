import { post } from '../../defineRoute.ts';
import { flushResponse } from '../../wire/keys.ts';

export const flushApiKeyCache = post('/v1/admin/api-keys/cache/flush', {
  summary: "Forget this process's cached key look-ups",
  description: 'Other processes refresh within 60 seconds.',
  access: 'admin',
  reply: { status: 200, schema: flushResponse },
  handle: (_request, { keys }) => Promise.resolve({ flushed: keys.flush() }),
});
