import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { processTree, type ProcessMemory } from './processTree.ts';

export interface Start {
  /** From the command to the first answer that the service is ready. */
  readonly healthySeconds: number;
  /** CPU time of all processes until then; it depends less on what else the machine does. */
  readonly cpuSeconds: number;
  /** After `idleSeconds` without a request. */
  readonly idle: readonly ProcessMemory[];
}

export interface StartOptions {
  /** The checkout that is started by `npm start`. */
  readonly checkout: string;
  readonly dataDir: string;
  readonly port: number;
  readonly idleSeconds: number;
}

const PATIENCE_MS = 120_000;
const ASK_EVERY_MS = 10;

const isReady = async (url: string): Promise<boolean> => {
  const answer = await fetch(url).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok === true;
};

/** `npm start`, until it is ready and idle; it has ended when this resolves. */
export const timedStart = async (options: StartOptions): Promise<Start> => {
  const { checkout, dataDir, port, idleSeconds } = options;
  const began = performance.now();
  const npm = spawn('npm', ['start', '--silent'], {
    cwd: checkout,
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  const ended = once(npm, 'exit');
  const group = npm.pid ?? 0;
  try {
    const url = `http://127.0.0.1:${port}/health/ready`;
    while (!(await isReady(url))) {
      if (npm.exitCode !== null) throw new Error(`npm start ended with ${npm.exitCode}`);
      if (performance.now() - began > PATIENCE_MS) throw new Error(`${url} did not become ready`);
      await wait(ASK_EVERY_MS);
    }
    const healthySeconds = (performance.now() - began) / 1000;
    const cpuSeconds = processTree(group).reduce((sum, each) => sum + each.cpuSeconds, 0);
    await wait(idleSeconds * 1000);
    return { healthySeconds, cpuSeconds, idle: processTree(group) };
  } finally {
    process.kill(-group, 'SIGTERM');
    await ended;
  }
};
