import type { DisputeStatus } from '../../domain/account/messages.ts';
import type { FileFacts } from './process.ts';
import type { Retention } from '../../domain/retention.ts';
import { budgetOf, type Change, type Mode, PLAIN_TERMS, type Tenant, type Terms, termsOf } from './terms.ts';
import { clockOf, errorMaxOf, type WallClock } from './clocks.ts';
import { chance, fraction } from './chance.ts';
import { EPOCH_MS } from './scheduler.ts';

/** A process of a world: it has all roles. */
export interface ProcessSpec extends WallClock {
  readonly name: string;
  /** Which release it is of, where accounts have snapshots. */
  readonly release?: number;
  /** Calls that it works on at once: a worker does the others. Left out: as many as there are. */
  readonly places?: number;
}

/** No world lasts longer, ms. */
const LASTS_MS = 200 * 3_600_000;

/** How far any clock of a world may be from the right time, ms. */
export const skewOf = ({ processes }: Pick<World, 'processes'>): number =>
  Math.max(...processes.map((clock) => errorMaxOf(clock, LASTS_MS)));

interface Request {
  /** Whose it is; left out: of the first tenant. */
  readonly tenant?: string;
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
      /** A model is asked for what is doubtful alone. */
      readonly doubtful?: boolean;
      readonly mode?: Mode;
      /** A person has to look at its result. */
      readonly reviewed?: boolean;
      /** Its file is sent before it is used, so long before, ms, and removed so long after it was accepted. */
      readonly uploaded?: { readonly usedAfterMs: number; readonly removedAfterMs?: number };
      /** The name of the API key that it comes with; left out: of one that holds for ever. */
      readonly apiKey?: string;
      /** It is sent once, without its key. */
      readonly keyless?: true;
      /** So long after it was sent, ms, its caller leaves, who otherwise waits. */
      readonly leavesAfterMs?: number;
    })
  /** Has an API key made, which is revoked so long after, ms. */
  | {
      readonly kind: 'key';
      readonly tenant?: string;
      /** Its name. */
      readonly key: string;
      readonly at: number;
      readonly via: number;
      readonly tries: number;
      readonly revokedAfterMs: number;
    }
  /** Keeps a set of examples or a saved config, changes it, and takes it away, each so long after the other, ms. */
  | {
      readonly kind: 'keep';
      readonly what: 'set' | 'config';
      readonly tenant?: string;
      readonly key: string;
      readonly at: number;
      readonly via: number;
      readonly tries: number;
      readonly changedAfterMs?: number;
      readonly removedAfterMs?: number;
    }
  /** Has what the job with that key learned serve. */
  | {
      readonly kind: 'deploy';
      readonly tenant?: string;
      readonly key: string;
      readonly at: number;
      readonly via: number;
      readonly tries: number;
    }
  /** Asks for more than may be asked for at once. */
  | {
      readonly kind: 'rush';
      readonly tenant?: string;
      readonly at: number;
      readonly via: number;
      readonly times: number;
      readonly everyMs: number;
    }
  /** Closes the month that is over, and opens it again so long after that, ms. */
  | {
      readonly kind: 'close';
      readonly at: number;
      readonly via: number;
      readonly tries: number;
      readonly reopenAfterMs?: number;
    }
  /** All processes end at once, and others start. */
  | { readonly kind: 'restart'; readonly at: number }
  /** An operator moves the texts of old events into the vault. */
  | { readonly kind: 'move'; readonly at: number; readonly tries: number }
  /** An operator copies the log while work goes on, or a backup that is made now. */
  | { readonly kind: 'copy'; readonly at: number; readonly tries: number; readonly from: 'log' | 'backup' }
  /** Somebody who looks at the result of the operation with that key, and says what the document says. */
  | {
      readonly kind: 'review';
      readonly tenant?: string;
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
      /** Of a stack: says that its first two documents are one. */
      readonly joins?: boolean;
      /** So long after it was decided, ms, it is opened again. */
      readonly reopenAfterMs?: number;
    }
  | (Request & {
      readonly kind: 'money';
      readonly credits: number;
      readonly resendAt?: number;
      /** It is no adjustment: the credits go to this tenant. */
      readonly sendsTo?: string;
    })
  /**
   * A payment; `refundAfterMs` after it was booked, half of it is refunded, and `reverseAfterMs` after that the refund
   * is undone. With `disputeEnds` it is no refund but a dispute, of all of it, and ends so; `opened`: not yet.
   */
  | (Request & {
      readonly kind: 'sale';
      readonly credits: number;
      /** Minor units: money is said, and the price list says how many credits that is. */
      readonly gross?: number;
      /** Given on top; the fee is told once the payment is booked. */
      readonly bonus?: number;
      readonly refundAfterMs?: number;
      readonly reverseAfterMs?: number;
      readonly disputeEnds?: DisputeStatus;
    })
  /** `measured`: the documents are a set of examples, and the batch is a run of it. */
  | (Request & {
      readonly kind: 'batch';
      readonly documents: readonly FileFacts[];
      readonly mode?: Mode;
      readonly doubtful?: boolean;
      readonly measured?: boolean;
      /** It may wait, at another price. */
      readonly waits?: boolean;
      /** Its first document is cancelled, and not the batch. */
      readonly cancelsOne?: boolean;
    })
  | (Request & {
      readonly kind: 'job';
      readonly tier: 'light' | 'heavy';
      readonly ownKey?: string;
      /** Keys of those whose files, sent before, are its examples. */
      readonly learnsFrom?: readonly string[];
    })
  | (Request & { readonly kind: 'webhook'; readonly url: string; readonly changeAfterMs?: number })
  /** Results and deliveries of a tenant are kept for so many days. */
  | (Request & { readonly kind: 'retention'; readonly whose: string; readonly days: number })
  /** The store of kept answers is full, and drops them all; or the one of limits loses what it has. */
  | { readonly kind: 'evict'; readonly at: number; readonly limits?: true }
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
  /** Credits of the first tenant at the start. */
  readonly balance: number;
  /** Other tenants. */
  readonly others?: readonly Tenant[];
  /** What an operator does before anybody asks for anything, beside the prices. */
  readonly changes?: readonly Change[];
  /** Prices at the start; left out: plain ones, and no page for nothing. */
  readonly terms?: Terms;
  /** Most entries of a list of operations. */
  readonly page?: number;
  /** How long the world is watched after everybody has become well, ms. */
  readonly healMs?: number;
  /** How long the installation keeps things, where that matters. */
  readonly keeps?: Retention;
}

