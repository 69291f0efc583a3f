import { decodeAny } from '../../../domain/catalogue.ts';
import { UndecodableEvent } from '../../../domain/kernel/codec.ts';
import { SEALS_STREAM } from '../../../domain/kernel/json.ts';
import type { EventFeed } from '../../../domain/ports/log.ts';
import type { SealEvent } from '../../../domain/finding.ts';

/** Every seal of `$seals` that can be read; the audit reports the others. */
export const sealsInLog = async (
  feed: Pick<EventFeed, 'subscribe'>,
): Promise<readonly SealEvent['data'][]> => {
  const seals: SealEvent['data'][] = [];
  for await (const item of feed.subscribe({ categories: [], own: true })) {
    if (item.kind === 'caught_up') break;
    if (item.kind !== 'event' || item.event.stream !== SEALS_STREAM) continue;
    try {
      const event = decodeAny(item.event);
      if (event.type === 'LogSealed') seals.push(event.data);
    } catch (error) {
      if (!(error instanceof UndecodableEvent) && !(error instanceof SyntaxError)) throw error;
    }
  }
  return seals;
};
