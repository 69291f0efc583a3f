import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { aesSecretBox } from '../../adapters/local/local.ts';
import { openObjectFolder } from '../../adapters/local/objectFolder.ts';
import { openSqliteEventLog, type SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { lastMove, readThrough, sourceOf, TEXTS_STREAM } from '../../domain/eventLog/movedTexts.ts';
import { verifyChain } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { contentOf, type RecordedEvent, shownEvent, type Snapshot } from '../../domain/ports/log.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { tokensIn } from '../../domain/writtenText.ts';
import { everything } from '../../src/audit/streams.ts';
import { openedLog } from '../../src/commands/sealing.ts';
import { moveTexts, type MoveTextsDeps } from '../../src/operator/moveTexts.ts';
import { textMover, textVault, type VaultDeps } from '../../src/writer/vault.ts';
import { writeOldLog } from '../support/logs/oldLog.ts';

const NOW = '2026-02-01T08:00:00.000Z';
const OPERATOR = { key_id: 'oidc:olga', role: 'admin' };
const MEMBER = { key_id: 'oidc:mina', role: 'tenant' };

type Stored = Pick<RecordedEvent, 'stream' | 'revision' | 'type' | 'data' | 'metadata'>;

/** Killed after so many calls of what is outside. */
class Killed extends Error {}

describe('moving texts of old events', () => {
  let folder: TempFolder;
  let log: SqliteEventLog;
  let objects: ObjectStore;
  const key = randomBytes(32).toString('base64');

  const vaultDeps = (over: VaultDeps['objects'] = objects): VaultDeps => ({
    objects: over,
    box: aesSecretBox({ current: key, old: [] }),
    boxOf: aesSecretBox,
    nowMs: () => Date.now(),
    random: (bytes: number) => randomBytes(bytes),
  });
  const depsOver = async (change: Partial<MoveTextsDeps> = {}, over = objects): Promise<MoveTextsDeps> => ({
    log,
    snapshots: log.snapshots,
    move: await textMover(vaultDeps(over)),
    now: () => NOW,
    signal: new AbortController().signal,
    ...change,
  });

  const revisions = new Map<string, bigint>();
  const old = (
    [stream, type]: readonly [string, string],
    data: JsonObject,
    { actor = MEMBER, tenant = 'acme' }: { actor?: JsonObject; tenant?: string | null } = {},
  ): Stored => {
    const revision = revisions.get(stream) ?? 0n;
    revisions.set(stream, revision + 1n);
    const ids = { correlation_id: 'r', causation_id: randomUUID() };
    const metadata = { ...ids, schema_version: 1, actor, tenant_id: tenant, recorded_at: NOW };
    return {
      stream,
      revision,
      type,
      data,
      metadata: { ...metadata, prev_hash: null, hash_version: 2, hash: '' },
    };
  };
  const upload = (id: string, tenant: string) =>
    old(
      [`document-${id}`, 'DocumentRegistered'],
      {
        document_id: id,
        tenant_id: tenant,
        project_id: 'p',
        task_id: 't',
        file_name: `Zebrowski ${id}.pdf`,
        mime_type: 'application/pdf',
        bytes: 3,
        pages: 1,
        source: 'upload',
        sha256: 'a'.repeat(64),
        created_at: NOW,
      },
      { tenant },
    );
  const adjusted = (tenant: string, reason: string, actor: JsonObject = MEMBER) =>
    old(
      [`account-${tenant}`, 'PlanSet'],
      { plan: 'paid', previous_plan: 'free', reason, set_at: NOW },
      { actor, tenant },
    );

  beforeEach(async () => {
    folder = tempFolder();
    revisions.clear();
    const events = [
      adjusted('acme', 'for Zebrowski', OPERATOR),
      upload('doc_1', 'acme'),
      upload('doc_2', 'acme'),
      adjusted('acme', 'again for Zebrowski'),
      adjusted('gone', 'was Zebrowski'),
      old(['document-doc_2', 'DocumentErased'], { document_id: 'doc_2', tenant_id: 'acme', erased_at: NOW }),
      old(['erasures', 'TenantErased'], { tenant_id: 'gone', erased_at: NOW }, { tenant: 'gone' }),
      adjusted('gone', 'came back, Zebrowski'),
      old(['priceList-1', 'Note'], { note: 'of nobody: Zebrowski' }, { actor: OPERATOR, tenant: null }),
    ];
    const feed = {
      subscribe: async function* () {
        await Promise.resolve();
        for (const [at, event] of events.entries())
          yield { kind: 'event', event: { ...event, id: '', position: BigInt(at) } } as const;
        yield { kind: 'caught_up' } as const;
      },
    };
    await writeOldLog({ feed, vault: undefined }, join(folder.path, 'events.db'));
    log = openSqliteEventLog({ path: join(folder.path, 'events.db') });
    objects = await openObjectFolder(join(folder.path, 'objects'));
    await openedLog(log, NOW);
  });
  afterEach(async () => {
    await log.close();
    folder.remove();
  });

  const all = async (from: SqliteEventLog): Promise<readonly RecordedEvent[]> => {
    const events: RecordedEvent[] = [];
    for await (const event of everything(from)) events.push(event);
    return events;
  };
  const saidIn = (events: readonly RecordedEvent[]): string =>
    JSON.stringify(events.map((event) => [shownEvent(event).data, shownEvent(event).metadata]));

  it('reads every event before the mark with tokens, and none of it otherwise', async () => {
    const before = saidIn(await all(log));
    const source = await sourceOf(log);
    const moved = await moveTexts(await depsOver());
    expect(moved).to.deep.include({ events: 8, texts: 7, erased: 6, kept: 7 });
    const through = await all(readThrough(log));
    const said = saidIn(through);
    expect(said.match(/Zebrowski/g)).to.deep.equal(['Zebrowski']);
    expect(said)
      .to.include('of nobody: Zebrowski')
      .and.to.include('oidc:olga')
      .and.not.to.include('oidc:mina');
    // What is stored is as it was, and so is the chain.
    expect(JSON.stringify(through.map(({ data, metadata }) => [data, metadata]))).to.include(
      before.slice(1, -1),
    );
    for (const stream of revisions.keys())
      expect(verifyChain(through.filter((event) => event.stream === stream)), stream).to.equal(null);
    expect(await sourceOf(log)).to.equal(`${String(source)} ${(await lastMove(log))?.id ?? ''}`);
    // A mark says of the events before it, and of no later one.
    const late = readThrough(log, 1n);
    expect((await all(late)).filter((event) => event.moved !== undefined)).to.have.length(0);
  });

  it('gives texts back until they are erased, by the decoder that all share', async () => {
    await moveTexts(await depsOver());
    const vault = textVault(vaultDeps());
    const through = readThrough(log);
    const nameOf = async (id: string): Promise<unknown> => {
      for await (const event of through.read(`document-${id}`, { limit: 1 })) {
        const { file_name: token } = decodeAny(event).data as { file_name: string };
        expect(contentOf(event).data['file_name']).to.equal(token);
        return (await vault.texts([token])).get(token);
      }
      return 'no event';
    };
    expect(await nameOf('doc_1')).to.equal('Zebrowski doc_1.pdf');
    expect(await nameOf('doc_2'), 'was erased before').to.equal(undefined);
    const said = saidIn(await all(through));
    const texts = await vault.texts(tokensIn(said));
    expect([...texts.values()]).to.include.members(['for Zebrowski', 'oidc:mina', 'came back, Zebrowski']);
    expect([...texts.values()]).not.to.include('was Zebrowski');
    await vault.forget({ tenant_id: 'acme' });
    expect(await nameOf('doc_1')).to.equal(undefined);
    expect(saidIn(await all(readThrough(log))), 'a rebuild reads the same').to.equal(said);
    for await (const { key: name } of objects.list(''))
      expect(Buffer.from((await objects.get(name)) ?? []).toString('latin1')).not.to.include('Zebrowski');
  });

  it('is done again from wherever it was killed, and writes one mark', async () => {
    const stream = 'account-acme';
    const snapshot = { stream, revision: 1n, hash: 'h', reducer_version: 3, state_hash: 's' };
    await log.snapshots.save({ ...snapshot, state: { sales: [['1', { note: 'Zebrowski' }]] } });
    let killed = 0;
    for (let calls = 0; ; calls += 1) {
      let left = calls;
      const step =
        <Args extends readonly unknown[], T>(work: (...args: Args) => Promise<T>) =>
        async (...args: Args): Promise<T> => {
          if ((left -= 1) < 0) throw new Killed();
          return work(...args);
        };
      const over = {
        ...objects,
        put: step((...args: Parameters<ObjectStore['put']>) => objects.put(...args)),
      };
      const dying: Partial<MoveTextsDeps> = {
        log: { ...log, append: step((...args: Parameters<typeof log.append>) => log.append(...args)) },
        snapshots: { ...log.snapshots, save: step((one: Snapshot) => log.snapshots.save(one)) },
      };
      const done = await moveTexts(await depsOver(dying, over)).catch((error: unknown) => error);
      if (done instanceof Killed) killed += 1;
      else if (!(done instanceof Error)) break;
      else throw done;
    }
    // Two keys and seven texts, a snapshot, and the mark.
    expect(killed).to.be.greaterThan(3);
    const texts = await textVault(vaultDeps()).texts(tokensIn(saidIn(await all(readThrough(log)))));
    expect(texts.size).to.equal(7);
    expect((await log.snapshots.load(stream))?.state).to.deep.equal({});
    const end = await log.end();
    expect(await moveTexts(await depsOver())).to.deep.include({ texts: 7, kept: 0 });
    expect(await log.end()).to.equal(end);
    const marks: RecordedEvent[] = [];
    for await (const mark of log.read(TEXTS_STREAM)) marks.push(mark);
    expect(marks).to.have.length(1);
  });

  it('refuses where somebody writes meanwhile, and marks nothing where there is no text', async () => {
    const deps = await depsOver();
    const writing: MoveTextsDeps['move'] = async (...args) => {
      await log.append('other-1', 'no_stream', [{ id: randomUUID(), type: 'Other', data: {}, metadata: {} }]);
      return deps.move(...args);
    };
    const refused = await moveTexts({ ...deps, move: writing }).catch((error: unknown) => String(error));
    expect(refused).to.include('Something was written to the log meanwhile');
    expect(await lastMove(log)).to.equal(undefined);
    const empty = openSqliteEventLog({ path: join(folder.path, 'empty.db') });
    expect((await moveTexts({ ...deps, log: empty })).position).to.equal(null);
    expect(await empty.end()).to.equal(undefined);
    await empty.close();
  });
});
