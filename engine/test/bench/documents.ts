import { readdir, readFile } from 'node:fs/promises';
import { openDocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { Rendition } from '../../ports/documentParser.ts';
import { closedLoop, type Run } from './measure.ts';

/** A file to read, and how many pages it has. */
export interface Sample {
  readonly path: string;
  readonly bytes: Buffer;
  readonly pages: number;
}

/** Requests to a running service, as a tenant that pays for them. */
export interface Caller {
  readonly url: string;
  readonly key: string;
  /** Of the service. */
  readonly pid: number;
}

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** One document through `POST /v1/to-markdown`; the connection is kept for the next one. */
export async function convertOver({ url, key }: Caller, { bytes, pages }: Sample): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)], { type: 'application/pdf' }), 'report.pdf');
  const answer = await fetch(`${url}/v1/to-markdown`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`to-markdown: ${answer.status} ${text.slice(0, 300)}`);
  const { markdown, meta } = JSON.parse(text) as { markdown: string; meta: { pages: number } };
  if (meta.pages !== pages) throw new Error(`${meta.pages} pages came back, not ${pages}`);
  return markdown;
}

/**
 * So many callers, each asking again as soon as it is answered; also
 * the processor time of the service and its workers, ms a document. One warm-up document each goes before.
 */
export async function convertingOver(
  caller: Caller,
  sample: Sample,
  load: { readonly inFlight: number; readonly seconds: number },
): Promise<Run & { readonly processorMs: number }> {
  await Promise.all(Array.from({ length: load.inFlight }, () => convertOver(caller, sample)));
  const before = await processorMs(caller.pid);
  const run = await closedLoop(load, async () => {
    await convertOver(caller, sample);
  });
  const taken = (await processorMs(caller.pid)) - before;
  return { ...run, processorMs: taken / run.done };
}

/** What one document cost a worker of its own: time, and the most memory that the process ever held. */
export interface WorkerCost {
  readonly ms: number;
  readonly peakMb: number;
  readonly rendition: Rendition;
}

/** Reads one document in a fresh worker, as the service does, but without a page cap. */
export async function inOneWorker({ path, pages }: Sample): Promise<WorkerCost> {
  const before = new Set(await childrenOfThis());
  const workers = openDocumentWorkers({ processes: 1, memoryMb: 2048 });
  // A resting worker does not keep this process up, so waiting for its end alone would end it.
  const awake = setInterval(() => undefined, 1_000);
  try {
    const began = performance.now();
    const result = await workers.parser.render({
      path,
      fileName: null,
      effort: 'standard',
      pagesMax: pages,
      deadlineMs: 600_000,
      share: 't',
    });
    const ms = performance.now() - began;
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    const [child] = (await childrenOfThis()).filter((pid) => !before.has(pid));
    return {
      ms,
      peakMb: child === undefined ? Number.NaN : await peakMbOf(child),
      rendition: result.rendition,
    };
  } finally {
    await workers.close();
    clearInterval(awake);
  }
}

const childrenOfThis = (): Promise<readonly string[]> => childrenOf('self');

/** Needs Linux's /proc, as the figures themselves do. */
async function childrenOf(pid: string): Promise<readonly string[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  );
  return lists.flatMap((list) => list.split(' ').filter((pid) => pid !== ''));
}

async function peakMbOf(pid: string): Promise<number> {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** Processor time that a process and its children have taken, in ms. */
export async function processorMs(pid: number): Promise<number> {
  const all = [String(pid), ...(await childrenOf(String(pid)))];
  const times = all.map(async (one) => {
    const stat = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => '');
    const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
    return (user + system) * TICK_MS;
  });
  return (await Promise.all(times)).reduce((sum, ms) => sum + ms, 0);
}
