import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ProjectionNotice } from '../../projections/engine/notices.ts';
import type { WriterHooks } from '../commands/writerRules.ts';

/** What the account writer and the projections count. */
export interface WriterMetrics {
  readonly hooks: WriterHooks;
  readonly onProjection: (notice: ProjectionNotice) => void;
}

const writerHooks = (registers: Registry[]): WriterHooks => {
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

export const writerMetrics = (register: Registry): WriterMetrics => {
  const registers = [register];
  const projected = new Counter({
    name: 'quire_projected_events_total',
    help: 'Events applied to the read models.',
    registers,
  });
  const position = new Gauge({
    name: 'quire_projection_position',
    help: 'Log position that the read models of this process have reached.',
    registers,
  });
  const stopped = new Counter({
    name: 'quire_projectors_stopped_total',
    help: 'Projectors that met an event they cannot apply.',
    labelNames: ['name'],
    registers,
  });
  const unknown = new Counter({
    name: 'quire_unknown_events_total',
    help: 'Events of types that only a newer release knows, passed over by the projectors.',
    registers,
  });
  return {
    hooks: writerHooks(registers),
    onProjection: (notice) => {
      if (notice.kind === 'batch') {
        projected.inc(notice.events);
        position.set(Number(notice.position));
      }
      if (notice.kind === 'unknown_types') unknown.inc(notice.events);
      if (notice.kind === 'stopped') stopped.inc({ name: notice.name });
    },
  };
};
