import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { cpuSince, ifThere } from '../../../engine/test/bench/cpu.ts';

/** What one `quire audit --log-only` took, and what it said. */
export interface Audited {
  readonly events: number;
  readonly seconds: number;
  readonly cpuMs: number;
  /** Resident at most, as far as it was looked at. */
  readonly mostMb: number;
  readonly report: string;
}

const LOOK_EVERY_MS = 50;

/** The most that a process was resident with so far, MB; 0 once it is gone. */
const mostMbOf = (pid: number): number => {
  const [status = ''] = ifThere(() => readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
};

/** Audits the log of a data folder by the command of a build. Throws when something is wrong in it. */
export const auditedBy = async (cli: string, dataDir: string): Promise<Audited> => {
  const { PATH = '', HOME = '' } = process.env;
  // Once it has ended, its CPU time is that of a child of this process.
  const spent = cpuSince([process.pid]);
  const began = performance.now();
  const child = spawn(process.execPath, [cli, 'audit', '--log-only', '--json'], {
    env: { PATH, HOME, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let mostMb = 0;
  const looking = setInterval(() => (mostMb = Math.max(mostMb, mostMbOf(child.pid ?? 0))), LOOK_EVERY_MS);
  const ended = once(child, 'exit');
  const [report, told] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  clearInterval(looking);
  if (child.exitCode !== 0)
    throw new Error(`the audit ended with ${String(child.exitCode)}:\n${told}${report}`);
  const { facts } = JSON.parse(report) as { readonly facts: { readonly events: number } };
  return {
    events: facts.events,
    seconds: (performance.now() - began) / 1000,
    cpuMs: spent(),
    mostMb,
    report,
  };
};
