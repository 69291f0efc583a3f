import { expect } from 'chai';
import { uploadKeyOf } from '../../../domain/document.ts';
import { documents } from '../../../src/commands/uploads.ts';
import { uploadStock } from '../../../src/commands/slots.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';
import { metaOf, NOW } from '../../support/money/accountCommands.ts';

const QUOTA = 1_000;
const HOUR_MS = 3_600_000;

/** A store elsewhere that clients send their files to, as the service sees it: late. */
const setUp = () => {
  const own = documents(memoryEventStore());
  const [stored, used] = [new Map<string, number>(), new Map<string, number>()];
  let nowMs = 0;
  const stock = uploadStock({
    objects: {
      // eslint-disable-next-line @typescript-eslint/require-await -- a store that answers at once
      list: async function* () {
        for (const [id, bytes] of stored) yield { key: uploadKeyOf(id), bytes, modified_at: NOW };
      },
    },
    documents: own,
    usedBytesOf: (_, ids) =>
      Promise.resolve({
        bytes: [...used.values()].reduce((sum, one) => sum + one, 0),
        used: new Set(ids.filter((id) => used.has(id))),
      }),
    usedOf: (ids) => Promise.resolve(new Set(ids.filter((id) => used.has(id)))),
    quotaBytes: QUOTA,
    nowMs: () => nowMs,
  });
  const presign = async (document_id: string) => {
    const room = await stock.take('t', document_id, { bytes: 200, lastsMs: HOUR_MS });
    if (typeof room !== 'function') return room;
    const scope = { tenant_id: 't', project_id: 'p', task_id: 't', file_name: null, content_type: null };
    await own.record(
      {
        type: 'UploadPresigned',
        data: {
          ...scope,
          document_id,
          bytes: 200,
          kind: 'document',
          dataset_id: null,
          expires_at: NOW,
          created_at: NOW,
        },
      },
      metaOf(),
    );
    return room;
  };
  const left = async () => {
    const full = await stock.check('t', QUOTA + 1);
    if (full?.code !== 'upload_quota_exceeded') throw new Error('there is no limit');
    return QUOTA - Number(full.members?.['used_bytes']);
  };
  return { stock, stored, used, presign, left, pass: (ms: number) => void (nowMs += ms) };
};

describe('the quota of files that are sent to another service', () => {
  it('counts a file from its URL on, so no more URLs are given at once than files fit', async () => {
    const { presign, left } = setUp();
    const given = await Promise.all(Array.from({ length: 20 }, (_, n) => presign(`doc_${String(n)}`)));
    expect(given.filter((room) => typeof room === 'function')).to.have.lengthOf(5);
    expect(await left()).to.equal(0);
  });

  it('counts a file once while it is sent, found and used, and no more when it was removed', async () => {
    const { stock, stored, used, presign, left, pass } = setUp();
    await presign('doc_a');
    expect(await left()).to.equal(800);
    stored.set('doc_a', 200);
    pass(HOUR_MS / 2);
    expect(await left()).to.equal(800);
    pass(HOUR_MS);
    expect(await left()).to.equal(800);
    used.set('doc_a', 200);
    pass(60_000);
    expect(await left()).to.equal(800);
    used.delete('doc_a');
    stored.delete('doc_a');
    stock.forget('t', 'doc_a');
    expect(await left()).to.equal(1_000);
  });

  it('gives the room of a URL back that was never used, once the store was searched after its end', async () => {
    const { presign, left, pass } = setUp();
    const [room] = [await presign('doc_a'), await presign('doc_b')];
    expect(await left()).to.equal(600);
    if (typeof room === 'function') room();
    expect(await left()).to.equal(800);
    pass(HOUR_MS - 1);
    expect(await left()).to.equal(800);
    pass(2);
    await left();
    expect(await left()).to.equal(1_000);
  });
});
