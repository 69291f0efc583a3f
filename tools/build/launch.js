import { spawn } from 'node:child_process';
import { ROOT } from './workspaces.js';

/** Runs Node in the checkout until it ends, and ends as it does; `env` is added to the environment. */
export const launch = (args, env = {}) => {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 1));
};
