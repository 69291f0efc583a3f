import type { RunningSlot } from './apply/applyBatch.ts';
import type { Delivered } from './feed/arrivals.ts';
import type { Generation } from './registry.ts';
import type { KnownModels, VersionPlan } from './rebuild/versionPlan.ts';
import { versionPlanOf, stoppedBuild } from './rebuild/versionPlan.ts';

/** How far one read model is. */
export interface ProjectorStatus {
  readonly name: string;
  readonly version: number;
  readonly position: bigint | null;
  /** `stopped` also where a new version could not be built; the rows of the last one serve meanwhile. */
  readonly state: 'live' | 'catching_up' | 'stopped' | 'building';
  /** Why it stopped: the event's type, ID, position and stream, and the error. */
  readonly reason: string | null;
  /** Events that have arrived and are not applied yet; left out when this process does not know. */
  readonly lag_events?: number;
  /** When the oldest event was recorded that waits to be applied; left out when none is known. */
  readonly waiting_since?: string;
}

/** What the subscriber knows beside the slots. */
export interface SubscriberState {
  readonly caughtUp: boolean;
  readonly waiting: number;
  /** Events that arrived since a slot stopped, by name. */
  readonly missed: ReadonlyMap<string, number>;
  /** The oldest event that waits to be applied by the running slots. */
  readonly oldest: Delivered | undefined;
  /** The event that stopped a slot, by name. */
  readonly stoppedAt: ReadonlyMap<string, Delivered>;
}

const stateOf = ({ state }: Generation, caughtUp: boolean): ProjectorStatus['state'] => {
  if (state === 'stopped') return 'stopped';
  if (state === 'building') return 'building';
  return caughtUp ? 'live' : 'catching_up';
};

const recordedAt = (event: Delivered | undefined): string | undefined => {
  const at = event?.metadata['recorded_at'];
  return typeof at === 'string' ? at : undefined;
};

export const statusOfSlots = (
  slots: readonly RunningSlot[],
  { caughtUp, waiting, missed, oldest, stoppedAt }: SubscriberState,
): readonly ProjectorStatus[] =>
  slots.map(({ generation }) => {
    const { name, version, position, reason } = generation;
    const lag = waiting + (missed.get(name) ?? 0);
    const since = recordedAt(generation.state === 'stopped' ? stoppedAt.get(name) : oldest);
    return {
      name,
      version,
      position,
      state: stateOf(generation, caughtUp),
      reason,
      ...(caughtUp ? { lag_events: lag } : {}),
      ...(since === undefined ? {} : { waiting_since: since }),
    };
  });

const asideOf = (name: string, { newer }: VersionPlan): string | null => {
  const model = newer.find((one) => one.name === name);
  if (model === undefined) return null;
  return (
    `a newer release serves version ${String(model.version)}: this process, which knows ` +
    `${String(model.known)}, stands aside`
  );
};

/** As the registry has it: `building` where what serves is older than this process knows. */
export const statusOfRegistry = (
  all: readonly Generation[],
  known: KnownModels,
): readonly ProjectorStatus[] => {
  const plan = versionPlanOf(all, known);
  return known.projectors.flatMap((projector) => {
    const generation = all.find(({ name, serves }) => serves && name === projector.name);
    if (generation === undefined) return [];
    const { name, version, position } = generation;
    const isOld = generation.state === 'live' && version < projector.version;
    const isDue = plan.due.some((slot) => slot.projector === projector);
    const shown = (isDue ? stoppedBuild(all, projector) : undefined) ?? generation;
    const state = isOld && shown === generation ? 'building' : stateOf(shown, !isDue);
    return [{ name, version, position, state, reason: shown.reason ?? asideOf(name, plan) }];
  });
};
