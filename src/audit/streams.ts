import {
  categoryOf,
  chainHash,
  eventIdOfHash,
  flawOfHash,
  HASH_VERSION,
  hashVersionOf,
  joinedText,
  LOG_DIGEST_START,
  type logDigestAfter,
  sha256,
} from '../../domain/kernel/chain.ts';
import type { EventFeed } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { storableJson } from '../../domain/kernel/json.ts';
import { type Findings, type Place, placeOf, wrong } from './findings.ts';
import { recordedAt } from './auditedEvent.ts';
import { BACKWARDS_MAX_MS, backwardsCheck, logClock } from './clock.ts';

type Slots = Uint32Array<ArrayBuffer>;

const WORDS = 4;
const FIRST_SLOTS = 1024;

const EMPTY: Slots = new Uint32Array(WORDS);

/** The words of the text that is looked for: one array for all, as there are many texts and one at a time. */
const sought: Slots = new Uint32Array(WORDS);

const UUID_LENGTH = 36;
const [HYPHEN, ZERO, NINE, A, F] = [0x2d, 0x30, 0x39, 0x61, 0x66] as const;

/** Where the hyphens of a UUID are. */
const isHyphenAt = (at: number): boolean => at === 8 || at === 13 || at === 18 || at === 23;

/** The value of a hex digit in lower case; −1 for another character. */
const digitOf = (code: number): number => {
  if (code >= ZERO && code <= NINE) return code - ZERO;
  return code >= A && code <= F ? code - A + 10 : -1;
};

/** Writes the words of a UUID to their place; false if the text is not a UUID. */
const isUuid = (text: string): boolean => {
  if (text.length !== UUID_LENGTH) return false;
  let [word, digits] = [0, 0];
  for (let at = 0; at < UUID_LENGTH; at += 1) {
    const code = text.charCodeAt(at);
    if (isHyphenAt(at)) {
      if (code !== HYPHEN) return false;
      continue;
    }
    const digit = digitOf(code);
    if (digit < 0) return false;
    word = (word << 4) | digit;
    digits += 1;
    if (digits % 8 === 0) sought[digits / 8 - 1] = word;
  }
  return true;
};

const wordsOf = (text: string): Slots => {
  if (!isUuid(text)) {
    const hex = sha256(text);
    for (let at = 0; at < WORDS; at += 1) sought[at] = Number.parseInt(hex.slice(8 * at, 8 * at + 8), 16);
  }
  // A slot of zeros is an empty one.
  if (isAt(sought, 0, EMPTY)) sought[0] = 1;
  return sought;
};

/** Mixes all words, so that members that count up do not stand in one long row (Knuth's multiplicative hash). */
const placeOfKey = (words: Slots): number => {
  let mixed = 0;
  for (let at = 0; at < WORDS; at += 1)
    mixed = Math.imul(mixed ^ (words[at] ?? 0), 0x9e3779b1) ^ (mixed >>> 15);
  return (mixed ^ (mixed >>> 13)) >>> 0;
};

const isAt = (slots: Slots, at: number, words: Slots): boolean =>
  slots[at] === words[0] &&
  slots[at + 1] === words[1] &&
  slots[at + 2] === words[2] &&
  slots[at + 3] === words[3];

/** Index of the slot that has the words, or of the empty one where they belong. */
const slotOf = (slots: Slots, words: Slots): number => {
  const count = slots.length / WORDS;
  for (let slot = placeOfKey(words) % count; ; slot = (slot + 1) % count) {
    const at = slot * WORDS;
    if (isAt(slots, at, EMPTY) || isAt(slots, at, words)) return at;
  }
};

const grown = (slots: Slots): Slots => {
  const larger = new Uint32Array(slots.length * 2);
  for (let at = 0; at < slots.length; at += WORDS) {
    const words = slots.subarray(at, at + WORDS);
    if (!isAt(words, 0, EMPTY)) larger.set(words, slotOf(larger, words));
  }
  return larger;
};

export type CompactSet = ReturnType<typeof compactSet>;

/**
 * A set of texts in 16 bytes each: UUIDs as they are, all else by the first half of its SHA-256. Open
 * addressing, at most two thirds full: a million members take some 32 MB.
 */
