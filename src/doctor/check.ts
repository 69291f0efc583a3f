/** How a thing stands. A warning keeps nothing from working today; a problem does. */
export type Level = 'ok' | 'warning' | 'problem';

export interface Verdict {
  readonly level: Level;
  /** What is so, and where it is not well, what to do about it. */
  readonly text: string;
}

export interface Check {
  readonly name: string;
  /** Longer than this it may not take; undefined: as long as it needs. */
  readonly limitMs: number | undefined;
  /** A check that throws has found a problem; what it opened, it closes when `signal` aborts. */
  readonly look: (signal: AbortSignal) => Promise<Verdict> | Verdict;
}

export interface Finding extends Verdict {
  readonly check: string;
}

export const ok = (text: string): Verdict => ({ level: 'ok', text });
export const warning = (text: string): Verdict => ({ level: 'warning', text });
export const problem = (text: string): Verdict => ({ level: 'problem', text });

/**
 * Of several errors in one, as of a host with many addresses, what each says; of a fetch, which fails by a
 * TypeError, its cause.
 */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(reasonOf))].join('; ');
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const own = error.message === '' ? error.name : error.message;
  return error instanceof TypeError && cause instanceof Error ? reasonOf(cause) : own;
};

/** Texts come from drivers and servers: one line each, whatever they hold. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const lookWithin = async ({ look, limitMs }: Check, asked: AbortSignal): Promise<Verdict> => {
  if (limitMs === undefined) return look(asked);
  const ended = new AbortController();
  const signal = AbortSignal.any([asked, ended.signal]);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(() => {
      const text =
        `It did not answer within ${String(limitMs / 1000)} s: check that it runs, and that no ` +
        'firewall drops the connection.';
      resolve(problem(text));
    }, limitMs);
  });
  try {
    return await Promise.race([late, look(signal)]);
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
};

const made = async (check: Check, signal: AbortSignal): Promise<Finding> => {
  try {
    const { level, text } = await lookWithin(check, signal);
    return { check: check.name, level, text: oneLine(text) };
  } catch (error) {
    return { check: check.name, level: 'problem', text: oneLine(reasonOf(error)) };
  }
};

/** Makes all checks at once; findings come in the order of the checks. */
export const runChecks = (checks: readonly Check[], signal: AbortSignal): Promise<readonly Finding[]> =>
  Promise.all(checks.map((check) => made(check, signal)));
