import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';
import type { ProjectedEvent, SqlTx } from '../../../projections/engine/ports.ts';
import type { Generation } from '../../../projections/engine/registry.ts';
import type { Projector } from '../../../projections/engine/table.ts';
import type { ProjectingWorld } from './projectingWorlds.ts';

/** Who fills a generation: one for all tenants, or one of several shares of them. */
export type Lane = 'all' | number;

interface Applied {
  readonly position: bigint;
  readonly id: string;
}

interface Pending {
  readonly schema: string;
  readonly lane: Lane;
  readonly event: ProjectedEvent;
}

interface WatchDeps {
  readonly world: ProjectingWorld;
  readonly log: { readonly events: readonly RecordedEvent[] };
  readonly say: (id: string, text: string) => void;
  /** Whether rows are of the log that is there. */
  readonly isOfThisLog: (generation: Generation) => Promise<boolean>;
}

const idsIn = (events: readonly { readonly id: string }[]): string => events.map(({ id }) => id).join();

/** What was committed to the tables of each generation, and what is put in place of what served. */
export const appliedWatch = ({ world, log, say, isOfThisLog }: WatchDeps) => {
  const pending = new WeakMap<SqlTx, Pending[]>();
  const applied = new Map<string, { readonly events: Applied[]; readonly last: Map<Lane, bigint> }>();
  /** What serves, as it was after the last commit. */
  const serving = new Map<string, Generation>();

  const appliedIn = (schema: string): readonly Applied[] => applied.get(schema)?.events ?? [];
  /** Events of a type that a read model wants, up to a position. */
  const wantedOf = ({ eventTypes }: Projector, upTo: bigint): readonly RecordedEvent[] =>
    log.events.filter(
      ({ type, position }) => position <= upTo && (eventTypes as readonly string[]).includes(type),
    );
  /** Whether rows were given every event up to their position once. Their order is looked at as they are committed. */
  const isComplete = (projector: Projector, { schema, position }: Generation): boolean => {
    // What a parked tenant did meanwhile was applied to tables beside these: its rows tell.
    if (projector.name === world.poison?.name) return true;
    const inOrder = [...appliedIn(schema)].sort((a, b) => Number(a.position - b.position));
    return idsIn(inOrder) === idsIn(wantedOf(projector, position ?? 0n));
  };
  const commitOne = ({ schema, lane, event: { position, id } }: Pending): void => {
    const own = applied.get(schema) ?? { events: [], last: new Map<Lane, bigint>() };
    applied.set(schema, own);
    for (const [other, last] of own.last)
      if (last >= position && (other === lane || other === 'all' || lane === 'all'))
        say('applied-again', `${schema}: ${String(position)} after ${String(last)}`);
    own.events.push({ position, id });
    own.last.set(lane, position);
  };
  /** What is put in place of another is whole, and as far as that one was, unless that one was of another log. */
  const watchSwitch = async (before: Generation, now: Generation): Promise<void> => {
    const [at, was] = [now.position ?? 0n, before.position ?? 0n];
    if (at < was && (await isOfThisLog(before)))
      say('went-back', `${now.name}: switched to ${String(at)} from ${String(was)}`);
    const projector = world.projectors.find(({ name }) => name === now.name);
    if (now.generation === before.generation || projector === undefined) return;
    if (!isComplete(projector, now) && (await isOfThisLog(now)))
      say('switched-early', `${now.schema} has not all events up to ${String(at)}, once`);
  };
  return {
    appliedIn,
    wantedOf,
    isComplete,
    /** The product's projector; what it was given is known once it is committed. It fails at poison. */
    watched: (projector: Projector, lane: Lane, isPoison: (event: ProjectedEvent) => boolean): Projector => ({
      ...projector,
      apply: async (tx, { schema, events }) => {
        await projector.apply(tx, { schema, events });
        const poison = events.find(isPoison);
        if (poison !== undefined) throw new Error(`${poison.id} is poison`);
        const own = pending.get(tx) ?? [];
        pending.set(tx, own);
        for (const event of events) own.push({ schema, lane, event });
      },
    }),
    /** Whether a transaction applied events of a share of tenants. */
    isOfShare: (tx: SqlTx): boolean => pending.get(tx)?.some(({ lane }) => lane !== 'all') === true,
    /** A transaction was committed, after which these serve. */
    committed: async (tx: SqlTx, now: readonly Generation[]): Promise<void> => {
      for (const one of pending.get(tx) ?? []) commitOne(one);
      for (const one of now) {
        const before = serving.get(one.name);
        serving.set(one.name, one);
        if (before !== undefined) await watchSwitch(before, one);
      }
    },
  };
};
