import { get } from '../../defineRoute.ts';

export const finishOidc = get('/v1/session/oidc/callback', {
  summary: 'Come back from the OpenID provider',
  description: 'Opens a session and leads into the console, or to its sign-in page with what went wrong.',
  access: 'public',
  countsOnce: true,
  reply: { status: 303 },
  problems: ['rate_limited', 'not_ready'],
  handle: async ({ browser, answer }, { sessions }) => {
    const { location, cookies } = await sessions.byProvider.finish(browser, browser.path);
    answer.header('Set-Cookie', cookies);
    answer.header('Location', location);
    return undefined;
  },
});
