import type { KeyRole } from '../../../domain/apiKey.ts';
import type { Session } from '../sessions/session.ts';

/** Who calls: the API key, never its value, or somebody who is signed in. */
export interface Caller {
  /** Of the key; of a session, its subject: events name it. */
  readonly key_id: string;
  readonly tenant_id: string;
  readonly role: KeyRole;
  /** Where the request comes from a browser that is signed in. */
  readonly session?: Session;
}

/** The tenant of the bootstrap key. It has no account, for admin keys are not billed. */
export const BOOTSTRAP_ADMIN: Caller = { key_id: 'key_bootstrap', tenant_id: 'quire:admin', role: 'admin' };
