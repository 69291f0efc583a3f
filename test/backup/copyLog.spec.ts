import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { openEventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { isCopyOpen } from '../../adapters/eventstoredb/readiness.ts';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { openObjectFolder } from '../../adapters/local/objectFolder.ts';
import { systemClock } from '../../adapters/local/local.ts';
import { distancesText, identityOf, positionsIn } from '../../domain/eventLog/eventLog.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { runAudit, type AuditReport } from '../../src/audit/runAudit.ts';
import { everything } from '../../src/audit/streams.ts';
import { openedLog, sealLog } from '../../src/commands/sealing.ts';
import { OperatorError } from '../../src/clientConfig.ts';
import { copyLogBetween } from '../../src/backup/backup.ts';
import { CannotCopy, copyLog } from '../../src/backup/copyLog.ts';
import { findSeals } from '../../src/operator/auditedLog.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { adjustment } from '../support/money/accountCommands.ts';
import { type EsdbDouble, startEsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { startS3 } from '../support/s3Server.ts';
import { until } from '../../engine/test/support/until.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';

const NEVER = new AbortController().signal;
const NOT_YET = '2000-01-01T00:00:00.000Z';
const NO_LOCK = {
  refusal: () => Promise.resolve('none here'),
  putLocked: () => Promise.reject(new Error('none here')),
};

describe('positions that a copy keeps', () => {
  it('are read back as they were written, however far apart', () => {
    const some = fc.array(fc.bigInt({ min: 1n, max: 2n ** 50n }), { minLength: 1, maxLength: 60 });
    const runs = fc.array(fc.tuple(fc.bigInt({ min: 1n, max: 900n }), fc.integer({ min: 1, max: 40 })));
    const alike = runs.map((parts) => parts.flatMap(([n, times]) => Array.from({ length: times }, () => n)));
    fc.assert(
      fc.property(fc.oneof(some, alike), fc.integer({ min: 1, max: 20 }), (distances, chunk) => {
        let sum = 0n;
        const positions = distances.map((distance) => (sum += distance));
        const texts = Array.from({ length: Math.ceil(distances.length / chunk) }, (_, at) =>
          distancesText(distances.slice(at * chunk, (at + 1) * chunk)),
        );
        expect([...positionsIn(texts)]).to.deep.equal(positions);
      }),
    );
  });
});

describe('a log that is copied', () => {
  let folder: TempFolder;
  let double: EsdbDouble;
  beforeEach(async () => {
    folder = tempFolder();
    double = await startEsdbDouble();
  });
  afterEach(async () => {
    await double.close();
    folder.remove();
  });

  const source = () => join(folder.path, 'data');
  const atHome = (dataDir = source()) => openSqliteEventLog({ path: join(dataDir, 'events.db') });
  const onServer = () => openEventStoreDb({ connectionString: double.connectionString });
  const seal = (log: EventStore & EventFeed) =>
    sealLog({ log, locked: NO_LOCK, clock: systemClock() }, { retainDays: null, signal: NEVER });

  /** A command waits for seconds; a thread that starts on a busy machine takes longer. */
  const opened = (log: EventStore & EventFeed): Promise<true> =>
    until(() =>
      openedLog(log, new Date().toISOString()).then(
        () => true,
        () => false,
      ),
    );

  /** Movements of two tenants in turns, and a seal after each round. */
  const traded = async (log: EventStore & EventFeed, rounds: number, name: string): Promise<void> => {
    await opened(log);
    const writer = accountWriter({ store: log });
    for (let round = 0; round < rounds; round += 1) {
      for (const tenant of ['acme', 'other'])
        await writer.execute(adjustment(tenant, 100, `${name}-${String(round)}`));
      await seal(log);
    }
    await writer.close();
  };

  const embedded = async (rounds = 4): Promise<void> => {
    mkdirSync(source(), { recursive: true });
    const log = atHome();
    await traded(log, rounds, 'home');
    await log.close();
  };

  /** Events of many streams in turns, that are sent together. */
  const embeddedWide = async (): Promise<void> => {
    mkdirSync(source(), { recursive: true });
    const log = atHome();
    await opened(log);
    const writer = accountWriter({ store: log });
    for (let nth = 0; nth < 36; nth += 1)
      await writer.execute(adjustment(`t${String(nth % 12)}`, 100, `n${String(nth)}`));
    await writer.close();
    await log.close();
  };

  const audited = async (feed: EventFeed, dense: boolean): Promise<AuditReport> => {
    const { seals, origins, flaws: sealFlaws, notes } = await findSeals({ s3: undefined }, feed, NOT_YET);
    return (await runAudit({ feed, dense, seals, origins, sealFlaws, notes })).report;
  };

  const using = async <T>(
    log: EventStore & EventFeed & { close(): Promise<void> },
    work: () => Promise<T>,
  ) => {
    try {
      return await work();
    } finally {
      await log.close();
    }
  };

  const eventsOf = async (feed: EventFeed): Promise<readonly RecordedEvent[]> => {
    const events: RecordedEvent[] = [];
    for await (const event of everything(feed)) events.push(event);
    return events;
  };

  const copied = (from: string, to: string) => copyLogBetween({ from, to, s3: undefined }, { signal: NEVER });
  const toServer = () => copied(source(), double.connectionString);

  const refusal = async (copying: Promise<unknown>): Promise<string> => {
    const failure = await copying.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(OperatorError);
    return (failure as OperatorError).message;
  };

  /** Once so many events are in the server's log, it takes no more. */
  const refuseAfter = async (events: number): Promise<void> => {
    const { log, faults } = double;
    while (log.all().length <= events) await log.grown(log.all().length);
    faults.refuseAppendsTo = /./;
  };

  it('has its identity, its events, its seals and its audit on a server, and goes on there', async () => {
    await embedded();
    const home = atHome();
    const before = await using(home, async () => ({
      events: await eventsOf(home),
      id: await identityOf(home),
    }));
    const { events, found } = await toServer();
    expect([events, found]).to.deep.equal([before.events.length, 0]);
    const log = onServer();
    await using(log, async () => {
      expect(await identityOf(log)).to.equal(before.id);
      const plain = ({ id, stream, revision, type, data, metadata }: RecordedEvent) => ({
        id,
        stream,
        revision,
        type,
        data,
        metadata,
      });
      const there = await eventsOf(log);
      expect(there.slice(0, events).map(plain)).to.deep.equal(before.events.map(plain));
      expect(there[5]?.position, 'positions are the server’s').not.to.equal(before.events[5]?.position);
      await traded(log, 2, 'server');
      const report = await audited(log, false);
      expect(report.findings).to.deep.equal([]);
      expect(report.checks.find(({ check }) => check === 'seal')?.checked).to.equal(4 + 1 + 2);
    });
    expect(await isCopyOpen(double.connectionString)).to.equal(false);
  });

  it('takes its objects along to the bucket, each once, and back', async () => {
    await embedded(1);
    const s3 = await startS3();
    const objects = await openObjectFolder(join(source(), 'objects'));
    for (const key of ['results/a', 'uploads/b.pdf']) await objects.put(key, Buffer.from(key));
    const options = { ...s3.options, publicEndpoint: undefined };
    const copying = (from: string, to: string) =>
      copyLogBetween({ from, to, s3: options }, { signal: NEVER });
    expect((await copying(source(), double.connectionString)).objects).to.equal(2);
    expect((await copying(source(), double.connectionString)).objects).to.equal(0);
    const home = join(folder.path, 'home');
    expect((await copying(double.connectionString, home)).objects).to.equal(2);
    const back = await openObjectFolder(join(home, 'objects'));
    expect(Buffer.from((await back.get('uploads/b.pdf')) ?? []).toString()).to.equal('uploads/b.pdf');
    await s3.close();
  });

  it('comes back into a folder, where seals of both places hold', async () => {
    await embedded();
    await toServer();
    const server = onServer();
    await using(server, () => traded(server, 2, 'server'));
    const home = join(folder.path, 'home');
    await copied(double.connectionString, home);
    expect(readdirSync(home).filter((name) => name.includes('copying'))).to.deep.equal([]);
    const log = openSqliteEventLog({ path: join(home, 'events.db'), stored: true });
    await using(log, async () => {
      await traded(log, 2, 'back');
      const report = await audited(log, true);
      expect(report.findings).to.deep.equal([]);
      expect(report.checks.find(({ check }) => check === 'seal')?.checked).to.equal(4 + 1 + 2 + 1 + 2);
    });
  });

  it('tells a change by seals that were made before it was copied', async () => {
    await embedded();
    const home = atHome();
    const { seals } = await using(home, () => findSeals({ s3: undefined }, home, NOT_YET));
    const other = join(folder.path, 'other');
    mkdirSync(other);
    const forged = atHome(other);
    await using(forged, () => traded(forged, 5, 'forged'));
    await copied(other, double.connectionString);
    const log = onServer();
    await using(log, async () => {
      const found = await findSeals({ s3: undefined }, log, NOT_YET);
      const { report } = await runAudit({ feed: log, dense: false, ...found, seals });
      expect(report.checks.find(({ check }) => check === 'seal')?.findings).to.equal(1);
    });
  });

  it('goes on from what is there after a copy was cut short, wherever', async () => {
    await embedded(6);
    const home = atHome();
    const count = (await using(home, () => eventsOf(home))).length;
    // A server's own event and the mark of the copy are in its log before.
    for (const at of [1, 2, 6, count, count + 2, count + 3]) {
      await double.close();
      double = await startEsdbDouble();
      const cut = refuseAfter(at);
      await refusal(toServer());
      await cut;
      expect(await isCopyOpen(double.connectionString), `after ${String(at)}`).to.equal(true);
      double.faults.refuseAppendsTo = undefined;
      const { events, found } = await toServer();
      expect(events).to.equal(count);
      expect(found, 'nothing is copied twice').to.equal(Math.min(count, at - 1));
      const log = onServer();
      await using(log, async () => expect((await audited(log, false)).findings).to.deep.equal([]));
    }
  });

  /** As `toServer`, with many appends on their way and a short wait for each answer. */
  const inMany = async (): Promise<string> => {
    const [from, to] = [
      atHome(),
      openEventStoreDb({ connectionString: double.connectionString, appendTimeoutMs: 400 }),
    ];
    const work = { source: from, target: to, clock: systemClock(), inFlight: 16, signal: NEVER };
    try {
      await copyLog(work);
      return 'whole';
    } catch (error) {
      if (error instanceof CannotCopy) return error.message;
      throw error;
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
  };

  const OUT_OF_ORDER = 'in another order';

  it('is whole or not done, whatever becomes of appends that are on their way together', async () => {
    await embeddedWide();
    const home = atHome();
    const wanted = (await using(home, () => eventsOf(home))).map(({ id }) => id);
    const kinds = [
      'die_after_commit',
      'commit_silently',
      'silence',
      'twice',
      'not_ready',
      'no_position',
    ] as const;
    const fault = fc.record({ at: fc.integer({ min: 1, max: 40 }), kind: fc.constantFrom(...kinds) });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fault, { maxLength: 3, selector: ({ at }) => at }), async (faults) => {
        await double.close();
        double = await startEsdbDouble();
        double.faults.appendFaultAt = (nth) => faults.find(({ at }) => at === nth);
        const copyUntilWhole = async (): Promise<string> => {
          for (let tries = 0; tries < 4; tries += 1) {
            const result = await inMany();
            if (result === 'whole' || result.includes(OUT_OF_ORDER) || result.includes('into an empty one'))
              return result;
          }
          return 'never';
        };
        const result = await copyUntilWhole();
        const log = onServer();
        const there = await using(log, () => eventsOf(log));
        const isCopy = isDeepStrictEqual(
          there.slice(0, wanted.length).map(({ id }) => id),
          wanted,
        );
        expect(isCopy, result).to.equal(result === 'whole');
        // What is lost alone, while what was sent after it is not, is all that a server can do to the order.
        if (faults.every(({ kind }) => kind !== 'silence' && kind !== 'not_ready'))
          expect(result).to.equal('whole');
        else if (result !== 'whole') expect(there.some(({ type }) => type === 'LogCopied')).to.equal(false);
      }),
      { numRuns: 8 },
    );
  });

  it('stops where the server has taken an event after one that follows it, and says what to do', async () => {
    await embeddedWide();
    let seen = 0;
    // Neither written nor answered, while all that follow on the same connection are.
    double.faults.appendFaultAt = (nth) => {
      seen = nth;
      return nth === 6 ? { kind: 'silence' } : undefined;
    };
    expect(await inMany()).to.contain(OUT_OF_ORDER);
    expect(seen).to.be.greaterThan(6);
    expect(await inMany()).to.contain('copy into an empty one');
    await double.close();
    double = await startEsdbDouble();
    const one = { from: source(), to: double.connectionString, s3: undefined, oneByOne: true };
    expect((await copyLogBetween(one, { signal: NEVER })).found).to.equal(0);
  });

  it('is not copied twice, nor over other events, nor from one server to another', async () => {
    await embedded();
    const first = await toServer();
    const again = await toServer();
    expect(again).to.deep.equal({ ...first, found: first.events });
    const log = onServer();
    await using(log, () => traded(log, 1, 'server'));
    expect(await refusal(toServer())).to.contain('copy into an empty one');
    expect(await isCopyOpen(double.connectionString), 'the log there starts as before').to.equal(false);
    expect(await refusal(copied(source(), join(folder.path, 'other')))).to.contain('a folder and a server');
    expect(await refusal(copied(join(folder.path, 'nowhere'), double.connectionString))).to.contain(
      'no event log',
    );
    expect(await refusal(copied(double.connectionString, source()))).to.contain('empty folder');
    expect(existsSync(join(source(), 'events.db'))).to.equal(true);
  });
});
