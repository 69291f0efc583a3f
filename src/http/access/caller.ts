import type { KeyRole } from '../../../domain/apiKey/events.ts';

/** Who calls: the API key, never its value. */
export interface Caller {
  readonly key_id: string;
  readonly tenant_id: string;
  readonly role: KeyRole;
}

/** The tenant of the bootstrap key. It has no account, for admin keys are not billed. */
export const BOOTSTRAP_ADMIN: Caller = { key_id: 'key_bootstrap', tenant_id: 'quire:admin', role: 'admin' };
