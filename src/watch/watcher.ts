import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ExtractRequest,
  isProblem,
  NoResultError,
  type Operation,
  ProblemError,
  Quire,
} from '../../sdk/src/index.ts';
import { OperatorError, type WatchConfig } from '../clientConfig.ts';
import { type Arrival, type Place, placeAt, type Results, type Source } from './places.ts';

/** What is asked of each document. */
export type Asked = Omit<ExtractRequest, 'file'>;

export interface WatchDeps {
  readonly quire: Quire;
  readonly source: Source;
  /** Where results go. */
  readonly results: Place;
  readonly asked: Asked;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
  /** Attempts of a document that ended without fault of its own, by its first key. */
  readonly attempts: Map<string, { readonly failed: number; readonly againMs: number }>;
  /** The time, ms. */
  readonly now: () => number;
}

const RESULT = '.json';
/** A file that was written to so lately may not be whole yet, ms. */
const SETTLE_MS = 2_000;
/** Documents that are worked on at once. */
const AT_ONCE = 4;

/** Files of a place: each has its result under its own name and `.json`, here or where results go. */
export const placeSource = (place: Place): Source => ({
  shown: place.shown,
  arrivals: async () => {
    const settled = Date.now() - SETTLE_MS;
    return (await place.list()).flatMap(({ name, modifiedMs }) => {
      if (name.endsWith(RESULT) || modifiedMs > settled) return [];
      const file_name = name.slice(name.lastIndexOf('/') + 1);
      const read = () => place.read(name);
      const isReplaced = async () => ![modifiedMs, undefined].includes(await place.modified(name));
      return [{ id: name, file_name, result: `${name}${RESULT}`, modifiedMs, read, isReplaced }];
    });
  },
});

const digest = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
};

/** Problems of the document itself: it has no other result however often it is sent. */
const OF_FILE = [
  'empty_file',
  'unsupported_file_type',
  'unreadable_file',
  'too_many_pages',
  'file_too_large',
  'output_schema_mismatch',
  'erased',
] as const;

/** Problems that go away: the document is sent again in the next round. */
const FOR_NOW = [
  'busy',
  'rate_limited',
  'insufficient_credits',
  'budget_reached',
  'request_in_progress',
  'shutting_down',
  'not_ready',
  'storage_error',
  'upload_quota_exceeded',
] as const;

/** Ends of an operation that say nothing of the document: it is done anew, so often, before they are its result. */
const PASSING: readonly string[] = [
  'busy',
  'provider_timeout',
  'model_provider_error',
  'storage_error',
  'internal_error',
];
const ATTEMPTS_MAX = 8;
/** From the first such end to the next attempt, ms; twice as long after each: two hours in all. */
const AGAIN_MS = 60_000;

/** The file of a result. */
const textOf = (arrival: Arrival, source_sha256: string, rest: object): string =>
  `${JSON.stringify({ file: arrival.id, source_sha256, ...rest }, null, 2)}\n`;

type Ended = Pick<Operation, 'status' | 'result' | 'error' | 'cost'> & {
  readonly operation_id: string | null;
};

const endOf = async ({ quire, asked, signal }: WatchDeps, file: File, key: string): Promise<Ended> => {
  try {
    const begun = await quire.extractLater({ ...asked, file }, { idempotencyKey: key, signal });
    const { operation_id, status, result, error, cost } = await quire.operations.wait(begun, { signal });
    return { operation_id, status, result, error, cost };
  } catch (error) {
    if (!isProblem(error, ...OF_FILE)) throw error;
    const problem = error.problem as unknown as Ended['error'];
    return { operation_id: null, status: 'failed', result: null, error: problem, cost: null };
  }
};

interface Attempt {
  /** Its key. */
  readonly key: string;
  /** Whether the time for it has come. */
  readonly isDue: boolean;
  /** Whether another may follow, and that it does. */
  readonly fails: () => boolean;
}

/** An operation that ended without fault of the document's is found under its key for ever: the next has another. */
const attemptAt = ({ attempts, now }: WatchDeps, first: string): Attempt => {
  const { failed, againMs } = attempts.get(first) ?? { failed: 0, againMs: 0 };
  const fails = (): boolean => {
    attempts.set(first, { failed: failed + 1, againMs: now() + AGAIN_MS * 2 ** failed });
    return failed + 1 < ATTEMPTS_MAX;
  };
  return { key: failed === 0 ? first : digest(first, String(failed)), isDue: now() >= againMs, fails };
};

const isPassing = ({ error }: Ended): boolean => PASSING.includes(error?.code ?? '');

/**
 * One document, from its bytes to the file of its result; false: not yet. The key follows from what lies there: the
 * document's name, its content and what is asked; so whoever begins anew after a kill asks for the same work, and pays
 * once.
 */