export const KEEPS: Retention = { uploads: 0, results: 1, examples: 0, deliveries: 1 };

const HOUR = 3_600_000;

/** When all are well, a sweep comes by so late, virtual ms. */
export const SWEPT_MS = 14 * HOUR;
/** Whose work it is where nothing else is said. */
const FIRST = 't';

/** All accounts of a world, and prices at its start. */
export const marketOf = ({ balance, others = [], terms = PLAIN_TERMS, changes = [] }: World) => ({
  tenants: [{ id: FIRST, balance, plan: 'paid' } as const, ...others],
  terms,
  changes,
});

/** Two processes whose clocks are right. */
export const two: readonly ProcessSpec[] = [{ name: 'p' }, { name: 'q' }];
/** A file by its name. */
export const page = (tag: string, pages = 1): FileFacts => ({ pages, tag });

/** A request for an operation. */
export const work = (key: string, over: Partial<Extract<Actor, { kind: 'later' | 'now' }>> = {}): Actor => ({
  kind: 'later',
  key,
  at: 0,
  via: 0,
  tries: 3,
  file: page(key),
  ...over,
});

/** A stack of as many documents, each with so many pages. */
export const stack = (tag: string, parts: readonly number[]): FileFacts => ({
  ...page(
    tag,
    parts.reduce((sum, one) => sum + one, 0),
  ),
  parts,
});

/** A person who decides on the result of the first request. */
export const reviewer = (by: string, over: Partial<Extract<Actor, { kind: 'review' }>> = {}): Actor => ({
  kind: 'review',
  key: 'a',
  at: 30_000,
  via: 0,
  tries: 6,
  by,
  leases: false,
  ...over,
});
/** How work on a file ends, by a number between 0 and 1. */
export const wayOf = (r: number): Pick<FileFacts, 'ends'> => {
  if (r < 0.1) return { ends: 'badly' };
  return r < 0.15 ? { ends: 'deadly' } : {};
};

type How = Pick<Request, 'tenant' | 'key' | 'at' | 'via' | 'tries'>;

