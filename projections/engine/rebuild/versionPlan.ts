import type { Projector } from '../projector.ts';
import type { Slot } from '../apply/prepare.ts';
import type { Generation } from '../registry.ts';

/** A read model that a newer release serves. `known`: the version of this process; null: it knows none. */
export interface NewerModel {
  readonly name: string;
  readonly version: number;
  readonly known: number | null;
}

/** What a process does with each read model, by the versions in the registry. */
export interface VersionPlan {
  /** Served in the version that this process knows: it may keep them up with the log. */
  readonly followed: readonly Slot[];
  /** Upgrades that are due; the generation is the one that serves. */
  readonly due: readonly Slot[];
  /** Not empty: this process is of an older release than the one that serves, and stands aside. */
  readonly newer: readonly NewerModel[];
}

/** Read models of one release, and the names of those that were dropped from it for good. */
export interface KnownModels {
  readonly projectors: readonly Projector[];
  readonly dropped?: readonly string[];
}

const newerIn = (serving: readonly Generation[], { projectors, dropped = [] }: KnownModels) =>
  serving.flatMap(({ name, version, position }): readonly NewerModel[] => {
    const known = projectors.find((projector) => projector.name === name)?.version ?? null;
    // An empty read model does not count: the release that brings it may still be building it.
    const isForeign = known === null && position !== null && !dropped.includes(name);
    return isForeign || (known !== null && version > known) ? [{ name, version, known }] : [];
  });

/** A read model that came with this release has no rows yet, while the others have. */
const isNew = ({ position }: Generation, serving: readonly Generation[]): boolean =>
  position === null && serving.some((other) => other.position !== null);

/** A build of the version of `projector` that has stopped, and waits for a rebuild or a restart. */
export const stoppedBuild = (all: readonly Generation[], projector: Projector): Generation | undefined =>
  all.find(
    ({ name, version, serves, state }) =>
      name === projector.name && version === projector.version && !serves && state === 'stopped',
  );

/**
 * Versions decide, never the time of a start: a process follows what serves in its own version, builds
 * what serves in a lower one unless a still higher one is registered, and stands aside when anything
 * serves in a version higher than it knows.
 */
export const versionPlanOf = (all: readonly Generation[], known: KnownModels): VersionPlan => {
  const serving = all.filter(({ serves }) => serves);
  const slots = known.projectors.flatMap((projector): readonly Slot[] => {
    const generation = serving.find(({ name }) => name === projector.name);
    return generation === undefined ? [] : [{ projector, generation }];
  });
  const isOwn = ({ projector, generation }: Slot) => generation.version === projector.version;
  const isHighest = ({ projector }: Slot) =>
    all.every(({ name, version }) => name !== projector.name || version <= projector.version);
  return {
    followed: slots.filter((slot) => isOwn(slot) && !isNew(slot.generation, serving)),
    due: slots.filter((slot) => isHighest(slot) && (!isOwn(slot) || isNew(slot.generation, serving))),
    newer: newerIn(serving, known),
  };
};
