import { OperatorError } from '../../operator/socket.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../doctor/doctor.ts';

/** A server that the configuration names and that a start cannot do without. */
interface NeededServer {
  /** What it is and where: never an address with a password. */
  readonly name: string;
  /** The variable that names it. */
  readonly variable: string;
}

/** How long a start waits for its servers, and who is told of it. */
export interface StartWait {
  readonly waitMs: number;
  /** Told once of each server that does not answer at once. */
  readonly onWait: (server: NeededServer, reason: string) => void;
  /** Ends the wait, which then throws. */
  readonly told: AbortSignal;
}

/** A server did not answer in the time that a start has. */
export class ServerAway extends OperatorError {
  constructor({ name, variable }: NeededServer, waitMs: number, reason: string) {
    super(
      `${name} did not answer within ${String(waitMs / 1000)} s (${reason}): look whether it ` +
        `runs, and whether ${variable} is right.`,
    );
  }
}

const FIRST_PAUSE_MS = 250;
const PAUSE_MAX_MS = 5_000;

const late = Symbol('late');

/** Asks until the server answers, more and more seldom. Throws ServerAway when the time is over. */
export const answerOf = async <T>(
  server: NeededServer,
  ask: () => Promise<T>,
  { waitMs, onWait, told }: StartWait,
): Promise<T> => {
  const until = performance.now() + waitMs;
  const left = () => Math.max(0, until - performance.now());
  let reason = 'no answer';
  for (let attempt = 0; ; attempt += 1) {
    const over = new AbortController();
    try {
      const timeUp = pause(left(), late, { signal: AbortSignal.any([over.signal, told]) }).catch(() => late);
      const answer = await Promise.race([ask(), timeUp]);
      if (answer !== late) return answer as T;
    } catch (error) {
      reason = reasonOf(error);
    } finally {
      over.abort();
    }
    told.throwIfAborted();
    if (left() === 0) throw new ServerAway(server, waitMs, reason);
    if (attempt === 0) onWait(server, reason);
    await pause(Math.min(left(), PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** attempt), undefined, { signal: told });
  }
};
