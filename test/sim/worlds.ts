import type { FileFacts } from './process.ts';
import type { Retention } from '../../domain/retention.ts';
import { chance, fraction } from './scheduler.ts';

/** A process of a world: it has all roles. */
export interface ProcessSpec {
  readonly name: string;
  /** Of its wall clock, ms. */
  readonly offsetMs?: number;
}

interface Request {
  /** Its Idempotency-Key. */
  readonly key: string;
  /** Fingerprint of the request: the same key with another one is another request. */
  readonly print?: string;
  /** When it is sent first, virtual ms after the start. */
  readonly at: number;
  /** The process that is asked first; each further try asks the next one. */
  readonly via: number;
  /** How often it is sent at most, while there is no answer that says that it is done. */
  readonly tries: number;
  /** So long after it was accepted, ms, it is cancelled. */
  readonly cancelAfterMs?: number;
  /** So long after it was accepted, ms, its document is erased. */
  readonly eraseAfterMs?: number;
  /** Erases the tenant instead, with all that it has. */
  readonly erasesTenant?: true;
}

/** Somebody outside, who wants something. */
export type Actor =
  | (Request & {
      readonly kind: 'later' | 'now';
      readonly file: FileFacts;
      readonly ownKey?: boolean;
      /** A person has to look at its result. */
      readonly reviewed?: boolean;
    })
  /** Somebody who looks at the result of the operation with that key, and says what the document says. */
  | {
      readonly kind: 'review';
      readonly key: string;
      readonly at: number;
      readonly via: number;
      readonly tries: number;
      readonly by: string;
      readonly leases: boolean;
      /** Goes without a word on the document, once it is leased. */
      readonly leaves?: boolean;
      /** Rejects the result, and says nothing. */
      readonly rejects?: boolean;
      /** So long after it was decided, ms, it is opened again. */
      readonly reopenAfterMs?: number;
    }
  | (Request & { readonly kind: 'money'; readonly credits: number; readonly resendAt?: number })
  /** A payment; `refundAfterMs` after it was booked, half of it is refunded. */
  | (Request & { readonly kind: 'sale'; readonly credits: number; readonly refundAfterMs?: number })
  /** `measured`: the documents are a set of examples, and the batch is a run of it. */
  | (Request & {
      readonly kind: 'batch';
      readonly documents: readonly FileFacts[];
      readonly measured?: boolean;
    })
  | (Request & { readonly kind: 'job'; readonly tier: 'light' | 'heavy'; readonly ownKey?: string })
  | (Request & { readonly kind: 'webhook'; readonly url: string; readonly changeAfterMs?: number })
  /** Results and deliveries of a tenant are kept for so many days. */
  | (Request & { readonly kind: 'retention'; readonly tenant: string; readonly days: number })
  /** An operator puts a copy back that was made so long before. */
  | {
      readonly kind: 'restore';
      readonly at: number;
      readonly what: readonly ('log' | 'objects' | 'replays')[];
      readonly backMs: number;
    };

/** What takes part in a run. */
export interface World {
  readonly name: string;
  readonly processes: readonly ProcessSpec[];
  readonly actors: readonly Actor[];
  /** Credits at the start. */
  readonly balance: number;
  /** Most entries of a list of operations. */
  readonly page?: number;
  /** How long the world is watched after everybody has become well, ms. */
  readonly healMs?: number;
  /** How long the installation keeps things, where that matters. */
  readonly keeps?: Retention;
}

export const KEEPS: Retention = { uploads: 0, results: 1, examples: 0, deliveries: 1 };

const HOUR = 3_600_000;
export const PRICE = 40;

const two: readonly ProcessSpec[] = [{ name: 'p' }, { name: 'q' }];
const page = (tag: string, pages = 1): FileFacts => ({ pages, tag });

const work = (key: string, over: Partial<Extract<Actor, { kind: 'later' | 'now' }>> = {}): Actor => ({
  ...{ kind: 'later', key, at: 0, via: 0, tries: 3, file: page(key) },
  ...over,
});

