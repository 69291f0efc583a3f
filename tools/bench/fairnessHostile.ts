import { workerData } from 'node:worker_threads';
import { randomBytes } from 'node:crypto';
import { hostile, type Tenant } from './fairness.ts';

/** The hostile tenant of `bench:fairness`, and the weapons that it is given. */
export interface HostileTenant extends Omit<Tenant, 'signal'> {
  readonly scan: Uint8Array;
}

const LARGE_BYTES = 8 * 1024 * 1024;

// On a thread of its own, until that is ended: what it sends must not hold the clock of the others.
const { scan, ...tenant } = workerData as HostileTenant;
const { signal } = new AbortController();
await hostile({ ...tenant, signal }, { scan, large: randomBytes(LARGE_BYTES) });
