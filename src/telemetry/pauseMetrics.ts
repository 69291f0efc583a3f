import { Counter, Gauge, type Registry } from 'prom-client';

/** Jobs of one kind of children that gave way to those of other tenants. */
interface Pauses {
  readonly jobs: number;
  readonly totalMs: number;
}

/** Of the children that read documents, and of those that learn. */
type PausesOf = () => Readonly<Record<'documents' | 'lessons', Pauses>>;

/** Children that are stopped so that other tenants get their turn: how many are, and for how long they were. */
export const pauseMetrics = (register: Registry, pauses: PausesOf): void => {
  const registers = [register];
  const labelNames = ['pool'] as const;
  new Gauge({
    name: 'quire_children_paused',
    help: 'Processes that are paused now, so that the work of other tenants gets its turn.',
    labelNames,
    registers,
    collect() {
      for (const [pool, { jobs }] of Object.entries(pauses())) this.set({ pool }, jobs);
    },
  });
  new Counter({
    name: 'quire_children_paused_seconds_total',
    help: 'Time that processes were paused for the work of other tenants.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const [pool, { totalMs }] of Object.entries(pauses())) this.inc({ pool }, totalMs / 1000);
    },
  });
};
