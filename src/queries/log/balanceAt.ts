import { account } from '../../../domain/account/account.ts';
import { accountEvent, accountStream } from '../../../domain/account/messages.ts';
import { availableIn } from '../../../domain/account/state.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { RecordedEvent } from '../../../domain/ports/log.ts';
import { eventLine, type LogToRead } from './logEvents.ts';

/** A moment of a log: a time in RFC 3339 UTC, a position, or neither: now. */
interface Moment {
  readonly at?: string | undefined;
  readonly position?: bigint | undefined;
}

const codec = eventCodec(accountEvent);

const isLater = (event: RecordedEvent, { at, position }: Moment): boolean => {
  const { recorded_at } = event.metadata;
  return (
    (position !== undefined && event.position > position) ||
    (at !== undefined && typeof recorded_at === 'string' && recorded_at > at)
  );
};

/**
 * A tenant's account as its own events leave it at a moment, by the rules that decide. `event`: the last one
 * that counts; null before the account was opened.
 */
export const balanceAt = async (
  log: Pick<LogToRead, 'read'>,
  tenant_id: string,
  { moment, signal }: { readonly moment: Moment; readonly signal: AbortSignal },
) => {
  let state = account.initialState;
  let last: RecordedEvent | undefined;
  for await (const event of log.read(accountStream(tenant_id))) {
    if (isLater(event, moment)) break;
    signal.throwIfAborted();
    state = account.evolve(state, codec.decode(event));
    last = event;
  }
  return {
    tenant_id,
    plan: state.plan,
    balance_credits: state.balance,
    held_credits: state.held,
    available_credits: availableIn(state),
    total_credits_purchased: state.purchased,
    total_credits_used: state.used,
    total_credits_adjusted: state.adjusted,
    free_pages_used: state.free_pages_used,
    free_pages_held: state.free_pages_held,
    open_holds: state.holds.size,
    event: last === undefined ? null : placeIn(last),
  };
};

const placeIn = (event: RecordedEvent) => {
  const { position, revision, event_id, type, recorded_at, hash } = eventLine(event);
  return { position, revision, event_id, type, recorded_at, hash };
};
