import { openClaimsBefore } from '../../../projections/openClaims.ts';
import { aboutService, listenForOperators } from '../../operator/socket.ts';
import { ALL_TENANTS } from '../../queries/readYourWrites.ts';
import { VERSION } from '../../version.ts';
import { operationsOver, type OwnParts } from '../parts/operatorParts.ts';
import { signInLink } from '../parts/sessionParts.ts';
import { resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';

/** After every claim. */
const END_OF_TIME = '9999';
const OPEN_CLAIMS_MAX = 10_000;

/** Keys that an operator makes or revokes count here from the answer on. */
const ownParts = (from: Container): OwnParts => {
  const [keys, reads] = [resolve(from, t.AUTHENTICATOR), resolve(from, t.READS)];
  return {
    apiKeys: resolve(from, t.API_KEYS),
    objects: resolve(from, t.PARTS).objects,
    box: resolve(from, t.SECRET_BOX),
    locked: resolve(from, t.LOCKED_OBJECTS),
    payments: resolve(from, t.PAYMENTS),
    listedStreams: () => openClaimsBefore(resolve(from, t.PARTS).sql)(END_OF_TIME, OPEN_CLAIMS_MAX),
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
export const hearOperators = (from: Container, url: string): ReturnType<typeof listenForOperators> => {
  const { dataDir, roles } = resolve(from, t.CONFIG);
  const { log, sql } = resolve(from, t.PARTS);
  return listenForOperators(dataDir, {
    ...operationsOver(log, sql, ownParts(from)),
    'session.link': signInLink(from),
    'service.about': aboutService({ version: VERSION, url, roles: [...roles] }),
  });
};
