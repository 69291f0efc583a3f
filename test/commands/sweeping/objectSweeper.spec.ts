import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Map as ImmutableMap } from 'immutable';
import { openObjectFolder } from '../../../adapters/local/objectFolder.ts';
import { keptDays } from '../../../domain/retention.ts';
import { sha256 } from '../../../domain/kernel/chain.ts';
import { operationProblems } from '../../../src/commands/operations.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';
import { documents } from '../../../src/commands/uploads.ts';
import { document, type DocumentState } from '../../../domain/document.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import { objectSweeper, type ObjectSweeperDeps, type WorkFate } from '../../../src/worker/sweeping.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';

const HOUR_MS = 3_600_000;
const NOW = '2026-01-31T08:00:00.000Z';
const KEEPS = { uploads: 0, results: 1, examples: 0, deliveries: 0 };
const USED = { ...document.initialState, registered: {} } as unknown as DocumentState;

/** Nobody has uploaded anything. */
const UNUSED: Pick<ObjectSweeperDeps, 'documents' | 'usedOf' | 'learnedOf' | 'awaitedOf'> = {
  documents: {
    record: () => Promise.reject(new Error('nothing is recorded')),
    stateOf: () => Promise.resolve(document.initialState),
  },
  usedOf: () => Promise.resolve([]),
  learnedOf: () => Promise.resolve(new Set()),
  awaitedOf: () => Promise.resolve(new Set()),
};

const keysIn = async (objects: Pick<ObjectStore, 'list'>): Promise<readonly string[]> => {
  const found: string[] = [];
  for await (const { key } of objects.list('')) found.push(key);
  return found;
};

