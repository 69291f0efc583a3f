import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openDocumentWorkers } from '../../isolation/documentWorkers.ts';
import {
  confinementAmong,
  confinementHere,
  type Confinement,
  type Launcher,
} from '../../isolation/confinement/confinement.ts';
import type { Targets } from '../support/takenOver.ts';
import { tempFolder, type TempFolder } from '../support/tempFolder.ts';

const TAKEN_OVER = fileURLToPath(new URL('../support/takenOver.js', import.meta.url));

/** What a process of the service's own user reaches where nothing keeps it: the threat model says so. */
const ALL = [
  'the environment of the service',
  'the memory of the service',
  'a list of the data folder',
  'the event log',
  'a change of the event log',
  'the mode of the event log',
  'the file of another tenant',
  'a file outside',
  'a program',
  'a signal to the service',
  'a TCP connection',
  'the operator’s socket',
  'a UDP packet',
];

/** What Node's permission model alone does not ask about. */
const NOT_ASKED = ['a signal to the service', 'a TCP connection', 'the operator’s socket', 'a UDP packet'];

describe('a parser that a document has taken over', () => {
  let folder: TempFolder;
  let servers: readonly Server[];
  let udp: Socket;
  let targets: Targets;

  before(async () => {
    folder = tempFolder();
    const socketPath = join(folder.path, 'operator.sock');
    const [tcp, unix] = [createServer((peer) => peer.destroy()), createServer((peer) => peer.destroy())];
    servers = [tcp, unix];
    udp = createSocket('udp4');
    udp.on('message', (packet, { port, address }) => udp.send(packet, port, address));
    tcp.listen(0, '127.0.0.1');
    unix.listen(socketPath);
    udp.bind(0, '127.0.0.1');
    await Promise.all([once(tcp, 'listening'), once(unix, 'listening'), once(udp, 'listening')]);
    targets = {
      service: process.pid,
      dataDir: folder.path,
      eventLog: folder.file('events.db', 'every event'),
      otherFile: folder.file('other.pdf', 'another tenant’s'),
      tcpPort: (tcp.address() as AddressInfo).port,
      udpPort: udp.address().port,
      socketPath,
      folder: folder.path,
    };
  });
  after(() => {
    for (const server of servers) server.close();
    udp.close();
    folder.remove();
  });

  const reachedUnder = async (confinement: Confinement): Promise<readonly string[]> => {
    const options = { processes: 1, entry: TAKEN_OVER, confinement: () => Promise.resolve(confinement) };
    const workers = openDocumentWorkers(options);
    try {
      const path = folder.file('hostile.pdf', JSON.stringify(targets));
      const request = {
        path,
        fileName: null,
        effort: 'fast',
        pagesMax: 1,
        deadlineMs: 30_000,
        share: 't',
      } as const;
      const answer = await workers.parser.inspect(request);
      if (answer.kind !== 'ok') throw new Error(JSON.stringify(answer));
      return JSON.parse(answer.mimeType) as readonly string[];
    } finally {
      await workers.close();
    }
  };
  const native = (launchers: readonly Launcher[]): Promise<Confinement> =>
    confinementAmong(launchers, { permissionModel: false });

  it('reaches nothing, as this machine confines it', async () => {
    const here = await confinementHere();
    expect(await reachedUnder(here)).to.deep.equal(here.launcher === 'none' ? NOT_ASKED : []);
  });

  for (const launcher of ['landlock', 'bubblewrap'] as const)
    it(`reaches nothing under ${launcher}, if it is here, by code that does not ask Node`, async function () {
      const confinement = await native([launcher]);
      // which it is stands in the report of `quire doctor`
      if (confinement.launcher === 'none') return;
      expect(confinement).to.deep.include({ launcher, open: [] });
      expect(await reachedUnder(confinement)).to.deep.equal([]);
    });

  it('is asked by Node’s permission model about files and programs, and not about the network', async () => {
    expect(await reachedUnder(await confinementAmong([]))).to.deep.equal(NOT_ASKED);
  });

  it('reaches all that the service’s user may, where neither is there', async () => {
    const unconfined = await native([]);
    expect(unconfined).to.deep.include({ launcher: 'none', permissionModel: false });
    expect(await reachedUnder(unconfined)).to.deep.equal(ALL);
  });
});