/** Some say what they pay, and some what they buy. */
const saleOf = (seed: number, at: number, how: How): Actor => {
  const gross = fraction(seed, 'pays', at) < 0.5 ? { gross: 7 + (chance(seed, 'gross', at) % 90) } : {};
  const credits = 150 + (chance(seed, 'buys', at) % 100);
  const bonus = fraction(seed, 'bonus', at) < 0.3 ? { bonus: 1 + (chance(seed, 'more', at) % 20) } : {};
  const undone = fraction(seed, 'undoes', at) < 0.5 && { reverseAfterMs: chance(seed, 'undo', at) % 10_000 };
  const refundAfterMs = chance(seed, 'after', at) % 10_000;
  const ends = (['opened', 'won', 'lost'] as const)[chance(seed, 'ends', at) % 3] ?? 'won';
  const disputed = fraction(seed, 'disputes', at) < 0.3 && { disputeEnds: ends };
  return { ...how, ...gross, ...bonus, ...undone, ...disputed, kind: 'sale', credits, refundAfterMs };
};

export const moneyOf = (seed: number, at: number, how: How): Actor =>
  fraction(seed, 'sells', at) < 0.5
    ? saleOf(seed, at, how)
    : fraction(seed, 'sends', at) < 0.4
      ? { ...how, kind: 'money', credits: 60, sendsTo: how.tenant === 'u' ? FIRST : 'u' }
      : { ...how, kind: 'money', credits: fraction(seed, 'gives', at) < 0.6 ? -60 : 100 };

/** How a document is to be read. */
const readingOf = (seed: number, at: number) => ({
  ...(fraction(seed, 'mode', at) < 0.3 && ({ mode: 'fast' } as const)),
  ...(fraction(seed, 'doubtful', at) < 0.3 && { doubtful: true }),
});

/** What is done about work that was accepted: it is cancelled, or its document is erased. */
const afterwardsOf = (seed: number, at: number): Pick<Request, 'cancelAfterMs' | 'eraseAfterMs'> => {
  if (fraction(seed, 'cancel', at) < 0.25) return { cancelAfterMs: chance(seed, 'after', at) % 3_000 };
  const isErased = fraction(seed, 'erases', at) < 0.2;
  return isErased ? { eraseAfterMs: 1 + (chance(seed, 'erases after', at) % 600_000) } : {};
};

/** Whether a caller leaves, and whether it could ask again by its key. */
export const leavingOf = (seed: number, at: number) => ({
  ...(fraction(seed, 'leaves call', at) < 0.2 && { leavesAfterMs: chance(seed, 'stays', at) % 5_000 }),
  ...(fraction(seed, 'keyless', at) < 0.2 && ({ keyless: true } as const)),
});

const workOf = (seed: number, at: number, how: How): Actor => {
  const r = fraction(seed, 'actor', at);
  const file = {
    ...page(`file ${String(at)}`, 1 + (chance(seed, 'pages', at) % 3)),
    ...wayOf(fraction(seed, 'ends', at)),
  };
  const ownKey = fraction(seed, 'own', at) < 0.3;
  const reviewed = fraction(seed, 'reviewed', at) < 0.4;
  const [mode, { eraseAfterMs, ...cancel }] = [readingOf(seed, at), afterwardsOf(seed, at)];
  const erase = eraseAfterMs === undefined ? {} : { eraseAfterMs };
  const stacked = fraction(seed, 'stacked', at) < 0.25 && stack(file.tag, [1, 2, 1].slice(0, file.pages));
  if (r < 0.35 && stacked !== false)
    return { ...how, ...cancel, ...erase, kind: 'later', file: { ...file, ...stacked }, reviewed };
  if (r < 0.35) return { ...how, ...cancel, ...erase, kind: 'later', file, ownKey, reviewed, ...mode };
  if (r < 0.5) return { ...how, ...leavingOf(seed, at), kind: 'now', file, ownKey, ...mode };
  const measured = fraction(seed, 'measured', at) < 0.4;
  const waits = !measured && fraction(seed, 'waits', at) < 0.5;
  const documents = [file, page('other', 2)];
  if (r < 0.65) return { ...how, ...cancel, kind: 'batch', documents, measured, waits, ...mode };
  return { ...how, ...cancel, kind: 'job', tier: 'light', ...(ownKey && { ownKey: `sk ${String(at)}` }) };
};

