import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { until } from '../../engine/test/support/until.ts';
import { prepareDataDir } from './preparedData.ts';
import { MAIN, NODE_OPTIONS } from './program.ts';

/** The admin key that services started here are given. */
export const ADMIN_KEY = 'an-admin-key-for-specs-only-0123456789';

export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from spawn to the first healthy answer. */
  readonly startedInMs: number;
  readonly output: () => string;
  readonly isRunning: () => boolean;
  /** Resolves when the process has ended, by itself or by a signal. */
  readonly ended: Promise<void>;
  /** Sends a signal to the process alone and waits for its end; gives the exit code. */
  readonly stop: (signal: NodeJS.Signals) => Promise<number | null>;
}

const LISTENING = /listens on (http:\/\/[^\s]+)/;

const untilListening = (child: ChildProcess, output: () => string): Promise<string> =>
  new Promise((resolve, reject) => {
    const look = () => {
      const url = LISTENING.exec(output())?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', look);
    child.once('exit', (code) => reject(new Error(`the service ended with ${String(code)}:\n${output()}`)));
    child.once('error', reject);
  });

const untilHealthy = async (url: string, child: ChildProcess, output: () => string): Promise<void> => {
  await until(async () => {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the service ended with ${String(child.exitCode)}:\n${output()}`);
    const answer = await fetch(`${url}/health`).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.status === 200;
  }, 25);
};

/** Starts the real service with embedded parts in `dataDir`, on a free port, and waits until healthy. */
export const startService = async (
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  main: string = MAIN,
): Promise<ServiceProcess> => {
  const { PATH = '', HOME = '' } = process.env;
  const all = {
    PATH,
    HOME,
    DATA_DIR: dataDir,
    PORT: '0',
    ADMIN_API_KEY: ADMIN_KEY,
    LOG_LEVEL: 'warn',
    ...env,
  };
  if (!('DATABASE_URL' in env)) await prepareDataDir(dataDir);
  const began = performance.now();
  const child = spawn(process.execPath, [...NODE_OPTIONS, main], {
    // An empty value takes a variable away.
    env: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const ended = once(child, 'exit').then(() => undefined);
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const output = () => text;
  const url = await untilListening(child, output);
  await untilHealthy(url, child, output);
  const startedInMs = performance.now() - began;
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const stop = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (!isRunning()) return child.exitCode;
    child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return { url, pid: child.pid ?? 0, startedInMs, output, isRunning, ended, stop };
};