export const compactSet = () => {
  let slots: Slots = new Uint32Array(FIRST_SLOTS * WORDS);
  let size = 0;
  return {
    has: (text: string): boolean => size > 0 && !isAt(slots, slotOf(slots, wordsOf(text)), EMPTY),
    /** True when the text was not in it yet. */
    add: (text: string): boolean => {
      if (3 * size * WORDS >= 2 * slots.length) slots = grown(slots);
      const words = wordsOf(text);
      const at = slotOf(slots, words);
      if (!isAt(slots, at, EMPTY)) return false;
      slots.set(words, at);
      size += 1;
      return true;
    },
  };
};

/** The part of a log to read, and how far. */
export interface Reading {
  readonly feed: Pick<EventFeed, 'subscribe'>;
  /** Only events beyond this position; left out: from the first. */
  readonly after?: bigint | undefined;
  /** The last position that is looked at; without it, all that is there. */
  readonly upTo?: bigint | undefined;
  readonly onProgress?: ((events: number, position: bigint) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const PROGRESS_EVERY = 10_000;

/** Every event of the log as it is now, in its order; `after`: only those beyond this position. */
export async function* everything(
  feed: Pick<EventFeed, 'subscribe'>,
  signal?: AbortSignal,
  after?: bigint,
): AsyncGenerator<RecordedEvent> {
  for await (const item of feed.subscribe({ own: true, after, ...(signal && { signal }) })) {
    if (item.kind === 'caught_up') return;
    if (item.kind === 'event') yield item.event;
  }
}

/** How much was read. */
interface Read {
  readonly events: number;
  readonly position: string | null;
}

/** Shows every event to `look`, in the order of the log. */
export const readThrough = async (
  { feed, after, upTo, onProgress, signal }: Reading,
  look: (recorded: RecordedEvent) => void,
): Promise<Read> => {
  let events = 0;
  let position: bigint | undefined;
  for await (const recorded of everything(feed, signal, after)) {
    if (upTo !== undefined && recorded.position > upTo) break;
    events += 1;
    ({ position } = recorded);
    look(recorded);
    if (events % PROGRESS_EVERY === 0) onProgress?.(events, recorded.position);
  }
  signal?.throwIfAborted();
  return { events, position: position?.toString() ?? null };
};

type Stored = RecordedEvent & Required<Pick<RecordedEvent, 'stored'>>;

/**
 * What the hash of an event is over, where the file has it word for word: then both texts are as the log writes
 * them. undefined: it has to be made of what the texts say. `isPlain`: its data is as `isPlainData` says.
 */
export const textInFile = (event: RecordedEvent, isPlain: boolean): string | undefined => {
  if (event.stored?.covered === undefined) return undefined;
  const { data, covered: metadata } = event.stored;
  return isPlain || storableJson(event.data) === data ? joinedText(event, { data, metadata }) : undefined;
};

/** The log writes a value in one form: no spaces, no member twice, one way to write each number. */
const isAsWritten = (text: string, value: unknown): boolean => JSON.stringify(value) === text;

const checkText = (findings: Findings, event: Stored, column: 'data' | 'metadata'): void => {
  if (isAsWritten(event.stored[column], event[column])) return;
  wrong(findings, 'stored', { ...placeOf(event), column })(
    `The ${column} of ${event.stream} revision ${event.revision} is not as the log writes it: ` +
      'extra white space, a duplicate member, or a value in another notation.',
  );
};

const checkCategory = (findings: Findings, event: Stored): void => {
  const [expected, found] = [categoryOf(event.stream), event.stored.category];
  if (found === expected) return;
  wrong(findings, 'stored', { ...placeOf(event), column: 'category' })(
    `${event.stream} revision ${event.revision} has another category than its stream: ` +
      'readers of that category skip it.',
    expected,
    found,
  );
};

const checkColumns = (findings: Findings, event: Stored, isInForm: boolean): void => {
  findings.checked('stored');
  if (!isInForm) {
    checkText(findings, event, 'data');
    checkText(findings, event, 'metadata');
  }
  checkCategory(findings, event);
};

const isStored = (event: RecordedEvent): event is Stored => event.stored !== undefined;

/**
 * Checks how events lie in the log's own file: the bytes, the columns that repeat what the stream says, and
 * the digest over the whole log, which has begun with the first event that this release wrote.
 */
export const storedCheck = (findings: Findings, digestAfter: typeof logDigestAfter) => {
  let digest: string | null = null;
  let [byVersion2, toldBack] = [false, false];
  const checkDigest = (event: Stored): void => {
    const { log_digest: found } = event.stored;
    const isDue = digest !== null || hashVersionOf(event) === HASH_VERSION;
    const carried = event.metadata['hash'];
    const hash = typeof carried === 'string' ? carried : '';
    const expected = digestAfter(digest ?? LOG_DIGEST_START, event.position, hash);
    if (isDue && found !== expected)
      wrong(findings, 'stored', { ...placeOf(event), column: 'log_digest' })(
        `At position ${event.position} the digest over the log does not match: ` +
          'this event or an earlier one was changed, moved, inserted or removed.',
        expected.slice(0, 16),
        (found ?? 'none').slice(0, 16),
      );
    // Go on from the stored digest, so that one change is one finding.
    digest = found ?? (isDue ? expected : null);
  };
  /** One process writes this log: a release that hashes by version 1 never follows one that does by 2. */
  const checkVersion = (event: Stored): void => {
    const isVersion2 = hashVersionOf(event) === HASH_VERSION;
    if (byVersion2 && !isVersion2 && !toldBack) {
      toldBack = true;
      wrong(
        findings,
        'stored',
        event,
      )(
        `Position ${event.position} has hash version 1 after events of version ${HASH_VERSION}: ` +
          'it was not written by this service.',
      );
    }
    byVersion2 ||= isVersion2;
  };
  const checkForm = (event: Stored, isInForm: boolean): void => {
    checkColumns(findings, event, isInForm);
    checkVersion(event);
  };
  return {
    /** `isInForm`: both texts are known to be as the log writes them. */
    see: (event: RecordedEvent, isInForm: boolean): void => {
      if (!isStored(event)) return;
      checkForm(event, isInForm);
      checkDigest(event);
    },
    /** The same in a stream that is read by itself: the digest is compared with the one before it in the file. */
    seeApart: (event: RecordedEvent, isInForm: boolean): void => {
      if (!isStored(event)) return;
      checkForm(event, isInForm);
      const { digest_before: before } = event.stored;
      if (before === undefined || before === null) return;
      digest = before;
      checkDigest(event);
    },
    /** Takes the digest of the event before from the file, where that is not the one seen before. */
    goOnFrom: (before: string | null): void => {
      digest = before;
    },
    /** Goes on after an event that is no JSON any more. */
    skip: ({ stored }: RecordedEvent): void => {
      if (stored !== undefined) digest = stored.log_digest;
    },
  };
};

/** The last event of a stream, by the hash that its content has. */
export interface StreamHead {
  readonly revision: bigint;
  readonly hash: string;
}

/** Of an event that cannot be read: the next one may name any hash. */
const UNKNOWN = Symbol('unknown');

interface Link {
  readonly revision: bigint;
  /** The hash that the event carries: what the next one must name. */
  readonly carried: unknown;
  /** The hash that its content has. */
  readonly hash: string;
  /** undefined for one that this program does not know. */
  readonly hashVersion: number | undefined;
  /** The latest time of recording in the stream until here, ms; NaN where none says. */
  readonly latestMs: number;
}

const short = (hash: unknown): string => (typeof hash === 'string' ? hash.slice(0, 16) : String(hash));

const checkPlace = (findings: Findings, event: RecordedEvent, before: Link | undefined): void => {
  const { revision, metadata, stream } = event;
  const say = wrong(findings, 'chain', event);
  const next = before === undefined ? 0n : before.revision + 1n;
  const [due, named] = [before?.carried ?? null, metadata['prev_hash'] ?? null];
  if (revision !== next)
    say(
      `${stream} continues with revision ${revision} where ${next} belongs: events were removed or duplicated.`,
      next,
      revision,
    );
  else if (due !== UNKNOWN && named !== due)
    say(
      `${stream} revision ${revision} does not name the event before it: ` +
        'one of the two was changed, moved or inserted.',
      short(due),
      short(named),
    );
};

/** Compares an event's description of itself with its content. */
const checkHash = (findings: Findings, event: RecordedEvent, hash: string): void => {
  const flaw = flawOfHash(event, hash);
  if (flaw === undefined) return;
  const { revision, stream, metadata, id } = event;
  const say = wrong(findings, 'chain', event);
  const at = `${stream} revision ${revision}`;
  if (flaw.reason === 'hash')
    say(
      `${at} does not have the hash that it carries: it was changed after it was written.`,
      short(metadata['hash']),
      short(hash),
    );
  else if (flaw.reason === 'id')
    say(
      `${at} has another event ID than its hash says: the ID was changed after it was written.`,
      eventIdOfHash(hash),
      id,
    );
  else
    say(
      `${at} has hash version ${JSON.stringify(metadata['hash_version'])}, which this program does not know.`,
    );
};

/** An event, and the text under its hash, if known. */
interface Followed {
  readonly event: RecordedEvent;
  readonly text: string | undefined;
}

/** One finding for one wrong, however much hangs on it: the chain goes on from what the event carries. */
const checkLink = (
  findings: Findings,
  { event, text }: Followed,
  before: Link | undefined,
): Omit<Link, 'latestMs'> => {
  findings.checked('chain');
  const { revision, metadata, stream } = event;
  checkPlace(findings, event, before);
  const carried = metadata['hash'];
  const hash = text === undefined ? chainHash(event) : sha256(text);
  const hashVersion = hashVersionOf(event);
  checkHash(findings, event, hash);
  if (hashVersion !== undefined && hashVersion < (before?.hashVersion ?? 1))
    wrong(findings, 'chain', event)(
      `${stream} revision ${revision} goes back to hash version ${hashVersion}: it was not written by this service.`,
      before?.hashVersion,
      hashVersion,
    );
  // One text for both while they agree, and not a part of the metadata's text: there are many streams.
  return { revision, carried: carried === hash ? hash : carried, hash, hashVersion };
};

type Identified = Place & Pick<RecordedEvent, 'id'>;

interface StreamsOptions {
  /** Positions have no gaps. */
  readonly dense: boolean;
  /** Positions have no gaps after this one only, because of what lies before only some streams are read. */
  readonly after?: bigint | undefined;
  /** `by_hash`: every event is of a version whose ID follows from its hash, so that no other event can have it. */
  readonly ids: 'all' | 'by_hash';
}

/** Positions rise; those of an embedded log are dense, so a missing one is a removed event. */
const orderCheck = (findings: Findings, { dense, after = 0n, ids: compared }: StreamsOptions) => {
  const ids = compactSet();
  let last: bigint | undefined;
  return (event: Identified): void => {
    findings.checked('order');
    const { position, id } = event;
    const say = wrong(findings, 'order', event);
    const due = (last === undefined || last < after ? after : last) + 1n;
    if (last !== undefined && position <= last)
      say(`Position ${position} comes after ${last}: the log is out of order.`);
    else if (dense && position > after && position !== due)
      say(`Before position ${position} events are missing: ${due} should come next.`, due, position);
    if (compared === 'all' && !ids.add(id.toLowerCase()))
      say(`The event ID ${id} occurs twice.`, undefined, id);
    last = position;
  };
};

/** Checks order, revisions and hash chains of all streams at once. */
export const streamsCheck = (findings: Findings, options: StreamsOptions) => {
  const links = new Map<string, Link>();
  const inOrder = orderCheck(findings, options);
  const clock = logClock();
  const backwards = backwardsCheck(findings, clock);
  return {
    /** Gives the hash that the event's content has. `text`: what it is over, where that is known. */
    follow: (event: RecordedEvent, text?: string): string => {
      inOrder(event);
      const before = links.get(event.stream);
      const link = checkLink(findings, { event, text }, before);
      findings.checked('time');
      const at = recordedAt(event);
      const [ms, latest] = [Date.parse(at), before?.latestMs ?? NaN];
      clock.see(event, ms);
      backwards.tell();
      if (ms < latest - BACKWARDS_MAX_MS) backwards.add(event, latest, at);
      // Members one by one: a spread costs more, once an event.
      const { revision, carried, hash, hashVersion } = link;
      const latestMs = ms > latest || Number.isNaN(latest) ? ms : latest;
      links.set(event.stream, { revision, carried, hash, hashVersion, latestMs });
      return hash;
    },
    /** Goes on after an event that is no JSON any more. */
    skip: (event: Identified): void => {
      inOrder(event);
      const latestMs = links.get(event.stream)?.latestMs ?? NaN;
      const unknown = { carried: UNKNOWN, hash: '', hashVersion: undefined, latestMs };
      links.set(event.stream, { revision: event.revision, ...unknown });
      wrong(
        findings,
        'chain',
        event,
      )(`${event.stream} revision ${event.revision} is no longer JSON: it was changed after it was written.`);
    },
    /** Looks at what could not be told before the end. */
    finish: backwards.finish,
    heads: (): IterableIterator<readonly [string, StreamHead]> => links.entries(),
    count: () => links.size,
  };
};
