import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { headerLogId, openLogFile } from '../../adapters/sqlite/eventLogFile.ts';
import Database from 'libsql';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';
import { openedLog } from '../../src/commands/sealing.ts';
import { batchOf, eventsOf, everything, taken, until } from '../support/logs/eventLogProbe.ts';
import { eventLogContract } from './eventLog.contract.ts';

const LOAD = fileURLToPath(new URL('../support/logs/eventLogLoad.js', import.meta.url));

const WHOLE_LINE = /^\S+ \d+ \d+ [0-9a-f-]{36}$/;

/** Runs the load until `acks` appends are acknowledged, kills it, returns every line it printed. */
const killedLoad = async (path: string, acks: number): Promise<readonly string[]> => {
  const child = spawn(process.execPath, [LOAD, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === acks) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).to.equal('SIGKILL');
  // The pipe may have cut the last line.
  return lines.filter((line) => WHOLE_LINE.test(line));
};

describe('embedded event log', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-log-'));
    path = join(folder, 'nested', 'events.sqlite');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  eventLogContract('contract, embedded', async () => {
    const own = await mkdtemp(join(tmpdir(), 'quire-log-'));
    const log = openSqliteEventLog({ path: join(own, 'events.sqlite') });
    const close = async () => {
      await log.close();
      await rm(own, { recursive: true, force: true });
    };
    return { log, close };
  });

  it('keeps every acknowledged append exactly once through kill -9, in one order without gaps', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round += 1) acknowledged.push(...(await killedLoad(path, 400)));

    const log = openSqliteEventLog({ path });
    const events = eventsOf(await until(log, {}, 'caught_up'));
    const positions = events.map(({ position }) => Number(position));
    expect(positions).to.deep.equal(Array.from({ length: events.length }, (_, index) => index + 1));
    expect(new Set(events.map(({ id }) => id))).to.have.property('size', events.length);

    const byPosition = new Map(events.map((event) => [event.position, event]));
    for (const line of acknowledged) {
      const [stream, revision, position, firstId] = line.split(' ') as [string, string, string, string];
      const last = byPosition.get(BigInt(position));
      expect([last?.stream, String(last?.revision)]).to.deep.equal([stream, revision]);
      expect(byPosition.get(BigInt(position) - 1n)?.id).to.equal(firstId);
    }
    const [stream = ''] = acknowledged.at(-1)?.split(' ') ?? [];
    const [last] = await taken(log.read(stream, { direction: 'backwards', limit: 1 }));
    expect((await log.append(stream, last!.revision, batchOf(1))).kind).to.equal('appended');
    await log.close();
  });

  it('goes on where it was when it is opened again, and still knows a repeated batch', async () => {
    const batch = batchOf(2);
    const first = openSqliteEventLog({ path });
    const original = await first.append('account-a', 'no_stream', batch);
    await first.close();
    const second = openSqliteEventLog({ path });
    expect(await second.append('account-a', 'no_stream', batch)).to.deep.equal(original);
    expect(await second.append('account-a', 1n, batchOf(1))).to.include({ kind: 'appended', position: 3n });
    await second.close();
  });

  it('lets a second reader follow the writer, and write nothing', async () => {
    const writer = openSqliteEventLog({ path });
    await writer.append('account-a', 'no_stream', batchOf(1));
    const reader = openSqliteEventLog({ path, readOnly: true });
    const following = everything(
      reader,
      {},
      { events: 3, onCaughtUp: () => void writer.append('account-a', 0n, batchOf(2)) },
    );
    expect(eventsOf(await following)).to.have.length(3);
    expect(await reader.head()).to.equal(3n);
    const refused = await reader.append('account-a', 2n, batchOf(1)).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error);
    await reader.close();
    await writer.close();
  });

  it('wakes a reader in the process of the writer with each commit', async () => {
    const writer = openSqliteEventLog({ path });
    const reader = openSqliteEventLog({ path, besideWriter: true });
    const append = () => void writer.append('account-a', 'no_stream', batchOf(2));
    const following = everything(reader, {}, { events: 2, onCaughtUp: append });
    expect(eventsOf(await following)).to.have.length(2);
    const refused = await reader.append('account-a', 1n, batchOf(1)).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error);
    await reader.close();
    await writer.close();
  });

  it('moves over what is filtered out with a checkpoint', async () => {
    const log = openSqliteEventLog({ path });
    await log.append('account-a', 'no_stream', batchOf(1));
    await log.append('payment-a', 'no_stream', batchOf(2500));
    const items = await until(log, { categories: ['account'] }, 'caught_up');
    expect(items.map(({ kind }) => kind)).to.deep.equal(['event', 'checkpoint', 'caught_up']);
    expect(items[1]).to.deep.equal({ kind: 'checkpoint', position: 2501n });
    await log.close();
  });

  it('commits what waits when it closes, drops its subscriptions, and takes nothing after', async () => {
    const log = openSqliteEventLog({ path });
    const following = taken(log.subscribe({})).catch((error: unknown) => error);
    const waiting = log.append('account-a', 'no_stream', batchOf(1));
    await log.close();
    expect((await waiting).kind).to.equal('appended');
    expect(await following).to.be.instanceOf(LogUnavailable);
    expect((await log.append('account-a', 0n, batchOf(1))).kind).to.equal('unknown');
  });

  it('says in its header which log it is', async () => {
    const log = openSqliteEventLog({ path });
    const id = await openedLog(log, '2026-01-31T08:00:00.000Z');
    await log.close();
    const file = openLogFile(path, true);
    expect(headerLogId(file)).to.equal(id);
    file.close();
  });

  it('reads a file of layout 1 as it is, and brings it forward when it writes', async () => {
    const log = openSqliteEventLog({ path });
    await log.append('account-a', 'no_stream', batchOf(2));
    await log.close();
    const db = new Database(path);
    db.exec('alter table events drop column log_digest; pragma user_version = 1');
    db.close();
    const digests = async (): Promise<readonly (string | null | undefined)[]> => {
      const reader = openSqliteEventLog({ path, readOnly: true, stored: true });
      const items = await until(reader, {}, 'caught_up');
      await reader.close();
      return items.flatMap((item) => (item.kind === 'event' ? [item.event.stored?.log_digest] : []));
    };
    expect(await digests()).to.deep.equal([null, null]);
    const writer = openSqliteEventLog({ path });
    await writer.append('account-a', 1n, batchOf(1));
    await writer.close();
    const [first, second, third] = await digests();
    expect([first, second]).to.deep.equal([null, null]);
    expect(third).to.match(/^[0-9a-f]{64}$/);
  });

  it('refuses to read a file that is not there', () => {
    expect(() => openSqliteEventLog({ path, readOnly: true })).to.throw('no event log');
  });
});
