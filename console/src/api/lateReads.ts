import type { QueryClient, QueryKey } from '@tanstack/react-query';

/** Reads, by their signals, whose answer misses something that the service has written already. */
const late = new WeakSet<AbortSignal>();
/** The service itself waited a second before it answered. */
const AGAIN_MS = 1_000;

/** Notes, of an answer, that it misses something: the service says so in a header. */
export const noteLate = (response: Response, signal: AbortSignal | null | undefined): void => {
  if (signal instanceof AbortSignal && response.headers.has('x-projection-lag')) late.add(signal);
};

interface Read {
  readonly client: QueryClient;
  readonly queryKey: QueryKey;
  readonly signal: AbortSignal;
}

/** Reads again soon what was answered too early, so that what was just done does not stay unseen. */
export const readAgainIfLate = ({ client, queryKey, signal }: Read): void => {
  if (!late.has(signal)) return;
  setTimeout(() => void client.invalidateQueries({ queryKey, exact: true }), AGAIN_MS);
};
