import { CALLS } from './calls/callWorlds.ts';
import { PLAIN_TERMS } from './terms.ts';
import { type Actor, MONTH_ENDS_MS, page, reviewer, stack, two, work, type World } from './worlds.ts';

const HOUR = 3_600_000;

const reviewedWork = work('a', { reviewed: true });

/** Two callers, two workers, one document: small enough to look at every schedule up to a bound. */
const single = (name: string, actors: readonly Actor[], over: Partial<World> = {}): World => ({
  name,
  processes: two,
  actors,
  balance: 400,
  ...over,
});

/** Work and a message, which the installation keeps for four days; days are set for some tenant. */
const keeping = (name: string, some: readonly Actor[]): World =>
  single(
    name,
    [
      work('a'),
      { kind: 'webhook', key: 'w', at: 0, via: 1, tries: 3, url: 'https://w.example' },
      { kind: 'money', key: 'm', at: 9_000, via: 1, tries: 3, credits: 10 },
      ...some,
    ],
    {
      keeps: { uploads: 0, results: 4, examples: 0, deliveries: 4 },
      processes: [
        { name: 'p', offsetMs: 5 * 60_000 },
        { name: 'q', offsetMs: -5 * 60_000 },
      ],
    },
  );

const daysOf = (whose: string, days: number, via = 0): Actor => ({
  kind: 'retention',
  key: `days ${String(days)}`,
  at: 20_000,
  via,
  tries: 6,
  whose,
  days,
});

/** A long document, read by three workers whose clocks may differ. */
const long = (
  name: string,
  how: Parameters<typeof work>[1] = {},
  { actors = [], offsetsMs = [0, 0, 0] }: Partial<Pick<World, 'actors'>> & { offsetsMs?: number[] } = {},
): World =>
  single(name, [work('a', { file: page('a', 100), ...how }), ...actors], {
    balance: 6_000,
    processes: offsetsMs.map((offsetMs, at) => ({ name: ['p', 'q', 'r'][at] ?? 's', offsetMs })),
  });

/** When the first ranges of a long document have been extracted, and not the last, ms. */
const AMID_EXTRACTION_MS = 5_000;

/** Somebody who keeps something beside documents. */
const kept = (
  what: 'set' | 'config',
  over: Partial<Extract<Actor, { kind: 'keep' }>> = {},
): Extract<Actor, { kind: 'keep' }> => ({
  kind: 'keep',
  what,
  key: 'kept',
  at: 0,
  via: 0,
  tries: 8,
  ...over,
});

/** Work that comes at these times with a key that is revoked after half a minute. */
const keyed = (times: readonly number[]): readonly Actor[] => [
  { kind: 'key', key: 'k', at: 0, via: 1, tries: 6, revokedAfterMs: 30_000 },
  ...times.map((at, n) => work(`a${String(n)}`, { at, via: n, apiKey: 'k', tries: 1 })),
];

/** A stack of three documents, of which two go on. */
const stacked = (over: Parameters<typeof work>[1] = {}): Actor =>
  work('a', { file: stack('a', [1, 2, 1]), ...over });

const SALE = { kind: 'sale', tries: 4, credits: 200 } as const;

