import { readdir, readFile } from 'node:fs/promises';
import { cpuMsOf } from '../../isolation/children/childProcess.ts';
import { openDocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { Rendition } from '../../ports/documentParser.ts';
import { closedLoop, type Run } from './measure.ts';

/** A file to read, and how many pages it has. */
export interface Sample {
  readonly path: string;
  readonly bytes: Buffer;
  readonly pages: number;
}

/** Requests to a running service, each as a tenant that pays for them. */
export interface Caller {
  readonly url: string;
  /** Of one tenant each: of one alone, three requests run at a time. */
  readonly keys: readonly string[];
  /** Of the service. */
  readonly pid: number;
}

/** One document through `POST /v1/to-markdown`; the connection is kept for the next one. */
async function convertOver(url: string, key: string, { bytes, pages }: Sample): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)], { type: 'application/pdf' }), 'report.pdf');
  const answer = await fetch(`${url}/v1/to-markdown`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`to-markdown: ${answer.status} ${text.slice(0, 300)}`);
  const { meta } = JSON.parse(text) as { meta: { page_count: number } };
  if (meta.page_count !== pages) throw new Error(`${meta.page_count} pages came back, not ${pages}`);
}

/**
 * So many callers, each a tenant that asks again as soon as it is answered; also the processor time of the service
 * and its workers, ms a document. `warmUps` documents each go before: a new process has its layout compiled for good
 * after about 15.
 */
export async function convertingOver(
  { url, keys, pid }: Caller,
  sample: Sample,
  { warmUps, ...load }: { readonly inFlight: number; readonly seconds: number; readonly warmUps: number },
): Promise<Run & { readonly processorMs: number }> {
  const convert = (caller: number): Promise<void> =>
    convertOver(url, keys[caller % keys.length] ?? '', sample);
  for (let round = 0; round < warmUps; round += 1)
    await Promise.all(Array.from({ length: load.inFlight }, (_, caller) => convert(caller)));
  const before = processorMs(pid);
  const run = await closedLoop(load, convert);
  return { ...run, processorMs: (processorMs(pid) - before) / run.done };
}

/** Processor time of a process, of those below it, and of those of them that have ended, ms. */
const processorMs = (pid: number): number => cpuMsOf(pid) ?? Number.NaN;

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