const actorOf = (seed: number, at: number): Actor => {
  const [r, when] = [fraction(seed, 'actor', at), chance(seed, 'when', at) % 20_000];
  const tenant = fraction(seed, 'tenant', at) < 0.3 ? { tenant: 'u' } : {};
  const how = { ...tenant, key: `k${String(at)}`, at: when, via: chance(seed, 'via', at) % 3, tries: 4 };
  if (r < 0.75) return workOf(seed, at, how);
  if (r < 0.85)
    return { ...how, kind: 'webhook', url: `https://w${String(at)}.example`, changeAfterMs: 5_000 };
  return moneyOf(seed, at, how);
};

/** Somebody who sends a request under a key. */
export type Wanting = Exclude<Actor, { kind: 'restore' | 'review' | 'evict' | Visit }>;

/** Actors of which no account has to know. */
type Visit = 'key' | 'rush' | 'move' | 'copy' | 'restart' | 'keep' | 'deploy' | 'close';

const OTHERS: ReadonlySet<string> = new Set([
  'restore',
  'review',
  'evict',
  'key',
  'rush',
  'move',
  'copy',
  'restart',
  'keep',
  'deploy',
  'close',
]);

export const isRequest = (actor: Actor): actor is Wanting => !OTHERS.has(actor.kind);

/** When an actor has done all that it wants, if nothing keeps it, virtual ms. */
export const endOf = (actor: Actor): number => {
  if (actor.kind === 'key') return actor.at + actor.revokedAfterMs;
  if (actor.kind === 'keep') return actor.at + (actor.changedAfterMs ?? 0) + (actor.removedAfterMs ?? 0);
  if (actor.kind === 'rush') return actor.at + actor.times * actor.everyMs;
  const { usedAfterMs = 0, removedAfterMs = 0 } = (actor.kind === 'later' ? actor.uploaded : undefined) ?? {};
  return actor.at + usedAfterMs + removedAfterMs;
};

/** Some of the actors send the same key once more, from elsewhere: another file, or the same again. */
export const repeated = (seed: number, actor: Actor, at: number): readonly Actor[] => {
  if (!isRequest(actor) || fraction(seed, 'again', at) > 0.3) return [actor];
  // Without a key that would be another request.
  if (actor.kind === 'now' && actor.keyless === true) return [actor];
  const other = { ...actor, at: actor.at + (chance(seed, 'apart', at) % 200), via: actor.via + 1 };
  // Nobody sends credits to himself: the account refuses that.
  if (fraction(seed, 'elsewhere', at) < 0.15 && !('sendsTo' in actor))
    return [actor, { ...other, tenant: 'u' }];
  if (other.kind !== 'later' || fraction(seed, 'same', at) < 0.5) return [actor, other];
  return [actor, { ...other, print: 'another', file: page('another', 3), tries: 1 }];
};

/**
 * Two processes that write to one account in the same moment, with credits for one of them or two: what one of them has
 * decided on is often not there any more when it appends.
 */
export const burstWorld = (seed: number): World => {
  const money = (key: string, how: Pick<Request, 'at' | 'via'>, amount: number): Actor => ({
    ...how,
    kind: 'money',
    key,
    tries: 4,
    credits: amount,
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
      ...(actor.tenant !== undefined && { tenant: actor.tenant }),
      key: actor.key,
      at: actor.at + lateMs,
      via: person,
      leases: fraction(seed, 'leases', at * 4 + person) < 0.6,
      leaves: fraction(seed, 'leaves', at * 4 + person) < 0.2,
      rejects: fraction(seed, 'rejects', at * 4 + person) < 0.2,
      joins: fraction(seed, 'joins', at * 4 + person) < 0.5,
      ...(reopens && { reopenAfterMs: chance(seed, 'reopen', at * 4 + person) % 60_000 }),
    });
  });
};

/** At the same time as requests, or hours later. */
export const evictionsIn = (seed: number): readonly Actor[] => {
  if (fraction(seed, 'evicts') > 0.4) return [];
  const lastsMs = fraction(seed, 'evicts late') < 0.5 ? 30_000 : 3 * HOUR;
  return [{ kind: 'evict', at: chance(seed, 'evicts at') % lastsMs }];
};

