import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { plainText } from '../../wire/basics.ts';

export const startOidc = get('/v1/session/oidc/start', {
  summary: 'Sign in at the OpenID provider',
  description: 'Leads a browser to the provider; without one, to the sign-in page of the console.',
  access: 'public',
  query: z.object({
    return_to: plainText(1, 2000)
      .optional()
      .meta({ description: 'The page of the console to come back to, from `/app/` on.' }),
  }),
  countsOnce: true,
  reply: { status: 302 },
  problems: ['rate_limited', 'not_ready'],
  handle: async ({ query, browser, answer }, { sessions }) => {
    const { location, cookies } = await sessions.byProvider.begin(browser, query.return_to);
    answer.header('Set-Cookie', cookies);
    answer.header('Location', location);
    return undefined;
  },
});
