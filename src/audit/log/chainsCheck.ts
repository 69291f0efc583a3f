import { isPlainData } from '../../../domain/eventLog/plain.ts';
import { LOG_DIGEST_START, logDigestAfter } from '../../../domain/kernel/chain.ts';
import type { RecordedEvent } from '../../../domain/ports/log.ts';
import type { Findings } from '../findings.ts';
import { isJson } from './auditedEvent.ts';
import { storedCheck, textInFile } from './storedForm.ts';
import { streamsCheck, type StreamHead } from './streams.ts';

/** Something else that looks at every event as it is stored. */
export interface StoredWatcher {
  /** Also one that cannot be decoded, with the hash of its content and the digest over the log up to it. */
  readonly stored?: (event: RecordedEvent, hash: string, digest: string) => void;
}

/** What the streams came to. */
export interface AuditedChains {
  readonly streams: number;
  /** Over positions and hashes of all events. */
  readonly digest: string;
  readonly heads: () => IterableIterator<readonly [string, StreamHead]>;
}

/** What the log was, as far as it was read. */
export interface LogFacts {
  readonly events: number;
  readonly streams: number;
  readonly tenants: number;
  readonly position: string | null;
  /** Times of recording; null in an empty log. */
  readonly first_at: string | null;
  readonly last_at: string | null;
}

/** What one reading of a log gives. */
export interface AuditedLog extends Pick<AuditedChains, 'heads' | 'digest'> {
  readonly facts: LogFacts;
}

interface ChainsOptions {
  /** Positions of this log have no gaps: it is the embedded one. */
  readonly dense: boolean;
  readonly watchers: readonly StoredWatcher[];
}

/** While nothing is wrong, the digest in the file and the one that is due are the same step. */
const lastStepKept = (): typeof logDigestAfter => {
  let [last, next] = [[] as unknown[], ''];
  return (before, position, hash) => {
    if (last[0] === before && last[1] === position && last[2] === hash) return next;
    last = [before, position, hash];
    next = logDigestAfter(before, position, hash);
    return next;
  };
};

/**
 * The half of an audit that needs no meaning of events: places, hashes, bytes. It shares nothing with the rules,
 * so that each half can have a thread of its own.
 */
export const chainsCheck = (findings: Findings, { dense, watchers }: ChainsOptions) => {
  const streams = streamsCheck(findings, { dense, ids: 'all' });
  const digestAfter = lastStepKept();
  const inFile = storedCheck(findings, digestAfter);
  let digest = LOG_DIGEST_START;
  return {
    look: (recorded: RecordedEvent): void => {
      if (!isJson(recorded)) {
        streams.skip(recorded);
        inFile.skip(recorded);
        digest = logDigestAfter(digest, recorded.position, '');
        return;
      }
      const text = textInFile(recorded, isPlainData(recorded));
      const hash = streams.follow(recorded, text);
      inFile.see(recorded, text !== undefined);
      digest = digestAfter(digest, recorded.position, hash);
      for (const watcher of watchers) watcher.stored?.(recorded, hash, digest);
    },
    result: (): AuditedChains => ({ streams: streams.count(), digest, heads: streams.heads }),
  };
};

export type ChainsCheck = ReturnType<typeof chainsCheck>;
