import { readFileSync } from 'node:fs';

/** CPU time of this thread alone, ms. Where Linux does not tell it: of the whole process. */
export const threadCpuMs = (): number => {
  try {
    const [nanos] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanos) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
};

const MEMBERS = Array.from({ length: 50_000 }, (_, at) => [`member ${String(at)}`, at] as const);
const TEXT = JSON.stringify(Object.fromEntries(MEMBERS));
/** What `TEXT` takes to parse where the limits were set, ms of CPU. */
const REFERENCE_MS = 25;

const onceMs = (): number => {
  const began = threadCpuMs();
  JSON.parse(TEXT);
  return threadCpuMs() - began;
};

/**
 * How many times as long as where the limits were set this machine takes right now for the same work: 1 and more. A
 * processor that is shared gives less work for the same time.
 */
export const paceNow = (): number => {
  const [, middle = REFERENCE_MS] = [onceMs(), onceMs(), onceMs()].sort((a, b) => a - b);
  return Math.max(1, middle / REFERENCE_MS);
};
