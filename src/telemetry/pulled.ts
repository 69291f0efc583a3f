export interface PullOptions {
  /** How old figures may be before they are read anew, ms. */
  readonly everyMs?: number;
  /** How long a page of metrics waits for them, ms; what comes later is for the next page. */
  readonly patienceMs?: number;
  readonly nowMs?: () => number;
}

const PULL_EVERY_MS = 15_000;
const PATIENCE_MS = 2_000;

interface Reading<Figures> {
  readonly figures: Figures | undefined;
  readonly at: number;
}

const waitFor = async (work: Promise<unknown>, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
};

/**
 * Reads figures when a page of metrics asks for them: at most every `everyMs`, never twice at once.
 * Gives undefined when they cannot be had now, so that a gauge vanishes instead of failing the page.
 */
export const pulled = <Figures>(
  read: () => Promise<Figures>,
  { everyMs = PULL_EVERY_MS, patienceMs = PATIENCE_MS, nowMs = () => performance.now() }: PullOptions = {},
): (() => Promise<Figures | undefined>) => {
  let last: Reading<Figures> | undefined;
  let reading: Promise<void> | undefined;
  const readOnce = async () => {
    const figures = await read().catch(() => undefined);
    last = { figures, at: nowMs() };
  };
  return async () => {
    if (last === undefined || nowMs() - last.at >= everyMs) {
      reading ??= readOnce().finally(() => (reading = undefined));
      await waitFor(reading, patienceMs);
    }
    const isStale = last === undefined || nowMs() - last.at >= everyMs;
    return isStale ? undefined : last?.figures;
  };
};
