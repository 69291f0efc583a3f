import { setTimeout } from 'node:timers/promises';
import type { Metadata } from '@grpc/grpc-js';

// Of a cluster, the leader alone is asked: a follower may be seconds behind. A node that is not the leader refuses
// and names the one that is. The client goes there, but only after it has told of the refusal.

/** What an error of the client, or one of gRPC, may have. */
interface Refusal {
  readonly type?: unknown;
  readonly metadata?: Metadata;
}

/** A subscription was ended because its node was found not to be the leader. */
export class LeaderElsewhere extends Error {
  override readonly name = 'LeaderElsewhere';
  constructor() {
    super('another node is the leader');
  }
}

/** Whether a node refused because another one is the leader, or because there is none at the moment. */
export const isNotLeader = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if (error instanceof LeaderElsewhere) return true;
  const { type, metadata } = error as Refusal;
  const isOther = type === 'not-leader' || metadata?.get('exception')[0] === 'not-leader';
  // eslint-disable-next-line house/no-telling-errors-by-text -- the server gives nothing else: a read is begun again
  return isOther || error.message.includes('No leader info available');
};

/** An election takes no longer than this, ms; then a former leader knows, too, that it is none any more. */
export const ELECTION_MS = 5_000;
const [FIRST_MS, MOST_MS] = [20, 500];

/** Pauses between tries, each twice as long as the one before. Gives false once the time is over. */
export const patience = (forMs: number): (() => Promise<boolean>) => {
  const until = performance.now() + forMs;
  let ms = FIRST_MS;
  return async () => {
    if (performance.now() >= until) return false;
    await setTimeout(ms);
    ms = Math.min(ms * 2, MOST_MS);
    return true;
  };
};

/** Asks again while a node refuses because it is not the leader. */
export const fromLeader = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
  const pause = patience(ELECTION_MS);
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if (!isNotLeader(error) || !(await pause())) throw error;
    }
};
