import type { Agenda } from './agenda.ts';
import type { Coefficients } from './coefficients.ts';
import { newLatencies, type Latencies } from './latencies.ts';
import { newStation, type Station } from './station.ts';

/** Read models that follow the log. Today there is one shard; more are what sharding would give. */
export interface ProjectionSetup {
  readonly shards: number;
  /** What of the database may work for projections at a time. */
  readonly databaseCores: number;
  /** As `RUNNER_TUNING` has them. */
  readonly batchMax: number;
  readonly pauseFactor: number;
  readonly pauseMaxMs: number;
  /** Until the database's commit is on its disk. */
  readonly syncMs: number;
}

export interface SimProjection {
  readonly arrive: (tenant: number, events: number) => void;
  /** From commit in the log to commit in the read models, by event. */
  readonly lag: Latencies;
  readonly stations: Readonly<Record<string, Station>>;
  readonly waiting: () => number;
}

interface Arrived {
  readonly at: number;
  events: number;
}

interface Shard {
  queue: Arrived[];
  waiting: number;
  busy: boolean;
  restsUntil: number;
}

/** A batch of so many is not made larger by waiting, as in `rest.ts`. */
const ENOUGH_EVENTS = 500;

/** Which of the shards a tenant's events belong to. */
export const shardOf = (tenant: number, shards: number): number =>
  (Math.imul(tenant + 1, 0x9e3779b1) >>> 8) % shards;

const takeFrom = (shard: Shard, max: number): readonly Arrived[] => {
  const taken: Arrived[] = [];
  let left = max;
  let at = 0;
  for (; at < shard.queue.length && left > 0; at += 1) {
    const first = shard.queue[at]!;
    const events = Math.min(left, first.events);
    taken.push({ at: first.at, events });
    left -= events;
    first.events -= events;
    if (first.events > 0) break;
  }
  shard.queue = shard.queue.slice(at);
  shard.waiting -= max - left;
  return taken;
};

const eventsIn = (batch: readonly Arrived[]): number => batch.reduce((sum, { events }) => sum + events, 0);

/** Each shard has a process of its own and one batch in hand at a time; they share the database. */
export const newSimProjection = (
  agenda: Agenda,
  setup: ProjectionSetup,
  costs: Coefficients['projector'],
): SimProjection => {
  const { shards, databaseCores, batchMax, pauseFactor, pauseMaxMs, syncMs } = setup;
  const database = newStation(agenda, databaseCores);
  const processes = Array.from({ length: shards }, () => newStation(agenda, 1));
  const all = processes.map((): Shard => ({ queue: [], waiting: 0, busy: false, restsUntil: 0 }));
  const lag = newLatencies();

  const apply = (at: number) => {
    const began = agenda.now();
    const batch = takeFrom(all[at]!, batchMax);
    const more = eventsIn(batch) - 1;
    processes[at]!.visit(costs.batch_ms + costs.event_ms * more, () =>
      database.visit(costs.database_batch_ms + costs.database_event_ms * more, () =>
        agenda.after(syncMs, () => committed(at, batch, began)),
      ),
    );
  };

  const committed = (at: number, batch: readonly Arrived[], began: number) => {
    const now = agenda.now();
    for (const { at: arrivedAt, events } of batch) lag.add(now - arrivedAt, events);
    all[at]!.busy = false;
    all[at]!.restsUntil = now + Math.min(pauseMaxMs, pauseFactor * (now - began));
    start(at);
  };

  const start = (at: number) => {
    const shard = all[at]!;
    if (shard.busy || shard.waiting === 0) return;
    shard.busy = true;
    const restMs = shard.restsUntil - agenda.now();
    if (restMs > 0 && shard.waiting < ENOUGH_EVENTS) agenda.after(restMs, () => apply(at));
    else apply(at);
  };

  return {
    arrive: (tenant, events) => {
      const at = shardOf(tenant, shards);
      all[at]!.queue.push({ at: agenda.now(), events });
      all[at]!.waiting += events;
      agenda.after(0, () => start(at));
    },
    lag,
    stations: {
      database,
      ...Object.fromEntries(processes.map((station, at) => [`projector ${at + 1}`, station])),
    },
    waiting: () => all.reduce((sum, { waiting }) => sum + waiting, 0),
  };
};
