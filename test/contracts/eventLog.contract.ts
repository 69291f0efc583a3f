import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  APPEND_BYTES_MAX,
  type AppendResult,
  type EventFeed,
  type EventStore,
} from '../../domain/ports/log.ts';
import type { NewEvent, RecordedEvent } from '../../domain/kernel/recorded.ts';
import { eventText, SERVER_APPEND_BYTES_MAX } from '../../domain/kernel/chain.ts';
import { LOG_STREAM, SEALS_STREAM, SNAPSHOT_CATEGORY, isHidden, isOwn } from '../../domain/kernel/json.ts';
import { eventAt, identityOf } from '../../domain/eventLog/eventLog.ts';
import { openedLog } from '../../src/commands/sealing.ts';
import {
  batchOf,
  eventsOf,
  everything,
  idsOf,
  newEvent,
  taken,
  until,
} from '../support/logs/eventLogProbe.ts';

/** A log as the contract gets it. */
export interface LogUnderTest {
  readonly log: EventStore & EventFeed;
  /** Changes what the log runs on, before each test. */
  readonly shift?: () => void;
  /** Closes the log and what was started for it. */
  readonly close: () => Promise<void>;
}

const appended = (result: AppendResult): { revision: bigint; position: bigint } => {
  if (result.kind === 'appended') return { revision: result.revision, position: result.position };
  throw new Error(`expected an append, got ${result.kind}`);
};

/** Appends one event to a stream that feeds leave out, after what is there; gives its ID. */
const hiddenAppend = async (log: EventStore, name: string): Promise<string> => {
  const event = newEvent();
  const [last] = await taken(log.read(name, { direction: 'backwards', limit: 1 }));
  appended(await log.append(name, last?.revision ?? 'no_stream', [event]));
  return event.id;
};

/**
 * What every event log keeps. Streams and categories are new in each test, so that it also runs on a
 * server that others use.
 */
