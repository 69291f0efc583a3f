import { get } from '../../defineRoute.ts';
import { sessionResponse } from '../../wire/sessions.ts';
import { sessionBody } from './sessionBody.ts';

export const getSession = get('/v1/session', {
  summary: 'Who is signed in',
  description: 'By the cookie of a browser; a session that has ended is none.',
  access: 'public',
  reply: { status: 200, schema: sessionResponse },
  problems: ['not_ready'],
  handle: async ({ browser }, { sessions }) => sessionBody(await sessions.of(browser), sessions),
});
