import { z } from 'zod';
import { sha256 } from './kernel/chain.ts';
import { instant, laterBy, tenantId } from './kernel/amounts.ts';
import {
  accept,
  type Command,
  type Decider,
  type Decision,
  event,
  reject,
  type StreamKind,
} from './kernel/decider.ts';
import type { Json, JsonObject } from './kernel/json.ts';
import { isOver, suffixOf } from './leased.ts';

/** When a person has to look at a reading. Members left out ask for nobody. */
export const reviewPolicy = z.strictObject({
  /** 0..1: a value that is less sure, or was left out for it. */
  below: z.number().min(0).max(1).optional(),
  /** A required value is missing. */
  missing_required: z.boolean().optional(),
  /** Items do not add up, two readings of a value differ, or a rule of the config failed or told a duplicate. */
  rules: z.boolean().optional(),
  /** 0..1: the share of documents that are looked at whatever was read, by the digest of the file. */
  sample: z.number().min(0).max(1).optional(),
});
export type ReviewPolicy = z.output<typeof reviewPolicy>;

/** When a person has to look at the parts of a stack. */
export const partsPolicy = reviewPolicy.pick({ below: true, sample: true });
export type PartsPolicy = z.output<typeof partsPolicy>;

/** Whether it asks for anybody at all. */
export const asksForSomebody = ({ below, missing_required, rules, sample = 0 }: ReviewPolicy): boolean =>
  below !== undefined || missing_required === true || rules === true || sample > 0;

/** Why a person has to look: the members of the policy, and of `rules` those that the config has. */
export const reviewReason = z.enum([
  'below',
  'missing_required',
  'rules',
  'sample',
  'check_failed',
  'lookup_doubtful',
  'duplicate',
]);
export type ReviewReason = z.output<typeof reviewReason>;

/** What the success of an operation says of its review. */
export const neededReview = z.strictObject({
  reasons: z.array(reviewReason).min(1),
  /** Of the stored question: the schema, and each reason with its place. */
  question_sha256: z.string(),
  /** 0..1, of the least sure value in doubt; left out: no doubt is about confidence. */
  least_confidence: z.number().min(0).max(1).optional(),
});
export type NeededReview = z.output<typeof neededReview>;

const identity = { review_id: z.string(), operation_id: z.string(), tenant_id: tenantId };
/** From 1; a review that is opened again has the next one. */
const generation = z.int().min(1);
const leaves = z.int().min(0);

/** A person has the document before them: nobody else decides until `lease_until`, which is now when they leave it. */
const reviewLeased = event('ReviewLeased', {
  ...identity,
  generation,
  /** The key that a decision has to come with. */
  held_by: z.string(),
  leased_at: instant,
  lease_until: instant,
});

/**
 * A person has said what the document says. What was and what is are stored under their digests: no text of the
 * document is here. Nothing is billed by it.
 */
const reviewDecided = event('ReviewDecided', {
  ...identity,
  generation,
  document_id: z.string(),
  document_sha256: z.string(),
  /** Of the canonical JSON of the schema that the result fits. */
  schema_sha256: z.string(),
  /** Of the stored result that was looked at: the machine's, or the decision before. */
  before_sha256: z.string(),
  /** Of the stored decision: the result, its origins, the note, and the machine's answer. */
  decision_sha256: z.string(),
  /** Leaves of the result by where they come from. */
  read: leaves,
  confirmed: leaves,
  corrected: leaves,
  /** Required values that the document does not say, by their number; left out: none. */
  absent: z.int().min(1).optional(),
  /** The batch that the decided parts of a stack become; left out where none does. */
  then_batch_id: z.string().optional(),
  decided_by: z.string(),
  decided_at: instant,
});

/** Why nobody can decide what a document says. */
export const rejectionReason = z.enum(['illegible', 'wrong_document', 'value_missing', 'other']);

/** A person has refused the result: its operation has failed by it. Nothing is billed, and nothing given back. */
const reviewRejected = event('ReviewRejected', {
  ...identity,
  generation,
  reason: rejectionReason,
  /** The text of the person lies beside the log; null: they gave none. */
  note: z.string().nullable(),
  rejected_by: z.string(),
  rejected_at: instant,
});

/** What was decided or rejected is in doubt: the next generation begins with it. */
const reviewReopened = event('ReviewReopened', {
  ...identity,
  generation,
  reopened_at: instant,
  /** Left out by earlier releases. */
  reopened_by: z.string().optional(),
});

