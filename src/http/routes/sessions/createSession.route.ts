import { post } from '../../defineRoute.ts';
import { sessionRequest, sessionResponse } from '../../wire/sessions.ts';
import { sessionBody } from './sessionBody.ts';

export const createSession = post('/v1/session', {
  summary: 'Sign in with an API key',
  description:
    'Sets the cookie `quire_session`, over https `__Host-quire_session`: for 8 hours at most, and no longer than the ' +
    'key, requests of this browser act as the key without it. Sign-ins are limited by client address and by key.',
  access: 'public',
  body: sessionRequest,
  reply: { status: 200, schema: sessionResponse },
  problems: ['invalid_api_key', 'cross_site_request', 'https_required', 'rate_limited', 'not_ready'],
  handle: async ({ body, browser, answer }, { sessions }) => {
    const { session, cookie } = await sessions.openByKey(browser, body.api_key);
    answer.header('Set-Cookie', cookie);
    return sessionBody(session, sessions);
  },
});
