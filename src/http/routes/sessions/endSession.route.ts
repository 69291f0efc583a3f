import { remove } from '../../defineRoute.ts';

export const endSession = remove('/v1/session', {
  summary: 'Sign out',
  description: 'Ends the session for good: a copy of its cookie opens nothing either.',
  access: 'any',
  reply: { status: 204 },
  handle: async ({ browser, caller, answer }, { sessions }) => {
    answer.header('Set-Cookie', await sessions.end(browser, caller.session));
    return undefined;
  },
});
