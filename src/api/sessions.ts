import { z } from 'zod';
import { sealedSession, type Session, signedInBy } from '../server/keys.ts';
import { instantOut, plainText } from './schemas/basics.ts';
import type { Sessions } from '../server/sessions.ts';
import { routesOver } from '../server/routes.ts';
import { signInPage } from '../server/providerSignIn.ts';

/** What these routes need. */
export interface SessionsDeps {
  readonly sessions: Sessions;
  /** Told of a tenant for whom somebody has opened the console: a document may follow. */
  readonly expectWork: (tenantId: string) => void;
}

const { get, post, remove } = routesOver<SessionsDeps>();

const methods = z
  .array(z.enum(['api_key', 'oidc']))
  .meta({ description: 'Ways to sign in that this service offers.' });

/** Who is signed in, if anybody is. Told apart by a boolean, which no discriminator of OpenAPI may be. */
const sessionResponse = z
  .union([
    z.strictObject({
      signed_in: z.literal(false).meta({ description: 'Nobody is signed in.' }),
      methods,
      public_url: z
        .string()
        .nullable()
        .meta({
          description:
            'Address where browsers reach the service, `PUBLIC_URL`; null if it is not set: then sessions need ' +
            'https, or a browser on the machine of the service.',
        }),
    }),
    z.strictObject({
      signed_in: z.literal(true).meta({ description: 'Somebody is signed in.' }),
      tenant_id: z.string().meta({ description: 'The tenant that the session acts for.' }),
      role: sealedSession.shape.role.meta({ description: 'What the session may do.' }),
      via: signedInBy.meta({ description: 'How the session was opened.' }),
      subject: z.string().meta({ description: 'Who acts: the ID of a key, or `oidc:` and a subject.' }),
      expires_at: instantOut.meta({ description: 'When the session ends by itself.' }),
      csrf_token: z
        .string()
        .meta({ description: 'Requests that change something send it as `X-CSRF-Token`.' }),
      methods,
    }),
  ])
  .meta({ id: 'SessionResponse' });

const sessionRequest = z
  .strictObject({
    api_key: plainText(1, 512).meta({ description: 'A key of a tenant, of a service or of an admin.' }),
  })
  .meta({ id: 'SessionRequest' });

/** The members of `SessionResponse`. */
const sessionBody = (
  session: Session | undefined,
  { methods, publicUrl }: Pick<Sessions, 'methods' | 'publicUrl'>,
) => {
  if (session === undefined)
    return { signed_in: false as const, methods: [...methods], public_url: publicUrl ?? null };
  const { tenant_id, role, via, subject, expires_at, csrf_token } = session;
  return {
    signed_in: true as const,
    tenant_id,
    role,
    via,
    subject,
    expires_at,
    csrf_token,
    methods: [...methods],
  };
};

export const createSession = post(
  '/v1/session',
  {
    summary: 'Sign in with an API key',
    description:
      'Sets the cookie `quire_session`, over https `__Host-quire_session`. With it, requests of this browser act as ' +
      'the key does, for 8 hours at most and no longer than the key is valid. Sign-ins are limited by client address ' +
      'and by key.',
    access: 'public',
    body: sessionRequest,
    reply: { status: 200, schema: sessionResponse },
    problems: [
      'invalid_api_key',
      'admin_required',
      'cross_site_request',
      'https_required',
      'rate_limited',
      'not_ready',
    ],
  },
  async ({ body, browser, answer }, { sessions }) => {
    const { session, cookie } = await sessions.openByKey(browser, body.api_key);
    answer.header('Set-Cookie', cookie);
    return sessionBody(session, sessions);
  },
);

export const endSession = remove(
  '/v1/session',
  {
    summary: 'Sign out',
    description: 'Ends the session for good; a copy of its cookie does not work either.',
    access: 'any',
    reply: { status: 204 },
  },
  async ({ browser, caller, answer }, { sessions }) => {
    answer.header('Set-Cookie', await sessions.end(browser, caller.session));
    return undefined;
  },
);

export const finishOidc = get(
  '/v1/session/oidc/callback',
  {
    summary: 'Return from the OpenID provider',
    description: 'Opens a session and redirects to the console, or to its sign-in page with what went wrong.',
    access: 'public',
    countsOnce: true,
    reply: { status: 303 },
    problems: ['rate_limited', 'not_ready'],
  },
  async ({ browser, answer }, { sessions }) => {
    const { location, cookies } = await sessions.byProvider.finish(browser, browser.path);
    answer.header('Set-Cookie', cookies);
    answer.header('Location', location);
    return undefined;
  },
);

export const getSession = get(
  '/v1/session',
  {
    summary: 'Who is signed in',
    description: 'According to the cookie of the browser; a session that has ended does not count.',
    access: 'public',
    reply: { status: 200, schema: sessionResponse },
    problems: ['not_ready'],
  },
  async ({ browser }, { sessions, expectWork }) => {
    const session = await sessions.of(browser);
    if (session !== undefined) expectWork(session.tenant_id);
    return sessionBody(session, sessions);
  },
);

export const startOidc = get(
  '/v1/session/oidc/start',
  {
    summary: 'Sign in at the OpenID provider',
    description:
      'Redirects the browser to the provider; if there is none, to the sign-in page of the console.',
    access: 'public',
    query: z.object({
      return_to: plainText(1, 2000)
        .optional()
        .meta({ description: 'The page of the console to come back to, from `/app/` on.' }),
    }),
    countsOnce: true,
    reply: { status: 302 },
    problems: ['rate_limited', 'not_ready'],
  },
  async ({ query, browser, answer }, { sessions }) => {
    const { location, cookies } = await sessions.byProvider.begin(browser, query.return_to);
    answer.header('Set-Cookie', cookies);
    answer.header('Location', location);
    return undefined;
  },
);

export const useSignInLink = get(
  '/v1/session/link',
  {
    summary: 'Follow a one-time sign-in link',
    description:
      'Redirects to the console; a link that was already used or is too old leads to its sign-in page.',
    access: 'public',
    query: z.object({
      token: plainText(1, 4096).meta({ description: 'The token in the printed link.' }),
    }),
    countsOnce: true,
    reply: { status: 303 },
    problems: ['invalid_api_key', 'rate_limited', 'not_ready'],
  },
  async ({ query, browser, answer }, { sessions, expectWork }) => {
    const opened = await sessions.openByLink(browser, query.token);
    if (typeof opened !== 'string') {
      answer.header('Set-Cookie', opened.cookie);
      expectWork(opened.session.tenant_id);
    }
    answer.header('Location', typeof opened === 'string' ? signInPage(opened) : '/app/');
    return undefined;
  },
);
