import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { z } from 'zod';

/** What a sealed text is for: one that was sealed for something else does not open. */
type Purpose = 'session' | 'link' | 'oidc';

/** Texts that only this service can read or make, each with an end. */
export interface Sealing {
  seal(purpose: Purpose, facts: Readonly<Record<string, unknown>>, endsAtMs: number): Promise<string>;
  /** undefined: tampered with, sealed with another key or for something else, or past its end. */
  open<Schema extends z.ZodType>(
    purpose: Purpose,
    schema: Schema,
    sealed: string,
  ): Promise<z.output<Schema> | undefined>;
}

/** Longer than any that is sealed here; what browsers keep of a cookie. */
const SEALED_MAX = 4_096;
const ALGORITHMS = { alg: 'dir', enc: 'A256GCM' } as const;

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** JSON Web Encryption under one key of 32 bytes. */
export const sealingWith = (secret: Uint8Array, nowMs: () => number): Sealing => {
  const decrypted = async (purpose: Purpose, sealed: string) => {
    try {
      const { payload } = await jwtDecrypt(sealed, secret, {
        audience: purpose,
        currentDate: new Date(nowMs()),
        requiredClaims: ['exp'],
        keyManagementAlgorithms: [ALGORITHMS.alg],
        contentEncryptionAlgorithms: [ALGORITHMS.enc],
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  };

  return {
    seal: (purpose, facts, endsAtMs) =>
      new EncryptJWT({ facts })
        .setProtectedHeader(ALGORITHMS)
        .setAudience(purpose)
        .setExpirationTime(seconds(endsAtMs))
        .encrypt(secret),
    open: async (purpose, schema, sealed) => {
      if (sealed.length > SEALED_MAX) return undefined;
      const payload = await decrypted(purpose, sealed);
      return payload === undefined ? undefined : schema.safeParse(payload['facts']).data;
    },
  };
};
