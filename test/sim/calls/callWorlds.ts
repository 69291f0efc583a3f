import { chance, fraction } from '../chance.ts';
import { clockOf } from '../clocks.ts';
import { termsOf } from '../terms.ts';
import {
  type Actor,
  evictionsIn,
  leavingOf,
  moneyOf,
  page,
  planOf,
  repeated,
  wayOf,
  work,
  type World,
} from '../worlds.ts';

const HOUR = 3_600_000;

const CALL = { kind: 'now', tries: 5 } as const;

/** Calls for which the process that is asked has no place, or one: a worker does the others. */
const full = (
  name: string,
  actors: readonly Actor[],
  { places = [0, 0], offsetsMs = [0, 0] }: { places?: readonly number[]; offsetsMs?: readonly number[] } = {},
): World => ({
  name,
  actors,
  balance: 400,
  processes: places.map((of, at) => ({
    name: ['p', 'q', 'r'][at] ?? 's',
    places: of,
    offsetMs: offsetsMs[at] ?? 0,
  })),
});

/** Small worlds of calls for which there is no place. */
export const CALLS: readonly World[] = [
  full('call without a place', [work('a', CALL)]),
  full('call without a place, left', [work('a', { ...CALL, keyless: true, leavesAfterMs: 40 })]),
  full('call without a place, left and asked again', [work('a', { ...CALL, leavesAfterMs: 40 })]),
  full('call without a place, asked again where there is one', [work('a', { ...CALL, leavesAfterMs: 40 })], {
    places: [0, 3],
  }),
  full('call without a place, asked twice at once', [
    work('a', CALL),
    work('a', { ...CALL, at: 3, via: 1 }),
    { kind: 'evict', at: 30_000 },
    work('a', { ...CALL, at: 31_000, via: 1 }),
  ]),
  full('two calls for one place', [work('a', CALL), work('b', { ...CALL, at: 10, file: page('b', 2) })], {
    places: [1, 1],
  }),
  full('call without a place that fails', [work('a', { ...CALL, file: { ...page('a'), ends: 'badly' } })]),
  full(
    'call without a place, credits spent',
    [work('a', CALL), { kind: 'money', key: 'm', at: 20, via: 1, tries: 3, credits: -390 }],
    { offsetsMs: [-10 * 60_000, 5 * 60_000] },
  ),
  full('call without a place, own key', [work('a', { ...CALL, ownKey: true })]),
];

/** Many calls at once, and processes with no place for them, or one, or two. */
export const callsWorld = (seed: number): World => {
  const calls = Array.from({ length: 2 + (chance(seed, 'calls') % 4) }, (_, at) =>
    work(`call ${String(at)}`, {
      ...leavingOf(seed, at),
      kind: 'now',
      at: chance(seed, 'when', at) % 3_000,
      via: chance(seed, 'via', at) % 3,
      tries: 5,
      ownKey: fraction(seed, 'own', at) < 0.3,
      file: {
        ...page(`call ${String(at)}`, 1 + (chance(seed, 'pages', at) % 3)),
        ...wayOf(fraction(seed, 'ends', at)),
      },
    }),
  );
  const spent = moneyOf(seed, 7, { key: 'm', at: chance(seed, 'spent') % 5_000, via: 1, tries: 4 });
  const names = fraction(seed, 'three') < 0.5 ? ['p', 'q', 'r'] : ['p', 'q'];
  return {
    name: `calls ${String(seed)}`,
    processes: names.map((name) => ({
      name,
      ...clockOf(seed, name),
      places: chance(seed, 'places', name) % 3,
    })),
    actors: [...calls.flatMap((actor, at) => repeated(seed, actor, at)), spent, ...evictionsIn(seed)],
    balance: fraction(seed, 'poor') < 0.3 ? 150 : 3_000,
    others: [{ id: 'u', balance: 400, plan: planOf(seed) }],
    terms: termsOf(seed),
    healMs: 30 * HOUR,
  };
};
