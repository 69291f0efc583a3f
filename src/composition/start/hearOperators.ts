import { openClaimsBefore } from '../../../projections/openClaims.ts';
import { aboutService, listenForOperators } from '../../operator/socket.ts';
import { ALL_TENANTS } from '../../queries/readYourWrites.ts';
import { VERSION } from '../../version.ts';
import { operationsOver, type OwnParts } from '../parts/operatorParts.ts';
import { signInLink } from '../parts/sessionParts.ts';
import type { Context } from '../context.ts';

/** After every claim. */
const END_OF_TIME = '9999';
const OPEN_CLAIMS_MAX = 10_000;

/** Keys that an operator makes or revokes count here from the answer on. */
const ownParts = (from: Context): OwnParts => {
  const [keys, reads] = [from.authenticator, from.reads];
  return {
    apiKeys: from.apiKeys,
    objects: from.parts.objects,
    box: from.secretBox,
    locked: from.lockedObjects,
    payments: from.payments,
    listedStreams: () => openClaimsBefore(from.parts.sql)(END_OF_TIME, OPEN_CLAIMS_MAX),
    onKey: async ({ kind, key_hash, position }) => {
      reads.note(ALL_TENANTS, position);
      if (kind === 'revoked') {
        keys.refuse(key_hash);
        return;
      }
      await reads.settle(ALL_TENANTS);
      keys.forget(key_hash);
    },
  };
};

/** Does what commands of the command line ask of the running service; `url` is where it listens. */
export const hearOperators = (from: Context, url: string): ReturnType<typeof listenForOperators> => {
  const { dataDir, roles } = from.config;
  const { log, sql } = from.parts;
  return listenForOperators(dataDir, {
    ...operationsOver(log, sql, ownParts(from)),
    'session.link': signInLink(from),
    'service.about': aboutService({ version: VERSION, url, roles: [...roles] }),
  });
};
