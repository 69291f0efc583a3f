import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { threadCpuMs } from './pace.ts';
import type { HeldSlice, LoopDelay } from './watchedService.ts';

/*
 * The service, with a watch on its main thread: every stretch in which the thread answered nobody is written
 * to WATCH_FILE, with the CPU time that the thread itself used meanwhile. On a busy machine a thread may
 * merely wait for its turn; then the wall clock moves and its CPU time does not. Every second, and at its
 * end, the process writes what the event loop's own monitor measured to WATCH_FILE.delay.
 */
const EVERY_MS = 20;
/** Shorter stretches are not worth a line. */
const LEAST_MS = 40;

const file = process.env['WATCH_FILE'] ?? '';

/** The start of the service is nobody's request: the monitor begins when SIGWINCH says so. */
const delays = monitorEventLoopDelay({ resolution: 10 });
const tellDelay = (): void => {
  const told: LoopDelay = { maxMs: delays.max / 1e6, p99Ms: delays.percentile(99) / 1e6 };
  if (delays.count === 0) return;
  writeFileSync(`${file}.delay.part`, JSON.stringify(told));
  renameSync(`${file}.delay.part`, `${file}.delay`);
};
process.on('SIGWINCH', () => delays.enable());
process.on('exit', tellDelay);

let last = { wall: performance.now(), cpu: threadCpuMs() };
setInterval(() => {
  const now = { wall: performance.now(), cpu: threadCpuMs() };
  const [wallMs, usedMs] = [now.wall - last.wall - EVERY_MS, now.cpu - last.cpu];
  const slice: HeldSlice = { wallMs, cpuMs: usedMs, endedAt: Date.now() };
  last = now;
  if (wallMs >= LEAST_MS) appendFileSync(file, `${JSON.stringify(slice)}\n`);
}, EVERY_MS).unref();
setInterval(tellDelay, 1_000).unref();

/** Shows that the watch sees: holds the main thread for 300 ms. */
process.on('SIGUSR2', () => {
  const began = threadCpuMs();
  while (threadCpuMs() - began < 300);
});

await import('../../src/main.js');