/** Files that are sent before they are used, some of them on the next day. */
const uploadedIn = (seed: number): readonly Actor[] =>
  Array.from({ length: chance(seed, 'files') % 3 }, (_, n) => {
    const at = chance(seed, 'sent at', n) % 20_000;
    const isLate = fraction(seed, 'used late', n) < 0.2;
    const usedAfterMs = isLate
      ? 23.9 * HOUR + (chance(seed, 'used', n) % HOUR)
      : chance(seed, 'used', n) % 60_000;
    const afterMs = chance(seed, 'taken back', n) % 120_000;
    const after = fraction(seed, 'what then', n);
    return work(`sent ${String(n)}`, {
      at,
      via: chance(seed, 'sent via', n) % 3,
      tries: 5,
      ...(fraction(seed, 'whose', n) < 0.3 && { tenant: 'u' }),
      file: page(`sent ${String(n)}`, 1 + (chance(seed, 'sent pages', n) % 3)),
      uploaded: { usedAfterMs, ...(after < 0.4 && { removedAfterMs: afterMs }) },
      ...(after > 0.7 && { eraseAfterMs: 1 + afterMs }),
      ...(fraction(seed, 'sent by key', n) < 0.5 && { apiKey: 'key' }),
    });
  });

/** A key that is revoked, and somebody who asks for too much. */
const visitorsIn = (seed: number, isKnown: boolean): readonly Actor[] => [
  ...(isKnown
    ? [
        {
          kind: 'key' as const,
          key: 'key',
          at: 0,
          via: chance(seed, 'key via') % 3,
          tries: 6,
          revokedAfterMs: chance(seed, 'key until') % 180_000,
        },
      ]
    : []),
  ...(fraction(seed, 'rushes') < 0.2
    ? [
        ...[0, 1].map((via) => ({ kind: 'rush', at: 1_000 + via, via, times: 12, everyMs: 400 }) as const),
        { kind: 'evict', at: chance(seed, 'limits lost') % 6_000, limits: true } as const,
      ]
    : []),
  ...(fraction(seed, 'moves') < 0.1
    ? [{ kind: 'move', at: chance(seed, 'moved at') % 20_000, tries: 8 } as const]
    : []),
];

/** A set of examples or a saved config that is changed, and taken away. */
const keepersIn = (seed: number): readonly Actor[] =>
  Array.from({ length: chance(seed, 'keepers') % 3 }, (_, n) => ({
    kind: 'keep' as const,
    key: `kept ${String(n)}`,
    tries: 6,
    what: fraction(seed, 'keeps', n) < 0.5 ? ('set' as const) : ('config' as const),
    ...(fraction(seed, 'whose keeps', n) < 0.3 && { tenant: 'u' }),
    at: chance(seed, 'keeps at', n) % 20_000,
    via: chance(seed, 'keeps via', n) % 3,
    ...(fraction(seed, 'changes', n) < 0.6 && { changedAfterMs: chance(seed, 'changes after', n) % 60_000 }),
    ...(fraction(seed, 'takes away', n) < 0.6 && {
      removedAfterMs: chance(seed, 'takes away after', n) % 60_000,
    }),
  }));

/** In some worlds. */
const guestsIn = (seed: number): readonly Actor[] => {
  if (fraction(seed, 'guests') > 0.35) return [];
  const uploaded = uploadedIn(seed);
  return [
    ...uploaded,
    ...keepersIn(seed),
    ...visitorsIn(
      seed,
      uploaded.some((one) => 'apiKey' in one),
    ),
  ];
};

/** In some worlds the log is copied, early or when much is done. */
const copiesIn = (seed: number): readonly Actor[] => {
  if (fraction(seed, 'copies') > 0.2) return [];
  const lastsMs = fraction(seed, 'copies late') < 0.7 ? 30_000 : HOUR;
  const from = fraction(seed, 'copies a backup') < 0.5 ? 'backup' : 'log';
  return [{ kind: 'copy', at: chance(seed, 'copies at') % lastsMs, tries: 8, from }];
};

export const planOf = (seed: number) => (['free', 'paid', 'enterprise'] as const)[chance(seed, 'plan') % 3]!;

/** When the first month of a world is over, virtual ms. */
export const MONTH_ENDS_MS = Date.parse('2026-02-01T00:00:00.000Z') - EPOCH_MS;

