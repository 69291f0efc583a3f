import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type EventStoreDb, openEventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';
import type { NewEvent } from '../../domain/kernel/recorded.ts';
import { until as eventually } from '../../engine/test/support/until.ts';
import { type EsdbDouble, type Release, startEsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import type { AppendFault } from '../support/esdbDouble/faults.ts';
import { batchOf, eventsOf, everything, idsOf, taken, until } from '../support/logs/eventLogProbe.ts';
import { cutReadsContract } from './cutReads.contract.ts';
import { eventLogContract } from './eventLog.contract.ts';

const MAIN = fileURLToPath(new URL('../support/esdbDouble/main.js', import.meta.url));

/** What the log is waited for where no answer comes, ms; where one comes, the adapter's own patience. */
const IMPATIENT = { appendTimeoutMs: 500, readTimeoutMs: 1_000 };

type Batch = ReturnType<typeof batchOf>;

interface Append {
  readonly stream: string;
  readonly expected: 'no_stream' | bigint;
  readonly batch: Batch;
}

/** Repeats the identical batch until its outcome is known, as a writer does. */
const settledOn = async (log: EventStoreDb, { stream, expected, batch }: Append) => {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const result = await log.append(stream, expected, batch);
    if (result.kind !== 'unknown') return result;
  }
  throw new Error('the outcome stayed unknown');
};

const contractOn = (title: string, refuseFeatures: boolean, release: Release = '26.0') =>
  eventLogContract(title, async () => {
    const double = await startEsdbDouble({ release });
    double.faults.refuseFeatures = refuseFeatures;
    const log = openEventStoreDb({ connectionString: double.connectionString });
    const close = async () => {
      await log.close();
      await double.close();
    };
    return { log, close };
  });

