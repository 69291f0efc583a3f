import { readFile } from 'node:fs/promises';

const PERIOD_MS = 100;
const PAGE_BYTES = 4096;

/**
 * Calls `onExceeded` once when the process holds more than `memoryMb`. It sees what `ulimit -d` does not
 * (shared and file-backed memory) and stands in where a shell has no such limit. Needs Linux's /proc;
 * elsewhere it watches nothing, and the heap limit and the deadline are what is left.
 */
export function watchMemory(pid: number | undefined, memoryMb: number, onExceeded: () => void): () => void {
  if (pid === undefined || process.platform !== 'linux') return () => undefined;
  const bytesMax = memoryMb * 1024 * 1024;
  let reading = false;
  const timer = setInterval(() => {
    if (reading) return;
    reading = true;
    void residentBytes(pid).then((bytes) => {
      reading = false;
      if (bytes > bytesMax && !stopped) onExceeded();
    });
  }, PERIOD_MS);
  let stopped = false;
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

/** 0 when the process is gone. A process that was started by a launcher that stays counts with it. */
export async function residentBytes(pid: number): Promise<number> {
  try {
    const [, pages] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
    const own = Number(pages) * PAGE_BYTES;
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')).split(' ');
    const started = await Promise.all(children.filter(Boolean).map((child) => residentBytes(Number(child))));
    return started.reduce((sum, bytes) => sum + bytes, own);
  } catch {
    return 0;
  }
}
