/** Work that is done now and then, and on demand. */
export interface Sweeper<Report> {
  /** One sweep; two at a time are one. */
  sweep(): Promise<Report>;
  /** Sweeps now, and every so often from then on. */
  start(): void;
  /** Ends it, and waits for a sweep under way. */
  stop(): Promise<void>;
}

/** A failed sweep is reported, and the next one tries again. */
export const sweeperOf = <Report>(
  sweepOnce: () => Promise<Report>,
  {
    everyMs,
    onError,
  }: { readonly everyMs: number; readonly onError?: ((error: unknown) => void) | undefined },
): Sweeper<Report> => {
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<Report> | undefined;
  const sweep = () => {
    sweeping ??= sweepOnce().finally(() => (sweeping = undefined));
    return sweeping;
  };
  const quietly = () => void sweep().catch((error: unknown) => onError?.(error));
  return {
    sweep,
    start: () => {
      if (timer !== undefined) return;
      timer = setInterval(quietly, everyMs);
      quietly();
    },
    stop: async () => {
      clearInterval(timer);
      timer = undefined;
      await sweeping?.catch(() => undefined);
    },
  };
};
