import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ifThere, runningTrees, cpuMsOf, type ProcessTimes } from '../../engine/test/bench/cpu.ts';
import { startService, type ServiceProcess } from '../../test/support/serviceProcess.ts';
import { writeTradingLog } from './tradingLog.ts';

/** What one process takes, by the kernel's account. */
export interface ProcessMemory {
  readonly pid: number;
  readonly command: string;
  readonly rssMb: number;
  /** Its own memory, and its share of what it shares. */
  readonly pssMb: number;
  readonly cpuSeconds: number;
}

const kilobytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);

const memoryOf = ({ pid, cpuMs }: ProcessTimes): ProcessMemory => {
  const parts = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  const [rssMb, pssMb] = [kilobytes(parts, 'Rss') / 1024, kilobytes(parts, 'Pss') / 1024];
  return { pid, command, rssMb, pssMb, cpuSeconds: cpuMs / 1000 };
};

/** A process and all that it started and that still run. Linux only. */
export const processTree = (root: number): readonly ProcessMemory[] =>
  runningTrees([root]).flatMap((times) => ifThere(() => memoryOf(times)));

/** How large a log the service is started on. */
export interface Growth {
  readonly events: number;
  readonly tenants: number;
}

const SEED = 20261122;
const ASK_EVERY_MS = 20;
/** Read models of a large log are made for the first time meanwhile. */
const PATIENCE_MS = 3_600_000;

const untilReady = async ({ url, isRunning, output }: ServiceProcess): Promise<void> => {
  const began = performance.now();
  for (;;) {
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok === true) return;
    if (!isRunning()) throw new Error(`the service ended:\n${output()}`);
    if (performance.now() - began > PATIENCE_MS) throw new Error('the service did not become ready');
    await wait(ASK_EVERY_MS);
  }
};

/** A start on what lies in a data folder. */
export interface Started {
  readonly service: ServiceProcess;
  readonly healthySeconds: number;
  readonly readySeconds: number;
  /** Of all processes of the service until it was ready. */
  readonly cpuSeconds: number;
  /** Of its own process then. */
  readonly rssMb: number;
}

export const startOn = async (dataDir: string): Promise<Started> => {
  const began = performance.now();
  const service = await startService(dataDir);
  await untilReady(service);
  const readySeconds = (performance.now() - began) / 1000;
  const cpuSeconds = cpuMsOf([service.pid]) / 1000;
  const rssMb = processTree(service.pid)[0]?.rssMb ?? Number.NaN;
  return { service, healthySeconds: service.startedInMs / 1000, readySeconds, cpuSeconds, rssMb };
};

/** A folder as a service leaves it that has run for a year: the log, its read models and snapshots of its accounts. */
export const growDataDir = async (dataDir: string, growth: Growth): Promise<Started> => {
  const path = join(dataDir, 'events.db');
  const written = await writeTradingLog({ path, ...growth, seed: SEED }, () => undefined);
  console.log(`a log of ${written} events of ${growth.tenants} tenants`);
  const first = await startOn(dataDir);
  await first.service.stop('SIGTERM');
  return first;
};