const deliver = async (deps: WatchDeps, arrival: Arrival): Promise<boolean> => {
  const bytes = await arrival.read();
  if (bytes === undefined) return true;
  const content = createHash('sha256').update(bytes).digest('hex');
  const first = digest('quire watch', deps.source.shown, arrival.id, content, JSON.stringify(deps.asked));
  const attempt = attemptAt(deps, first);
  if (!attempt.isDue) return false;
  const ended = await endOf(deps, new File([new Uint8Array(bytes)], arrival.file_name), attempt.key);
  if (isPassing(ended) && attempt.fails()) {
    deps.note(`${arrival.id}: not yet (${ended.error?.['detail'] ?? ended.status})\n`);
    return false;
  }
  if (await arrival.isReplaced()) return false;
  await deps.results.write(arrival.result, textOf(arrival, content, ended));
  deps.note(`${arrival.id}: ${ended.status}\n`);
  return true;
};

/** false: it is tried again in the next round. */
const tried = async (deps: WatchDeps, arrival: Arrival): Promise<boolean> => {
  try {
    return await deliver(deps, arrival);
  } catch (error) {
    if (deps.signal.aborted) return false;
    const isForNow: boolean = isProblem(error, ...FOR_NOW);
    if (error instanceof ProblemError && !isForNow && error.problem.status < 500)
      throw new OperatorError(`${arrival.id}: ${error.message}`);
    if (!(error instanceof Error) || error instanceof NoResultError) throw error;
    deps.note(`${arrival.id}: not yet (${error.message})\n`);
    return false;
  }
};

const isNew = (results: Results, { result, modifiedMs }: Arrival): boolean =>
  (results.get(result)?.modifiedMs ?? -Infinity) < modifiedMs;

const listed = async (place: Place): Promise<Results> =>
  new Map((await place.list()).map((entry) => [entry.name, entry]));

/** Everything that lies there now; the number of documents that are still to be done. */
export const watchRound = async (deps: WatchDeps): Promise<number> => {
  const results = await listed(deps.results);
  const waiting = (await deps.source.arrivals(results)).filter((arrival) => isNew(results, arrival));
  let left = waiting.length;
  const next = waiting.values();
  const work = async (): Promise<void> => {
    for (const arrival of next) {
      if (deps.signal.aborted) return;
      if (await tried(deps, arrival)) left -= 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (deps.source.clear !== undefined && !deps.signal.aborted)
    await deps.source.clear(await listed(deps.results));
  return left;
};

export interface WatchPlaces {
  readonly source: string;
  /** undefined: results lie beside their documents. */
  readonly out: string | undefined;
  /** Of a mailbox: where messages go that are done, and the day from which on they count. */
  readonly moveTo?: string | undefined;
  readonly since?: string | undefined;
  /** What lies there is done, and then the command ends. */
  readonly once: boolean;
  readonly everyMs: number;
}

interface Run {
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/** A round that cannot look at what is there is made again: a network has its days. */
const madeRound = async (deps: WatchDeps, once: boolean): Promise<number> => {
  try {
    return await watchRound(deps);
  } catch (error) {
    if (once || error instanceof OperatorError || !(error instanceof Error)) throw error;
    deps.note(`Not yet: ${error.message}\n`);
    return Infinity;
  }
};

/** The longest pause between rounds that could not be made, ms. */
const AWAY_MS_MAX = 300_000;

const rounds = async (deps: WatchDeps, { once, everyMs }: WatchPlaces): Promise<void> => {
  let failed = 0;
  while (!deps.signal.aborted) {
    const left = await madeRound(deps, once);
    if (once && left === 0) return;
    failed = left === Infinity ? failed + 1 : 0;
    const pauseMs = Math.max(everyMs, Math.min(everyMs * 2 ** failed, AWAY_MS_MAX));
    await pause(pauseMs, undefined, { signal: deps.signal }).catch(() => undefined);
  }
};

const MAILBOX = /^imaps?:/i;

/** Where documents arrive, and where their results go. */
const opened = async (config: WatchConfig, { source, out, moveTo, since }: WatchPlaces) => {
  if (MAILBOX.test(source)) {
    if (out === undefined)
      throw new OperatorError('Name a folder or bucket by --out: a mailbox keeps no results.', 2);
    const { mailboxSource } = await import('./mailbox.ts');
    const { imapPassword: password } = config;
    return {
      source: mailboxSource(source, { password, moveTo, since }),
      results: await placeAt(out, config),
    };
  }
  if (moveTo !== undefined || since !== undefined)
    throw new OperatorError('--move-to and --since are options of mailboxes.', 2);
  const arriving = await placeAt(source, config);
  return {
    source: placeSource(arriving),
    results: out === undefined ? arriving : await placeAt(out, config),
  };
};

/** Sends what arrives to a service, and puts its results where they are wanted, until it is stopped. */
export const runWatch = async (
  config: WatchConfig,
  { places, asked }: { readonly places: WatchPlaces; readonly asked: Asked },
  { signal, note }: Run,
): Promise<void> => {
  const { url, key, tenant } = config;
  if (key === undefined)
    throw new OperatorError('Set QUIRE_API_KEY to the key that documents are sent with.', 2);
  const quire = new Quire({ url, key, ...(tenant !== undefined && { tenant }) });
  const { source, results } = await opened(config, places);
  const close = (): void => source.close?.();
  signal.addEventListener('abort', close, { once: true });
  note(`Watching ${source.shown} for the service at ${url}; results go to ${results.shown}.\n`);
  try {
    await rounds({ quire, source, results, asked, signal, note, attempts: new Map(), now: Date.now }, places);
  } finally {
    close();
  }
};