/**
 * Its time is over, or its document was erased: written before its objects are removed, so that a late decision is
 * refused, and not accepted without its object.
 */
const reviewExpired = event('ReviewExpired', {
  ...identity,
  generation,
  expired_at: instant,
  /** Its document was erased; left out where its time was over. */
  erased: z.literal(true).optional(),
});

export const reviewEvent = z.discriminatedUnion('type', [
  reviewLeased,
  reviewDecided,
  reviewRejected,
  reviewReopened,
  reviewExpired,
]);
type ReviewEvent = z.output<typeof reviewEvent>;

export const reviewStream = (reviewId: string): string => `review-${reviewId}`;

/** The review of an operation, and the operation of a review: there is one of each. */
export const reviewIdOf = (operationId: string): string => `rev_${suffixOf(operationId)}`;
export const operationIdOfReview = (reviewId: string): string => `op_${suffixOf(reviewId)}`;

/** How long a person has a document before them without a word, ms. */
export const REVIEW_LEASE_MS = 15 * 60_000;
/** How long nobody may look at a document before its result goes, ms. */
export const UNDECIDED_KEPT_MS = 24 * 3_600_000;
/** How long a decision is kept, with its document, ms. */
export const DECIDED_KEPT_MS = 30 * 24 * 3_600_000;

type Decided = Extract<ReviewEvent, { type: 'ReviewDecided' }>['data'];
type Expired = Extract<ReviewEvent, { type: 'ReviewExpired' }>['data'];
type Rejected = Extract<ReviewEvent, { type: 'ReviewRejected' }>['data'];

export interface ReviewState {
  readonly generation: number;
  readonly lease: { readonly held_by: string; readonly lease_until: string } | null;
  /** The last decision: of this generation, or of an earlier one while this one is open or rejected. */
  readonly decision: Decided | null;
  /** Of this generation; null: nobody has rejected it. */
  readonly rejection: Rejected | null;
  /** Whether what it is about may be gone. */
  readonly expired: boolean;
  /** Its decisions, rejections and reopenings, the first one first; of more than `HISTORY_MAX` the last. */
  readonly history: readonly ReviewMove[];
}

/** What a person did to a review. */
export type ReviewMove = Extract<
  ReviewEvent,
  { readonly type: 'ReviewDecided' | 'ReviewRejected' | 'ReviewReopened' }
>;

const HISTORY_MAX = 50;

const withMove = ({ history }: ReviewState, move: ReviewMove): readonly ReviewMove[] =>
  [...history, move].slice(-HISTORY_MAX);

export const isDecided = ({ decision, generation: now }: ReviewState): boolean =>
  decision?.generation === now;

/** Until when a review is kept, whose result was stored at `opened_at`: as long as its last decision, if it has one. */
export const reviewKeptUntil = ({ decision }: ReviewState, opened_at: string): string =>
  decision === null ? laterBy(opened_at, UNDECIDED_KEPT_MS) : laterBy(decision.decided_at, DECIDED_KEPT_MS);

/** The present reviewer of the document. */
export const holderOf = ({ lease }: ReviewState, now: string): string | undefined =>
  lease === null || isOver(lease.lease_until, now) ? undefined : lease.held_by;

export type ReviewStatus = 'open' | 'leased' | 'decided' | 'rejected' | 'expired';

export const reviewStatusOf = (
  state: ReviewState,
  { opened_at, now }: { readonly opened_at: string; readonly now: string },
): ReviewStatus => {
  if (state.expired || isOver(reviewKeptUntil(state, opened_at), now)) return 'expired';
  if (isDecided(state)) return 'decided';
  if (state.rejection !== null) return 'rejected';
  return holderOf(state, now) === undefined ? 'open' : 'leased';
};

type Identity = Pick<ReviewEvent['data'], 'review_id' | 'operation_id' | 'tenant_id'>;
/** Members of every command: the review, when its result was stored, and the caller. */
interface Asked extends Identity {
  readonly opened_at: string;
  readonly by: string;
}

type Lease = Command<'Lease', Asked>;
type Decide = Command<
  'Decide',
  Asked &
    Omit<Decided, keyof Identity | 'generation' | 'decided_by' | 'decided_at'> & {
      readonly generation: number;
    }
