import type { RequestHandler } from 'express';
import { openIdProvider } from '../../../adapters/oidc/openIdProvider.ts';
import type { Config } from '../../config.ts';
import { consoleFolder, consolePage } from '../../http/console/consolePage.ts';
import { sealingWith } from '../../http/sessions/sealing.ts';
import { sessionsOver, type Sessions } from '../../http/sessions/sessions.ts';
import { newSignInLink } from '../../operator/signInLink.ts';
import type { Operation } from '../../operator/protocol.ts';
import { resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';

/** The console, as it was built. */
export const consoleOf = ({ s3 }: Pick<Config, 's3'>): RequestHandler =>
  consolePage({
    folder: consoleFolder(),
    uploadOrigin: s3 === undefined ? undefined : new URL(s3.publicEndpoint ?? s3.endpoint).origin,
  });

/** Sessions on what this process has open. */
export const sessionsOf = (from: Container): Sessions => {
  const { publicUrl, signIn } = resolve(from, t.CONFIG);
  const { sessionSecret, limiter, baseUrl } = resolve(from, t.PARTS);
  const nowMs = () => Date.parse(resolve(from, t.CLOCK).now());
  const { oidc } = signIn;
  return sessionsOver({
    sealing: sealingWith(sessionSecret, nowMs),
    used: resolve(from, t.USED_ONCE),
    keys: resolve(from, t.AUTHENTICATOR),
    limiter,
    ...{ publicUrl, baseUrl, nowMs },
    oidc: oidc && { provider: openIdProvider(oidc), claims: oidc.claims },
    onRefused: (reason, err) =>
      resolve(from, t.LOGGER).warn({ msg: 'nobody was signed in by the provider', reason, err }),
  });
};

/** What an operator asks for: a link that signs in. */
export const signInLink = (from: Container): Operation =>
  newSignInLink(() => resolve(from, t.API).sessions.newLink(undefined));
