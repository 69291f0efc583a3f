import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';
import type { BatchState } from '../../../domain/batch.ts';
import { document } from '../../../domain/document.ts';
import type { EvaluationEvent } from '../../../domain/evaluation.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import { keptDays } from '../../../domain/retention.ts';
import {
  evaluations,
  evaluationSets,
  expectedValues,
  reports,
  runSchemas,
  wrongValues,
} from '../../../src/commands/evaluations.ts';
import { evaluationFates } from '../../../src/commands/evaluationObjects.ts';
import { objectSweeper } from '../../../src/worker/sweeping.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { metaOf } from '../../support/money/accountCommands.ts';

const HOUR_MS = 3_600_000;
const SET = 'set_1';
const RUN = 'evr_1';
const COUNTS = { tp: 1, fp: 0, fn: 0 };

/** Sets and runs over a log and objects with the times at which they were put, and a sweeper that looks at them. */
const world = (evaluated: { readonly schema_sha256: string } = { schema_sha256: '' }) => {
  const folder = tempFolder();
  const log = openSqliteEventLog({ path: join(folder.path, 'log.db') });
  let nowMs = Date.UTC(2026, 0, 1);
  const now = (): string => new Date(nowMs).toISOString();
  const all = new Map<string, { readonly bytes: Uint8Array; readonly modified_at: string }>();
  let beforeRemoval: () => Promise<void> = () => Promise.resolve();
  const objects = {
    get: (key: string) => Promise.resolve(all.get(key)?.bytes),
    put: (key: string, bytes: Uint8Array) =>
      Promise.resolve(void all.set(key, { bytes, modified_at: now() })),
    remove: async (key: string) => {
      await beforeRemoval();
      all.delete(key);
    },
    list: async function* (prefix: string) {
      await Promise.resolve();
      for (const [key, { bytes, modified_at }] of [...all])
        if (key.startsWith(prefix)) yield { key, bytes: bytes.length, modified_at };
    },
  };
  const accepted = { evaluated } as unknown as BatchState['accepted'];
  const fates = evaluationFates({
    store: log,
    objects: objects as unknown as ObjectStore,
    clock: { now },
    batches: { stateOf: () => Promise.resolve({ accepted } as BatchState) },
  });
  const sweeper = objectSweeper({
    objects,
    clock: { now, uuid: randomUUID },
    queuedFate: (id) => (id.startsWith('set_') ? fates.set(id) : fates.evr(id)),
    workFate: () => Promise.resolve({ kind: 'unknown' }),
    documents: {
      record: () => Promise.reject(new Error('nothing is recorded')),
      stateOf: () => Promise.resolve(document.initialState),
    },
    usedOf: () => Promise.resolve([]),
    learnedOf: () => Promise.resolve(new Set()),
    awaitedOf: () => Promise.resolve(new Set()),
    kept: () => Promise.resolve(keptDays({ uploads: 0, results: 1, examples: 0, deliveries: 0 })),
  });
  const sets = evaluationSets(log);
  const meta = () => ({ ...metaOf(), now: now() });
  return {
    log,
    all,
    objects,
    sets,
    meta,
    now,
    expected: expectedValues(objects),
    sweepAfter: async (hours: number): Promise<number> => {
      nowMs += hours * HOUR_MS;
      const { results, left } = await sweeper.sweep();
      expect(left).to.equal(0);
      return results;
    },
    onRemoval: (work: () => Promise<void>): void => void (beforeRemoval = work),
    publish: async (examples: readonly (readonly [string, string])[], update: boolean): Promise<void> => {
      const named = examples.map(([document_id, expected_sha256]) => ({ document_id, expected_sha256 }));
      const names = { set_id: SET, tenant_id: 't', project_id: 'p', task_id: 't', set_name: null };
      const data = { ...names, examples: named, fingerprint: '', update };
      expect((await sets.handle(SET, { type: 'PublishSet', data, meta: meta() }, 't')).kind).to.equal('done');
    },
    end: async (): Promise<void> => {
      await log.close();
      folder.remove();
    },
  };
};

