import type { Clock, SnapshotStore } from '../../domain/ports/log.ts';
import type {
  ObjectStore,
  RateLimiter,
  ReplayStore,
  SecretBox,
  WebhookTransport,
} from '../../domain/ports/services.ts';
import type { Retention } from '../../domain/retention.ts';
import type { ProjectedEvent, SqlLock, SqlRow } from '../../projections/engine/ports.ts';
import type { Lists } from './lists.ts';
import type { SimLog } from './ports.ts';

/** What is in a file that a caller sends. */
export interface FileFacts {
  readonly pages: number;
  readonly tag: string;
  /** It is a stack to be split: how many pages each of its documents has. */
  readonly parts?: readonly number[];
  /** Work on it fails, or takes its process with it. */
  readonly ends?: 'badly' | 'deadly';
}

/** What one process of the service stands on. It knows nothing of the simulation but this. */
export interface ProcessEnv {
  readonly name: string;
  readonly log: SimLog;
  readonly objects: ObjectStore;
  /** Of accounts, taken every few events; undefined: there are none. */
  readonly snapshots: SnapshotStore | undefined;
  readonly replays: ReplayStore;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  /** How long the installation keeps things. */
  readonly keeps: Retention;
  /** Calls that it works on at once; undefined: as many as there are. */
  readonly places: number | undefined;
  /** Most entries that a list gives, whatever is asked for: few entries show what many would. */
  readonly page: number;
  /** Asks the read models. */
  readonly ask: <T>(question: string, answer: (lists: Lists) => T) => Promise<T>;
  /** The same, from the events that they have by now. */
  readonly askLog: <T>(question: string, answer: (events: readonly ProjectedEvent[]) => T) => Promise<T>;
  /** Shared by all processes, while its store is there. */
  readonly limiter: RateLimiter;
  /** Told of each caller that was let in, and when it came (virtual ms). */
  readonly entered: (keyId: string, askedAt: number) => void;
  /** The row of the registry that says where the read models stand. */
  readonly registryRow: () => Promise<SqlRow>;
  /** Told that this process begins to read pages of a long file. */
  readonly reads: (file: FileFacts, pages: string) => void;
  readonly caughtUp: (position: bigint) => Promise<boolean>;
  readonly lock: (name: string) => Promise<SqlLock | undefined>;
  /** What lies on the local disk at a path. */
  readonly fileAt: (path: string) => FileFacts;
  readonly keepFile: (bytes: Uint8Array) => string;
  readonly digestOf: (file: FileFacts) => string;
  /** Takes the time that work on documents takes. */
  readonly work: (what: string) => Promise<void>;
  /** Ends the process, as it stands. */
  readonly die: () => Promise<never>;
  readonly transport: WebhookTransport;
  readonly onError: (error: unknown) => void;
}

/** How a request was answered, as its caller sees it. */
export type Answer =
  | {
      readonly kind: 'ok';
      readonly id: string;
      readonly body: unknown;
      readonly replayed?: boolean;
      /** The bill, where the answer has one. */
      readonly cost?: { readonly credits_used: number; readonly pages: number };
    }
  | { readonly kind: 'problem'; readonly code: string; readonly replayed?: boolean };

/** What a caller sends. `key`: its Idempotency-Key. `print`: the fingerprint of the request. */
export interface Asked {
  readonly tenant: string;
  /** Names the actor and the try, in whatever is written for it. */
  readonly correlation: string;
  readonly key: string;
  readonly print: string;
  /** Its caller is gone. */
  readonly signal: AbortSignal;
}

const TEAMS = ['claims', 'legal'] as const;

/** Tags that a caller sends with a request, always the same with the same request; of every third there are none. */
export const tagsWith = (print: string): Readonly<Record<string, string>> | undefined => {
  const team = TEAMS[Buffer.from(print).reduce((sum, byte) => sum + byte, 0) % 3];
  return team === undefined ? undefined : { team, app: 'sim' };
};
