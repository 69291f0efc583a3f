import { categoryOf } from '../../../domain/kernel/batch.ts';
import { HASH_VERSION, hashVersionOf } from '../../../domain/kernel/chain.ts';
import { LOG_DIGEST_START, logDigestAfter } from '../../../domain/kernel/logDigest.ts';
import type { RecordedEvent } from '../../../domain/ports/eventStore.ts';
import { placeOf } from './auditedEvent.ts';
import type { Findings } from '../findings.ts';

type Stored = RecordedEvent & Required<Pick<RecordedEvent, 'stored'>>;

/** The log writes a value in one form: no spaces, no member twice, one way to write each number. */
const isAsWritten = (text: string, value: unknown): boolean => JSON.stringify(value) === text;

const checkText = (findings: Findings, { stored, data, metadata, ...event }: Stored): void => {
  for (const [column, value] of [
    ['data', data],
    ['metadata', metadata],
  ] as const)
    if (!isAsWritten(stored[column], value))
      findings.add({
        check: 'stored',
        ...placeOf(event),
        column,
        message:
          `The ${column} of ${event.stream} revision ${event.revision} is not as the log writes ` +
          'it: white space, a member twice, or another way to write a value.',
      });
};

const checkCategory = (findings: Findings, { stored, ...event }: Stored): void => {
  const expected = categoryOf(event.stream);
  if (stored.category === expected) return;
  findings.add({
    check: 'stored',
    ...placeOf(event),
    column: 'category',
    message:
      `${event.stream} revision ${event.revision} has another category than its stream: ` +
      'readers of one category pass it over.',
    expected,
    found: stored.category,
  });
};

/**
 * Checks how events lie in the log's own file: the bytes, the columns that repeat what the stream says, and
 * the digest over the whole log, which has begun with the first event that this release wrote.
 */
export const storedCheck = (findings: Findings) => {
  let digest: string | null = null;
  let [byVersion2, toldBack] = [false, false];
  const checkDigest = (event: Stored): void => {
    const { log_digest: found } = event.stored;
    const isDue = digest !== null || hashVersionOf(event) === HASH_VERSION;
    const carried = event.metadata['hash'];
    const hash = typeof carried === 'string' ? carried : '';
    const expected = logDigestAfter(digest ?? LOG_DIGEST_START, event.position, hash);
    if (isDue && found !== expected)
      findings.add({
        check: 'stored',
        ...placeOf(event),
        column: 'log_digest',
        message:
          `At position ${event.position} the log is not the one that was written: this event or ` +
          'one before it was changed, moved, put in or taken out.',
        expected: expected.slice(0, 16),
        found: (found ?? 'none').slice(0, 16),
      });
    // Go on from the stored digest, so that one change is one finding.
    digest = found ?? (isDue ? expected : null);
  };
  /** One process writes this log: a release that hashes by version 1 never follows one that does by 2. */
  const checkVersion = (event: Stored): void => {
    const isVersion2 = hashVersionOf(event) === HASH_VERSION;
    if (byVersion2 && !isVersion2 && !toldBack) {
      toldBack = true;
      findings.add({
        check: 'stored',
        ...placeOf(event),
        message:
          `Position ${event.position} has hash version 1 after events of version ${HASH_VERSION}: ` +
          'it was not written by this service.',
      });
    }
    byVersion2 ||= isVersion2;
  };
  const see = (event: RecordedEvent): void => {
    const { stored } = event;
    if (stored === undefined) return;
    findings.checked('stored');
    const { data, metadata, id, stream, revision, position, type } = event;
    const there = { data, metadata, id, stream, revision, position, type, stored };
    checkText(findings, there);
    checkCategory(findings, there);
    checkVersion(there);
    checkDigest(there);
  };
  return {
    see,
    /** Goes on after an event that is no JSON any more. */
    skip: ({ stored }: RecordedEvent): void => {
      if (stored !== undefined) digest = stored.log_digest;
    },
  };
};
