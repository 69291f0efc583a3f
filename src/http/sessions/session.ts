import { z } from 'zod';
import { keyRole } from '../../../domain/apiKey.ts';

/** How somebody signed in. */
export const signedInBy = z.enum(['api_key', 'oidc', 'link']);

/** What the cookie holds, sealed. */
export const sealedSession = z.object({
  session_id: z.uuid(),
  via: signedInBy,
  /** Who acts, as the events name it: a key's ID, `oidc:<sub>`, or the printed link. */
  subject: z.string(),
  tenant_id: z.string(),
  role: keyRole,
  /** Of the key that the session stands for, and ends with; the key itself is nowhere. */
  key_hash: z.string().nullable(),
  csrf_token: z.string(),
  expires_at: z.string(),
});

/** Somebody who is signed in, until the session ends. */
export type Session = Readonly<z.output<typeof sealedSession>>;

/** Who signs in. */
export type SignedIn = Pick<Session, 'via' | 'subject' | 'tenant_id' | 'role' | 'key_hash'>;
