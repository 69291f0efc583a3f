import type { EventFeed } from '../../domain/ports/log.ts';
import { isOwn } from '../../domain/kernel/json.ts';
import { recordedAt } from './auditedEvent.ts';
import type { GivenSeal, LogFacts } from './chains.ts';
import { everything } from './streams.ts';

/** The end of a log that no seal covers: who can write to the log can rewrite it or cut it off, and nothing tells. */
export interface UnsealedTail {
  /** When the last seal of this log was made; null: it was never sealed. */
  readonly since: string | null;
  /** Position of the last event that was sealed; null: none was. */
  readonly position: string | null;
  /** Events after it, without those of the log about itself. */
  readonly events: number;
  /** When the first of them was recorded. */
  readonly first_at: string | null;
}

interface Sealed {
  readonly feed: Pick<EventFeed, 'subscribe'>;
  readonly seals?: readonly GivenSeal[] | undefined;
  /** Where events of a copied log lay first: positions in seals are those, and only their count is the same. */
  readonly origins?: readonly string[] | undefined;
}

/** The seal of the most of this log. */
const lastOf = (seals: readonly GivenSeal[], { events }: LogFacts) =>
  seals
    .flatMap(({ seal }) => (seal.position === null || seal.events > events ? [] : [seal]))
    .sort((a, b) => a.events - b.events || (a.made_at < b.made_at ? -1 : 1))
    .at(-1);

/** Events after the last one that was sealed, in a copied log by their number. */
async function* after(
  { feed, origins = [] }: Sealed,
  seal: { readonly position: string | null; readonly events: number },
) {
  let left = origins.length === 0 ? 0 : seal.events;
  const from = origins.length === 0 && seal.position !== null ? BigInt(seal.position) : undefined;
  for await (const event of everything(feed, undefined, from)) {
    left -= 1;
    if (left < 0) yield event;
  }
}

/** undefined: everything is sealed. */
export const unsealedTail = async (sealed: Sealed, facts: LogFacts): Promise<UnsealedTail | undefined> => {
  const last = lastOf(sealed.seals ?? [], facts);
  if (last === undefined) {
    const { events, first_at } = facts;
    return events === 0 ? undefined : { since: null, position: null, events, first_at };
  }
  let [events, first_at] = [0, null as string | null];
  for await (const event of after(sealed, last)) {
    if (facts.position !== null && event.position > BigInt(facts.position)) break;
    if (isOwn(event.stream)) continue;
    events += 1;
    first_at ??= recordedAt(event);
  }
  return events === 0 ? undefined : { since: last.made_at, position: last.position, events, first_at };
};
