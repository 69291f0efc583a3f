import { z } from 'zod';
import { accept, type Command, type Decider, event, reject, type StreamKind } from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';

/** Something that has a place, by the ID that it has among its like. */
const holder = z.strictObject({ name: z.string(), taken_at: instant });

/** One thing more: it has the place of one that is over, or one that was free. Each event says all that is known. */
const placeTaken = event('PlaceTaken', {
  tenant_id: tenantId,
  /** The kind of thing that is limited, such as `webhooks`. */
  thing: z.string(),
  name: z.string(),
  /** Those that were over, and whose places are free from now on. */
  freed: z.array(z.string()),
  /** All that have a place now, the oldest first. */
  holders: z.array(holder).min(1),
  taken_at: instant,
});

export const placesEvent = z.discriminatedUnion('type', [placeTaken]);
type PlacesEvent = z.output<typeof placesEvent>;
type Holder = z.output<typeof holder>;

/**
 * `max`: places in all. `over`: those of which their own streams say that they are over. `earlier`: those from before
 * places were counted; they count while no place was ever taken.
 */
export type TakePlace = Command<
  'TakePlace',
  Pick<PlacesEvent['data'], 'tenant_id' | 'thing' | 'name'> & {
    readonly max: number;
    readonly over: ReadonlySet<string>;
    readonly earlier: readonly string[];
  }
>;

interface PlacesState {
  /** null: no place was ever taken. */
  readonly holders: readonly Holder[] | null;
}

/** Each place has somebody, as far as is known. */
interface PlacesRejection {
  readonly code: 'no_place_free';
}

export type PlacesKind = StreamKind<PlacesState, TakePlace, PlacesEvent, PlacesRejection>;

/** So many of a thing per tenant. The same name takes one place, however often it asks. */
export const places: Decider<PlacesKind> = {
  initialState: { holders: null },
  saysAll: true,
  decide: ({ holders }, { data, meta: { now: taken_at } }) => {
    const { tenant_id, thing, name, max, over, earlier } = data;
    const held = holders ?? earlier.map((one) => ({ name: one, taken_at }));
    if (held.some((one) => one.name === name)) return accept();
    const stay = held.filter((one) => !over.has(one.name));
    if (stay.length >= max) return reject({ code: 'no_place_free' });
    const freed = held.filter((one) => over.has(one.name)).map((one) => one.name);
    const now = { freed, holders: [...stay, { name, taken_at }], taken_at };
    return accept({ type: 'PlaceTaken', data: { tenant_id, thing, name, ...now } });
  },
  evolve: (_state, { data: { holders } }) => ({ holders }),
};

/** The tenant is encoded, so it holds no colon and two of them never share a stream. */
export const placesStream = ({
  tenant_id,
  thing,
}: Pick<PlacesEvent['data'], 'tenant_id' | 'thing'>): string =>
  `places-${encodeURIComponent(tenant_id)}:${thing}`;
