import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { NODE_OPTIONS } from './program.ts';

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly done: Promise<Ran>;
}

/** Starts `quire` with nothing in its environment but `env`. */
export const startCommand = (
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): RunningCommand => {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [...NODE_OPTIONS, resolve('bin/quire.js'), ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const done = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }));
  return { child, done };
};

/** Runs `quire` to its end. */
export const runCommand = (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ran> =>
  startCommand(env, args).done;
