import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  type EventFeed,
  type EventStore,
  SNAPSHOT_BYTES_MAX,
  type SnapshotStore,
} from '../../domain/ports/log.ts';
import type { Snapshot } from '../../domain/kernel/recorded.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { adjustment } from '../support/money/accountCommands.ts';
import { batchOf, taken, until } from '../support/logs/eventLogProbe.ts';

export interface SnapshotsUnderTest {
  readonly log: EventStore & EventFeed & { readonly snapshots: SnapshotStore };
  /** Closes the log and what was started for it. */
  readonly close: () => Promise<void>;
}

/** What every log does with snapshots. Tenants are new in each test, so that it also runs on a server. */
export const snapshotStoreContract = (title: string, open: () => Promise<SnapshotsUnderTest>): void => {
  describe(title, () => {
    let subject: SnapshotsUnderTest;
    let snapshots: SnapshotStore;
    let tenant: string;
    let stream: string;
    before(async () => {
      subject = await open();
      ({ snapshots } = subject.log);
    });
    after(() => subject.close());
    beforeEach(() => {
      tenant = `t-${randomUUID()}`;
      stream = `account-${tenant}`;
    });

    const snapshot = (revision: bigint, text = '\u001f "ä"'): Snapshot => ({
      stream,
      revision,
      hash: `hash ${revision}`,
      reducer_version: 3,
      state: {
        balance: Number(revision),
        text,
        pairs: [
          ['2', 'b'],
          ['1', 'a'],
        ],
      },
      state_hash: 'state hash',
    });

    it('gives back what was saved, for its own stream alone', async () => {
      expect(await snapshots.load(stream)).to.equal(undefined);
      expect(await snapshots.save(snapshot(2n ** 62n))).to.equal('saved');
      expect(await snapshots.load(stream)).to.deep.equal(snapshot(2n ** 62n));
      expect(await snapshots.load(`${stream}x`)).to.equal(undefined);
    });

    it('keeps the last one that was saved', async () => {
      for (const revision of [5n, 9n, 7n]) await snapshots.save(snapshot(revision));
      expect(await snapshots.load(stream)).to.deep.equal(snapshot(7n));
    });

    it('takes one of a little less than the bound, and leaves the last one for one beyond it', async () => {
      const room = SNAPSHOT_BYTES_MAX - 1_000;
      expect(await snapshots.save(snapshot(1n, 'x'.repeat(room)))).to.equal('saved');
      expect(await snapshots.save(snapshot(2n, 'ü'.repeat(room)))).to.equal('too_large');
      expect((await snapshots.load(stream))?.revision).to.equal(1n);
    });

    it('keeps them out of every feed', async () => {
      await subject.log.append(stream, 'no_stream', batchOf(1));
      await snapshots.save(snapshot(0n));
      const seen = await until(subject.log, { categories: ['account'] }, 'caught_up');
      const streams = seen.flatMap((item) => (item.kind === 'event' ? [item.event.stream] : []));
      expect(streams).to.include(stream);
      expect(streams.filter((one) => one.includes('napshot'))).to.deep.equal([]);
    });

    it('serves a writer, which reads what came after it alone', async () => {
      const { log } = subject;
      const writer = accountWriter({ store: log, snapshots, snapshotEveryEvents: 5 });
      for (let n = 0; n < 12; n += 1) await writer.execute(adjustment(tenant, 1));
      await writer.close();
      const kept = await snapshots.load(stream);
      expect(Number(kept?.revision)).to.be.within(5, 12);

      const reads: bigint[] = [];
      const counting: EventStore = {
        ...log,
        read: (name, options) => {
          if (options?.direction !== 'backwards') reads.push(options?.from ?? 0n);
          return log.read(name, options);
        },
      };
      const later = accountWriter({ store: counting, snapshots });
      expect((await later.stateOf(tenant)).balance).to.equal(12);
      expect(reads).to.deep.equal([kept!.revision + 1n]);
      expect(await taken(log.read(stream))).to.have.length(13);
    });
  });
};