>;
type Reject = Command<'Reject', Asked & Pick<Rejected, 'generation' | 'reason' | 'note'>>;
/** Nothing, if somebody else has it, or nobody. */
type Release = Command<'Release', Asked>;
type Reopen = Command<'Reopen', Asked>;
/** Nothing, if its time is not over and its document was not erased. */
type Expire = Command<'Expire', Omit<Asked, 'by'> & Pick<Expired, 'erased'>>;
type ReviewCommand = Lease | Release | Decide | Reject | Reopen | Expire;

export type ReviewRejection =
  | { readonly code: 'review_leased'; readonly lease_until: string }
  /** This generation was decided or rejected; another one may be open. */
  | { readonly code: 'review_decided'; readonly generation: number }
  | { readonly code: 'review_expired' };

export type ReviewKind = StreamKind<ReviewState, ReviewCommand, ReviewEvent, ReviewRejection>;
type ReviewDecision = Decision<ReviewEvent, ReviewRejection>;

const identityOf = ({ review_id, operation_id, tenant_id }: Identity): Identity => ({
  review_id,
  operation_id,
  tenant_id,
});

/** Why nobody but its holder may go on with it; undefined: `by` may. */
const taken = (state: ReviewState, { by, now }: { readonly by: string; readonly now: string }) => {
  const holder = holderOf(state, now);
  if (holder === undefined || holder === by) return undefined;
  return reject({ code: 'review_leased', lease_until: state.lease?.lease_until ?? now });
};

const leased = (
  { generation: held }: ReviewState,
  { data, meta: { now } }: Lease | Release,
  lastsMs: number,
): ReviewDecision =>
  accept({
    type: 'ReviewLeased',
    data: {
      ...identityOf(data),
      generation: held,
      held_by: data.by,
      leased_at: now,
      lease_until: laterBy(now, lastsMs),
    },
  });

/** Whether a person has ended this generation. */
const isEnded = (state: ReviewState): boolean => isDecided(state) || state.rejection !== null;

const lease = (state: ReviewState, command: Lease): ReviewDecision => {
  const { data, meta } = command;
  if (isEnded(state)) return reject({ code: 'review_decided', generation: state.generation });
  return taken(state, { by: data.by, now: meta.now }) ?? leased(state, command, REVIEW_LEASE_MS);
};

const release = (state: ReviewState, command: Release): ReviewDecision =>
  holderOf(state, command.meta.now) === command.data.by ? leased(state, command, 0) : accept();

const decide = (state: ReviewState, { data, meta: { now } }: Decide): ReviewDecision => {
  const { opened_at: _, by, generation: wanted, ...decided } = data;
  const { decision } = state;
  // The answer was lost, and it is sent again.
  if (decision?.generation === wanted && decision.decision_sha256 === data.decision_sha256) return accept();
  return (
    closed(state, wanted) ??
    taken(state, { by, now }) ??
    accept({
      type: 'ReviewDecided',
      data: { ...decided, generation: wanted, decided_by: by, decided_at: now },
    })
  );
};

/** Why nobody may decide a generation or reject it; undefined: it is the open one. */
const closed = (state: ReviewState, wanted: number) =>
  isEnded(state) || wanted !== state.generation
    ? reject({ code: 'review_decided', generation: state.generation })
    : undefined;

const rejectIt = (state: ReviewState, { data, meta: { now } }: Reject): ReviewDecision => {
  const { by, generation: wanted, reason, note } = data;
  const { rejection } = state;
  // The answer was lost, and it is sent again.
  if (rejection?.generation === wanted && rejection.reason === reason && rejection.note === note)
    return accept();
  return (
    closed(state, wanted) ??
    taken(state, { by, now }) ??
    accept({
      type: 'ReviewRejected',
      data: { ...identityOf(data), generation: wanted, reason, note, rejected_by: by, rejected_at: now },
    })
  );
};

const reopen = (state: ReviewState, { data, meta: { now } }: Reopen): ReviewDecision => {
  if (!isEnded(state)) return accept();
  const next = state.generation + 1;
  return accept({
    type: 'ReviewReopened',
    data: { ...identityOf(data), generation: next, reopened_at: now, reopened_by: data.by },
  });
};

const isPast = (state: ReviewState, { data: { opened_at }, meta: { now } }: ReviewCommand): boolean =>
  isOver(reviewKeptUntil(state, opened_at), now);

