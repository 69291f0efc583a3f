import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { instant, tenantId } from '../kernel/units.ts';

export const keyRole = z.enum(['tenant', 'service', 'admin']);
export type KeyRole = z.output<typeof keyRole>;

const identity = {
  key_id: z.string(),
  /** SHA-256 of the whole key, hex. The key itself is never stored. */
  key_hash: z.string(),
  /** First characters, for people. */
  prefix: z.string(),
  last4: z.string(),
  tenant_id: tenantId,
  role: keyRole,
  name: z.string().nullable(),
  expires_at: instant.nullable(),
};

const apiKeyIssued = event('ApiKeyIssued', {
  ...identity,
  created_at: instant,
  replaces: z.string().nullable(),
});

/** Another key takes over; this one stops at `expires_at`. */
const apiKeyRotated = event('ApiKeyRotated', {
  key_id: z.string(),
  key_hash: z.string(),
  replaced_by: z.string(),
  expires_at: instant,
  rotated_at: instant,
});

const apiKeyRevoked = event('ApiKeyRevoked', {
  key_id: z.string(),
  key_hash: z.string(),
  revoked_at: instant,
});

export const apiKeyEvent = z.discriminatedUnion('type', [apiKeyIssued, apiKeyRotated, apiKeyRevoked]);
export type ApiKeyEvent = z.output<typeof apiKeyEvent>;

export const apiKeyStream = (keyId: string): string => `apiKey-${keyId}`;
