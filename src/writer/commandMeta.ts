import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Clock } from '../../domain/ports/log.ts';

/** The actor if there is no caller: workers, sweepers and the first start. */
export const SYSTEM: CommandMeta['actor'] = { key_id: 'system', role: 'system' };

/** A new command, as of now. */
export const metaOf = (
  { clock }: { readonly clock: Pick<Clock, 'now' | 'uuid'> },
  { key_id, role }: CommandMeta['actor'],
  correlation_id: string,
): CommandMeta => ({ now: clock.now(), actor: { key_id, role }, correlation_id, command_id: clock.uuid() });

/** What the service itself does: its commands have no caller. */
export const systemMeta = (deps: Parameters<typeof metaOf>[0], correlation_id: string): CommandMeta =>
  metaOf(deps, SYSTEM, correlation_id);