/** Small worlds, each around one question. */
export const SMALL: readonly World[] = [
  single('operation', [work('a')]),
  single(
    'operation, credits spent',
    [work('a'), { kind: 'money', key: 'm', at: 9_000, via: 1, tries: 3, credits: -50 }],
    {
      balance: 80,
    },
  ),
  long('long document'),
  long('long document cancelled', { cancelAfterMs: 1_500 }),
  long('long document erased', { eraseAfterMs: 1_500, tries: 8 }),
  long('long document that cannot be read', { file: { ...page('a', 60), ends: 'badly' } }),
  long('long document, clocks that differ', {}, { offsetsMs: [-10 * 60_000, 0, 5 * 60_000] }),
  // Some ranges are extracted by then, and others are read: who takes the document over goes on with them.
  long(
    'long document, all processes end amid its extraction',
    { tries: 8 },
    { actors: [{ kind: 'restart', at: AMID_EXTRACTION_MS }] },
  ),
  long(
    'two long documents',
    {},
    {
      actors: [work('b', { file: page('b', 50), via: 1, at: 10 })],
    },
  ),
  long(
    'long document, credits spent',
    {},
    {
      actors: [{ kind: 'money', key: 'm', at: 3_000, via: 1, tries: 3, credits: -1_500 }],
    },
  ),
  single('stack', [stacked()]),
  single('stack, credits for some of its parts', [stacked()], { balance: 50 }),
  single('stack, clocks that differ', [stacked()], {
    processes: [
      { name: 'p', offsetMs: 5 * 60_000 },
      { name: 'q', offsetMs: -5 * 60_000 },
    ],
  }),
  single('stack erased', [stacked({ eraseAfterMs: 4_000, tries: 8 })]),
  single('stack, and two people who look', [
    stacked({ reviewed: true }),
    reviewer('a', { leases: true, joins: true }),
    reviewer('b', { at: 31_000, via: 1 }),
  ]),
  single('stack, and a person who rejects its parts', [
    stacked({ reviewed: true }),
    reviewer('a', { rejects: true }),
  ]),
  single('operation cancelled', [work('a', { cancelAfterMs: 5 })]),
  single('document erased', [work('a', { eraseAfterMs: 20_000, tries: 1 })]),
  single('document erased while it is worked on', [work('a', { eraseAfterMs: 1_500, tries: 8 })]),
  single('tenant erased', [work('a', { eraseAfterMs: 20_000, erasesTenant: true })]),
  single('tenant erased just before a sweep', [
    work('a', { at: 50 * 60_000, eraseAfterMs: 20_000, erasesTenant: true }),
  ]),
  single('tenant erased while it works', [work('a', { eraseAfterMs: 1_030, erasesTenant: true, tries: 8 })]),
  single('tenant erased while a person looks', [
    work('a', { reviewed: true, eraseAfterMs: 30_000, erasesTenant: true, tries: 8 }),
    reviewer('a', { at: 30_990, leases: true }),
  ]),
  single('tenant erased while its batch runs', [
    {
      kind: 'batch',
      key: 'b',
      at: 0,
      via: 0,
      tries: 8,
      eraseAfterMs: 1_010,
      erasesTenant: true,
      documents: [page('one', 3)],
    },
  ]),
  keeping('days of a tenant', [daysOf('t', 1)]),
  keeping('days of a tenant, set twice at once', [daysOf('t', 2), daysOf('t', 1, 1)]),
  keeping('days of another tenant', [daysOf('u', 1)]),
  single('review', [
    reviewedWork,
    { kind: 'webhook', key: 'w', at: 0, via: 1, tries: 3, url: 'https://w.example' },
    reviewer('a', { leases: true }),
    reviewer('b', { leases: true, at: 30_005, via: 1 }),
  ]),
  single('review, nobody leases', [reviewedWork, reviewer('a'), reviewer('b', { at: 30_001, via: 1 })]),
  single('review, one leases', [
    reviewedWork,
    reviewer('a', { leases: true }),
    reviewer('b', { at: 32_000, via: 1 }),
  ]),
  single('review that one leaves', [
    reviewedWork,
    reviewer('a', { leases: true, leaves: true }),
    reviewer('b', { at: 31_000, via: 1, leases: true }),
  ]),
  single('review that one rejects', [
    reviewedWork,
    reviewer('a', { leases: true, rejects: true }),
    reviewer('b', { at: 30_005, via: 1 }),
  ]),
  single('review opened again', [
    reviewedWork,
    reviewer('a', { reopenAfterMs: 5_000 }),
    reviewer('b', { at: 36_000, via: 1, leases: true }),
  ]),
  single('review that is opened again while another person thinks', [
    reviewedWork,
    reviewer('a', { reopenAfterMs: 5_000 }),
    reviewer('b', { at: 30_001, via: 1 }),
  ]),
  single('review that nobody decides in time', [reviewedWork, reviewer('a', { at: 25 * HOUR })]),
  single('review of a document that is erased', [
    work('a', { reviewed: true, eraseAfterMs: 30_000, tries: 6 }),
    reviewer('a', { at: 30_990, leases: true }),
  ]),
  single(
    'reviewers whose clocks differ',
    [reviewedWork, reviewer('a', { leases: true }), reviewer('b', { leases: true, at: 40_000, via: 1 })],
    {
      processes: [{ name: 'p' }, { name: 'q', offsetMs: 10 * 60_000 }],
    },
  ),
  single('operation that fails', [work('a', { file: { ...page('a'), ends: 'badly' } })]),
  single('operation that kills', [work('a', { file: { ...page('a'), ends: 'deadly' } })]),
  single('own key', [work('a', { ownKey: true })]),
  single('own key cancelled', [work('a', { ownKey: true, cancelAfterMs: 1_030 })]),
  single('call', [work('a', { kind: 'now' })]),
  single('call whose answer is kept no more', [
    work('a', { kind: 'now' }),
    { kind: 'evict', at: 2 * HOUR },
    work('a', { kind: 'now', at: 2 * HOUR + 5, via: 1 }),
  ]),
  ...CALLS,
  single('two files', [
    work('a', { file: page('one') }),
    work('a', { via: 1, print: 'another', file: page('other'), tries: 1 }),
  ]),
  single('two files of other lengths', [
    work('a', { at: 12 * 60_000 - 5, file: page('one') }),
    work('a', { via: 1, print: 'another', file: page('many', 3), tries: 1 }),
  ]),
  single(
    'batch',
    [
      { kind: 'batch', key: 'b', at: 0, via: 0, tries: 3, documents: [page('one')] },
      { kind: 'money', key: 'm', at: 40_000, via: 1, tries: 3, credits: 400 },
    ],
    { balance: 20 },
  ),
  single('run', [
    {
      kind: 'batch',
      key: 'b',
      at: 0,
      via: 0,
      tries: 3,
      measured: true,
      documents: [page('one'), { ...page('two'), ends: 'badly' }],
    },
    { kind: 'batch', key: 'b', at: 5, via: 1, tries: 3, measured: true, documents: [page('one')] },
  ]),
  single('run of which a document is cancelled', [
    {
      kind: 'batch',
      key: 'b',
      at: 0,
      via: 0,
      tries: 8,
      measured: true,
      cancelAfterMs: 1_010,
      documents: [page('one', 2)],
      cancelsOne: true,
    },
  ]),
  single('run cancelled', [
    {
      kind: 'batch',
      key: 'b',
      at: 0,
      via: 0,
      tries: 3,
      measured: true,
      cancelAfterMs: 1_010,
      documents: [page('one', 3)],
    },
  ]),
  single(
    'job',
    [
      { kind: 'job', key: 'j', print: 'one', at: 0, via: 0, tries: 3, tier: 'light' },
      { kind: 'job', key: 'j', print: 'two', at: 0, via: 1, tries: 1, tier: 'heavy' },
    ],
    { balance: 100_000 },
  ),
  single(
    'job with own keys',
    [
      { kind: 'job', key: 'j', print: 'one', at: 0, via: 0, tries: 3, tier: 'light', ownKey: 'sk-one' },
      { kind: 'job', key: 'j', print: 'two', at: 0, via: 1, tries: 1, tier: 'light', ownKey: 'sk-two' },
    ],
    { balance: 100_000 },
  ),
  single('clocks', [work('a', { at: 30 * 60_000 })], {
    processes: [{ name: 'p', offsetMs: -5 * 60_000 }, { name: 'q' }, { name: 'r', offsetMs: -10 * 60_000 }],
  }),
  single(
    'a clock that steps back',
    [
      { kind: 'money', key: 'm0', at: 0, via: 0, tries: 3, credits: 10 },
      work('a', { at: 100, reviewed: true }),
      reviewer('a', { leases: true }),
      { kind: 'sale', key: 's', at: 40_000, via: 0, tries: 3, credits: 200, refundAfterMs: 5 },
      { kind: 'money', key: 'm', at: 50_000, via: 1, tries: 3, credits: 10 },
    ],
    { processes: [{ name: 'p', steps: [{ at: 5_000, byMs: -20 * 60_000 }] }, { name: 'q' }] },
  ),
  single(
    'clocks that step forth while a worker is dead',
    [work('a', { file: { ...page('a'), ends: 'deadly' } })],
    {
      processes: ['p', 'q'].map((name) => ({ name, steps: [{ at: 5_000, byMs: 20 * 60_000 }] })),
    },
  ),
  single(
    'long batch cancelled',
    [
      {
        kind: 'batch',
        key: 'b',
        at: 0,
        via: 0,
        tries: 3,
        documents: [page('one', 12)],
        cancelAfterMs: 1_010,
      },
    ],
    { balance: 1_000 },
  ),
  single(
    'many batches',
    Array.from({ length: 14 }, (_, at) => ({
      kind: 'batch',
      key: `b${String(at)}`,
      at: 0,
      via: at,
      tries: 1,
      documents: [page('one', 11)],
    })),
    { balance: 10_000 },
  ),
  single(
    'many webhooks',
    Array.from({ length: 26 }, (_, at) => ({
      kind: 'webhook',
      key: `w${String(at)}`,
      at: 0,
      via: at,
      tries: 1,
      url: `https://w${String(at)}.example`,
    })),
  ),
  single(
    'many operations',
    [
      ...['a', 'b', 'c', 'd'].map((key, at) => work(key, { via: at, at: at * 10 })),
      { kind: 'money', key: 'm', at: 40_000, via: 1, tries: 9, credits: -240 },
    ],
    { page: 2 },
  ),
  single('file sent before', [work('a', { uploaded: { usedAfterMs: 5_000, removedAfterMs: 20_000 } })]),
  single('file sent a day before, used just before a sweep', [
    work('a', { at: 10_000, uploaded: { usedAfterMs: 24 * HOUR } }),
    { kind: 'restart', at: 24 * HOUR + 10_500 },
  ]),
  single('files sent before, as many as there may be', [
    work('a', { uploaded: { usedAfterMs: 5_000, removedAfterMs: 10_000 }, tries: 6 }),
    work('b', { at: 5, via: 1, uploaded: { usedAfterMs: 5_000 }, tries: 6 }),
    work('c', { at: 30_000, uploaded: { usedAfterMs: 5_000, removedAfterMs: 5_000 }, tries: 6 }),
  ]),
  single('file sent before, and erased', [
    work('a', { uploaded: { usedAfterMs: 5_000 }, eraseAfterMs: 60_000, tries: 6 }),
  ]),
  single('file sent before by a tenant that is erased', [
    work('a', { uploaded: { usedAfterMs: 40_000 }, eraseAfterMs: 60_000, erasesTenant: true, tries: 8 }),
    work('b', { at: 70_000, via: 1, uploaded: { usedAfterMs: 60_000 } }),
  ]),
  single(
    'file sent before, kept for a day',
    [work('a', { uploaded: { usedAfterMs: 23 * HOUR } }), work('b', { at: 25 * HOUR, via: 1 })],
    { keeps: { uploads: 1, results: 1, examples: 0, deliveries: 1 } },
  ),
  single('set kept, changed and removed', [kept('set', { changedAfterMs: 20_000, removedAfterMs: 20_000 })]),
  single('config kept, changed and revoked', [
    kept('config', { changedAfterMs: 20_000, removedAfterMs: 20_000 }),
  ]),
  single('config changed by two', [
    kept('config', { changedAfterMs: 20_000 }),
    kept('config', { via: 1, at: 5, changedAfterMs: 20_000, removedAfterMs: 5_000 }),
  ]),
  single(
    'tenant erased with all that it keeps',
    [
      kept('set', { key: 's' }),
      kept('config', { key: 'c', at: 5, via: 1, changedAfterMs: 24_000 }),
      { kind: 'key', key: 'k', at: 0, via: 1, tries: 6, revokedAfterMs: 60_000 },
      { kind: 'webhook', key: 'w', at: 0, via: 1, tries: 3, url: 'https://w.example' },
      { kind: 'job', key: 'j', at: 0, via: 0, tries: 3, tier: 'light' },
      { kind: 'deploy', key: 'j', at: 2_000, via: 1, tries: 6 },
      { kind: 'job', key: 'late', at: 23_000, via: 1, tries: 3, tier: 'light', ownKey: 'sk' },
      work('a', { eraseAfterMs: 22_000, erasesTenant: true, tries: 8 }),
    ],
    { balance: 100_000 },
  ),
  single(
    'documents of a job erased',
    [
      work('a', { uploaded: { usedAfterMs: 2_000 }, eraseAfterMs: 30_000, tries: 8 }),
      work('b', { via: 1, uploaded: { usedAfterMs: 2_000 }, eraseAfterMs: 8_010, tries: 8 }),
      { kind: 'job', key: 'j', at: 8_000, via: 1, tries: 4, tier: 'light', learnsFrom: ['a', 'b'] },
    ],
    { balance: 100_000 },
  ),
  single('key revoked while it is used', keyed([2_000, 29_990, 62_000, 95_000, 140_000])),
  single('key revoked, and a clock is set back', keyed([2_000, 29_000, 95_000, 140_000]), {
    processes: [{ name: 'p', steps: [{ at: 31_000, byMs: -20 * 60_000 }] }, { name: 'q' }],
  }),
  single('many at once', [
    { kind: 'rush', at: 1_000, via: 0, times: 20, everyMs: 300 },
    { kind: 'rush', at: 1_050, via: 1, times: 20, everyMs: 300 },
    { kind: 'evict', at: 4_000, limits: true },
  ]),
  single(
    'month closed while a clock is behind',
    [
      { ...SALE, key: 's', at: MONTH_ENDS_MS - 5_000, via: 0, refundAfterMs: 12_000 },
      work('a', { at: MONTH_ENDS_MS - 3_000, file: page('a', 2) }),
      { ...SALE, key: 't', at: MONTH_ENDS_MS + 3_000, via: 1 },
      work('b', { at: MONTH_ENDS_MS + 4_000, via: 1, file: page('b', 3) }),
      { kind: 'close', at: MONTH_ENDS_MS + 2_000, via: 0, tries: 8 },
      { kind: 'close', at: MONTH_ENDS_MS + 2_003, via: 1, tries: 8, reopenAfterMs: 15_000 },
      { kind: 'close', at: MONTH_ENDS_MS + 40_000, via: 0, tries: 8 },
      { ...SALE, key: 'v', at: MONTH_ENDS_MS + 60_000, via: 1 },
    ],
    { processes: [{ name: 'p' }, { name: 'q', offsetMs: -7 * 60_000 }] },
  ),
  single('texts moved', [work('a'), { kind: 'move', at: 2_000, tries: 6 }, work('b', { at: 4_000, via: 1 })]),
  single('log copied while work goes on', [
    work('a'),
    { kind: 'copy', at: 15, tries: 6, from: 'log' },
    { kind: 'money', key: 'm', at: 200, via: 1, tries: 3, credits: 10 },
  ]),
  single('backup of the log copied', [
    { kind: 'money', key: 'm', at: 0, via: 1, tries: 3, credits: 10 },
    { kind: 'copy', at: 50, tries: 6, from: 'backup' },
  ]),
  single('sale', [
    { kind: 'sale', key: 's', at: 0, via: 0, tries: 1, credits: 200, refundAfterMs: 5, reverseAfterMs: 5 },
  ]),
  single('credits sent', [{ kind: 'money', key: 'm', at: 0, via: 0, tries: 1, credits: 50, sendsTo: 'u' }], {
    others: [{ id: 'u', balance: 10, plan: 'paid' }],
  }),
  single('disputes won and lost', [
    { kind: 'sale', key: 's', at: 0, via: 0, tries: 2, credits: 200, gross: 20, refundAfterMs: 5 },
    ...(['won', 'lost'] as const).map((disputeEnds): Actor => ({
      kind: 'sale',
      key: disputeEnds,
      at: 100,
      via: 0,
      tries: 2,
      credits: 200,
      refundAfterMs: 5,
      reverseAfterMs: 50,
      disputeEnds,
    })),
  ]),
  single(
    'sale given back while its credits are held',
    [
      { kind: 'sale', key: 's', at: 0, via: 0, tries: 3, credits: 200, refundAfterMs: 500 },
      work('a', { at: 100, via: 1, file: page('a', 4) }),
    ],
    { balance: 0 },
  ),
  single('two sales of one payment', [
    { kind: 'sale', key: 's', print: 'one', at: 0, via: 0, tries: 3, credits: 200 },
    { kind: 'sale', key: 's', print: 'two', at: 0, via: 1, tries: 3, credits: 300 },
    { kind: 'money', key: 'm', at: 100, via: 1, tries: 3, credits: 10 },
  ]),
  single('log put back, money', [
    { kind: 'money', key: 'm', at: 60_000, via: 0, tries: 1, credits: 10, resendAt: 200_000 },
    { kind: 'restore', at: 120_000, what: ['log'], backMs: 100_000 },
  ]),
  single('log put back, call', [
    work('a', { kind: 'now', at: 60_000 }),
    work('a', { kind: 'now', at: 200_000, via: 1 }),
    { kind: 'restore', at: 120_000, what: ['log', 'replays'], backMs: 100_000 },
  ]),
  single('log put back, two processes', [
    { kind: 'money', key: 'm1', at: 30_000, via: 1, tries: 1, credits: 10 },
    { kind: 'money', key: 'm2', at: 60_000, via: 1, tries: 1, credits: 10 },
    { kind: 'money', key: 'm3', at: 60_100, via: 1, tries: 1, credits: 10 },
    { kind: 'restore', at: 60_800, what: ['log'], backMs: 900 },
    { kind: 'money', key: 'm4', at: 61_000, via: 0, tries: 1, credits: 10 },
    { kind: 'money', key: 'm5', at: 61_200, via: 0, tries: 1, credits: 10 },
    { kind: 'money', key: 'm6', at: 62_500, via: 1, tries: 1, credits: 10 },
  ]),
  single(
    'two releases',
    [
      work('a', { kind: 'now', file: page('a', 2) }),
      { kind: 'money', key: 'm', at: 9_000, via: 1, tries: 3, credits: 10 },
      work('b', { kind: 'now', at: 20_000, via: 1, file: page('b', 3) }),
      work('c', { at: 40_000, file: page('c', 2) }),
    ],
    {
      processes: [
        { name: 'p', release: 0 },
        { name: 'q', release: 1 },
      ],
      terms: { ...PLAIN_TERMS, freePages: 3 },
    },
  ),
];
