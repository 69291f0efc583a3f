import { execFile } from 'node:child_process';
import { randomUUID, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type EventStoreDb, openEventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { isCopyOpen, markCopy } from '../../adapters/eventstoredb/readiness.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { until as eventually } from '../../engine/test/support/until.ts';
import { type AccountWriter, accountWriter } from '../../src/writer/accountWriter.ts';
import { LogContradicts } from '../../src/writer/streamFold.ts';
import { type EsdbCluster, startEsdbCluster } from '../support/esdbDouble/esdbDouble.ts';
import { batchOf, idsOf, taken } from '../support/logs/eventLogProbe.ts';
import { adjustment } from '../support/money/accountCommands.ts';
import { eventLogContract } from './eventLog.contract.ts';

/** All nodes but the leader get nothing more of the log. */
const holdFollowers = ({ nodes }: EsdbCluster, leader: number): void =>
  nodes.forEach(({ hold }, at) => hold(at !== leader));

const contractOn = (title: string, shift: (cluster: EsdbCluster, test: number) => void) =>
  eventLogContract(title, async () => {
    const cluster = await startEsdbCluster();
    const log = openEventStoreDb({ connectionString: cluster.connectionString });
    let tests = 0;
    const close = async () => {
      await log.close();
      await cluster.close();
    };
    return { log, close, shift: () => shift(cluster, tests++) };
  });

describe('EventStoreDB adapter over a cluster', () => {
  contractOn('contract, followers that are behind', (cluster) => holdFollowers(cluster, 2));
  contractOn('contract, another leader for each test', (cluster, test) => cluster.elect(test % 3));
  contractOn('contract, another leader for each test, and followers that are behind', (cluster, test) => {
    holdFollowers(cluster, test % 3);
    cluster.elect(test % 3);
  });
});

describe('a cluster with TLS that is found by one name (needs openssl)', () => {
  it('is read and written with certificates that docs/replicas/certificates.sh makes, and only with them', async () => {
    const folder = tempFolder();
    const script = fileURLToPath(new URL('../../../docs/replicas/certificates.sh', import.meta.url));
    const make = () => promisify(execFile)('sh', [script, folder.path, 'one', 'two']);
    await make();
    const [cert, key, ca] = ['one/node.crt', 'one/node.key', 'ca/ca.crt'].map((name) =>
      readFileSync(join(folder.path, name)),
    ) as [Buffer, Buffer, Buffer];
    expect(new X509Certificate(cert).verify(new X509Certificate(ca).publicKey)).to.equal(true);
    expect(new X509Certificate(cert).checkHost('eventstore'), 'the name that stands for all').to.equal(
      'eventstore',
    );
    await make();
    expect(readFileSync(join(folder.path, 'one/node.crt')).equals(cert), 'made once').to.equal(true);

    const cluster = await startEsdbCluster(3, { cert, key });
    const found = `esdb+discover://localhost:${String(cluster.nodes[0]?.port)}?tls=true`;
    const trusting = openEventStoreDb({
      connectionString: `${found}&tlsCAFile=${join(folder.path, 'ca/ca.crt')}`,
    });
    const events = batchOf(3);
    await eventually(
      async () => (await trusting.append('account-a', 'no_stream', events)).kind === 'appended',
    );
    cluster.elect(1);
    expect(idsOf(await taken(trusting.read('account-a')))).to.deep.equal(idsOf(events));
    await trusting.close();
    const other = openEventStoreDb({ connectionString: found, readTimeoutMs: 2_000 });
    const failure: unknown = await taken(other.read('account-a')).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(LogUnavailable);
    await other.close();
    await cluster.close();
    folder.remove();
  });
});

describe('a log whose nodes are not alike', () => {
  let cluster: EsdbCluster;
  let log: EventStoreDb;
  /** How long a node may be behind here, ms. */
  const behindMs = 2_000;
  beforeEach(async () => {
    cluster = await startEsdbCluster();
    log = openEventStoreDb({ connectionString: cluster.connectionString, behindMs });
  });
  afterEach(async () => {
    await log.close();
    await cluster.close();
  });

  const appended = async (stream: string, expected: 'no_stream' | bigint, events = batchOf(1)) => {
    await eventually(async () => (await log.append(stream, expected, events)).kind === 'appended');
    return idsOf(events);
  };

  it('reads what it has written after the leader has changed, though its node is behind now', async () => {
    const first = await appended('account-a', 'no_stream');
    expect(idsOf(await taken(log.read('account-a')))).to.deep.equal(first);
    cluster.nodes[2]?.hold(true);
    cluster.elect(0);
    const second = await appended('account-a', 0n);
    expect(idsOf(await taken(log.read('account-a')))).to.deep.equal([...first, ...second]);
    expect(await log.end()).to.equal(BigInt(cluster.log.all().at(-1)!.position));
    expect(await log.head()).to.equal(await log.end());
  });

  it('goes on at another leader when the one that it reads from is killed', async () => {
    const first = await appended('account-a', 'no_stream');
    await taken(log.read('account-a'));
    cluster.nodes[0]?.hold(true);
    const killed = cluster.nodes[2]?.kill();
    cluster.elect(1);
    await killed;
    const second = await appended('account-a', 0n);
    let read: readonly string[] = [];
    await eventually(async () => {
      read = await taken(log.read('account-a')).then(idsOf, (error: unknown) => {
        expect(error).to.be.instanceOf(LogUnavailable);
        return [];
      });
      return read.length > 0;
    });
    expect(read).to.deep.equal([...first, ...second]);
  });

  it('waits while there is no leader', async () => {
    const first = await appended('account-a', 'no_stream');
    cluster.elect(undefined);
    const reading = taken(log.read('account-a'));
    await eventually(() => cluster.refusals() > 1);
    cluster.elect(1);
    expect(idsOf(await reading)).to.deep.equal(first);
  });

  it('ends a subscription on a node that was the leader, once a read has shown it', async () => {
    await appended('account-a', 'no_stream');
    let isLive = false;
    const following = (async () => {
      for await (const { kind } of log.subscribe({})) isLive ||= kind === 'caught_up';
    })().catch((error: unknown) => error);
    await eventually(() => isLive);
    cluster.nodes[2]?.hold(true);
    cluster.elect(0);
    const second = await appended('account-a', 0n);
    expect(await taken(log.read('account-a'))).to.have.length(2);
    expect(await following).to.be.instanceOf(LogUnavailable);
    const seen: string[] = [];
    for await (const item of log.subscribe({})) {
      if (item.kind === 'event') seen.push(item.event.id);
      if (item.kind === 'caught_up') break;
    }
    expect(seen).to.include(second[0]);
  });

  it('sees that a copy has begun, whichever node it asks first', async () => {
    await markCopy(cluster.connectionString, false);
    holdFollowers(cluster, 2);
    await markCopy(cluster.connectionString, true);
    for (const { port } of cluster.nodes)
      expect(await isCopyOpen(`esdb://127.0.0.1:${String(port)}?tls=false`)).to.equal(true);
  });

  describe('an account in a process that knows more than the node that answers', () => {
    const tenant = `t${randomUUID().slice(0, 8)}`;
    const errors: unknown[] = [];
    let writer: AccountWriter;
    beforeEach(async () => {
      errors.length = 0;
      const hooks = { onError: (error: unknown) => void errors.push(error) };
      writer = accountWriter({ store: log, random: () => 0, appendTimeoutMs: 500, hooks });
      expect((await writer.execute(adjustment(tenant, 10))).kind).to.equal('done');
    });
    afterEach(() => writer.close());

    it('waits for the node, and remembers what it knows', async () => {
      // As a leader that was cut off: it still takes itself for the leader, and has nothing of the last event.
      const [lagging] = [cluster.nodes[2]];
      const { length } = cluster.log.all();
      lagging?.hold(true, length - 1);
      const refused = writer.execute(adjustment(tenant, -11));
      await eventually(() => (lagging?.reads() ?? 0) > 2);
      lagging?.hold(false);
      expect((await refused).kind).to.equal('rejected');
      expect(errors).to.deep.equal([]);
      expect((await writer.execute(adjustment(tenant, -10))).kind).to.equal('done');
    });

    it('is refused when the node stays behind for longer than one may', async () => {
      const { length } = cluster.log.all();
      cluster.nodes[2]?.hold(true, length - 1);
      const failure = await writer.execute(adjustment(tenant, -11)).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(LogContradicts);
    });
  });
});