describe('EventStoreDB adapter over the double', () => {
  contractOn('contract, batch append', false);
  contractOn('contract, marks of 23.10', false, '23.10');
  contractOn('contract, server features refused (single append)', true);

  cutReadsContract('reads that are cut short', async () => {
    const double = await startEsdbDouble();
    const log = openEventStoreDb({ connectionString: double.connectionString, ...IMPATIENT });
    const close = async () => {
      await log.close();
      await double.close();
    };
    return { log, door: double, close };
  });

  describe('faults', () => {
    let double: EsdbDouble;
    let log: EventStoreDb;

    const opened = (patience: Partial<typeof IMPATIENT>) => {
      beforeEach(async () => {
        double = await startEsdbDouble();
        log = openEventStoreDb({ connectionString: double.connectionString, ...patience });
        await settled(batchOf(1), 'account-warm');
      });
      afterEach(async () => {
        await log.close();
        await double.close();
      });
    };

    const settled = (batch: Batch, stream = 'account-a', expected: 'no_stream' | bigint = 'no_stream') =>
      settledOn(log, { stream, expected, batch });

    describe('without an answer', () => {
      opened(IMPATIENT);

      const committed: readonly AppendFault[] = [
        { kind: 'die_after_commit' },
        { kind: 'commit_silently' },
        { kind: 'late', ms: 2 * IMPATIENT.appendTimeoutMs },
      ];
      for (const fault of [...committed, { kind: 'silence' }, { kind: 'not_ready' }] as const) {
        it(`${fault.kind}: the outcome is unknown, and the identical batch settles it`, async () => {
          const batch = batchOf(3);
          double.faults.nextAppend(fault);
          expect((await log.append('account-a', 'no_stream', batch)).kind).to.equal('unknown');
          await eventually(() => double.faults.left() === 0);
          const lengthBefore = double.log.stream('account-a').length;
          expect(lengthBefore).to.equal(committed.includes(fault) ? 3 : 0);
          expect(await settled(batch)).to.include({ kind: 'appended', revision: 2n });
          expect(double.log.stream('account-a')).to.have.length(3);
        });
      }

      for (const fault of [{ kind: 'silence' }, { kind: 'not_ready' }] as const) {
        it(`${fault.kind}: a batch whose slot was taken meanwhile is a conflict, not a second write`, async () => {
          const batch = batchOf(2);
          double.faults.nextAppend(fault);
          expect((await log.append('account-a', 'no_stream', batch)).kind).to.equal('unknown');
          await eventually(() => double.faults.left() === 0);
          await settled(batchOf(1));
          expect(await settled(batch)).to.deep.equal({ kind: 'conflict', actual: 0n });
          expect(double.log.stream('account-a')).to.have.length(1);
        });
      }

      it('takes a late answer for an append it has given up without harm', async () => {
        const ms = 2 * IMPATIENT.appendTimeoutMs;
        double.faults.nextAppend({ kind: 'late', ms });
        expect((await log.append('account-a', 'no_stream', batchOf(1))).kind).to.equal('unknown');
        const [next] = await Promise.all([settled(batchOf(1), 'account-b'), elapsed(ms)]);
        expect(next.kind).to.equal('appended');
        expect((await settled(batchOf(1), 'account-b', 0n)).kind).to.equal('appended');
      });

      it('answers within its own time while nothing passes, and goes on when it does', async () => {
        double.freeze(true);
        const batch = batchOf(1);
        for (let attempt = 0; attempt < 4; attempt += 1)
          expect((await log.append('account-a', 'no_stream', batch)).kind).to.equal('unknown');
        const failure = await taken(log.read('account-warm')).catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(Error).and.have.property('name', 'LogUnavailable');
        expect(failure).to.have.nested.property('cause.name', 'ServerSilent');
        double.freeze(false);
        expect((await settled(batch)).kind).to.equal('appended');
        expect(await taken(log.read('account-warm'))).to.have.length(1);
        expect(double.log.stream('account-a')).to.have.length(1);
      });

      for (const stop of ['falls silent', 'is cut'] as const) {
        it(`throws when a read ${stop} in its midst, and gives all once the server goes on`, async () => {
          await settled(batchOf(50));
          double.faults.haltReads(20);
          let events = 0;
          const failure = await (async () => {
            for await (const _ of log.read('account-a')) {
              events += 1;
              if (stop === 'is cut' && events === 20) double.closeConnections();
            }
          })().catch((error: unknown) => error);
          expect(failure).to.be.instanceOf(LogUnavailable);
          expect(events).to.equal(20);
          const reading = taken(log.read('account-a'));
          double.faults.haltReads();
          expect(await reading).to.have.length(50);
        });
      }

      it('throws when a subscription is never confirmed', async () => {
        double.freeze(true);
        const failure = await taken(log.subscribe({})).catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(Error).and.have.property('name', 'LogUnavailable');
        expect(failure).to.have.nested.property('cause.name', 'ServerSilent');
      });
    });

    describe('with one', () => {
      opened({});

      it('takes a second answer to an append without harm', async () => {
        double.faults.nextAppend({ kind: 'twice' });
        const result = await log.append('account-a', 'no_stream', batchOf(1));
        expect(result).to.include({ kind: 'appended', revision: 0n });
        expect((await log.append('account-b', 'no_stream', batchOf(1))).kind).to.equal('appended');
        expect(double.log.stream('account-a')).to.have.length(1);
      });

      it('reads the position back when the server does not tell it', async () => {
        double.faults.nextAppend({ kind: 'no_position' });
        const result = await log.append('account-a', 'no_stream', batchOf(2));
        const position = double.log.stream('account-a').at(-1)!.position;
        expect(result).to.deep.equal({ kind: 'appended', revision: 1n, position: BigInt(position) });
      });

      it('answers every append in flight when the connection is cut, and goes on by itself', async () => {
        double.faults.nextAppend(...Array.from({ length: 20 }, () => ({ kind: 'silence' }) as const));
        const flying = Array.from({ length: 20 }, (_, n) =>
          log.append(`account-${n}`, 'no_stream', batchOf(1)),
        );
        await eventually(() => double.faults.left() === 0);
        double.closeConnections();
        for (const result of await Promise.all(flying)) expect(result.kind).to.equal('unknown');
        expect((await settled(batchOf(1))).kind).to.equal('appended');
      });

      it('sends nothing over another connection than the one that was named', async () => {
        await taken(log.read('account-warm'));
        await settled(batchOf(1));
        const named = log.epoch!();
        expect((await log.append('account-a', 0n, batchOf(1), named)).kind).to.equal('appended');
        double.closeConnections();
        const sent = Array.from({ length: 5 }, (_, n) =>
          log.append(`account-${n}`, 'no_stream', batchOf(1), named),
        );
        for (const result of await Promise.all(sent)) expect(result.kind).to.be.oneOf(['moved', 'unknown']);
        await eventually(
          async () => (await log.append('account-b', 'no_stream', batchOf(1), named)).kind === 'moved',
        );
        expect(double.log.all().map(({ stream }) => stream)).to.deep.equal([
          '$settings',
          'account-warm',
          'account-a',
          'account-a',
        ]);
        await taken(log.read('account-warm'));
        expect((await log.append('account-b', 'no_stream', batchOf(1), log.epoch!())).kind).to.equal(
          'appended',
        );
      });

      it('throws when the server ends a subscription, and resumes without loss or repetition', async () => {
        await log.append('account-a', 'no_stream', batchOf(3));
        let ended = 0;
        const seen: bigint[] = [];
        const follow = async (after: bigint | undefined) => {
          for await (const item of log.subscribe({ after, categories: ['account'] })) {
            if (item.kind === 'event') seen.push(item.event.position);
            if (item.kind === 'caught_up' && ended < 2) double.endSubscriptions();
            if (item.kind === 'caught_up' && ended === 1) await log.append('account-a', 2n, batchOf(2));
            if (seen.length === 6) return;
          }
        };
        for (; seen.length < 6; ended += 1)
          await follow(seen.at(-1)).catch((error: unknown) => expect(error).to.be.instanceOf(LogUnavailable));
        expect(ended).to.equal(3);
        expect(seen).to.deep.equal(
          double.log
            .all()
            .slice(1)
            .map(({ position }) => BigInt(position)),
        );
      });

      it('throws when the connection of a subscription is cut', async () => {
        const following = taken(
          (async function* () {
            for await (const item of log.subscribe({})) {
              if (item.kind === 'caught_up') double.closeConnections();
              yield item;
            }
          })(),
        );
        expect(await following.catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect(eventsOf(await until(log, {}, 'caught_up'))).to.have.length(1);
      });

      it('finds the head behind what the server writes for itself', async () => {
        const { position } = double.log.all().at(-1)!;
        for (let n = 0; n < 100; n += 1)
          double.log.append('$stats', 'any', [{ ...SYSTEM, id: `stats-${String(n)}` }]);
        expect(await log.head()).to.equal(BigInt(position));
      });

      it('moves over a long filtered-out stretch with checkpoints once it is live', async () => {
        const write = async () => {
          await settled(batchOf(1000), 'noise-a');
          await settled(batchOf(1));
        };
        const items = await everything(
          log,
          { categories: ['account'] },
          { events: 2, onCaughtUp: () => void write() },
        );
        expect(items.some(({ kind }) => kind === 'checkpoint')).to.equal(true);
      });

      it('delivers thousands of events to a slow reader in order', async () => {
        double.log.append('account-a', 'no_stream', batchOf(8000).map(asProposed));
        let count = 0;
        for await (const item of log.subscribe({ categories: ['account'] })) {
          if (item.kind === 'event') count += 1;
          if (count % 500 === 0) await elapsed(1);
          if (item.kind === 'caught_up') break;
        }
        expect(count).to.equal(8001);
      });

      it('allows one place to append to in a process', () => {
        expect(() => openEventStoreDb({ connectionString: 'esdb://127.0.0.1:1?tls=false' })).to.throw(
          'already appends',
        );
      });
    });
  });

  it('survives kill -9 of the server: what was acknowledged is there once, a cut batch settles', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quire-double-'));
    const file = join(folder, 'log.jsonl');
    const first = await startProcess(file, 0);
    const log = openEventStoreDb({ connectionString: first.connectionString });
    const acknowledged = batchOf(2);
    const asked = { stream: 'account-a', expected: 'no_stream', batch: acknowledged } as const;
    expect((await settledOn(log, asked)).kind).to.equal('appended');
    const heard = first.nextLine();
    first.child.stdin.write('{"kind":"die_after_commit"}\n');
    await heard;
    const cut = batchOf(2);
    expect((await log.append('account-a', 1n, cut)).kind).to.equal('unknown');
    await first.exited;

    const second = await startProcess(file, first.port);
    const result = await settledOn(log, { stream: 'account-a', expected: 1n, batch: cut });
    expect(result).to.include({ kind: 'appended', revision: 3n });
    expect(idsOf(await taken(log.read('account-a')))).to.deep.equal(idsOf([...acknowledged, ...cut]));
    await log.close();
    second.child.kill('SIGKILL');
    await second.exited;
    await rm(folder, { recursive: true, force: true });
  });
});

/** Time itself is meant: a late answer, a slow reader. */
// eslint-disable-next-line no-restricted-globals
const elapsed = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const asProposed = ({ id, type, data, metadata }: NewEvent) => ({
  id,
  type,
  contentType: 'application/json',
  data: Buffer.from(JSON.stringify(data)),
  metadata: Buffer.from(JSON.stringify(metadata)),
});

const SYSTEM = {
  type: '$statsCollected',
  contentType: 'application/json',
  data: Buffer.from('{}'),
  metadata: Buffer.from(''),
};

const startProcess = async (file: string, port: number) => {
  const child = spawn(process.execPath, [MAIN, '--port', String(port), '--file', file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const nextLine = async () => ((await once(lines, 'line')) as [string])[0];
  const connectionString = await nextLine();
  return { child, exited, nextLine, connectionString, port: Number(/:(\d+)\?/.exec(connectionString)?.[1]) };
};