const expire = (state: ReviewState, command: Expire): ReviewDecision => {
  const { data, meta } = command;
  const isDue = data.erased === true || isPast(state, command);
  if (state.expired || !isDue) return accept();
  const why = data.erased === true ? { erased: data.erased } : {};
  return accept({
    type: 'ReviewExpired',
    data: { ...identityOf(data), generation: state.generation, expired_at: meta.now, ...why },
  });
};

/**
 * A review: open, leased by one person at a time, decided or rejected once in each generation. It begins with the
 * success of its operation, which says that it is needed: the stream begins with the first person.
 */
export const review: Decider<ReviewKind> = {
  initialState: { generation: 1, lease: null, decision: null, rejection: null, expired: false, history: [] },
  decide: (state, command) => {
    if (command.type === 'Expire') return expire(state, command);
    if (isPast(state, command) || state.expired) return reject({ code: 'review_expired' });
    switch (command.type) {
      case 'Lease':
        return lease(state, command);
      case 'Release':
        return release(state, command);
      case 'Decide':
        return decide(state, command);
      case 'Reject':
        return rejectIt(state, command);
      case 'Reopen':
        return reopen(state, command);
    }
  },
  evolve: (state, event) => {
    const { type, data } = event;
    switch (type) {
      case 'ReviewLeased':
        return { ...state, lease: { held_by: data.held_by, lease_until: data.lease_until } };
      case 'ReviewDecided':
        return { ...state, lease: null, decision: data, history: withMove(state, event) };
      case 'ReviewRejected':
        return { ...state, lease: null, rejection: data, history: withMove(state, event) };
      case 'ReviewReopened':
        return {
          ...state,
          generation: data.generation,
          lease: null,
          rejection: null,
          history: withMove(state, event),
        };
      case 'ReviewExpired':
        return { ...state, lease: null, expired: true };
    }
  },
};

/** Whether a file is of the share of files that are looked at whatever was read: the same file always is. */
export const isSampled = (file_sha256: string, share: number): boolean =>
  Number.parseInt(sha256(`review ${file_sha256}`).slice(0, 8), 16) / 2 ** 32 < share;

/** Where a leaf of a decided result comes from: the machine alone, the machine and a person, or a person. */
export const origin = z.enum(['read', 'confirmed', 'corrected']);
export type Origin = z.output<typeof origin>;

const isParent = (value: Json | undefined): value is JsonObject | readonly Json[] =>
  typeof value === 'object' && value !== null;

