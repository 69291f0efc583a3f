import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import * as fs from 'node:fs';
import { connect, type NetConnectOpts } from 'node:net';
import process from 'node:process';
import { received } from '../../isolation/children/fileBytes.ts';
import type { Job, SentFile } from '../../isolation/children/jobs.ts';

/*
 * A child that a document has taken over: it tries to reach what is not its job's, and answers with what it
 * reached, as the type of the file. What to try stands in the file itself.
 */
export interface Targets {
  /** The process that started it. */
  readonly service: number;
  readonly dataDir: string;
  readonly eventLog: string;
  readonly otherFile: string;
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly socketPath: string;
  /** A folder outside its own, where anybody may write. */
  readonly folder: string;
}

type Attempt = (targets: Targets) => unknown;

const connected = (to: NetConnectOpts): Promise<void> =>
  new Promise((resolve, reject) => {
    connect(to)
      .once('connect', () => resolve())
      .once('error', reject);
  });

/** A packet that is answered has arrived; in a network of its own, one is sent and nobody hears it. */
const ANSWER_MS = 500;

const answered = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('nobody answers')), ANSWER_MS);
    const socket = createSocket('udp4')
      .once('error', reject)
      .once('message', () => resolve());
    socket.send('taken over', port, '127.0.0.1', () => timer.refresh());
  });

const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  'the environment of the service': ({ service }) => fs.readFileSync(`/proc/${service}/environ`),
  'the memory of the service': ({ service }) => fs.closeSync(fs.openSync(`/proc/${service}/mem`, 'r')),
  'a list of the data folder': ({ dataDir }) => fs.readdirSync(dataDir),
  'the event log': ({ eventLog }) => fs.readFileSync(eventLog),
  'a change of the event log': ({ eventLog }) => fs.closeSync(fs.openSync(eventLog, 'r+')),
  'the mode of the event log': ({ eventLog }) => fs.chmodSync(eventLog, 0o600),
  'the file of another tenant': ({ otherFile }) => fs.readFileSync(otherFile),
  'a file outside': ({ folder }) => fs.writeFileSync(`${folder}/taken-over`, ''),
  'a program': () => execFileSync('/bin/true'),
  'a signal to the service': ({ service }) => process.kill(service, 0),
  'a TCP connection': ({ tcpPort }) => connected({ port: tcpPort, host: '127.0.0.1' }),
  'the operator’s socket': ({ socketPath }) => connected({ path: socketPath }),
  'a UDP packet': ({ udpPort }) => answered(udpPort),
};

const reached = async (targets: Targets): Promise<readonly string[]> => {
  const names: string[] = [];
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    try {
      await attempt(targets);
      names.push(name);
    } catch {
      // it was refused
    }
  }
  return names;
};

process.on('disconnect', () => process.exit(0));
process.on('message', (sent) => {
  const job = received(sent as Job<SentFile>);
  if (!('file' in job)) return;
  void reached(JSON.parse(job.file.bytes.toString('utf8')) as Targets).then((names) =>
    process.send?.({ kind: 'answer', answer: { kind: 'ok', mimeType: JSON.stringify(names), pages: 1 } }),
  );
});
process.send?.({ kind: 'ready' });
