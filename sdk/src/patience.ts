/** How long a call goes on trying. */
export interface Patience {
  /** How often a request is sent at most. */
  readonly attempts: number;
  /** The first pause where the service names none; each further one is twice as long. */
  readonly firstPauseMs: number;
  /** A service that asks for a longer pause than this is not waited for. */
  readonly longestPauseMs: number;
}

export const PATIENCE: Patience = { attempts: 5, firstPauseMs: 500, longestPauseMs: 60_000 };

/** One request that may be sent several times. */
export interface Attempt {
  readonly send: () => Promise<Response>;
  /** Doing it twice is the same as doing it once: it changes nothing, or bears an `Idempotency-Key`. */
  readonly isRepeatable: boolean;
  readonly signal?: AbortSignal | undefined;
}

const SECOND_MS = 1_000;

/** Milliseconds that an answer asks to wait: `Retry-After` in seconds or as a date. */
const askedPauseMs = ({ headers }: Response): number | undefined => {
  const asked = headers.get('retry-after');
  if (asked === null) return undefined;
  const ms = /^\d+$/.test(asked) ? Number(asked) * SECOND_MS : Date.parse(asked) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
};

/** From here on pauses grow no longer: 4 seconds. */
const PAUSES_MAX = 4;

/** Twice as long each time, and never the same for two callers that failed together. */
const ownPauseMs = ({ firstPauseMs, longestPauseMs }: Patience, attempt: number): number =>
  Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);

/** What a proxy answers while the service behind it is away. */
const AWAY: readonly number[] = [502, 503, 504];

const isOfProxy = ({ status, headers }: Response): boolean =>
  AWAY.includes(status) && headers.get('content-type')?.includes('problem+json') !== true;

/** The first request still runs, whose answer was lost on its way. */
const stillRuns = async (response: Response): Promise<boolean> =>
  response.status === 409 && (await response.clone().text()).includes('"request_in_progress"');

/**
 * Milliseconds until a request may be sent again; undefined where its answer stands. An answer with `Retry-After`
 * is a refusal of work that was not begun: any request may follow it.
 */
const pauseAfter = (response: Response, { isRepeatable }: Attempt, own: number): number | undefined => {
  if (response.ok) return undefined;
  return askedPauseMs(response) ?? (isRepeatable && isOfProxy(response) ? own : undefined);
};

/** Ends after the time, or at once with the signal's reason. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end, { once: true });
  });

const FIRST_LOOK_MS = 250;
const LONGEST_LOOK_MS = 5_000;

/** Looks until something has ended: at once, then from four times a second to once in 5 seconds. */
export const lookUntil = async <State>(
  look: () => Promise<State>,
  hasEnded: (state: State) => boolean,
  signal?: AbortSignal,
): Promise<State> => {
  for (let ms = FIRST_LOOK_MS; ; ms = Math.min(LONGEST_LOOK_MS, ms * 1.5)) {
    const state = await look();
    if (hasEnded(state)) return state;
    await pause(ms, signal);
  }
};

interface Outcome {
  /** Gives the answer, or throws why there was none. */
  readonly settle: () => Response;
  /** undefined: it stands. */
  readonly waitMs: number | undefined;
  readonly isRunning: boolean;
}

const sendOnce = async (attempt: Attempt, own: number): Promise<Outcome> => {
  let response: Response;
  try {
    response = await attempt.send();
  } catch (error) {
    const settle = (): never => {
      throw error;
    };
    const isFinal = !attempt.isRepeatable || attempt.signal?.aborted === true;
    return { settle, waitMs: isFinal ? undefined : own, isRunning: false };
  }
  const isRunning = attempt.isRepeatable && (await stillRuns(response));
  const waitMs = isRunning ? own : pauseAfter(response, attempt, own);
  return { settle: () => response, waitMs, isRunning };
};

/** A request that still runs is asked after for about ten minutes: longer than any document may take. */
const SENT_MAX = 300;

/** Sends a request until it has an answer that a repeat would not better, or patience is at its end. */
export const sendPatiently = async (attempt: Attempt, patience: Patience): Promise<Response> => {
  let failures = 0;
  for (let sent = 1; ; sent += 1) {
    const own = ownPauseMs(patience, Math.min(sent, PAUSES_MAX));
    const { settle, waitMs, isRunning } = await sendOnce(attempt, own);
    if (!isRunning) failures += 1;
    const isLast = failures >= patience.attempts || sent >= SENT_MAX;
    if (isLast || waitMs === undefined || waitMs > patience.longestPauseMs) return settle();
    await pause(waitMs, attempt.signal);
  }
};
