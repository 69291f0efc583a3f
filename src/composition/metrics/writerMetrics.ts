import { Counter, Histogram, type Registry } from 'prom-client';
import type { Logger } from 'pino';
import { SNAPSHOT_FLAWS } from '../../commands/writer/trustedSnapshot.ts';
import type { SnapshotNotice, WriterHooks } from '../../commands/writer/writerRules.ts';

/** A snapshot that the log contradicts was changed by somebody: that is logged, not only counted. */
const snapshotNotices = (
  register: Registry,
  logger: Pick<Logger, 'warn'>,
): ((notice: SnapshotNotice) => void) => {
  const registers = [register];
  const ignored = new Counter({
    name: 'quire_snapshots_ignored_total',
    help: 'Snapshots of accounts that were not used, by reason; the account was read from the log instead.',
    labelNames: ['reason'],
    registers,
  });
  const unsaved = new Counter({
    name: 'quire_snapshots_unsaved_total',
    help: 'Snapshots of accounts that were not saved, by reason; such accounts take longer to load.',
    labelNames: ['reason'],
    registers,
  });
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
  const registers = [register];
  const commands = new Histogram({
    name: 'quire_writer_batch_commands',
    help: 'Commands that the account writer put into one append.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  });
  const seconds = new Histogram({
    name: 'quire_writer_batch_seconds',
    help: 'Time from the decision of a batch to its outcome.',
    labelNames: ['outcome'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  const unknown = new Counter({
    name: 'quire_writer_unknown_total',
    help: 'Appends whose outcome was unknown and that were sent again unchanged.',
    registers,
  });
  return {
    onBatch: (batch) => {
      commands.observe(batch.commands);
      seconds.observe({ outcome: batch.outcome }, batch.ms / 1000);
    },
    onUnknown: () => unknown.inc(),
    onSnapshot: snapshotNotices(register, logger),
  };
};
