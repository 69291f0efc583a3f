import type { CommandMeta } from '../kernel/command.ts';
import type { AccountEvent } from './events.ts';
import type { AccountState } from './state.ts';

/** The event that opens an account, when this command is its first; nothing otherwise. */
export const opening = (
  state: AccountState,
  tenantId: string,
  { now }: CommandMeta,
): readonly AccountEvent[] =>
  state.opened ? [] : [{ type: 'AccountOpened', data: { tenant_id: tenantId, created_at: now } }];
