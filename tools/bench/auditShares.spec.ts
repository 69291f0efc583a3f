import { expect } from 'chai';
import Database from 'libsql';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { canonicalJson, type JsonObject } from '../../domain/kernel/json.ts';
import { findingsKept } from '../../src/audit/findings.ts';
import { sealOf, type GivenSeal } from '../../src/audit/chains.ts';
import { areApart, auditInShares, keyBag, type StartShares } from '../../src/audit/shares.ts';
import { shareThreads } from '../../src/service/auditedLog.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { copyTradingLog, writeTradingLog } from './tradingLog.ts';
import { EDITS } from '../../test/audit/edits/edits.ts';
import { inShares } from '../../test/audit/inShares.ts';
import { auditOf, intruderIn, nothing, tampered, type Intruder } from '../../test/audit/tampering.ts';

const bagOf = (...names: string[]) => {
  const bag = keyBag();
  for (const name of names) bag.add(name);
  return bag.keys();
};

/** A copy of a log, for one who changes its file. */
const copied = (from: string) => {
  const folder = tempFolder();
  const path = `${folder.path}/events.db`;
  const file = new Database(from);
  file.exec('pragma wal_checkpoint(truncate)');
  file.close();
  copyTradingLog(from, path);
  const change = (forge: (intruder: Intruder) => void): void => {
    const db = new Database(path);
    db.exec('pragma synchronous = off; begin');
    forge(intruderIn(db));
    db.exec('commit');
    db.close();
  };
  return { path, change, remove: () => folder.remove() };
};

const membersOf = (text: string): JsonObject => JSON.parse(text) as JsonObject;

/** When the last event of a tenant's account was recorded, and what its account came to. */
const lastOf = ({ all, last }: Intruder, tenant: string) => {
  const { metadata } = last(`account-${tenant}`);
  const posting = `stream = 'account-${tenant}' and data like '%"balance_after"%' order by position desc limit 1`;
  const { balance_after = 0 } = membersOf(all(posting)[0]?.data ?? '{}');
  return { metadata: membersOf(metadata), at: membersOf(metadata)['recorded_at'] ?? '', balance_after };
};

/** Puts an operation there that a tenant has cancelled, and gives the work that it was. */
const cancelledOperation = (intruder: Intruder, tenant: string): string => {
  const { metadata, at } = lastOf(intruder, tenant);
  const [operation_id, work_id] = [`op_of_${tenant}`, `ext_of_${tenant}`];
  const of = { operation_id, tenant_id: tenant };
  const work = { project_id: 'default', task_id: 'default', kind: 'extract', work_id, document_id: 'doc_1' };
  const terms = { mode: 'fast', billing_type: 'full_service', pages: 1, free: true, hold_id: null };
  const asked = { api_key_id: 'key_1', api_key_role: 'tenant', correlation_id: 'c', accepted_at: at };
  const digests = { input_sha256: 'a', fingerprint: 'b' };
  const accepted = { ...of, ...work, ...terms, ...asked, ...digests, expires_at: at };
  const events: readonly (readonly [string, JsonObject])[] = [
    ['OperationAccepted', accepted],
    ['OperationCancelled', { ...of, cancelled_at: at }],
  ];
  const end = intruder.all('1 = 1 order by position desc limit 1')[0]?.position ?? 0;
  const stream = `operation-${operation_id}`;
  for (const [revision, [type, data]] of events.entries()) {
    const place = { position: end + 1 + revision, stream, revision, id: `${stream}-${revision}` };
    intruder.put({ ...place, type, data: canonicalJson(data), metadata: canonicalJson(metadata) });
  }
  intruder.rechain(stream);
  return work_id;
};

