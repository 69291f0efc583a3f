import { isPlainData } from '../../../domain/eventLog/plain.ts';
import {
  HASH_VERSION,
  hashVersionOf,
  LOG_DIGEST_START,
  logDigestAfter,
} from '../../../domain/kernel/chain.ts';
import type { RecordedEvent } from '../../../domain/ports/log.ts';
import { findingsKept, type HalfFound } from '../findings.ts';
import { isJson } from '../log/auditedEvent.ts';
import { rulesCheck } from '../log/rulesCheck.ts';
import { storedCheck, textInFile } from '../log/storedForm.ts';
import { streamsCheck } from '../log/streams.ts';
import { keyBag } from './keyBag.ts';

/** What a share reads: its own tenants' events, and what was published for all, in the order of the log. */
export interface SharedEvent {
  readonly event: RecordedEvent;
  /** false: another share checks it. */
  readonly isOwn: boolean;
  /** The digest that the file has with the event before it in the log; null before the first one. */
  readonly digestBefore: string | null;
}

/** Something is wrong, or worth a note: one thread has to tell it, in the order of the log. */
export class NotClean extends Error {
  override readonly name = 'NotClean';
}

const notClean = (): never => {
  throw new NotClean();
};

/** What a share came to in which nothing is wrong. Plain data: it goes from one thread to another. */
export interface ShareDone {
  readonly events: number;
  readonly streams: number;
  readonly tenants: number;
  readonly first_at: string | null;
  readonly found: HalfFound;
  /** A bit for each position that it looked at. */
  readonly positions: Uint8Array;
  /** Of all that may be in one share only. */
  readonly keys: Uint32Array<ArrayBuffer>;
  /** Digests over the log at the wanted positions that are its own. */
  readonly digests: ReadonlyMap<string, string>;
}

export interface ShareWork {
  /** The last position that is looked at. */
  readonly upTo: bigint;
  /** Positions whose digests are asked for. */
  readonly wanted: readonly string[];
}

/**
 * Audits some of the tenants of a log by the rules of all audits. It throws NotClean as soon as one of them says
 * anything. IDs are not compared with one another: each is its event's hash, which covers stream and revision.
 */
export const shareAudit = ({ upTo, wanted }: ShareWork) => {
  const findings = { ...findingsKept(1), add: notClean, note: notClean };
  const bag = keyBag();
  const streams = streamsCheck(findings, { dense: false, ids: 'by_hash' });
  const inFile = storedCheck(findings, logDigestAfter);
  const rules = rulesCheck(findings, [], bag.add);
  const positions = new Uint8Array(Math.ceil((Number(upTo) + 1) / 8));
  const asked = new Set(wanted.map(BigInt));
  const digests = new Map<string, string>();
  let events = 0;

  const count = ({ position, stored }: RecordedEvent): void => {
    events += 1;
    const at = Number(position);
    const byte = Math.floor(at / 8);
    positions[byte] = (positions[byte] ?? 0) | (1 << (at % 8));
    if (asked.has(position)) digests.set(position.toString(), stored?.log_digest ?? LOG_DIGEST_START);
  };

  const check = ({ event, digestBefore }: SharedEvent): void => {
    if (hashVersionOf(event) !== HASH_VERSION) notClean();
    if (digestBefore === null && event.position > 1n) notClean();
    if (event.revision === 0n) bag.add(event.stream);
    const isPlain = isPlainData(event);
    const text = textInFile(event, isPlain);
    streams.follow(event, text);
    inFile.goOnFrom(digestBefore);
    inFile.see(event, text !== undefined);
    rules.look(event, isPlain);
  };

  return {
    look: (shared: SharedEvent): void => {
      const { event, isOwn } = shared;
      if (!isJson(event)) notClean();
      if (isOwn) {
        count(event);
        check(shared);
      } else rules.learn(event);
    },
    events: () => events,
    /** The latest time of recording, when all was looked at. */
    latest: rules.latest,
    /** Looks at what is still open at the end; `latest` of all shares. */
    finish: (latest: string): ShareDone => {
      const { tenants, first_at } = rules.finish(latest);
      const [keys, found] = [bag.keys(), findings.half()];
      return { events, streams: streams.count(), tenants, first_at, found, positions, keys, digests };
    },
  };
};