/** In some worlds the month ends amid all that happens, and somebody closes it, perhaps twice. */
const atTheEnd = (seed: number, world: World): World => {
  if (fraction(seed, 'closes') > 0.12) return world;
  const closers = Array.from({ length: 1 + (chance(seed, 'closers') % 2) }, (_, n): Actor => {
    const at = MONTH_ENDS_MS + (chance(seed, 'closes at', n) % 20_000) - 2_000;
    const reopens = fraction(seed, 'opens', n) < 0.3;
    const reopenAfterMs = chance(seed, 'opens after', n) % 60_000;
    return { kind: 'close', at, via: n, tries: 8, ...(reopens && { reopenAfterMs }) };
  });
  const shift = MONTH_ENDS_MS - 10_000;
  const moved = world.actors.map((actor) => ({ ...actor, at: actor.at + shift }));
  return { ...world, actors: [...moved, ...closers] };
};

/** A large world: what takes part follows from the seed. */
export const randomWorld = (seed: number): World => {
  const actors = Array.from({ length: 2 + (chance(seed, 'actors') % 5) }, (_, at) => actorOf(seed, at));
  const names = fraction(seed, 'three') < 0.5 ? ['p', 'q', 'r'] : ['p', 'q'];
  const isFull = fraction(seed, 'full') < 0.25;
  return atTheEnd(seed, {
    name: `seed ${String(seed)}`,
    processes: names.map((name) => ({
      name,
      ...clockOf(seed, name),
      ...(isFull && { places: chance(seed, 'places', name) % 3 }),
    })),
    actors: [
      ...actors.flatMap((actor, at) => [...repeated(seed, actor, at), ...reviewersOf(seed, actor, at)]),
      ...evictionsIn(seed),
      ...guestsIn(seed),
      ...copiesIn(seed),
    ],
    balance: (fraction(seed, 'poor') < 0.4 ? 100 : 3_000) + (chance(seed, 'balance') % 5) * 60,
    others: [{ id: 'u', balance: 200 * (chance(seed, 'other') % 3), plan: planOf(seed) }],
    terms: termsOf(seed),
    page: fraction(seed, 'page') < 0.3 ? 2 : 50,
    healMs: 60 * HOUR,
  });
};

/** A large world in which budgets stand from the start, too small for all that is wanted. */
export const budgetWorld = (seed: number): World => {
  const budgets = ['first', 'second', 'third'].map((key) => budgetOf(seed, key));
  return { ...worldOf(seed), name: `budgets ${String(seed)}`, balance: 3_000, changes: budgets };
};

/** A large world whose accounts have snapshots, and whose processes are of two releases. */
const releasesWorld = (seed: number): World => {
  const world = randomWorld(seed);
  const processes = world.processes.map((one, at) => ({ ...one, release: at % 2 }));
  return { ...world, processes };
};

/** The world of a seed: of each eighth one, with two releases. */
export const worldOf = (seed: number): World => (seed % 8 === 6 ? releasesWorld(seed) : randomWorld(seed));

/** One or two long documents, some of them cancelled or erased, and three workers who read them. */
export const longWorld = (seed: number): World => {
  const documents = Array.from({ length: 1 + (chance(seed, 'long') % 2) }, (_, at) =>
    work(`long ${String(at)}`, {
      ...afterwardsOf(seed, at),
      at: chance(seed, 'when', at) % 10_000,
      via: at,
      tries: 4,
      file: {
        ...page(`long ${String(at)}`, 41 + (chance(seed, 'pages', at) % 60)),
        ...(fraction(seed, 'breaks', at) < 0.1 && { ends: 'badly' as const }),
      },
    }),
  );
  const spent = moneyOf(seed, 7, { key: 'm', at: chance(seed, 'spent') % 20_000, via: 1, tries: 4 });
  // Parts of ranges are there then, and whoever goes on joins them with those that are not.
  const restarts = documents.flatMap(({ at }, n): readonly Actor[] =>
    fraction(seed, 'restarts', n) < 0.4
      ? [{ kind: 'restart', at: at + 3_500 + (chance(seed, 'restarts at', n) % 6_000) }]
      : [],
  );
  return {
    name: `long ${String(seed)}`,
    processes: ['p', 'q', 'r'].map((name) => ({ name, ...clockOf(seed, name) })),
    actors: [...documents, spent, ...restarts],
    balance: 9_000,
    others: [{ id: 'u', balance: 400, plan: 'paid' }],
    healMs: 30 * HOUR,
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
