import { readdirSync, readFileSync } from 'node:fs';
import { cpuSince } from '../../../engine/test/bench/cpu.ts';
import type { HostileFile } from './hostileFiles.ts';

/** What a hostile file cost, and what others noticed of it. */
export interface Cost {
  readonly what: string;
  readonly status: number;
  readonly code: string;
  /** Of the slowest of its requests. */
  readonly seconds: number;
  /** At the most, of the service itself and of the processes that it reads files in, MiB. */
  readonly serviceMb: number;
  readonly readersMb: number;
  /** CPU milliseconds of the service and its readers for one of its requests; what others asked meanwhile is in it. */
  readonly cpuMs: number;
  readonly others: Others;
}

/** Requests of other callers meanwhile. */
export interface Others {
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

interface Service {
  readonly url: string;
  readonly pid: number;
}

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
});
const CALLERS = 4;
const PAUSE_MS = 10;
const SAMPLE_MS = 25;
/** A file that is refused at once is sent again until so much time has passed. */
const LEAST_MS = 2_000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const residentMb = (pid: string): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;

const parentOf = (pid: string): string | undefined => {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
};

/** Resident memory of the service and, summed, of its children; 0 where there is no /proc. */
const memoryOf = ({ pid }: Service): readonly [number, number] => {
  const children = readdirSync('/proc').filter((one) => /^\d+$/.test(one) && parentOf(one) === String(pid));
  return [residentMb(String(pid)), children.reduce((sum, child) => sum + residentMb(child), 0)];
};

const untilOver = async (isOver: () => boolean, step: () => Promise<void>): Promise<void> => {
  while (!isOver()) await step();
};

const statisticsOf = (latencies: number[], failed: number): Others => {
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return { requests: latencies.length, failed, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1) };
};

/** What other callers see while `work` runs: each asks for a balance, waits a little, asks again. */
const besides = async <T>(
  { url }: Service,
  key: string,
  work: () => Promise<T>,
): Promise<readonly [T, Others]> => {
  const latencies: number[] = [];
  let [over, failed] = [false, 0];
  const ask = async (): Promise<void> => {
    const began = performance.now();
    const answer = await fetch(`${url}/v1/billing/balance/other`, { headers: { 'x-api-key': key } });
    await answer.arrayBuffer();
    latencies.push(performance.now() - began);
    if (answer.status !== 200) failed += 1;
    await pause(PAUSE_MS);
  };
  const callers = Array.from({ length: CALLERS }, () => untilOver(() => over, ask));
  const result = await work().finally(() => (over = true));
  await Promise.all(callers);
  return [result, statisticsOf(latencies, failed)];
};

interface Answered {
  readonly status: number;
  readonly code: string;
  readonly ms: number;
}

const send = async ({ url }: Service, key: string, { name, bytes }: HostileFile): Promise<Answered> => {
  const form = new FormData();
  form.set('schema', SCHEMA);
  form.set('mode', 'fast');
  form.set('file', new Blob([Buffer.from(bytes)]), name);
  const began = performance.now();
  const answer = await fetch(`${url}/v1/extract`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  const body = (await answer.json()) as { readonly code?: string; readonly status?: string };
  const ms = performance.now() - began;
  return { status: answer.status, code: body.code ?? body.status ?? '', ms };
};

/** The quiet before: what other callers see when nobody sends anything. */
export const quiet = async (service: Service, key: string): Promise<Others> =>
  (await besides(service, key, () => pause(2 * LEAST_MS)))[1];

/** Sends one hostile file, again if it is refused at once, and watches. */
export const costOf = async (
  service: Service,
  keys: { readonly sender: string; readonly other: string },
  file: HostileFile,
): Promise<Cost> => {
  let [over, serviceMb, readersMb] = [false, 0, 0];
  const watching = untilOver(
    () => over,
    async () => {
      const [own, readers] = memoryOf(service);
      [serviceMb, readersMb] = [Math.max(serviceMb, own), Math.max(readersMb, readers)];
      await pause(SAMPLE_MS);
    },
  );
  const spent = cpuSince([service.pid]);
  const [answers, others] = await besides(service, keys.other, async () => {
    const began = performance.now();
    const all: Answered[] = [];
    do all.push(await send(service, keys.sender, file));
    while (performance.now() - began < LEAST_MS);
    return all;
  });
  const cpuMs = spent() / answers.length;
  over = true;
  await watching;
  const kinds = [...new Set(answers.map(({ code }) => code))];
  return {
    what: file.what,
    status: answers[0]?.status ?? 0,
    code: kinds.join(', '),
    seconds: Math.max(...answers.map(({ ms }) => ms)) / 1000,
    serviceMb,
    readersMb,
    cpuMs,
    others,
  };
};
