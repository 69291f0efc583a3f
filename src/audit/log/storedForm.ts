import {
  categoryOf,
  HASH_VERSION,
  hashVersionOf,
  joinedText,
  LOG_DIGEST_START,
  type logDigestAfter,
} from '../../../domain/kernel/chain.ts';
import { storableJson } from '../../../domain/kernel/json.ts';
import type { RecordedEvent } from '../../../domain/ports/log.ts';
import { placeOf, wrong, type Findings } from '../findings.ts';

type Stored = RecordedEvent & Required<Pick<RecordedEvent, 'stored'>>;

/**
 * What the hash of an event is over, where the file has it word for word: then both texts are as the log writes
 * them. undefined: it has to be made of what the texts say. `isPlain`: its data is as `isPlainData` says.
 */
export const textInFile = (event: RecordedEvent, isPlain: boolean): string | undefined => {
  if (event.stored?.covered === undefined) return undefined;
  const { data, covered: metadata } = event.stored;
  return isPlain || storableJson(event.data) === data ? joinedText(event, { data, metadata }) : undefined;
};

/** The log writes a value in one form: no spaces, no member twice, one way to write each number. */
const isAsWritten = (text: string, value: unknown): boolean => JSON.stringify(value) === text;

const checkText = (findings: Findings, event: Stored, column: 'data' | 'metadata'): void => {
  if (isAsWritten(event.stored[column], event[column])) return;
  wrong(findings, 'stored', { ...placeOf(event), column })(
    `The ${column} of ${event.stream} revision ${event.revision} is not as the log writes it: ` +
      'extra white space, a duplicate member, or a value in another notation.',
  );
};

const checkCategory = (findings: Findings, event: Stored): void => {
  const [expected, found] = [categoryOf(event.stream), event.stored.category];
  if (found === expected) return;
  wrong(findings, 'stored', { ...placeOf(event), column: 'category' })(
    `${event.stream} revision ${event.revision} has another category than its stream: ` +
      'readers of that category skip it.',
    expected,
    found,
  );
};

const isStored = (event: RecordedEvent): event is Stored => event.stored !== undefined;

/**
 * Checks how events lie in the log's own file: the bytes, the columns that repeat what the stream says, and
 * the digest over the whole log, which has begun with the first event that this release wrote.
 */
export const storedCheck = (findings: Findings, digestAfter: typeof logDigestAfter) => {
  let digest: string | null = null;
  let [byVersion2, toldBack] = [false, false];
  const checkDigest = (event: Stored): void => {
    const { log_digest: found } = event.stored;
    const isDue = digest !== null || hashVersionOf(event) === HASH_VERSION;
    const carried = event.metadata['hash'];
    const hash = typeof carried === 'string' ? carried : '';
    const expected = digestAfter(digest ?? LOG_DIGEST_START, event.position, hash);
    if (isDue && found !== expected)
      wrong(findings, 'stored', { ...placeOf(event), column: 'log_digest' })(
        `At position ${event.position} the digest over the log does not match: ` +
          'this event or an earlier one was changed, moved, inserted or removed.',
        expected.slice(0, 16),
        (found ?? 'none').slice(0, 16),
      );
    // Go on from the stored digest, so that one change is one finding.
    digest = found ?? (isDue ? expected : null);
  };
  /** One process writes this log: a release that hashes by version 1 never follows one that does by 2. */
  const checkVersion = (event: Stored): void => {
    const isVersion2 = hashVersionOf(event) === HASH_VERSION;
    if (byVersion2 && !isVersion2 && !toldBack) {
      toldBack = true;
      wrong(
        findings,
        'stored',
        event,
      )(
        `Position ${event.position} has hash version 1 after events of version ${HASH_VERSION}: ` +
          'it was not written by this service.',
      );
    }
    byVersion2 ||= isVersion2;
  };
  const see = (event: RecordedEvent, isInForm: boolean): void => {
    if (!isStored(event)) return;
    findings.checked('stored');
    if (!isInForm) {
      checkText(findings, event, 'data');
      checkText(findings, event, 'metadata');
    }
    checkCategory(findings, event);
    checkVersion(event);
    checkDigest(event);
  };
  return {
    /** `isInForm`: both texts are known to be as the log writes them. */
    see,
    /** Takes the digest of the event before from the file, where that is not the one seen before. */
    goOnFrom: (before: string | null): void => {
      digest = before;
    },
    /** Goes on after an event that is no JSON any more. */
    skip: ({ stored }: RecordedEvent): void => {
      if (stored !== undefined) digest = stored.log_digest;
    },
  };
};
