import { Counter, Histogram, type Registry } from 'prom-client';
import type { WriterHooks } from '../commands/writerRules.ts';

/** What the account writer counts. */
export const writerHooks = (register: Registry): WriterHooks => {
  const registers = [register];
  const commands = new Histogram({
    name: 'quire_writer_batch_commands',
    help: 'Commands that one append of the account writer decided.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  });
  const seconds = new Histogram({
    name: 'quire_writer_batch_seconds',
    help: 'Time from deciding a batch to its settled outcome.',
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
  };
};
