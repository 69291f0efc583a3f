import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { EventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';
import type { FrontDoor } from '../support/esdbDouble/frontDoor.ts';
import { batchOf, taken } from '../support/logs/eventLogProbe.ts';

/** A log on a server, behind a door that can be frozen. */
export interface ServedLog {
  readonly log: EventStoreDb;
  readonly door: Pick<FrontDoor, 'freeze' | 'closeConnections'>;
  /** Closes the log and what was started for it. */
  readonly close: () => Promise<void>;
}

const EVENTS = 50;
const READS = 50;

/** How a read ended: with so many events, or by an error. */
type End = number | Error;

const endOf = async (items: AsyncIterable<unknown>): Promise<End> => {
  try {
    return (await taken(items)).length;
  } catch (error) {
    return error as Error;
  }
};

/** A read in the hands of a consumer that has taken one event, and takes the others when it is told to. */
const heldRead = async (items: AsyncIterable<unknown>, goOn: Promise<void>): Promise<() => Promise<End>> => {
  const iterator = items[Symbol.asyncIterator]();
  await iterator.next();
  const rest = async function* () {
    yield undefined;
    await goOn;
    for (let one = await iterator.next(); one.done !== true; one = await iterator.next()) yield one.value;
  };
  return () => endOf(rest());
};

const gate = () => {
  let open: () => void = () => undefined;
  return { opened: new Promise<void>((resolve) => (open = resolve)), open: () => open() };
};

/** An end that the server did not say must not look like one. */
const expectNoneEndedEarly = (ends: readonly End[]): void => {
  const early = ends.filter((end) => typeof end === 'number' && end !== EVENTS);
  const told = `${early.length} of ${ends.length} reads ended early, after so many events of ${EVENTS}`;
  expect(early, told).to.deep.equal([]);
  for (const end of ends) if (typeof end !== 'number') expect(end).to.be.instanceOf(LogUnavailable);
};

/**
 * What a log on a server keeps while its server is frozen: a read ends when the server has said so, and
 * else throws. `open` gives a log that waits no longer than a second or two for the next event.
 */
export const cutReadsContract = (title: string, open: () => Promise<ServedLog>): void => {
  describe(title, () => {
    let served: ServedLog;
    let log: EventStoreDb;
    let stream: string;

    beforeEach(async () => {
      served = await open();
      log = served.log;
      stream = `t${randomUUID().replaceAll('-', '')}-one`;
      await log.append(stream, 'no_stream', batchOf(EVENTS));
      expect(await taken(log.read(stream))).to.have.length(EVENTS);
    });
    afterEach(() => served.close());

    it(`ends none of ${READS} reads before its end while the server is frozen`, async () => {
      const { opened, open: goOn } = gate();
      const held = await Promise.all(
        Array.from({ length: READS / 2 }, () => heldRead(log.read(stream), opened)),
      );
      served.door.freeze(true);
      const begun = Array.from({ length: READS / 2 }, () => endOf(log.read(stream)));
      // More than enough failures for the adapter to give its connection up, and with it those held.
      const ends = await Promise.all(begun);
      expect(
        ends.some((end) => end instanceof LogUnavailable),
        'nothing came through',
      ).to.equal(true);
      goOn();
      ends.push(...(await Promise.all(held.map((rest) => rest()))));
      served.door.freeze(false);
      expectNoneEndedEarly(ends);
      expect(await taken(log.read(stream)), 'once it answers again').to.have.length(EVENTS);
    });

    const reads: Readonly<Record<string, () => AsyncIterable<unknown>>> = {
      'a stream': () => log.read(stream),
      'a stream from its end': () => log.read(stream, { direction: 'backwards' }),
      'an event at its revision': () => log.read(stream, { from: 3n, limit: 1 }),
      'the whole log from its end': () => log.backwards({}),
      'the whole log as it grows': () => log.subscribe({ own: true }),
      'the position of the last event': () => once(log.head()),
      'the end of the log': () => once(log.end()),
      'a snapshot': () => once(log.snapshots.load(stream)),
    };
    for (const [what, read] of Object.entries(reads)) {
      it(`throws where ${what} is read and the connection ends without an answer`, async () => {
        served.door.freeze(true);
        const reading = endOf(read());
        // The call is under way.
        await nextTurn();
        await log.close();
        served.door.freeze(false);
        expect(await reading).to.be.instanceOf(LogUnavailable);
      });
    }
  });
};

async function* once(answer: Promise<unknown>): AsyncGenerator {
  yield await answer;
}
