import { hkdfSync } from 'node:crypto';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { z } from 'zod';
import { retryLater } from '../problems.ts';

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

/** What the memory cannot tell is not known: a session that may have been ended opens nothing. */
export const told = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch {
    throw retryLater('not_ready', 'Sessions cannot be looked up right now.');
  }
};

/** Longer than any that is sealed here; what browsers keep of a cookie. */
const SEALED_MAX = 4_096;
const ALGORITHMS = { alg: 'dir', enc: 'A256GCM' } as const;

const seconds = (ms: number): number => Math.floor(ms / 1000);

/**
 * The key of what is sealed: by the secret, and by the memory of what was ended. A memory that was lost takes all
 * that was sealed with it. 503 while `epoch` cannot be told; it is asked again then.
 */
export const sealingKey = (secret: Uint8Array, epoch: () => Promise<string>): (() => Promise<Uint8Array>) => {
  let known: Uint8Array | undefined;
  return async () =>
    (known ??= new Uint8Array(hkdfSync('sha256', secret, await told(epoch()), 'sessions', 32)));
};

/** JSON Web Encryption under one key of 32 bytes. */
export const sealingWith = (key: () => Promise<Uint8Array>, nowMs: () => number): Sealing => {
  const decrypted = async (purpose: Purpose, sealed: string) => {
    const secret = await key();
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
    seal: async (purpose, facts, endsAtMs) =>
      new EncryptJWT({ facts })
        .setProtectedHeader(ALGORITHMS)
        .setAudience(purpose)
        .setExpirationTime(seconds(endsAtMs))
        .encrypt(await key()),
    open: async (purpose, schema, sealed) => {
      if (sealed.length > SEALED_MAX) return undefined;
      const payload = await decrypted(purpose, sealed);
      return payload === undefined ? undefined : schema.safeParse(payload['facts']).data;
    },
  };
};
