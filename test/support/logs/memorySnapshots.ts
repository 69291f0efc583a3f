import type { SnapshotStore } from '../../../domain/ports/log.ts';
import type { Snapshot } from '../../../domain/kernel/recorded.ts';

/** Snapshots in memory, by stream. */
export const memorySnapshots = (): SnapshotStore & { readonly kept: Map<string, Snapshot> } => {
  const kept = new Map<string, Snapshot>();
  return {
    kept,
    load: (stream) => Promise.resolve(kept.get(stream)),
    save: (snapshot) => {
      kept.set(snapshot.stream, snapshot);
      return Promise.resolve('saved');
    },
  };
};
