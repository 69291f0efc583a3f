import type { RequestHandler } from 'express';
import { openIdProvider } from '../../../adapters/oidc.ts';
import type { Config } from '../../config.ts';
import { consoleFolder, consolePage } from '../../http/console/consolePage.ts';
import { sealingKey, sealingWith } from '../../http/sessions/sealing.ts';
import { sessionsOver, type Sessions } from '../../http/sessions/sessions.ts';
import { newSignInLink } from '../../operator/access.ts';
import type { Operation } from '../../operator/socket.ts';
import type { Context } from '../context.ts';

/** The console, as it was built. */
export const consoleOf = ({ s3 }: Pick<Config, 's3'>): RequestHandler =>
  consolePage({
    folder: consoleFolder(),
    uploadOrigin: s3 === undefined ? undefined : new URL(s3.publicEndpoint ?? s3.endpoint).origin,
  });

/** Strangers cause such lines: one is short, and has no stack. */
const CAUSE_MAX = 300;

/** What an error says, and what caused it. */
const causesOf = (error: unknown): string =>
  error instanceof Error
    ? [error.message, causesOf(error.cause)].filter((text) => text !== '').join(': ')
    : '';

/** Sessions on what this process has open. */
export const sessionsOf = (from: Context): Sessions => {
  const { publicUrl, signIn } = from.config;
  const { sessionSecret, limiter, baseUrl } = from.parts;
  const nowMs = () => Date.parse(from.clock.now());
  const { oidc } = signIn;
  const used = from.usedOnce;
  return sessionsOver({
    sealing: sealingWith(
      sealingKey(sessionSecret, () => used.epoch()),
      nowMs,
    ),
    used,
    keys: from.authenticator,
    limiter,
    ...{ publicUrl, baseUrl, nowMs },
    oidc: oidc && { provider: openIdProvider(oidc), claims: oidc.claims },
    onRefused: (reason, error) =>
      from.logger.warn({
        msg: 'nobody was signed in by the provider',
        reason,
        cause: causesOf(error).slice(0, CAUSE_MAX),
      }),
  });
};

/** What an operator asks for: a link that signs in. */
export const signInLink = (from: Context): Operation =>
  newSignInLink(() => from.api.sessions.newLink(undefined));
