import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, copyFile, mkdir, readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { codeOf } from '../../../domain/kernel/json.ts';
import { freePort } from '../freePort.ts';

const run = promisify(execFile);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A server that the fleet needs: it can be killed as by a crash, frozen, and started again on its data. */
export interface FleetServer {
  readonly name: string;
  readonly start: () => Promise<void>;
  readonly kill: () => Promise<void>;
  /** SIGSTOP: it holds its connections and says nothing. Resolves when it is stopped; at once when it is gone. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
  readonly pid: () => number;
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (open: boolean) => () => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', end(true));
    socket.once('error', end(false));
  });

const untilOpen = async (name: string, port: number): Promise<void> => {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await isOpen(port)) return;
    await pause(50);
  }
  throw new Error(`${name} does not listen on ${port}`);
};

interface Command {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly port: number;
}

/** A server that is one process. */
const processServer = ({ name, file, args, port }: Command): FleetServer => {
  let child: ChildProcess | undefined;
  return {
    name,
    start: async () => {
      child = spawn(file, [...args], { stdio: ['pipe', 'ignore', 'inherit'] });
      child.stdin?.on('error', () => undefined);
      await untilOpen(name, port);
    },
    kill: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    freeze: () => Promise.resolve(void child?.kill('SIGSTOP')),
    thaw: () => Promise.resolve(void child?.kill('SIGCONT')),
    pid: () => child?.pid ?? 0,
  };
};

export const redisServer = async (folder: string): Promise<FleetServer & { readonly url: string }> => {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const server = processServer({ name: 'Redis', file: 'redis-server', args, port });
  return { ...server, url: `redis://127.0.0.1:${port}` };
};

/** The double of EventStoreDB, which keeps its log in a file that can be copied and put back. */
export interface EventServer extends FleetServer {
  readonly url: string;
  readonly copy: () => Promise<void>;
  readonly putBack: () => Promise<void>;
}

export const eventStoreServer = async (folder: string): Promise<EventServer> => {
  const port = await freePort();
  const main = fileURLToPath(new URL('../esdbDouble/main.js', import.meta.url));
  const [file, copied] = [join(folder, 'events.log'), join(folder, 'events.copy')];
  const args = [main, '--port', String(port), '--file', file];
  const server = processServer({ name: 'EventStoreDB', file: process.execPath, args, port });
  return {
    ...server,
    url: `esdb://127.0.0.1:${port}?tls=false`,
    copy: () => copyFile(file, copied),
    putBack: () => copyFile(copied, file),
  };
};

const S3 = { bucket: 'quire', accessKey: 'S3RVER', secretKey: 'S3RVER' };

export const objectServer = async (
  folder: string,
): Promise<FleetServer & { readonly env: Readonly<Record<string, string>> }> => {
  const port = await freePort();
  const main = fileURLToPath(new URL('./s3Main.js', import.meta.url));
  const args = [main, String(port), join(folder, 'objects')];
  const server = processServer({ name: 'S3', file: process.execPath, args, port });
  const env = {
    S3_ENDPOINT: `http://127.0.0.1:${port}`,
    S3_BUCKET: S3.bucket,
    S3_ACCESS_KEY: S3.accessKey,
    S3_SECRET_KEY: S3.secretKey,
  };
  return { ...server, env };
};

const POSTGRES_ROOT = '/usr/lib/postgresql';

const newestPostgres = async (): Promise<string> => {
  const versions = await readdir(POSTGRES_ROOT).catch(() => []);
  const newest = versions.map(Number).sort((a, b) => b - a)[0];
  if (newest === undefined) throw new Error(`there is no PostgreSQL in ${POSTGRES_ROOT}: install postgresql`);
  return join(POSTGRES_ROOT, String(newest), 'bin');
};

/** PostgreSQL does not run as root: then the user `postgres` runs it. */
const asPostgres = (command: string) =>
  process.getuid?.() === 0
    ? run('su', ['postgres', '-s', '/bin/sh', '-c', command])
    : run('/bin/sh', ['-c', command]);

const idOfPostgres = async (flag: '-u' | '-g'): Promise<number> =>
  Number((await run('id', [flag, 'postgres'])).stdout);

const numbersIn = async (output: Promise<{ readonly stdout: string }>): Promise<readonly number[]> => {
  const { stdout } = await output.catch(() => ({ stdout: '' }));
  return stdout
    .split('\n')
    .map(Number)
    .filter((one) => one > 0);
};

/** A process that has ended by itself meanwhile is no failure. */
const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
};

/** The parent first: one that is stopped starts no more children. */
const signalled = async (data: string, name: NodeJS.Signals): Promise<void> => {
  for (const parent of await numbersIn(asPostgres(`head -1 '${data}/postmaster.pid'`))) {
    signal(parent, name);
    for (const child of await numbersIn(run('pgrep', ['-P', String(parent)]))) signal(child, name);
  }
};

/** PostgreSQL with fsync on. `kill` ends it without a checkpoint: the next start recovers from its log. */
export const postgresServer = async (folder: string): Promise<FleetServer & { readonly url: string }> => {
  const port = await freePort();
  const bin = await newestPostgres();
  const data = join(folder, 'postgres');
  await mkdir(data);
  if (process.getuid?.() === 0) await chown(data, await idOfPostgres('-u'), await idOfPostgres('-g'));
  await asPostgres(`'${bin}/initdb' -D '${data}' -A trust -U quire --no-instructions >/dev/null`);
  const options =
    `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='${data}' -c ` +
    'max_connections=200';
  const start = async () => {
    await asPostgres(`'${bin}/pg_ctl' -D '${data}' -w -l '${data}/log' -o "${options}" start >/dev/null`);
  };
  await start();
  await run(join(bin, 'createdb'), ['-h', '127.0.0.1', '-p', String(port), '-U', 'quire', 'quire']);
  return {
    name: 'PostgreSQL',
    url: `postgres://quire@127.0.0.1:${port}/quire`,
    start,
    kill: async () => {
      await asPostgres(`'${bin}/pg_ctl' -D '${data}' -m immediate stop >/dev/null`).catch(() => undefined);
    },
    freeze: () => signalled(data, 'SIGSTOP'),
    thaw: () => signalled(data, 'SIGCONT'),
    pid: () => 0,
  };
};