/** What a charge without a hold says, of which no rule of its own account can complain. */
const chargeFor = (operation_id: string, { at, balance_after }: ReturnType<typeof lastOf>): JsonObject => ({
  usage_id: 'use_1',
  operation_id,
  hold_id: null,
  idempotency_key: 'charge-1',
  fingerprint: 'f',
  operation: 'examples_export',
  category: 'training',
  extraction_mode: null,
  billing_type: 'byok',
  pages: 0,
  free_pages: 0,
  credits_per_page: 0,
  credits: 0,
  billing_config_version: 1,
  project_id: 'default',
  task_id: 'default',
  document_id: null,
  job_id: null,
  api_key_id: null,
  created_at: at,
  balance_after,
});

describe('an audit by shares', () => {
  const folder = tempFolder();
  const path = `${folder.path}/events.db`;

  before(() => writeTradingLog({ path, events: 3_000, tenants: 12, seed: 7 }, () => undefined));
  after(() => folder.remove());

  const joinedOf = (start: StartShares, seals: readonly GivenSeal[] = []) =>
    auditInShares(start, { seals, findings: findingsKept(20) });

  const inThreads = (threads: number): StartShares => {
    const feed = openSqliteEventLog({ path, readOnly: true });
    const start = shareThreads(feed, path, { eventsMin: 0n, threads });
    return async (...work) => {
      try {
        return await start(...work);
      } finally {
        await feed.close();
      }
    };
  };

  for (const of of [1, 2, 5])
    it(`says of a log in which nothing is wrong what one thread says: ${of} shares`, async () => {
      const one = await auditOf(path);
      expect(one.report.total).to.equal(0);
      const { log, report } = await auditOf(path, { startShares: inShares(path, of) });
      expect(report).to.deep.equal(one.report);
      expect(log.digest).to.equal(one.log.digest);
      expect(() => sealOf(log, '2026-01-01T00:00:00.000Z')).to.throw('a seal needs an audit by one thread');
      expect(await joinedOf(inShares(path, of))).not.to.equal(undefined);
    });

  it('is the same in real threads, and says how far they are', async () => {
    const one = await auditOf(path);
    const two = await auditOf(path, { startShares: inThreads(2) });
    expect(two.report).to.deep.equal(one.report);
    expect(await joinedOf(inThreads(2))).not.to.equal(undefined);
  });

  for (const { name, make } of EDITS)
    it(`finds what one thread finds: ${name}`, async () => {
      const [one, shared] = await tampered(make, (file) =>
        Promise.all([auditOf(file), auditOf(file, { startShares: inShares(file) })]),
      );
      expect(shared.report).to.deep.equal(one.report);
    });

  /** Whether shares, looked at one by one, say that nothing is wrong. */
  const isEachClean = async (file: string): Promise<boolean> => {
    const { shares = [] } = (await inShares(file, 2)([], nothing)) ?? {};
    const times = await Promise.all(shares.map(({ read }) => read));
    const done = await Promise.all(shares.map(({ finish }) => finish(times.toSorted().at(-1) ?? '')));
    return [...times, ...done].every((said) => said !== null);
  };

  describe('of a log of many tenants that was forged', () => {
    const forged: Readonly<Record<string, (intruder: Intruder) => void>> = {
      'an event of one tenant is written as another’s': ({ first, run, rechain }) => {
        const { position, stream, metadata } = first('ExtractionCompleted');
        const other = metadata.replace(/"tenant_id":"[^"]*"/, '"tenant_id":"somebody"');
        run('update events set metadata = ? where position = ?', other, position);
        rechain(stream);
      },
      'a sale and its claim have the grant of another share’s tenant': ({ all, run, rechain }) => {
        const saleOf = (tenant: string) => all(`type = 'CreditsGranted' and stream = 'account-${tenant}'`)[0];
        const grantIn = (data = '') => /"grant_id":"([^"]*)"/.exec(data)?.[1] ?? '';
        const [theirs, own] = [saleOf('tenant-1'), saleOf('tenant-2')].map((sale) => grantIn(sale?.data));
        for (const { stream, position, data } of all(`data like '%"grant_id":"${own ?? ''}"%'`)) {
          const other = data.replaceAll(`"grant_id":"${own ?? ''}"`, `"grant_id":"${theirs ?? ''}"`);
          run('update events set data = ? where position = ?', other, position);
          rechain(stream);
        }
      },
      'the last event is taken out, and one before it moved there': ({ all, run, redigest }) => {
        const [last] = all('1 = 1 order by position desc limit 1');
        run('delete from events where position = ?', (last?.position ?? 0) - 1);
        redigest();
      },
    };
    /** No share has both halves of it. */
    const between: typeof forged = {
      'a charge names the work of an operation that another share’s tenant has cancelled': (intruder) => {
        const work = cancelledOperation(intruder, 'tenant-1');
        intruder.forge('account-tenant-2', 'CreditsBurned', chargeFor(work, lastOf(intruder, 'tenant-2')));
      },
    };
    const within: typeof forged = {
      'a burn settles a hold that another share’s tenant has used': ({ all, forge }) => {
        const [burned] = all(`type = 'CreditsBurned' and stream = 'account-tenant-1'`);
        forge('account-tenant-2', 'CreditsBurned', membersOf(burned?.data ?? '{}'));
      },
    };
    for (const [name, forge] of Object.entries({ ...forged, ...between, ...within }))
      it(name, async () => {
        const db = copied(path);
        db.change(forge);
        const one = await auditOf(db.path);
        const shared = await auditOf(db.path, { startShares: inShares(db.path, 2) });
        const isClean = await isEachClean(db.path);
        db.remove();
        expect(one.report.total).to.be.greaterThan(0);
        if (name in between) expect(isClean).to.equal(true);
        expect(shared.report).to.deep.equal(one.report);
      });
  });

  it('holds a log against short seals', async () => {
    const { log } = await auditOf(path);
    const previous = { seal_version: 2, made_at: '2026-01-01T00:00:00.000Z', previous: null } as const;
    const seal = { ...previous, position: '3', events: 3, log_digest: 'f'.repeat(64) };
    const good = { ...seal, position: log.facts.position ?? '', log_digest: log.digest };
    const kept = (one: GivenSeal['seal']): readonly GivenSeal[] => [{ seal: one, from: 'a file' }];
    for (const seals of [kept(good), kept(seal), kept(sealOf(log, previous.made_at))]) {
      const one = await auditOf(path, { seals });
      expect((await auditOf(path, { seals, startShares: inShares(path) })).report).to.deep.equal(one.report);
    }
    expect(await joinedOf(inShares(path), kept(good))).not.to.equal(undefined);
    expect(await joinedOf(inShares(path), kept(seal))).to.equal(undefined);
  });

  it('leaves a short log, and one core, to fewer threads', async () => {
    const feed = { end: () => Promise.resolve(3_000n) };
    const start = (options: Parameters<typeof shareThreads>[2]) =>
      shareThreads(feed, path, options)([], nothing);
    expect(await start({ threads: 2 })).to.equal(undefined);
    expect(await start({ threads: 1, eventsMin: 0n })).to.equal(undefined);
  });

  it('ends when it is told to', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const said = await auditOf(path, { startShares: inThreads(2), signal }).catch(String);
    expect(said).to.equal('Error: enough');
  });

  it('knows keys that two shares have', () => {
    const names = Array.from({ length: 5_000 }, (_, n) => `stream-${n}`);
    expect(areApart([bagOf(...names.slice(0, 2_000)), bagOf(...names.slice(2_000))])).to.equal(true);
    expect(areApart([bagOf(...names), bagOf('other', 'stream-4999')])).to.equal(false);
    expect(areApart([bagOf('twice', 'twice'), bagOf()])).to.equal(true);
    // a name may be made up whose key is zeros
    expect(areApart([new Uint32Array(2), new Uint32Array(2)])).to.equal(false);
    expect(areApart([new Uint32Array(2), bagOf('other')])).to.equal(true);
  });
});
