import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { REPLAY_STORE_DDL, replayStore } from '../../adapters/sqlTables.ts';
import type { Witness } from '../../domain/eventLog/witness.ts';
import type { ReplayScope, ReplayStore } from '../../domain/ports/services.ts';
import type { Sql } from '../../projections/engine/ports.ts';

const LEASE_MS = 10_000;
const ANSWER = { status: 200, body: '{"a":"ü\\u0000"}', keepMs: 60_000 };

/** What the replay store does on every Postgres. */
export const replayStoreContract = (name: string, open: () => Promise<Sql>): void => {
  describe(`replay store: ${name}`, () => {
    let sql: Sql;
    let now = Date.parse('2026-01-01T00:00:00.000Z');
    let store: ReplayStore;
    /** What the process knows of its log, and what the log has. */
    const log = { losses: 0, known: [] as Witness[], has: new Set<string>() };
    beforeEach(() => {
      Object.assign(log, { losses: 0, known: [], has: new Set<string>() });
    });
    before(async () => {
      sql = await open();
      await sql.script(REPLAY_STORE_DDL);
      await sql.script(REPLAY_STORE_DDL);
      store = replayStore(sql, () => now, {
        losses: () => log.losses,
        known: () => log.known,
        has: ({ hash }) => Promise.resolve(log.has.has(hash)),
      });
    });
    after(async () => {
      await sql.close();
    });

    const scopeOf = (tenant_id = 'acme'): ReplayScope => ({
      tenant_id,
      endpoint: 'extract',
      idempotency_key: randomUUID(),
    });
    const started = async (scope: ReplayScope, fingerprint = 'f') => {
      const begin = await store.begin(scope, fingerprint, LEASE_MS);
      if (begin.kind !== 'started') throw new Error(`not started: ${begin.kind}`);
      return begin.lease;
    };
    const kindOf = async (scope: ReplayScope, fingerprint = 'f') =>
      (await store.begin(scope, fingerprint, LEASE_MS)).kind;

    it('says how long a request holds its key if nobody renews its lease', async () => {
      const scope = scopeOf();
      await started(scope);
      const begin = await store.begin(scope, 'f', LEASE_MS);
      if (begin.kind !== 'in_progress') throw new Error(`not in progress: ${begin.kind}`);
      expect(begin.left_ms).to.be.greaterThan(0).and.to.be.at.most(LEASE_MS);
    });

    it('starts a request once, and replays its answer', async () => {
      const scope = scopeOf();
      const lease = await started(scope);
      expect(await kindOf(scope)).to.equal('in_progress');
      expect(await store.complete(lease, ANSWER)).to.equal(true);
      const { status, body } = ANSWER;
      expect(await store.begin(scope, 'f', LEASE_MS)).to.deep.equal({ kind: 'replay', status, body });
    });

    it('tells another request under the same key, running or answered', async () => {
      const scope = scopeOf();
      const lease = await started(scope);
      expect(await kindOf(scope, 'g')).to.equal('reused');
      await store.complete(lease, ANSWER);
      expect(await kindOf(scope, 'g')).to.equal('reused');
    });

    it('keeps tenants, endpoints and keys apart', async () => {
      const scope = scopeOf();
      await started(scope);
      expect(await kindOf({ ...scope, tenant_id: 'other' })).to.equal('started');
      expect(await kindOf({ ...scope, endpoint: 'other' })).to.equal('started');
      expect(await kindOf({ ...scope, idempotency_key: 'other' })).to.equal('started');
    });

    it('frees the key of a request that was abandoned', async () => {
      const scope = scopeOf();
      await store.abandon(await started(scope));
      expect(await kindOf(scope, 'g')).to.equal('started');
    });

    it('gives a request whose process died to the next, but not one that is renewed', async () => {
      const scope = scopeOf();
      const lease = await started(scope);
      now += LEASE_MS - 1;
      expect(await store.renew(lease, LEASE_MS)).to.equal(true);
      now += LEASE_MS - 1;
      expect(await kindOf(scope)).to.equal('in_progress');
      now += 1;
      expect(await kindOf(scope)).to.equal('started');
    });

    it('does not let a process that lost its lease complete, renew or abandon', async () => {
      const scope = scopeOf();
      const lost = await started(scope);
      now += LEASE_MS;
      const held = await started(scope, 'g');
      expect(await store.complete(lost, ANSWER)).to.equal(false);
      expect(await store.renew(lost, LEASE_MS)).to.equal(false);
      await store.abandon(lost);
      expect(await kindOf(scope, 'g')).to.equal('in_progress');
      expect(await store.complete(held, ANSWER)).to.equal(true);
    });

    it('forgets all answers of a tenant, and no request that runs', async () => {
      const [mine, running, other] = [scopeOf('erased'), scopeOf('erased'), scopeOf()];
      for (const scope of [mine, other]) await store.complete(await started(scope), ANSWER);
      await started(running);
      await store.forget('erased');
      expect(await kindOf(mine, 'g')).to.equal('started');
      expect(await kindOf(running)).to.equal('in_progress');
      expect(await kindOf(other)).to.equal('replay');
    });

    it('forgets an answer when its time is over, and a purge removes it', async () => {
      const scope = scopeOf();
      await store.complete(await started(scope), ANSWER);
      now += ANSWER.keepMs;
      expect(await store.purge()).to.be.at.least(1);
      expect(await store.purge()).to.equal(0);
      expect(await kindOf(scope, 'g')).to.equal('started');
    });

    const eventOf = (hash: string): Witness => ({
      stream: 'account-acme',
      revision: 2n ** 53n,
      position: 2n ** 53n + 1n,
      hash,
    });
    const answeredOn = async (...known: readonly string[]) => {
      const scope = scopeOf();
      log.known = known.map(eventOf);
      log.has = new Set(known);
      await store.complete(await started(scope), ANSWER);
      expect(await kindOf(scope)).to.equal('replay');
      return scope;
    };

    it('takes an answer for none when the log lost an event that it stands on, and the next request runs', async () => {
      for (const lost of ['one', 'two']) {
        const scope = await answeredOn('one', 'two');
        log.has.delete(lost);
        expect(await kindOf(scope, 'g')).to.equal('started');
        expect(await kindOf(scope, 'g')).to.equal('in_progress');
      }
    });

    it('starts one of many that come for an answer that is none any more', async () => {
      const scope = await answeredOn('one');
      log.has.clear();
      const kinds = await Promise.all(Array.from({ length: 16 }, () => kindOf(scope)));
      expect(kinds.filter((kind) => kind === 'started')).to.have.lengthOf(1);
      expect(kinds.filter((kind) => kind === 'in_progress')).to.have.lengthOf(15);
    });

    it('replays an answer that stands on nothing, and one of a release that did not note it', async () => {
      const scope = await answeredOn();
      const earlier = await answeredOn('one');
      log.has.clear();
      await sql.query('update http_cache.replays set stands_on = null where idempotency_key = $1', [
        earlier.idempotency_key,
      ]);
      for (const one of [scope, earlier]) expect(await kindOf(one)).to.equal('replay');
    });

    it('keeps no answer of a request during which the log lost something', async () => {
      const scope = scopeOf();
      const lease = await started(scope);
      log.losses += 1;
      expect(await store.complete(lease, ANSWER)).to.equal(false);
      expect(await kindOf(scope)).to.equal('started');
    });

    it('gives the table of an earlier release what it lacks', async () => {
      await sql.script('alter table http_cache.replays drop column stands_on');
      await sql.script(REPLAY_STORE_DDL);
      await answeredOn('one');
    });

    it('starts one of many at once', async () => {
      const scope = scopeOf();
      const kinds = await Promise.all(Array.from({ length: 16 }, () => kindOf(scope)));
      expect(kinds.filter((kind) => kind === 'started')).to.have.lengthOf(1);
      expect(kinds.filter((kind) => kind === 'in_progress')).to.have.lengthOf(15);
    });
  });
};
