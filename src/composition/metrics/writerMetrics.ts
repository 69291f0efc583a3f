import type { Registry } from 'prom-client';
import type { Logger } from 'pino';
import { metersOn } from '../../telemetry/processMetrics.ts';
import { SNAPSHOT_FLAWS } from '../../writer/streamFold.ts';
import type { SnapshotNotice, WriterHooks } from '../../writer/decideBatch.ts';

/** A snapshot that the log contradicts was changed by somebody: that is logged, not only counted. */
const snapshotNotices = (
  register: Registry,
  logger: Pick<Logger, 'warn'>,
): ((notice: SnapshotNotice) => void) => {
  const { counter } = metersOn(register);
  const ignored = counter(
    'quire_snapshots_ignored_total',
    'Snapshots of accounts that were not used, by reason; the account was read from the log instead.',
    'reason',
  );
  const unsaved = counter(
    'quire_snapshots_unsaved_total',
    'Snapshots of accounts that were not saved, by reason; such accounts take longer to load.',
    'reason',
  );
  for (const reason of SNAPSHOT_FLAWS) ignored.inc({ reason }, 0);
  return (notice) => {
    const { kind, stream, reason } = notice;
    if (kind === 'ignored') {
      ignored.inc({ reason });
      logger.warn({ msg: 'a snapshot was ignored: the account was read from the log', stream, reason });
      return;
    }
    unsaved.inc({ reason });
    if (reason === 'refused') logger.warn({ msg: 'a snapshot was not saved', stream, err: notice.error });
  };
};

/** What the account writer counts and logs. */
export const writerHooks = (register: Registry, logger: Pick<Logger, 'warn'>): WriterHooks => {
  const { counter, histogram } = metersOn(register);
  const commands = histogram(
    'quire_writer_batch_commands',
    'Commands that the account writer put into one append.',
    { buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256] },
  );
  const seconds = histogram(
    'quire_writer_batch_seconds',
    'Time from the decision of a batch to its outcome.',
    { buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5], labelNames: ['outcome'] },
  );
  const unknown = counter(
    'quire_writer_unknown_total',
    'Appends whose outcome was unknown and that were sent again unchanged.',
  );
  return {
    onBatch: (batch) => {
      commands.observe(batch.commands);
      seconds.observe({ outcome: batch.outcome }, batch.ms / 1000);
    },
    onUnknown: () => unknown.inc(),
    onSnapshot: snapshotNotices(register, logger),
  };
};
