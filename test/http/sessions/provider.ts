import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CompactSign, exportJWK, generateKeyPair, importJWK, decodeJwt, type JWK } from 'jose';
import Provider from 'oidc-provider';

type Claims = Readonly<Record<string, unknown>>;

/** A real OpenID provider on a free port; `forge` changes what its ID tokens say, under its own key. */
export interface TestProvider {
  readonly issuer: string;
  claims: Claims;
  forge: ((claims: Claims) => Claims) | undefined;
  /** Changes the JSON of its ID tokens, which need not be what a program would write. */
  raw: ((json: string) => string) | undefined;
  /** Requests that came to it. */
  asked: number;
  /** Whether it lets nobody in. */
  denies: boolean;
  readonly stop: () => Promise<void>;
}

export const CLIENT = { client_id: 'quire', client_secret: 'a-secret-of-the-client-quire-only' };

/** Its sign-in page needs nobody: whoever comes is `sub-1`. */
export const startProvider = async (redirectUri: string): Promise<TestProvider> => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk: JWK = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'k1' };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const state: TestProvider = {
    issuer,
    claims: {},
    forge: undefined,
    raw: undefined,
    asked: 0,
    denies: false,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri], response_types: ['code'] }],
    jwks: { keys: [jwk] },
    cookies: { keys: ['of-the-spec'] },
    claims: { openid: ['sub', 'tenant', 'role'] },
    conformIdTokenClaims: false,
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, ...state.claims }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/enter/${uid}` },
  });
  const signed = async (token: string): Promise<string> => {
    const claims = decodeJwt(token);
    const json = JSON.stringify(state.forge?.(claims) ?? claims);
    return new CompactSign(Buffer.from(state.raw?.(json) ?? json))
      .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
      .sign(await importJWK(jwk, 'RS256'));
  };
  provider.use(async (ctx, next) => {
    await next();
    const body = ctx.body as { id_token?: string } | undefined;
    if (ctx.path === '/token' && body?.id_token !== undefined) body.id_token = await signed(body.id_token);
  });
  const handle = provider.callback();
  const enter = async (...[req, res]: Parameters<typeof handle>): Promise<void> => {
    if (state.denies) {
      await provider.interactionFinished(req, res, { error: 'access_denied', error_description: 'no' });
      return;
    }
    const grant = new provider.Grant({ accountId: 'sub-1', clientId: CLIENT.client_id });
    grant.addOIDCScope('openid profile');
    const result = { login: { accountId: 'sub-1' }, consent: { grantId: await grant.save() } };
    await provider.interactionFinished(req, res, result);
  };
  server.on('request', (req, res) => {
    state.asked += 1;
    void (req.url?.startsWith('/enter/') === true ? enter(req, res) : handle(req, res));
  });
  return state;
};

/** Goes through the provider's pages as a browser does; gives the address that it leads back to. */
export const through = async (start: string, stopAt: string): Promise<string> => {
  const cookies = new Map<string, string>();
  let at = start;
  for (let n = 0; n < 10 && !at.startsWith(stopAt); n += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = reply.headers.get('location');
    if (location === null) throw new Error(`${at}: ${String(reply.status)} ${await reply.text()}`);
    at = new URL(location, at).href;
  }
  return at;
};