export const eventLogContract = (title: string, open: () => Promise<LogUnderTest>): void => {
  describe(title, () => {
    let subject: LogUnderTest;
    let log: EventStore & EventFeed;
    let category: string;
    let stream: string;

    before(async () => {
      subject = await open();
      log = subject.log;
    });
    after(() => subject.close());
    beforeEach(() => {
      subject.shift?.();
      category = `t${randomUUID().replaceAll('-', '')}`;
      stream = `${category}-one`;
    });

    describe('append', () => {
      it('starts a stream and goes on at the exact revision', async () => {
        const first = appended(await log.append(stream, 'no_stream', batchOf(2)));
        expect(first.revision).to.equal(1n);
        const second = appended(await log.append(stream, 1n, batchOf(1)));
        expect(second.revision).to.equal(2n);
        expect(second.position > first.position).to.equal(true);
      });

      it('answers a wrong revision with the actual one and writes nothing', async () => {
        expect(await log.append(stream, 0n, batchOf(1))).to.deep.equal({
          kind: 'conflict',
          actual: 'no_stream',
        });
        await log.append(stream, 'no_stream', batchOf(3));
        expect(await log.append(stream, 'no_stream', batchOf(1))).to.deep.equal({
          kind: 'conflict',
          actual: 2n,
        });
        expect(await log.append(stream, 1n, batchOf(1))).to.deep.equal({ kind: 'conflict', actual: 2n });
        expect(await log.append(stream, 7n, batchOf(1))).to.deep.equal({ kind: 'conflict', actual: 2n });
        expect(await taken(log.read(stream))).to.have.length(3);
      });

      it('answers a repeated batch with its original place, however far the stream has gone', async () => {
        const batch = batchOf(2);
        await log.append(stream, 'no_stream', batchOf(1));
        const original = await log.append(stream, 0n, batch);
        await log.append(stream, 2n, batchOf(4));
        expect(await log.append(stream, 0n, batch)).to.deep.equal(original);
        expect(await taken(log.read(stream))).to.have.length(7);
      });

      it('takes a prefix of what was written for a repetition, with the place of its last event', async () => {
        const batch = batchOf(3);
        await log.append(stream, 'no_stream', batch);
        const [first, second] = await taken(log.read(stream));
        expect(await log.append(stream, 'no_stream', batch.slice(0, 2))).to.deep.equal({
          kind: 'appended',
          revision: 1n,
          position: second?.position,
        });
        expect(first?.revision).to.equal(0n);
      });

      it('refuses a batch that was written only in part, in another order or at another revision', async () => {
        const batch = batchOf(2);
        await log.append(stream, 'no_stream', batch);
        const conflict = { kind: 'conflict', actual: 1n };
        expect(await log.append(stream, 'no_stream', [...batch, newEvent()])).to.deep.equal(conflict);
        expect(await log.append(stream, 'no_stream', [...batch].reverse())).to.deep.equal(conflict);
        expect(await log.append(stream, 0n, batch)).to.deep.equal(conflict);
      });

      it('does not look at IDs when the revision is current', async () => {
        const event = newEvent();
        await log.append(stream, 'no_stream', [event]);
        expect(appended(await log.append(stream, 0n, [event])).revision).to.equal(1n);
        expect(idsOf(await taken(log.read(stream)))).to.deep.equal([event.id, event.id]);
      });

      it('takes the largest batch allowed and refuses one above the limit of a server', async () => {
        const largest = newEvent({ text: 'x'.repeat(APPEND_BYTES_MAX - 200) });
        expect((await log.append(stream, 'no_stream', [largest])).kind).to.equal('appended');
        const half = { text: 'x'.repeat(SERVER_APPEND_BYTES_MAX / 2) };
        expect(await log.append(stream, 0n, [newEvent(half), newEvent(half)])).to.include({
          kind: 'rejected',
          reason: 'too_large',
        });
        expect(await taken(log.read(stream))).to.have.length(1);
      });

      const invalid: readonly [string, readonly NewEvent[]][] = [
        ['no event', []],
        ['an ID that is no UUID', [{ ...newEvent(), id: 'one' }]],
        ['a bigint', [newEvent({ n: 1n as unknown as number })]],
        ['NaN', [newEvent({ n: Number.NaN })]],
        ['undefined', [newEvent({ n: undefined as unknown as null })]],
        ['a Date', [newEvent({ n: new Date(0) as unknown as string })]],
      ];
      for (const [what, events] of invalid) {
        it(`refuses ${what}`, async () => {
          expect(await log.append(stream, 'no_stream', events)).to.include({
            kind: 'rejected',
            reason: 'invalid',
          });
        });
      }

      it('answers appends to many streams that wait together each by itself: one conflict takes no other', async () => {
        const repeated = batchOf(2);
        const first = appended(await log.append(`${category}-repeated`, 'no_stream', repeated));
        const results = await Promise.all([
          log.append(`${category}-a`, 'no_stream', batchOf(1)),
          log.append(`${category}-b`, 4n, batchOf(1)),
          log.append(`${category}-repeated`, 'no_stream', repeated),
          log.append(`${category}-repeated`, 'no_stream', batchOf(2)),
          log.append(`${category}-c`, 'no_stream', batchOf(3)),
          log.append(`${category}-repeated`, 1n, batchOf(1)),
        ]);
        expect(results.map(({ kind }) => kind)).to.deep.equal([
          'appended',
          'conflict',
          'appended',
          'conflict',
          'appended',
          'appended',
        ]);
        expect(results[1]).to.deep.equal({ kind: 'conflict', actual: 'no_stream' });
        expect(results[2]).to.deep.equal({ kind: 'appended', ...first });
        const counts = ['a', 'b', 'c', 'repeated'].map(
          async (name) => (await taken(log.read(`${category}-${name}`))).length,
        );
        expect(await Promise.all(counts)).to.deep.equal([1, 0, 3, 3]);
      });

      it('stores the text that an event brings', async () => {
        const event = newEvent();
        const [data, metadata] = [
          { a: 1, z: 'two' },
          { hash: 'h', schema_version: 1 },
        ];
        const text = eventText('{"a":1,"z":"two"}', '{"hash":"h","schema_version":1}');
        appended(await log.append(stream, 'no_stream', [{ ...event, data, metadata, text }]));
        const [read] = await taken(log.read(stream));
        expect([read?.data, read?.metadata]).to.deep.equal([data, metadata]);
      });

      it('lets exactly one of two racing appends win', async () => {
        await log.append(stream, 'no_stream', batchOf(1));
        const results = await Promise.all([
          log.append(stream, 0n, batchOf(1)),
          log.append(stream, 0n, batchOf(2)),
        ]);
        expect(results.map(({ kind }) => kind).sort()).to.deep.equal(['appended', 'conflict']);
      });

      it('answers each of many concurrent callers by itself, in one global order', async () => {
        const chains = Array.from({ length: 20 }, (_, chain) => `${category}-${String(chain)}`);
        const write = async (name: string) => {
          await log.append(name, 'no_stream', batchOf(1));
          for (let revision = 0n; revision < 9n; revision += 1n) {
            const stale = log.append(name, revision + 1n, batchOf(1));
            const good = log.append(name, revision, batchOf(1));
            expect((await stale).kind).to.equal('conflict');
            expect(appended(await good).revision).to.equal(revision + 1n);
          }
        };
        await Promise.all(chains.map(write));

        const events = eventsOf(await until(log, { categories: [category] }, 'caught_up'));
        expect(events).to.have.length(200);
        for (const name of chains) {
          const revisions = events.filter((event) => event.stream === name).map(({ revision }) => revision);
          expect(revisions).to.deep.equal(Array.from({ length: 10 }, (_, revision) => BigInt(revision)));
        }
      });
    });

    describe('read', () => {
      let events: readonly NewEvent[];
      beforeEach(async () => {
        events = batchOf(7);
        await log.append(stream, 'no_stream', events);
      });

      it('gives back what was written', async () => {
        const event = newEvent({ ü: ['🧾', -0.5, null, true, { deep: '\\ "' }], '10': 'b', '9': 'a' });
        const { position } = appended(await log.append(stream, 6n, [event]));
        const [last] = await taken(log.read(stream, { from: 7n }));
        expect({ ...last }).to.deep.equal({ ...event, stream, revision: 7n, position });
      });

      it('reads forwards from a revision, with a limit', async () => {
        const ids = events.map(({ id }) => id);
        expect(idsOf(await taken(log.read(stream)))).to.deep.equal(ids);
        expect(idsOf(await taken(log.read(stream, { from: 2n, limit: 3 })))).to.deep.equal(ids.slice(2, 5));
        expect(idsOf(await taken(log.read(stream, { from: 7n })))).to.deep.equal([]);
        expect(idsOf(await taken(log.read(stream, { limit: 0 })))).to.deep.equal([]);
      });

      it('reads backwards from a revision, with a limit', async () => {
        const ids = events.map(({ id }) => id).reverse();
        expect(idsOf(await taken(log.read(stream, { direction: 'backwards' })))).to.deep.equal(ids);
        const last = await taken(log.read(stream, { direction: 'backwards', limit: 1 }));
        expect(idsOf(last)).to.deep.equal(ids.slice(0, 1));
        const some = await taken(log.read(stream, { direction: 'backwards', from: 4n, limit: 2 }));
        expect(some.map(({ revision }) => revision)).to.deep.equal([4n, 3n]);
      });

      it('reads a missing stream as empty', async () => {
        expect(await taken(log.read(`${category}-none`))).to.deep.equal([]);
        expect(await taken(log.read(`${category}-none`, { direction: 'backwards' }))).to.deep.equal([]);
      });

      it('reads more than a page in order, and can be left early', async () => {
        await log.append(stream, 6n, batchOf(1500));
        const revisions = (await taken(log.read(stream))).map(({ revision }) => Number(revision));
        expect(revisions).to.deep.equal(Array.from({ length: 1507 }, (_, revision) => revision));
        for await (const event of log.read(stream)) if (event.revision === 3n) break;
        expect(await taken(log.read(stream, { direction: 'backwards' }))).to.have.length(1507);
      });
    });

    describe('feed', () => {
      it('delivers only the categories asked for, in order, and says when it is at the end', async () => {
        const other = `${category}x`;
        await log.append(stream, 'no_stream', batchOf(2));
        await log.append(`${other}-one`, 'no_stream', batchOf(2));
        await log.append(category, 'no_stream', batchOf(1));
        await log.append(`${category}-two`, 'no_stream', batchOf(1));

        const one = eventsOf(await until(log, { categories: [category] }, 'caught_up'));
        expect(one.map((event) => event.stream)).to.deep.equal([stream, stream, category, `${category}-two`]);
        const both = eventsOf(await until(log, { categories: [other, category] }, 'caught_up'));
        expect(both).to.have.length(6);
        expect(eventsOf(await until(log, { categories: [`${category}-`] }, 'caught_up'))).to.have.length(0);
      });

      it('resumes after any position', async () => {
        await log.append(stream, 'no_stream', batchOf(5));
        const events = eventsOf(await until(log, { categories: [category] }, 'caught_up'));
        for (const [index, { position }] of events.entries()) {
          const rest = eventsOf(await until(log, { after: position, categories: [category] }, 'caught_up'));
          expect(idsOf(rest)).to.deep.equal(idsOf(events.slice(index + 1)));
        }
      });

      it('delivers live events once it has caught up, to every subscriber', async () => {
        await log.append(stream, 'no_stream', batchOf(1));
        const write = async () => {
          for (let revision = 0n; revision < 30n; revision += 1n)
            await log.append(stream, revision, batchOf(1));
        };
        const watch = () => everything(log, { categories: [category] }, { events: 31, onCaughtUp: ready });
        let waiting = 2;
        let start: () => void = () => undefined;
        const started = new Promise<void>((resolve) => (start = resolve));
        const ready = () => {
          waiting -= 1;
          if (waiting === 0) start();
        };
        const watching = [watch(), watch()];
        await started;
        const [, ...seen] = await Promise.all([write(), ...watching]);
        for (const items of seen) {
          expect(eventsOf(items).map(({ revision }) => Number(revision))).to.deep.equal([
            ...Array(31).keys(),
          ]);
          expect(items.filter(({ kind }) => kind === 'caught_up')).to.have.length(1);
        }
      });

      it('misses and doubles nothing while others write', async () => {
        const names = Array.from({ length: 8 }, (_, index) => `${category}-${String(index)}`);
        const write = async (name: string) => {
          await log.append(name, 'no_stream', batchOf(3));
          for (let revision = 2n; revision < 92n; revision += 3n)
            await log.append(name, revision, batchOf(3));
        };
        const [items] = await Promise.all([
          everything(log, { categories: [category] }, { events: 8 * 93 }),
          ...names.map(write),
        ]);
        expect(new Set(idsOf(eventsOf(items)))).to.have.property('size', 8 * 93);
      });

      it('ends when it is told to', async () => {
        const controller = new AbortController();
        for await (const item of log.subscribe({ categories: [category], signal: controller.signal })) {
          if (item.kind === 'caught_up') controller.abort();
        }
        for await (const item of log.subscribe({ categories: [category], signal: controller.signal }))
          expect.fail(`an aborted subscription delivered ${item.kind}`);
      });

      it('delivers what tells about the log itself only when asked to, and snapshots never', async () => {
        await log.append(stream, 'no_stream', batchOf(1));
        const seals = await hiddenAppend(log, SEALS_STREAM);
        await hiddenAppend(log, `${SNAPSHOT_CATEGORY}-${category}`);
        await log.append(stream, 0n, batchOf(1));
        const hidden = (events: readonly RecordedEvent[]) =>
          events.filter((event) => isHidden(event.stream)).map((event) => event.id);

        const whole = eventsOf(await until(log, {}, 'caught_up'));
        expect(hidden(whole)).to.deep.equal([]);
        expect(whole.filter((event) => event.stream === stream)).to.have.length(2);
        const own = eventsOf(await until(log, { own: true }, 'caught_up'));
        expect(hidden(own)).to.include(seals);
        expect(own.filter((event) => !isOwn(event.stream))).to.deep.equal(whole);
        const asked = { categories: [category], own: true };
        expect(hidden(eventsOf(await until(log, asked, 'caught_up')))).to.include(seals);
        const categories = [category, SEALS_STREAM, SNAPSHOT_CATEGORY];
        expect(eventsOf(await until(log, { categories }, 'caught_up'))).to.have.length(2);
        expect(eventsOf(await until(log, { categories: [SEALS_STREAM] }, 'caught_up'))).to.have.length(0);
      });

      it('is named once, by whichever process opens it first', async () => {
        const now = '2026-01-31T08:00:00.000Z';
        const [id, ...others] = await Promise.all([1, 2, 3].map(() => openedLog(log, now)));
        expect(new Set([id, ...others, await openedLog(log, now)])).to.have.property('size', 1);
        expect(await identityOf(log)).to.equal(id);
        expect(await taken(log.read(LOG_STREAM))).to.have.length(1);
      });

      it('knows an event again by its stream and revision, and where it ends', async () => {
        const { position } = appended(await log.append(stream, 'no_stream', batchOf(3)));
        expect((await eventAt(log, stream, 2n))?.position).to.equal(position);
        expect(await eventAt(log, stream, 3n)).to.equal(undefined);
        expect(await eventAt(log, `${category}-none`, 0n)).to.equal(undefined);
        const end = await log.end();
        expect(end !== undefined && end >= position).to.equal(true);
      });

      it('knows the head, behind what it does not deliver', async () => {
        const { position } = appended(await log.append(stream, 'no_stream', batchOf(1)));
        await hiddenAppend(log, SEALS_STREAM);
        await hiddenAppend(log, `${SNAPSHOT_CATEGORY}-${category}`);
        const [own] = await taken(log.read(SEALS_STREAM, { direction: 'backwards', limit: 1 }));
        const head = await log.head();
        expect(head !== undefined && head >= position && head !== own?.position).to.equal(true);
      });

      it('is read from its end, with what tells about the log itself, up to its first event', async () => {
        await log.append(stream, 'no_stream', batchOf(2));
        await hiddenAppend(log, SEALS_STREAM);
        await hiddenAppend(log, `${SNAPSHOT_CATEGORY}-${category}`);
        await log.append(stream, 1n, batchOf(1));
        const forwards = eventsOf(await until(log, { own: true }, 'caught_up'));
        const all = await taken(log.backwards({}));
        expect(idsOf(all)).to.deep.equal(idsOf(forwards).toReversed());
        const [, second] = all;
        const rest = await taken(log.backwards({ before: second?.position }));
        expect(idsOf(rest)).to.deep.equal(idsOf(all.slice(2)));
        const none = await taken(log.backwards({ before: all.at(-1)?.position }));
        expect(none).to.deep.equal([]);
      });

      it('knows the head', async () => {
        const { position } = appended(await log.append(stream, 'no_stream', batchOf(3)));
        const head = await log.head();
        expect(head !== undefined && head >= position).to.equal(true);
      });
    });
  });
};