describe('what sets of examples and runs keep', () => {
  it('is what their versions expect: what no event names goes after two days', async () => {
    const { sweepAfter, publish, expected, all, sets, meta, end } = world();
    const one = await expected.put(SET, 'doc_1', { total: 1 });
    const two = await expected.put(SET, 'doc_2', { total: 2 });
    await publish(
      [
        ['doc_1', one],
        ['doc_2', two],
      ],
      false,
    );
    const changed = await expected.put(SET, 'doc_1', { total: 3 });
    await publish([['doc_1', changed]], true);
    const named = [...all.keys()];
    // Its request died before the next version was written.
    const crashed = await expected.put(SET, 'doc_1', { total: 4 });
    await sweepAfter(23);
    expect(all.size).to.equal(4);
    expect(await sweepAfter(7)).to.equal(0);
    expect(await expected.get(SET, 'doc_1', crashed), 'it is set aside').to.deep.equal({ total: 4 });
    expect([...all.keys()].filter((key) => key.endsWith('.aside'))).to.have.length(1);
    expect(await sweepAfter(31)).to.equal(1);
    expect([...all.keys()]).to.have.members(named);
    // A crash leaves what a document that was taken out was expected to say.
    await sets.handle(SET, { type: 'TakeOut', data: { document_ids: ['doc_1'] }, meta: meta() }, 't');
    await sweepAfter(7);
    await sweepAfter(31);
    expect([...all.keys()]).to.deep.equal([`evaluations/${SET}/doc_2/${two}`]);
    await sets.handle(SET, { type: 'RemoveSet', meta: meta() }, 't');
    await sweepAfter(7);
    expect(all.size).to.equal(0);
    await end();
  });

  it('stays where a version that names it is written while it is set aside', async () => {
    const { sweepAfter, publish, expected, onRemoval, end } = world();
    await publish([], false);
    const digest = await expected.put(SET, 'doc_1', { total: 1 });
    let times = 0;
    onRemoval(async () => {
      times += 1;
      if (times === 1) await publish([['doc_1', digest]], true);
    });
    await sweepAfter(25);
    for (let day = 0; day < 5; day += 1) {
      expect(await expected.get(SET, 'doc_1', digest)).to.deep.equal({ total: 1 });
      await sweepAfter(25);
    }
    expect(times).to.equal(1);
    await end();
  });

  it('is of a run its schema, its report and what that names; all of it while it is not scored', async () => {
    const schema = { type: 'object' };
    const schema_sha256 = await runSchemas({ get: noObject, put: noPut }).put(RUN, schema);
    const { sweepAfter, objects, all, log, meta, now, end } = world({ schema_sha256 });
    await runSchemas(objects).put(RUN, schema);
    const wrong = wrongValues(objects);
    const none = { expected: null, got: null, confidence: null, page: null, bbox: null, text: null };
    const found = await wrong.put(RUN, 'doc_1', [{ path: '/total', at: null, ...none }]);
    await wrong.put(RUN, 'doc_1', [{ path: '/of_a_crash', at: null, ...none }]);
    const of = (wrong_sha256: string | null) => ({
      calibration: [],
      fields: [],
      documents: [{ document_id: 'doc_1', operation_id: null, ...COUNTS, left_out: null, wrong_sha256 }],
    });
    const report_sha256 = await reports(objects).put(RUN, of(found));
    await reports(objects).put(RUN, of(null));
    for (let day = 0; day < 3; day += 1) await sweepAfter(25);
    expect(all.size, 'it is not scored').to.equal(5);
    const data = {
      run_id: RUN,
      tenant_id: 't',
      batch_id: 'bat_1',
      set_id: SET,
      set_version: 1,
      ...COUNTS,
      scored: 1,
      left_out: 0,
      report_sha256,
      scored_at: now(),
    };
    const event: EvaluationEvent = { type: 'EvaluationScored', data };
    await evaluations(log).handle(RUN, { type: 'Record', data: event, meta: meta() }, 't');
    await sweepAfter(7);
    expect(await sweepAfter(31)).to.equal(2);
    expect([...all.keys()]).to.have.members(
      [`schema/${schema_sha256}`, `doc_1/${found}`, `report/${report_sha256}`].map(
        (name) => `evaluations/${RUN}/${name}`,
      ),
    );
    await end();
  });
});

const noObject = () => Promise.resolve(undefined);
const noPut = () => Promise.resolve();
