import { createHash } from 'node:crypto';

/** Which replica a tenant goes to; stays mostly as it is when replicas come and go. */
export interface Ring {
  readonly replicaOf: (tenant: string) => string;
}

const placeOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0);

/** Consistent hashing, as load balancers do it: each replica has so many places on a ring. */
export const ringOf = (replicas: readonly string[], places: number): Ring => {
  const points = replicas
    .flatMap((replica) =>
      Array.from({ length: places }, (_, n) => ({ at: placeOf(`${replica}#${n}`), replica })),
    )
    .sort((a, b) => a.at - b.at);
  return {
    replicaOf: (tenant) => {
      const at = placeOf(tenant);
      let [low, high] = [0, points.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (points[middle]!.at < at) low = middle + 1;
        else high = middle;
      }
      return points[low % points.length]!.replica;
    },
  };
};

/** How evenly a ring spreads tenants, and how many move when one replica is added. */
export const ringFigures = (replicas: number, places: number, tenants: number) => {
  const names = Array.from({ length: replicas + 1 }, (_, n) => `replica-${n}`);
  const before = ringOf(names.slice(0, -1), places);
  const after = ringOf(names, places);
  const counts = new Map<string, number>();
  let moved = 0;
  for (let n = 0; n < tenants; n += 1) {
    const replica = before.replicaOf(`tenant-${n}`);
    counts.set(replica, (counts.get(replica) ?? 0) + 1);
    if (after.replicaOf(`tenant-${n}`) !== replica) moved += 1;
  }
  return { fullest: Math.max(...counts.values()) / (tenants / replicas), moved: moved / tenants };
};