const pointer = (at: string, name: string): string =>
  `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/**
 * Numbers of values: equal ones have the same, whatever the order of their members. Each part is looked at once, so
 * that comparing rows of any depth takes no longer than reading them.
 */
const valueNumbers = () => {
  const byText = new Map<string, number>();
  const ofParents = new Map<object, number>();
  const numberOf = (text: string): number => {
    const known = byText.get(text) ?? byText.size;
    byText.set(text, known);
    return known;
  };
  const parentText = (value: JsonObject | readonly Json[]): string => {
    if (Array.isArray(value)) return `[${value.map((item: Json) => of(item)).join(',')}]`;
    const members = value as JsonObject;
    const names = Object.keys(members).sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${String(of(members[name]))}`).join(',')}}`;
  };
  /** A missing value and null mean the same: the value is not in the document. */
  const of = (value: Json | undefined): number => {
    if (!isParent(value)) return numberOf(JSON.stringify(value ?? null));
    const known = ofParents.get(value) ?? numberOf(parentText(value));
    ofParents.set(value, known);
    return known;
  };
  return of;
};
type NumberOf = ReturnType<typeof valueNumbers>;

/** The machine's row for each row of the decided list: equal rows in order, and what stands between them by turns. */
const rowsFor = (
  decided: readonly Json[],
  machine: readonly Json[],
  numberOf: NumberOf,
): readonly (number | undefined)[] => {
  /** Places of equal rows, the last first. */
  const places = new Map<number, number[]>();
  for (let at = machine.length - 1; at >= 0; at -= 1) {
    const number = numberOf(machine[at]);
    const same = places.get(number) ?? [];
    places.set(number, same);
    same.push(at);
  }
  const rows = Array.from<number | undefined>({ length: decided.length });
  let next = 0;
  let between: number[] = [];
  const pairUp = (upTo: number): void => {
    for (const row of between) if (next < upTo) rows[row] = next++;
    between = [];
  };
  for (const [row, value] of decided.entries()) {
    const same = places.get(numberOf(value)) ?? [];
    while ((same.at(-1) ?? next) < next) same.pop();
    const found = same.pop();
    if (found === undefined) {
      between.push(row);
      continue;
    }
    pairUp(found);
    rows[row] = found;
    next = found + 1;
  }
  pairUp(machine.length);
  return rows;
};

/** A decided value with what the machine has in its place. */
interface Pair {
  readonly at: string;
  readonly now: Json | undefined;
  /** undefined: the machine has nothing there. */
  readonly before: Json | undefined;
  readonly beforeAt: string;
  /** Whether a person was asked about the machine's value, or about something that it is a part of. */
  readonly isDoubted: boolean;
}

interface Comparing {
  readonly numberOf: NumberOf;
  readonly doubts: ReadonlySet<string>;
}

function* rowPairs(decided: readonly Json[], pair: Pair, { numberOf, doubts }: Comparing): Generator<Pair> {
  const old = Array.isArray(pair.before) ? (pair.before as readonly Json[]) : [];
  const rows = rowsFor(decided, old, numberOf);
  for (const [index, now] of decided.entries()) {
    const row = rows[index];
    const beforeAt = pointer(pair.beforeAt, String(row ?? '-'));
    const before = row === undefined ? undefined : old[row];
    const isDoubted = pair.isDoubted || doubts.has(beforeAt);
    yield { at: pointer(pair.at, String(index)), now, before, beforeAt, isDoubted };
  }
}

function* memberPairs(decided: JsonObject, pair: Pair, { doubts }: Comparing): Generator<Pair> {
  const old = isParent(pair.before) && !Array.isArray(pair.before) ? (pair.before as JsonObject) : {};
  for (const [name, now] of Object.entries(decided)) {
    const beforeAt = pointer(pair.beforeAt, name);
    const before = Object.hasOwn(old, name) ? old[name] : undefined;
    const isDoubted = pair.isDoubted || doubts.has(beforeAt);
    yield { at: pointer(pair.at, name), now, before, beforeAt, isDoubted };
  }
}

/** Calls `tell` for each leaf of the decided value, with what the machine has in its place. */
const eachLeaf = (pair: Pair, comparing: Comparing, tell: (leaf: Pair) => void): void => {
  const { now } = pair;
  if (!isParent(now) || Object.keys(now).length === 0) {
    tell(pair);
    return;
  }
  const below = Array.isArray(now)
    ? rowPairs(now as readonly Json[], pair, comparing)
    : memberPairs(now as JsonObject, pair, comparing);
  for (const part of below) eachLeaf(part, comparing, tell);
};

/**
 * Where each leaf of a decided result comes from, by its JSON Pointer. `doubts`: the paths of the machine's result
 * that a person was asked about; `''` is all of it. A leaf that stayed is `confirmed` where it was asked about, else
 * `read`. It takes time in proportion to both results and the doubts.
 */
export const originsOf = (
  decided: JsonObject,
  machine: JsonObject,
  doubts: readonly string[],
): Readonly<Record<string, Origin>> => {
  const origins: Record<string, Origin> = {};
  const comparing: Comparing = { numberOf: valueNumbers(), doubts: new Set(doubts) };
  const { numberOf } = comparing;
  const isDoubted = comparing.doubts.has('');
  eachLeaf({ at: '', now: decided, before: machine, beforeAt: '', isDoubted }, comparing, (leaf) => {
    if (numberOf(leaf.before) !== numberOf(leaf.now)) origins[leaf.at] = 'corrected';
    else origins[leaf.at] = leaf.isDoubted ? 'confirmed' : 'read';
  });
  return origins;
};

/** For each leaf of a decided result, by its JSON Pointer, the pointer of what the machine has in its place. */
export const machinePlaces = (decided: JsonObject, machine: JsonObject): ReadonlyMap<string, string> => {
  const places = new Map<string, string>();
  const comparing: Comparing = { numberOf: valueNumbers(), doubts: new Set() };
  eachLeaf(
    { at: '', now: decided, before: machine, beforeAt: '', isDoubted: false },
    comparing,
    ({ at, beforeAt }) => places.set(at, beforeAt),
  );
  return places;
};