describe('object sweeper', () => {
  it('says of an upload that nobody used that it is removed, before it is', async () => {
    const folder = tempFolder();
    const objects = await openObjectFolder(folder.path);
    await objects.put('uploads/doc_unused', Buffer.from('x'));
    const store = memoryEventStore();
    const own = documents(store);
    const meta = {
      now: NOW,
      actor: { key_id: 'k', role: 'tenant' as const },
      correlation_id: 'c',
      command_id: randomUUID(),
    };
    const upload = {
      document_id: 'doc_unused',
      tenant_id: 't',
      project_id: 'p',
      task_id: 'd',
      file_name: null,
      content_type: null,
      bytes: 1,
      kind: 'document' as const,
      dataset_id: null,
    };
    await own.record(
      { type: 'UploadPresigned', data: { ...upload, expires_at: NOW, created_at: NOW } },
      meta,
    );
    const sweeper = objectSweeper({
      ...UNUSED,
      documents: own,
      kept: () => Promise.resolve(keptDays(KEEPS)),
      queuedFate: () => Promise.resolve({ kind: 'unknown' }),
      workFate: () => Promise.resolve({ kind: 'unknown' }),
      clock: { uuid: randomUUID, now: () => new Date(Date.now() + 24.1 * HOUR_MS).toISOString() },
      objects: {
        ...objects,
        remove: async (key) => {
          expect((await own.stateOf('doc_unused')).removed).to.include({ reason: 'retention' });
          await objects.remove(key);
        },
      },
    });
    expect(await sweeper.sweep()).to.include({ uploads: 1, left: 0 });
    expect(await keysIn(objects)).to.deep.equal([]);
    folder.remove();
  });

  it('keeps an upload that is used while it is about to be removed', async () => {
    const folder = tempFolder();
    const objects = await openObjectFolder(folder.path);
    await objects.put('uploads/doc_late', Buffer.from('x'));
    const own = documents(memoryEventStore());
    const key = { key_id: 'k', role: 'tenant' as const };
    const meta = () => ({ now: NOW, actor: key, correlation_id: 'c', command_id: randomUUID() });
    const names = { document_id: 'doc_late', tenant_id: 't', project_id: 'p', task_id: 'd', file_name: null };
    const sent = { ...names, bytes: 1, created_at: NOW };
    const presigned = {
      ...sent,
      content_type: null,
      kind: 'document' as const,
      dataset_id: null,
      expires_at: NOW,
    };
    const used = { ...sent, mime_type: 'text/plain', pages: 1, sha256: 'ab', source: 'upload' as const };
    await own.record({ type: 'UploadPresigned', data: presigned }, meta());
    const sweeper = objectSweeper({
      ...UNUSED,
      documents: {
        ...own,
        stateOf: async (id) => {
          const state = await own.stateOf(id);
          await own.record({ type: 'DocumentRegistered', data: used }, meta());
          return state;
        },
      },
      kept: () => Promise.resolve(keptDays(KEEPS)),
      queuedFate: () => Promise.resolve({ kind: 'unknown' }),
      workFate: () => Promise.resolve({ kind: 'unknown' }),
      clock: { uuid: randomUUID, now: () => new Date(Date.now() + 24.1 * HOUR_MS).toISOString() },
      objects,
    });
    expect(await sweeper.sweep()).to.include({ uploads: 0, left: 0 });
    expect(await keysIn(objects)).to.deep.equal(['uploads/doc_late']);
    expect((await own.stateOf('doc_late')).removed).to.equal(null);
    folder.remove();
  });

  it('removes unused uploads after a day and results after 25 hours, and nothing else', async () => {
    const folder = tempFolder();
    const objects = await openObjectFolder(folder.path);
    const keys = [
      'uploads/doc_unused',
      'uploads/doc_used',
      'uploads/doc_late',
      'results/a',
      'artifacts/a',
      'unfinished/a',
    ];
    for (const key of keys) await objects.put(key, Buffer.from('x'));
    const fates = new Map<string, WorkFate>();
    let hours = 23.9;
    const awaited = new Set<string>(['doc_unused']);
    const sweeper = objectSweeper({
      objects,
      // The read model does not know yet that doc_late is used: the log does.
      documents: {
        record: () => Promise.reject(new Error('nothing is recorded')),
        stateOf: (id) => Promise.resolve(id === 'doc_unused' ? document.initialState : USED),
      },
      queuedFate: (id) => Promise.resolve(fates.get(id) ?? { kind: 'unknown' }),
      workFate: (id) => Promise.resolve(fates.get(id) ?? { kind: 'unknown' }),
      usedOf: () => Promise.resolve([{ document_id: 'doc_used', tenant_id: 't' }]),
      learnedOf: () => Promise.resolve(new Set()),
      awaitedOf: () => Promise.resolve(awaited),
      kept: () => Promise.resolve(keptDays(KEEPS)),
      clock: { uuid: randomUUID, now: () => new Date(Date.now() + hours * HOUR_MS).toISOString() },
    });
    const left = () => keysIn(objects);
    expect(await sweeper.sweep()).to.deep.equal({
      uploads: 0,
      expired: 0,
      erased: 0,
      results: 0,
      examples: 0,
      deliveries: 0,
      texts: 0,
      left: 0,
    });
    expect(await left()).to.have.members(keys);
    hours = 24.1;
    // A batch waits for it: what was accepted is done.
    expect(await sweeper.sweep()).to.deep.equal({
      uploads: 0,
      expired: 0,
      erased: 0,
      results: 0,
      examples: 0,
      deliveries: 0,
      texts: 0,
      left: 0,
    });
    awaited.clear();
    expect(await sweeper.sweep()).to.deep.equal({
      uploads: 1,
      expired: 0,
      erased: 0,
      results: 0,
      examples: 0,
      deliveries: 0,
      texts: 0,
      left: 0,
    });
    hours = 25.1;
    expect(await sweeper.sweep()).to.deep.equal({
      uploads: 0,
      expired: 0,
      erased: 0,
      results: 1,
      examples: 0,
      deliveries: 0,
      texts: 0,
      left: 0,
    });
    expect(await left()).to.have.members([
      'uploads/doc_used',
      'uploads/doc_late',
      'artifacts/a',
      'unfinished/a',
    ]);
    folder.remove();
  });

  it('asks the log once for each piece of work that is kept, not in every sweep', async () => {
    const MANY = 5_000;
    const digest = 'a'.repeat(64);
    const keys = new Set(Array.from({ length: MANY }, (_, n) => `results/ext_${String(n)}/${digest}`));
    for (let n = 0; n < 100; n += 1) keys.add(`evaluations/set_${String(n)}/doc_1/${digest}`);
    const start = Date.parse('2026-01-01T00:00:00.000Z');
    let [hours, asked] = [2, 0];
    const ended = { kind: 'ended', at: new Date(start).toISOString(), tenant_id: 't' } as const;
    const ask = (fate: WorkFate) => (): Promise<WorkFate> => {
      asked += 1;
      return Promise.resolve(fate);
    };
    const sweeper = objectSweeper({
      ...UNUSED,
      objects: {
        list: async function* (prefix) {
          await Promise.resolve();
          for (const key of [...keys])
            if (key.startsWith(prefix)) yield { key, bytes: 1, modified_at: new Date(start).toISOString() };
        },
        remove: (key) => Promise.resolve(void keys.delete(key)),
        get: () => Promise.reject(new Error('nothing is read')),
        put: () => Promise.reject(new Error('nothing is put')),
      },
      queuedFate: ask({ kind: 'open', stays: 'hours' }),
      workFate: ask(ended),
      kept: () => Promise.resolve(keptDays(KEEPS)),
      clock: { uuid: randomUUID, now: () => new Date(start + hours * HOUR_MS).toISOString() },
    });
    await sweeper.sweep();
    expect(asked).to.equal(MANY + 100);
    for (hours = 3; hours < 8; hours += 1) await sweeper.sweep();
    expect(asked).to.equal(MANY + 100);
    hours = 24.1;
    // Before anything is removed the log is asked; sets are asked for again after some hours.
    expect((await sweeper.sweep()).results).to.equal(MANY);
    expect(asked).to.equal(2 * (MANY + 100));
    expect(keys.size).to.equal(100);
  });

  it('asks again for a review when it may end, and for examples of an erased document until taken', async () => {
    const start = Date.parse('2026-01-01T00:00:00.000Z');
    let hours = 2;
    const now = () => new Date(start + hours * HOUR_MS).toISOString();
    const [asked, taken]: [string[], string[]] = [[], []];
    const became = new Map<string, 'taken' | 'nothing' | 'open'>([
      ['job_done', 'taken'],
      ['job_runs', 'open'],
    ]);
    const keys = ['operations/op_1/request', 'training/job_done/a', 'training/job_runs/a'];
    const none = () => Promise.reject(new Error('nothing is put or removed'));
    const sweeper = objectSweeper({
      ...UNUSED,
      objects: {
        get: none,
        put: none,
        remove: none,
        list: async function* (prefix) {
          await Promise.resolve();
          for (const key of keys)
            if (key.startsWith(prefix)) yield { key, bytes: 1, modified_at: new Date(start).toISOString() };
        },
      },
      queuedFate: (id) => {
        asked.push(id);
        const until = new Date(start + 4.5 * HOUR_MS).toISOString();
        return Promise.resolve({ kind: 'open', stays: 'hours', ...(id === 'op_1' && { until }) });
      },
      workFate: none,
      kept: () => Promise.resolve(keptDays(KEEPS)),
      erased: {
        any: () => Promise.resolve(true),
        among: () => Promise.resolve(new Set()),
        ofJobs: (ids) =>
          Promise.resolve(ids.map((job_id) => ({ job_id, tenant_id: 't', document_id: 'doc_1' }))),
        forgetExamples: (_, { job_id }) => {
          taken.push(job_id);
          const told = became.get(job_id) ?? 'nothing';
          if (told === 'taken') became.delete(job_id);
          return Promise.resolve(told);
        },
        forgetReview: none,
        forgetInEvaluations: none,
      },
      clock: { uuid: randomUUID, now },
    });
    const each = async (): Promise<readonly [number, string]> => {
      [asked.length, taken.length] = [0, 0];
      const { left } = await sweeper.sweep();
      hours += 1;
      return [left, [...asked, ...taken].join(' ')];
    };
    expect(await each()).to.deep.equal([0, 'op_1 job_done job_runs job_done job_runs']);
    expect(await each()).to.deep.equal([0, 'job_done job_runs']);
    expect(await each()).to.deep.equal([0, 'job_runs']);
    expect(await each(), 'the review may have ended').to.deep.equal([0, 'op_1 job_runs']);
  });

  it('keeps what work needs until it is over, by the times of the log', async () => {
    const folder = tempFolder();
    const objects = await openObjectFolder(folder.path);
    const digest = (of: string) => of.repeat(64);
    const kept = [
      ['results/ext_unbilled/', digest('a')],
      ['operations/op_open/', digest('b')],
      ['secrets/op_open/', 'k'],
      ['training/job_ended/', digest('c')],
      ['secrets/sec_config', ''],
    ].map((parts) => parts.join(''));
    const over = [
      ['results/ext_billed/', digest('a')],
      ['results/ext_nobody/', digest('a')],
      ['results/spl_nobody/', digest('a')],
      ['results/cls_nobody/', digest('a')],
      ['results/op_failed/', 'problem'],
      ['operations/op_ended/parts/', '1'],
      ['operations/op_nobody/', digest('b')],
      ['secrets/op_nobody/', 'k'],
      ['secrets/bat_ended/', 'k'],
      ['training/job_nobody/', digest('c')],
      ['training/job_ended/', digest('d')],
    ].map((parts) => parts.join(''));
    for (const key of [...kept, ...over]) await objects.put(key, Buffer.from('x'));
    let hours = 0;
    const at = () => new Date(Date.now() + hours * HOUR_MS).toISOString();
    const began = at();
    const fates = new Map<string, WorkFate & { readonly keeps?: string }>([
      ['ext_unbilled', { kind: 'open' }],
      ['ext_billed', { kind: 'ended', at: began, tenant_id: 't' }],
      ['op_open', { kind: 'open' }],
      ['op_failed', { kind: 'ended', at: began, tenant_id: 't' }],
      ['op_ended', { kind: 'ended', at: began, tenant_id: 't' }],
      ['bat_ended', { kind: 'ended', at: began, tenant_id: 't' }],
      ['job_ended', { kind: 'ended', at: began, tenant_id: 't', keeps: kept[3]! }],
    ]);
    const fateOf = (id: string) => Promise.resolve(fates.get(id) ?? ({ kind: 'unknown' } as const));
    const sweeper = objectSweeper({
      objects,
      queuedFate: fateOf,
      workFate: fateOf,
      kept: () => Promise.resolve(keptDays(KEEPS)),
      ...UNUSED,
      clock: { uuid: randomUUID, now: at },
    });
    const left = () => keysIn(objects);
    await sweeper.sweep();
    expect(await left(), 'what is new may be on its way').to.have.members([...kept, ...over]);
    hours = 2;
    await sweeper.sweep();
    expect(await left()).to.have.members([...kept, ...over.filter((key) => !/ended/.test(key))]);
    hours = 23;
    await sweeper.sweep();
    expect(await left()).to.include(over[0]);
    hours = 24.1;
    await sweeper.sweep();
    expect(await left()).to.have.members(kept);
    hours = 24 * 30;
    await sweeper.sweep();
    expect(await left(), 'a result that is not billed yet is kept').to.have.members(kept);
    folder.remove();
  });

  it('keeps results and sentences of problems for the days of their tenant', async () => {
    const folder = tempFolder();
    const objects = await openObjectFolder(folder.path);
    const keysOf = (suffix: string) => [
      `results/ext_${suffix}/${'a'.repeat(64)}`,
      `results/op_${suffix}/problem`,
    ];
    const [brief, others, refused] = [keysOf('brief'), keysOf('others'), 'results/op_refused/problem'];
    const problems = operationProblems(objects);
    for (const key of [brief[0]!, others[0]!]) await objects.put(key, Buffer.from('x'));
    for (const id of ['op_brief', 'op_others', 'op_refused'])
      await problems.put(id, { kind: 'problem', code: 'busy', detail: id });
    const began = new Date().toISOString();
    const days = { uploads: null, examples: null, deliveries: null, results: 1 };
    const tenants = ImmutableMap([['brief', { days, updated_at: began, updated_by: 'k' }]]);
    const fateOf = (id: string): Promise<WorkFate> => {
      const [, tenant_id = ''] = id.split('_');
      return Promise.resolve(
        tenant_id === 'refused' ? { kind: 'unknown' } : { kind: 'ended', at: began, tenant_id },
      );
    };
    const sweptAfter = async (hours: number) => {
      await objectSweeper({
        objects,
        queuedFate: fateOf,
        workFate: fateOf,
        kept: () => Promise.resolve(keptDays({ ...KEEPS, results: 3 }, { tenants })),
        ...UNUSED,
        clock: { uuid: randomUUID, now: () => new Date(Date.now() + hours * HOUR_MS).toISOString() },
      }).sweep();
      return keysIn(objects);
    };
    expect(await sweptAfter(23.9)).to.have.members([...brief, ...others, refused]);
    expect(await sweptAfter(24.1)).to.have.members([...others, refused]);
    expect(await sweptAfter(71.9)).to.have.members([...others, refused]);
    expect(await problems.find('op_others')).to.include({ detail: 'op_others' });
    expect(await sweptAfter(73.1)).to.deep.equal([]);
    folder.remove();
  });

  it('finds and removes sentences of problems where earlier releases put them', async () => {
    const folder = tempFolder();
    const objects = await openObjectFolder(folder.path);
    const problems = operationProblems(objects);
    const former = `results/${sha256('operation problem\u001fop_1')}`;
    const text = JSON.stringify({ code: 'unreadable_file', detail: 'It is broken.' });
    await objects.put(former, Buffer.from(text));
    expect(await problems.find('op_1')).to.deep.include({ detail: 'It is broken.' });
    await problems.remove('op_1');
    expect(await objects.get(former)).to.equal(undefined);
    expect(await problems.find('op_1')).to.equal(undefined);
    folder.remove();
  });

  it('removes what a crash left of an erased document, of conversions too, and why they failed', async () => {
    const folder = tempFolder();
    const objects = await openObjectFolder(folder.path);
    const gone = ['results/op_gone/problem', 'operations/op_gone/x', `results/cnv_gone/${'a'.repeat(64)}`];
    const there = ['results/op_there/problem', 'operations/op_there/x'];
    for (const key of [...gone, ...there]) await objects.put(key, Buffer.from('x'));
    const open = () => Promise.resolve({ kind: 'open' } as const);
    const report = await objectSweeper({
      objects,
      queuedFate: open,
      workFate: open,
      kept: () => Promise.resolve(keptDays(KEEPS)),
      ...UNUSED,
      erased: {
        any: () => Promise.resolve(true),
        among: (names) => Promise.resolve(new Set(names.filter((name) => name === 'cnv_gone'))),
        ofJobs: () => Promise.resolve([]),
        forgetExamples: () => Promise.resolve('nothing'),
        forgetReview: () => Promise.resolve(),
        forgetInEvaluations: () => Promise.resolve(),
      },
      clock: { uuid: randomUUID, now: () => new Date().toISOString() },
    }).sweep();
    expect(report).to.include({ erased: gone.length, left: 0 });
    expect(await keysIn(objects)).to.have.members(there);
    folder.remove();
  });
});
