import { appendFileSync, readFileSync } from 'node:fs';
import type { HeldSlice } from './watchedService.ts';

/*
 * The service, with a watch on its main thread: every stretch in which the thread answered nobody is written
 * to WATCH_FILE, with the CPU time that the thread itself used meanwhile. On a busy machine a thread may
 * merely wait for its turn; then the wall clock moves and its CPU time does not.
 */
const EVERY_MS = 20;
/** Shorter stretches are not worth a line. */
const LEAST_MS = 80;

const file = process.env['WATCH_FILE'] ?? '';

/** CPU time of this thread alone, ms. Where Linux does not tell it: of the whole process. */
const cpuMs = (): number => {
  try {
    const [nanos] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanos) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
};

let last = { wall: performance.now(), cpu: cpuMs() };
setInterval(() => {
  const now = { wall: performance.now(), cpu: cpuMs() };
  const slice: HeldSlice = { wallMs: now.wall - last.wall - EVERY_MS, cpuMs: now.cpu - last.cpu };
  last = now;
  if (slice.wallMs >= LEAST_MS) appendFileSync(file, `${JSON.stringify(slice)}\n`);
}, EVERY_MS).unref();

/** Shows that the watch sees: holds the main thread for 300 ms. */
process.on('SIGUSR2', () => {
  const began = cpuMs();
  while (cpuMs() - began < 300);
});

await import('../../src/main.js');
