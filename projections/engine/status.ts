import type { RecordedEvent } from '../../domain/ports/eventStore.ts';
import type { RunningSlot } from './applyBatch.ts';
import type { Projector } from './projector.ts';
import type { Generation } from './registry.ts';

/** How far one read model is. */
export interface ProjectorStatus {
  readonly name: string;
  readonly version: number;
  readonly position: bigint | null;
  readonly state: 'live' | 'catching_up' | 'stopped' | 'building';
  /** Why it stopped: the event's type, ID, position and stream, and the error. */
  readonly reason: string | null;
  /** Events that have arrived and are not applied yet; left out when this process does not know. */
  readonly lag_events?: number;
  /** When the oldest event was recorded that waits to be applied; left out when none is known. */
  readonly waiting_since?: string;
}

/** What the follower knows beside the slots. */
export interface FollowState {
  readonly caughtUp: boolean;
  readonly waiting: number;
  /** Events that arrived since a slot stopped, by name. */
  readonly missed: ReadonlyMap<string, number>;
  /** The oldest event that waits, for those that run. */
  readonly oldest: RecordedEvent | undefined;
  /** The event that stopped a slot, by name. */
  readonly stoppedAt: ReadonlyMap<string, RecordedEvent>;
}

const stateOf = ({ state }: Generation, caughtUp: boolean): ProjectorStatus['state'] => {
  if (state === 'stopped') return 'stopped';
  if (state === 'building') return 'building';
  return caughtUp ? 'live' : 'catching_up';
};

const recordedAt = (event: RecordedEvent | undefined): string | undefined => {
  const at = event?.metadata['recorded_at'];
  return typeof at === 'string' ? at : undefined;
};

export const statusOfSlots = (
  slots: readonly RunningSlot[],
  { caughtUp, waiting, missed, oldest, stoppedAt }: FollowState,
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

export const statusOfRegistry = (
  generations: readonly Generation[],
  projectors: readonly Projector[],
): readonly ProjectorStatus[] =>
  projectors.flatMap((projector) => {
    const generation = generations.find(({ name, serves }) => serves && name === projector.name);
    if (generation === undefined) return [];
    const { name, version, position, reason } = generation;
    return [{ name, version, position, state: stateOf(generation, true), reason }];
  });
