import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { openObjectFolder } from '../../../adapters/embedded/objectFolder.ts';
import { document, type DocumentState } from '../../../domain/document/decider.ts';
import { objectSweeper } from '../../../src/commands/sweeping/objectSweeper.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';

const HOUR_MS = 3_600_000;
const USED = { ...document.initialState, registered: {} } as unknown as DocumentState;

describe('object sweeper', () => {
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
    let hours = 23.9;
    const awaited = new Set<string>(['doc_unused']);
    const sweeper = objectSweeper({
      objects,
      // The read model does not know yet that doc_late is used: the log does.
      documents: {
        record: () => Promise.reject(new Error('nothing is recorded')),
        stateOf: (id) => Promise.resolve(id === 'doc_unused' ? document.initialState : USED),
      },
      usedOf: () => Promise.resolve([{ document_id: 'doc_used', tenant_id: 't' }]),
      learnedOf: () => Promise.resolve(new Set()),
      awaitedOf: () => Promise.resolve(awaited),
      retentionDays: 0,
      clock: { uuid: randomUUID, now: () => new Date(Date.now() + hours * HOUR_MS).toISOString() },
    });
    const left = async () => {
      const found: string[] = [];
      for await (const { key } of objects.list('')) found.push(key);
      return found;
    };
    expect(await sweeper.sweep()).to.deep.equal({ uploads: 0, expired: 0, results: 0, left: 0 });
    expect(await left()).to.have.members(keys);
    hours = 24.1;
    // A batch waits for it: what was accepted is done.
    expect(await sweeper.sweep()).to.deep.equal({ uploads: 0, expired: 0, results: 0, left: 0 });
    awaited.clear();
    expect(await sweeper.sweep()).to.deep.equal({ uploads: 1, expired: 0, results: 0, left: 0 });
    hours = 25.1;
    expect(await sweeper.sweep()).to.deep.equal({ uploads: 0, expired: 0, results: 1, left: 0 });
    expect(await left()).to.have.members([
      'uploads/doc_used',
      'uploads/doc_late',
      'artifacts/a',
      'unfinished/a',
    ]);
    folder.remove();
  });
});
