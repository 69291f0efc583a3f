import { eventCodec } from '../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { places, placesEvent, type PlacesKind, placesStream, type TakePlace } from '../../domain/places.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import type { Outcome } from './decideBatch.ts';
import { streamsOf } from './commandHandler.ts';

/** What wants a place, and of how many. */
export interface PlaceRequest extends Pick<TakePlace['data'], 'tenant_id' | 'thing' | 'name' | 'max'> {
  /** Of a decision that is taken now: a request may have waited since it came. */
  readonly meta: () => CommandMeta;
  /**
   * Whether one that has a place is over, by its own stream; what is over stays over. One that was never made is
   * over once its stream was closed by an event, so that it cannot be made any more: see `ABANDONED_AFTER_MS`.
   */
  readonly isOver: (name: string, takenAt: string) => Promise<boolean>;
  /** Those from before places were counted: asked until the first place is taken, and they have places then. */
  readonly earlier?: () => Promise<readonly string[]>;
}

/**
 * When what has a place and was not made yet may be taken for abandoned, ms after it took the place: its process died,
 * or pauses. Clocks that differ do no harm: what is closed too early is refused, and made under another name.
 */
export const ABANDONED_AFTER_MS = 10 * 60_000;

/** Decisions on one request: others of the tenant may ask for places at the same time. */
const ATTEMPTS_MAX = 32;

const RULES = { decider: places, codec: eventCodec(placesEvent), streamOf: placesStream };

/** Those that are over, by their streams. */
const overAmong = async (
  holders: readonly { readonly name: string; readonly taken_at: string }[],
  isOver: PlaceRequest['isOver'],
): Promise<readonly string[]> => {
  const verdicts = await Promise.all(holders.map(({ name, taken_at }) => isOver(name, taken_at)));
  return holders.filter((_, at) => verdicts[at] === true).map(({ name }) => name);
};

/**
 * Gives a thing one of its tenant's places before it is made, once for its name. The holders of places are
 * checked only when none is free. Rejected with `no_place_free` if each of them still exists.
 */
export const takePlace = async (
  { store }: { readonly store: EventStore },
  { tenant_id, thing, name, max, meta, isOver, earlier }: PlaceRequest,
): Promise<Outcome<PlacesKind>> => {
  const of = { tenant_id, thing };
  const streams = streamsOf<PlacesKind, typeof of>(RULES, store, { attemptsMax: ATTEMPTS_MAX });
  const isFirst = earlier !== undefined && (await streams.stateOf(of)).holders === null;
  const counted = isFirst ? await earlier() : [];
  const [asked, over] = [new Set<string>(), new Set<string>()];
  for (;;) {
    const data = { ...of, name, max, over, earlier: counted };
    const outcome = await streams.handle(of, { type: 'TakePlace', data, meta: meta() }, tenant_id);
    if (outcome.kind !== 'rejected') return outcome;
    const holders = outcome.state.holders ?? counted.map((one) => ({ name: one, taken_at: meta().now }));
    const unasked = holders.filter((one) => !asked.has(one.name));
    for (const one of unasked) asked.add(one.name);
    const found = await overAmong(unasked, isOver);
    if (found.length === 0) return outcome;
    for (const one of found) over.add(one);
  }
};