const reviewer = (by: string, over: Partial<Extract<Actor, { kind: 'review' }>> = {}): Actor => ({
  ...{ kind: 'review', key: 'a', at: 30_000, via: 0, tries: 6, by, leases: false },
  ...over,
});
const reviewedWork = work('a', { reviewed: true });

/** Two callers, two workers, one document: small enough to look at every schedule up to a bound. */
const single = (name: string, actors: readonly Actor[], over: Partial<World> = {}): World => ({
  ...{ name, processes: two, actors, balance: 400 },
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

const daysOf = (tenant: string, days: number, via = 0): Actor => ({
  ...{ kind: 'retention', key: `days ${String(days)}`, at: 20_000, via, tries: 6, tenant, days },
});

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
  single('operation cancelled', [work('a', { cancelAfterMs: 5 })]),
  single('document erased', [work('a', { eraseAfterMs: 20_000, tries: 1 })]),
  single('document erased while it is worked on', [work('a', { eraseAfterMs: 1_030, tries: 8 })]),
  single('tenant erased', [work('a', { eraseAfterMs: 20_000, erasesTenant: true })]),
  single('tenant erased while it works', [work('a', { eraseAfterMs: 1_030, erasesTenant: true, tries: 8 })]),
  single('tenant erased while a person looks', [
    work('a', { reviewed: true, eraseAfterMs: 30_000, erasesTenant: true, tries: 8 }),
    reviewer('a', { at: 30_990, leases: true }),
  ]),
  single('tenant erased while its batch runs', [
    {
      ...{ kind: 'batch', key: 'b', at: 0, via: 0, tries: 8, eraseAfterMs: 1_010, erasesTenant: true },
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
      ...{ kind: 'batch', key: 'b', at: 0, via: 0, tries: 3, measured: true },
      documents: [page('one'), { ...page('two'), ends: 'badly' }],
    },
    { kind: 'batch', key: 'b', at: 5, via: 1, tries: 3, measured: true, documents: [page('one')] },
  ]),
  single('run cancelled', [
    {
      ...{ kind: 'batch', key: 'b', at: 0, via: 0, tries: 3, measured: true, cancelAfterMs: 1_010 },
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
  single('long batch cancelled', [
    { kind: 'batch', key: 'b', at: 0, via: 0, tries: 3, documents: [page('one', 12)], cancelAfterMs: 1_010 },
  ]),
  single(
    'many batches',
    Array.from({ length: 14 }, (_, at) => ({
      ...{ kind: 'batch', key: `b${String(at)}`, at: 0, via: at, tries: 1 },
      documents: [page('one', 11)],
    })),
  ),
  single(
    'many webhooks',
    Array.from({ length: 26 }, (_, at) => ({
      ...{
        kind: 'webhook',
        key: `w${String(at)}`,
        at: 0,
        via: at,
        tries: 1,
        url: `https://w${String(at)}.example`,
      },
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
  single('sale', [{ kind: 'sale', key: 's', at: 0, via: 0, tries: 1, credits: 200, refundAfterMs: 5 }]),
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
];

const endOf = (r: number): Pick<FileFacts, 'ends'> => {
  if (r < 0.1) return { ends: 'badly' };
  return r < 0.15 ? { ends: 'deadly' } : {};
};

type How = Pick<Request, 'key' | 'at' | 'via' | 'tries'>;

const moneyOf = (seed: number, at: number, how: How): Actor =>
  fraction(seed, 'sells', at) < 0.5
    ? { ...how, kind: 'sale', credits: 200, refundAfterMs: chance(seed, 'after', at) % 10_000 }
    : { ...how, kind: 'money', credits: fraction(seed, 'gives', at) < 0.6 ? -60 : 100 };

const actorOf = (seed: number, at: number): Actor => {
  const [r, when] = [fraction(seed, 'actor', at), chance(seed, 'when', at) % 20_000];
  const how = { key: `k${String(at)}`, at: when, via: chance(seed, 'via', at) % 3, tries: 4 };
  const cancelAfterMs = fraction(seed, 'cancel', at) < 0.25 ? chance(seed, 'after', at) % 3_000 : undefined;
  const cancel = cancelAfterMs === undefined ? {} : { cancelAfterMs };
  const file = {
    ...page(`file ${String(at)}`, 1 + (chance(seed, 'pages', at) % 3)),
    ...endOf(fraction(seed, 'ends', at)),
  };
  const ownKey = fraction(seed, 'own', at) < 0.3;
  const reviewed = fraction(seed, 'reviewed', at) < 0.4;
  if (r < 0.35) return { ...how, ...cancel, kind: 'later', file, ownKey, reviewed };
  if (r < 0.5) return { ...how, kind: 'now', file, ownKey };
  const measured = fraction(seed, 'measured', at) < 0.4;
  if (r < 0.65) return { ...how, ...cancel, kind: 'batch', documents: [file, page('other', 2)], measured };
  if (r < 0.75)
    return { ...how, ...cancel, kind: 'job', tier: 'light', ...(ownKey && { ownKey: `sk ${String(at)}` }) };
  if (r < 0.85)
    return { ...how, kind: 'webhook', url: `https://w${String(at)}.example`, changeAfterMs: 5_000 };
  return moneyOf(seed, at, how);
};

/** Some of the actors send the same key once more, from elsewhere: another file, or the same again. */
const repeated = (seed: number, actor: Actor, at: number): readonly Actor[] => {
  if (actor.kind === 'restore' || actor.kind === 'review' || fraction(seed, 'again', at) > 0.3)
    return [actor];
  const other = { ...actor, at: actor.at + (chance(seed, 'apart', at) % 200), via: actor.via + 1 };
  if (other.kind !== 'later' || fraction(seed, 'same', at) < 0.5) return [actor, other];
  return [actor, { ...other, print: 'another', file: page('another', 3), tries: 1 }];
};

/**
 * Two processes that write to one account in the same moment, with credits for one of them or two: what one of them has
 * decided on is often not there any more when it appends.
 */
export const burstWorld = (seed: number): World => {
  const money = (key: string, how: Pick<Request, 'at' | 'via'>, amount: number): Actor => ({
    ...{ ...how, kind: 'money', key, tries: 4, credits: amount },
  });
  const burst = Array.from({ length: 6 + (chance(seed, 'actors') % 6) }, (_, at) => {
    const how = { at: 5_000 + (chance(seed, 'when', at) % 25), via: fraction(seed, 'via', at) < 0.7 ? 0 : 1 };
    return money(`m${String(at)}`, how, fraction(seed, 'gives', at) < 0.6 ? -60 : 20);
  });
  const early = [money('e0', { at: 0, via: 0 }, 1), money('e1', { at: 500, via: 1 }, 1)];
  return {
    name: `burst ${String(seed)}`,
    processes: two,
    balance: 100,
    actors: [...early, ...burst],
    healMs: HOUR,
  };
};

/** Some people look at what has to be looked at. */
const reviewersOf = (seed: number, actor: Actor, at: number): readonly Actor[] => {
  if (actor.kind !== 'later' || actor.reviewed !== true) return [];
  return Array.from({ length: chance(seed, 'people', at) % 4 }, (_, person) => {
    const lateMs = chance(seed, 'looks', at * 4 + person) % (20 * 60_000);
    const reopens = fraction(seed, 'reopens', at * 4 + person) < 0.3;
    return reviewer(`person ${String(person)}`, {
      ...{ key: actor.key, at: actor.at + lateMs, via: person },
      leases: fraction(seed, 'leases', at * 4 + person) < 0.6,
      leaves: fraction(seed, 'leaves', at * 4 + person) < 0.2,
      rejects: fraction(seed, 'rejects', at * 4 + person) < 0.2,
      ...(reopens && { reopenAfterMs: chance(seed, 'reopen', at * 4 + person) % 60_000 }),
    });
  });
};

/** A large world: what takes part follows from the seed. */
export const randomWorld = (seed: number): World => {
  const actors = Array.from({ length: 2 + (chance(seed, 'actors') % 5) }, (_, at) => actorOf(seed, at));
  const skewed = fraction(seed, 'skew') < 0.3;
  const offset = (name: string) => (skewed ? (chance(seed, name) % 600_000) - 300_000 : 0);
  const names = fraction(seed, 'three') < 0.5 ? ['p', 'q', 'r'] : ['p', 'q'];
  return {
    name: `seed ${String(seed)}`,
    processes: names.map((name) => ({ name, offsetMs: offset(name) })),
    actors: actors.flatMap((actor, at) => [...repeated(seed, actor, at), ...reviewersOf(seed, actor, at)]),
    balance: 3_000 + (chance(seed, 'balance') % 5) * 60,
    page: fraction(seed, 'page') < 0.3 ? 2 : 50,
    healMs: 60 * HOUR,
  };
};

/** Something that must not be. `id` names the rule, `text` says what broke it. */
export interface Finding {
  readonly id: string;
  readonly text: string;
  /** Virtual ms, and steps so far. */
  readonly at: number;
  readonly step: number;
}

/** One kind of fault that the simulator has to find: in which small worlds, and by which rules. */
export interface Row {
  readonly row: string;
  readonly worlds: readonly string[];
  readonly rules: readonly string[];
  /** Part of the finding's text, where the rule alone does not tell. */
  readonly text?: string;
}

/**
 * What two reviewers found on the release before the queue was made one machine, and which rule tells it. That release
 * breaks each of them (docs/explanation/proof.md); this one breaks none.
 */
export const ROWS: readonly Row[] = [
  { row: 'A', worlds: ['operation', 'operation, credits spent'], rules: ['released-under-work', 'unbilled'] },
  { row: 'A (reaper)', worlds: ['operation'], rules: ['accepted-unheld'] },
  { row: 'B', worlds: ['operation'], rules: ['billed-undeliverable'] },
  { row: 'C', worlds: ['own key cancelled'], rules: ['hold-left'], text: '_full' },
  { row: 'D', worlds: ['call'], rules: ['billed-twice'], text: 'the call' },
  { row: 'E', worlds: ['operation'], rules: ['result-replaced'] },
  { row: 'E (money)', worlds: ['own key'], rules: ['released-under-success'] },
  { row: 'F', worlds: ['two files'], rules: ['wrong-file'] },
  { row: 'F (pages)', worlds: ['two files of other lengths'], rules: ['wrong-file'], text: 'pages' },
  { row: 'G', worlds: ['operation cancelled'], rules: ['usage-order'] },
  { row: 'H', worlds: ['batch'], rules: ['accepted-after-end'] },
  { row: 'H (sums)', worlds: ['batch'], rules: ['batch-sum'] },
  { row: 'I', worlds: ['operation cancelled'], rules: ['unsettled-for-ever'] },
  { row: 'I (starved)', worlds: ['many operations'], rules: ['starved'] },
  { row: 'J', worlds: ['job'], rules: ['overbilled'], text: 'job_' },
  { row: 'J (key)', worlds: ['job with own keys'], rules: ['wrong-key'] },
  { row: 'K', worlds: ['clocks'], rules: ['live-lease-taken'] },
  { row: 'K (lost)', worlds: ['clocks'], rules: ['live-work-lost'] },
  { row: 'L', worlds: ['many batches'], rules: ['limit'], text: 'batches' },
  { row: 'L (webhooks)', worlds: ['many webhooks'], rules: ['limit'], text: 'webhooks' },
  { row: 'O', worlds: ['operation cancelled', 'batch'], rules: ['audit-silent'] },
  { row: 'P', worlds: ['log put back, money'], rules: ['ack-lost'], text: 'replayed' },
  { row: 'Q', worlds: ['log put back, call'], rules: ['audit'], text: 'never requested' },
  { row: 'S', worlds: ['log put back, two processes'], rules: ['audit'], text: '[chain]' },
];

export const isFindingOf =
  ({ rules, text }: Pick<Row, 'rules' | 'text'>) =>
  (finding: Finding): boolean =>
    rules.includes(finding.id) && (text === undefined || finding.text.includes(text));
