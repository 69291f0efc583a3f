/** So many failures in a row, and a receiver is left alone for a while. */
const FAILURES_MAX = 5;
const FIRST_MS = 5_000;
const LONGEST_MS = 5 * 60_000;

/** Receivers that fail again and again rest, so that a dead one costs few attempts however much waits for it. */
export interface Resting {
  readonly failed: (webhookId: string) => void;
  readonly delivered: (webhookId: string) => void;
  readonly isResting: (webhookId: string) => boolean;
  readonly all: () => readonly string[];
}

export const resting = (nowMs: () => number): Resting => {
  const receivers = new Map<string, { readonly failures: number; readonly until: number }>();
  const isResting = (webhookId: string): boolean => (receivers.get(webhookId)?.until ?? 0) > nowMs();
  return {
    isResting,
    failed: (webhookId) => {
      const failures = (receivers.get(webhookId)?.failures ?? 0) + 1;
      const beyond = failures - FAILURES_MAX;
      const pauseMs = beyond < 0 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(beyond, 10));
      receivers.set(webhookId, { failures, until: nowMs() + pauseMs });
    },
    delivered: (webhookId) => void receivers.delete(webhookId),
    all: () => [...receivers.keys()].filter(isResting),
  };
};
