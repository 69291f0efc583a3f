import { formatKey, isWellFormedKey, keyTraces } from '../../domain/apiKey.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import type { ProjectedEvent } from '../../projections/engine/ports.ts';
import { apiKeys } from '../../src/commands/apiKeys.ts';
import { authenticator, confirmedKeys, type KeyRecord, workerOf } from '../../src/server/keys.ts';
import { Problem } from '../../src/server/problems.ts';
import type { AccountWriter } from '../../src/writer/accountWriter.ts';
import { metaOf } from '../../src/writer/commandMeta.ts';
import type { Answer, Asked, ProcessEnv } from './env.ts';

const ADMIN = { key_id: 'key_admin', role: 'admin' } as const;

/** A key of that name, the same in each run. */
export const keyNamed = (name: string): string =>
  formatKey('tenant', Buffer.from([1, 2, 3].map((n) => sha256(`${name} ${String(n)}`)).join(''), 'hex'));

/** A key as the read model of keys has it. */
const keyIn = (events: readonly ProjectedEvent[], hash: string): KeyRecord | undefined => {
  let found: KeyRecord | undefined;
  for (const { type, data } of events)
    if (type === 'ApiKeyIssued' && data.key_hash === hash) {
      const { key_id, tenant_id, role, expires_at } = data;
      found = { key_id, tenant_id, role, expires_at, revoked_at: null };
    } else if (type === 'ApiKeyRevoked' && data.key_hash === hash && found !== undefined)
      found = { ...found, revoked_at: data.revoked_at };
  return found;
};

/** What a process knows of keys, and who may come in. */
export const keyRequests = (
  env: ProcessEnv,
  {
    store,
    accounts,
    once,
  }: {
    readonly store: EventStore;
    readonly accounts: AccountWriter;
    readonly once: (asked: Asked, run: () => Promise<Answer>) => Promise<Answer>;
  },
) => {
  const keys = apiKeys({ store, writer: accounts });
  const guard = authenticator({
    lookup: confirmedKeys({
      lookup: (hash) => env.askLog('key by hash', (events) => keyIn(events, hash)),
      stateOf: (keyId) => keys.stateOf(keyId),
    }),
    isWellFormed: isWellFormedKey,
    adminKey: undefined,
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
  });
  const failed = (kind: string): Answer => ({
    kind: 'problem',
    code: kind === 'rejected' ? 'key_not_found' : 'busy',
  });
  return {
    issueKey: (asked: Asked): Promise<Answer> =>
      once(asked, async () => {
        const { tenant: tenant_id, key: name, correlation } = asked;
        const key_id = env.clock.newId('key');
        const key = { key_id, tenant_id, role: 'tenant' as const, name, expires_at: null };
        const traces = keyTraces(keyNamed(name));
        const outcome = await keys.issue({ ...key, ...traces }, metaOf(env, ADMIN, correlation));
        return outcome.kind === 'done' ? { kind: 'ok', id: key_id, body: null } : failed(outcome.kind);
      }),
    revokeKey: async (key_id: string): Promise<Answer> => {
      const { key } = await keys.stateOf(key_id);
      const outcome = await keys.revoke(key_id, metaOf(env, ADMIN, `revoke ${key_id}`));
      if (outcome.kind !== 'done') return failed(outcome.kind);
      if (key !== null) guard.refuse(key.key_hash);
      return { kind: 'ok', id: key_id, body: null };
    },
    /** Does for a caller what its key lets it do. */
    entering: async (
      name: string | undefined,
      run: (caller?: ReturnType<typeof workerOf>) => Promise<Answer>,
    ): Promise<Answer> => {
      if (name === undefined) return run();
      const askedAt = env.clock.monotonicMs?.() ?? 0;
      try {
        const caller = workerOf(await guard.authenticate(keyNamed(name)));
        env.entered(caller.key_id, askedAt);
        return await run(caller);
      } catch (error) {
        if (error instanceof Problem) return { kind: 'problem', code: String(error.code) };
        throw error;
      }
    },
  };
};
