import type { TextVault } from '../../domain/ports/log.ts';
import type { ReplayBegin, ReplayLease, ReplayScope, ReplayStore } from '../../domain/ports/services.ts';
import type { Idempotency } from './routes.ts';
import { invalid, problem, retryLater, stillRunning } from './problems.ts';

/** A lease outlives a crash by this much at most; a running request renews it. */
const LEASE_MS = 10_000;
const RENEW_MS = 3_000;

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** The checked header; null when it was not sent. An empty one counts as a mistake. */
export const idempotencyKeyIn = (
  header: string | undefined,
  { keyLengthMax }: Idempotency,
): string | null => {
  if (header === undefined) return null;
  if (header.length <= keyLengthMax && VISIBLE_ASCII.test(header)) return header;
  const msg = `1 to ${String(keyLengthMax)} visible ASCII characters.`;
  throw invalid({ loc: ['header', 'Idempotency-Key'], msg, type: 'invalid_format' });
};

/** A sent and kept answer: a status and a serialised body. */
export interface Sent {
  readonly status: number;
  readonly body: string;
  readonly replayed: boolean;
}

interface Replayable {
  readonly store: ReplayStore;
  readonly scope: ReplayScope;
  readonly fingerprint: string;
  readonly keepMs: number;
  readonly onStoreError: (error: unknown) => void;
}

/** Without the store it is not known whether the request ran already: money endpoints fail closed. */
const begun = async ({ store, scope, fingerprint, onStoreError }: Replayable): Promise<ReplayBegin> => {
  try {
    return await store.begin(scope, fingerprint, LEASE_MS);
  } catch (error) {
    onStoreError(error);
    throw retryLater('not_ready', 'Idempotent requests cannot be told apart right now.');
  }
};

/** The work is done or undone by now; a store that fails here costs a replay, never money. */
const quietly = async (work: Promise<unknown>, onStoreError: (error: unknown) => void): Promise<void> => {
  await work.catch(onStoreError);
};

const runLeased = async (
  { store, keepMs, onStoreError }: Replayable,
  lease: ReplayLease,
  run: () => Promise<Sent>,
): Promise<Sent> => {
  const renewal = setInterval(() => void quietly(store.renew(lease, LEASE_MS), onStoreError), RENEW_MS);
  try {
    const { status, body, replayed } = await run();
    const kept = status < 300 ? store.complete(lease, { status, body, keepMs }) : store.abandon(lease);
    await quietly(kept, onStoreError);
    return { status, body, replayed };
  } catch (error) {
    await quietly(store.abandon(lease), onStoreError);
    throw error;
  } finally {
    clearInterval(renewal);
  }
};

/** Kept answers, sealed with the key of their tenant: once that is destroyed, they no longer count. */
export const sealedReplays = (store: ReplayStore, vault: Pick<TextVault, 'seal' | 'open'>): ReplayStore => ({
  ...store,
  complete: async (lease, answer) => {
    const body = answer.body === '' ? '' : await vault.seal(lease.scope.tenant_id, answer.body);
    return store.complete(lease, { ...answer, body });
  },
  begin: async (scope, fingerprint, leaseMs) => {
    const begin = await store.begin(scope, fingerprint, leaseMs);
    // Answers of earlier releases are not sealed.
    if (begin.kind !== 'replay' || !begin.body.startsWith(SEALED)) return begin;
    const body = await vault.open(scope.tenant_id, begin.body);
    if (body !== null) return { ...begin, body };
    await store.forget(scope.tenant_id);
    return store.begin(scope, fingerprint, leaseMs);
  },
});

/** How a sealed answer begins; answers of routes are objects of other members. */
const SEALED = '{"format":"quire-secret-1"';

/** Runs a request at most once per key, or answers what it was answered before. Only 2xx is kept. */
export const runOnce = async (replayable: Replayable, run: () => Promise<Sent>): Promise<Sent> => {
  const begin = await begun(replayable);
  switch (begin.kind) {
    case 'started':
      return runLeased(replayable, begin.lease, run);
    case 'in_progress':
      throw stillRunning('A request with this Idempotency-Key is still running.', begin.left_ms / 1000);
    case 'reused':
      throw problem('idempotency_key_reused', 'This Idempotency-Key belongs to another request.');
    case 'replay':
      return { status: begin.status, body: begin.body, replayed: true };
  }
};
