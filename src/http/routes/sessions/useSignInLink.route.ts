import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { signInPage } from '../../sessions/providerSignIn.ts';
import { plainText } from '../../wire/basics.ts';

export const useSignInLink = get('/v1/session/link', {
  summary: 'Follow a one-time sign-in link',
  description: 'Leads into the console; a link that was followed or is too old leads to its sign-in page.',
  access: 'public',
  query: z.object({
    token: plainText(1, 4096).meta({ description: 'What the printed link carries.' }),
  }),
  countsOnce: true,
  reply: { status: 303 },
  problems: ['invalid_api_key', 'rate_limited', 'not_ready'],
  handle: async ({ query, browser, answer }, { sessions }) => {
    const opened = await sessions.openByLink(browser, query.token);
    if (typeof opened !== 'string') answer.header('Set-Cookie', opened.cookie);
    answer.header('Location', typeof opened === 'string' ? signInPage(opened) : '/app/');
    return undefined;
  },
});
