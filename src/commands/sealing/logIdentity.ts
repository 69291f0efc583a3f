import { randomUUID } from 'node:crypto';
import { eventLog, eventLogEvent, identityOf } from '../../../domain/eventLog/eventLog.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import { LOG_STREAM } from '../../../domain/kernel/json.ts';
import { LogUnavailable, type EventStore } from '../../../domain/ports/log.ts';
import { SYSTEM } from '../writer/commandMeta.ts';
import { commandHandler } from '../writer/commandHandler.ts';

const REFUSED =
  `the user that EVENTSTORE_URL names may not write to ${LOG_STREAM}: use ` +
  'an administrator, or give it the right to (docs/how-to/harden.md)';

/**
 * Which log this is. One that has no name gets one: of several processes that start at once the first names
 * it, and all read that.
 */
export const openedLog = async (store: EventStore, now: string): Promise<string> => {
  const known = await identityOf(store);
  if (known !== undefined) return known;
  const handle = commandHandler({
    decider: eventLog,
    codec: eventCodec(eventLogEvent),
    store,
    tenantOf: () => null,
  });
  const data = { type: 'LogOpened', data: { log_id: randomUUID(), opened_at: now } } as const;
  const meta = { now, actor: SYSTEM, correlation_id: 'log', command_id: randomUUID() };
  const { kind } = await handle(LOG_STREAM, { type: 'Record', data, meta }).catch((error: unknown) => {
    throw new LogUnavailable(`the log cannot be named; ${REFUSED}`, { cause: error });
  });
  const named = await identityOf(store);
  if (named === undefined) throw new LogUnavailable(`the log could not be named: ${kind}`);
  return named;
};
