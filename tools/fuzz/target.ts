import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom, type Random } from '../../engine/test/support/random.ts';
import { runCommand } from '../../test/support/quireCommand.ts';
import { ADMIN_KEY } from '../../test/support/serviceProcess.ts';
import { heldMs, HELD_MS_MAX, startWatched, type WatchedService } from '../../test/hostile/watchedService.ts';

const { env } = process;

/** What a run is told by its environment. */
export const settings = {
  inputs: Number(env['FUZZ_INPUTS'] ?? 10_000),
  seed: Number(env['FUZZ_SEED'] ?? Date.now() % 1_000_000),
  /** Only this input, to see it again. */
  only: env['FUZZ_ONLY'] === undefined ? undefined : Number(env['FUZZ_ONLY']),
  /** Documents to mutate; left out: one of each format is made. */
  folder: env['FUZZ_DIR'],
  deadlineSeconds: Number(env['FUZZ_DEADLINE_SECONDS'] ?? 20),
  /** No input is begun after that long. */
  minutesMax: Number(env['FUZZ_MINUTES'] ?? Infinity),
  callers: env['FUZZ_CALLERS'] === undefined ? undefined : Number(env['FUZZ_CALLERS']),
  keep: env['FUZZ_KEEP'],
} as const;

/** Each input has a generator of its own, so that one can be made again without those before it. */
export const randomOf = (input: number): Random => seededRandom((settings.seed * 1_000_003 + input) >>> 0);

/** The inputs of this run. */
export const range = (): { readonly from: number; readonly until: number } => {
  const { only, inputs } = settings;
  return only === undefined ? { from: 0, until: inputs } : { from: only, until: only + 1 };
};

/** The watched service over a folder of its own. */
export interface FuzzTarget {
  readonly service: WatchedService;
  /** A request of the admin that has to succeed; gives the body of its answer. */
  readonly admin: (
    method: string,
    path: string,
    json?: unknown,
  ) => Promise<Readonly<Record<string, unknown>>>;
  /** A tenant on the paid plan with credits for all that is sent, and without limits of its own. */
  readonly openTenant: (tenantId: string) => Promise<void>;
  /** Stops the service, audits its log and tables, and says what is wrong; the folder goes where nothing is. */
  readonly end: () => Promise<readonly string[]>;
}

const WIDE = { rate_per_second: 10_000, burst: 10_000 };
const CREDITS = 100_000_000_000;

const adminOf =
  (url: string): FuzzTarget['admin'] =>
  async (method, path, json) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': ADMIN_KEY, ...(json !== undefined && { 'content-type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  };

interface LogLine {
  readonly level: number;
  readonly msg?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
}

const lineOf = (text: string): LogLine | undefined => {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return undefined;
  }
};

const saidIn = ({ msg = '', err }: LogLine): string => {
  const stack = err?.stack?.split('\n').slice(0, 6).join('\n    ');
  return `${msg}: ${stack ?? err?.message ?? ''}`;
};

/** Lines of level 50 and above: what a caller does is never one. Equal ones count as one. */
const errorLines = (output: string): readonly string[] => {
  const counted = new Map<string, number>();
  for (const text of output.split('\n')) {
    const line = text.startsWith('{') ? lineOf(text) : undefined;
    if (line === undefined || line.level < 50) continue;
    const said = saidIn(line);
    counted.set(said, (counted.get(said) ?? 0) + 1);
  }
  return [...counted].map(([said, times]) => `logged as an error, ${String(times)} times: ${said}`);
};

const auditText = async (dataDir: string): Promise<readonly string[]> => {
  const { code, out, err } = await runCommand({ DATA_DIR: dataDir }, 'audit');
  return code === 0 ? [] : [`the audit ended with ${String(code)}: ${out}${err}`];
};

/** Starts it with embedded parts; training jobs wait, for nobody works on them. */
export const startFuzzTarget = async (env: Readonly<Record<string, string>>): Promise<FuzzTarget> => {
  const folder = await mkdtemp(join(tmpdir(), 'quire-fuzzed-'));
  const dataDir = join(folder, 'data');
  const service = await startWatched(dataDir, { ROLES: 'api,projector', ...env });
  const admin = adminOf(service.url);
  const openTenant = async (tenantId: string): Promise<void> => {
    await admin('PUT', `/v1/admin/tenants/${tenantId}/rate-limits`, { heavy: WIDE, general: WIDE });
    await admin('POST', `/v1/admin/tenants/${tenantId}/adjust-credits`, { credits: CREDITS, reason: 'fuzz' });
    await admin('POST', `/v1/admin/tenants/${tenantId}/set-plan`, { plan: 'paid' });
  };
  const end = async (): Promise<readonly string[]> => {
    const code = await service.stop('SIGTERM');
    const flaws = [
      ...(code === 0 ? [] : [`the service ended with ${String(code)}`]),
      ...errorLines(service.output()),
      ...(await auditText(dataDir)),
    ];
    if (flaws.length === 0) await rm(folder, { recursive: true, force: true });
    else console.log(`the service's data is kept in ${dataDir}`);
    return flaws;
  };
  return { service, admin, openTenant, end };
};

interface Running {
  readonly input: number;
  readonly began: number;
  ended: number;
}

/** Which inputs were on their way when the main thread was held too long. */
export const suspectsOf = (
  { slices }: WatchedService,
  inputs: readonly Running[],
): { readonly worstMs: number; readonly inputs: readonly number[] } => {
  const held = slices().filter((slice) => slice.endedAt >= (inputs[0]?.began ?? Infinity));
  const worstMs = Math.max(0, ...held.map(heldMs));
  const during = held
    .filter((slice) => heldMs(slice) > HELD_MS_MAX)
    .flatMap(({ endedAt, wallMs }) =>
      inputs.filter(({ began, ended }) => began <= endedAt && ended >= endedAt - wallMs),
    );
  return { worstMs, inputs: [...new Set(during.map(({ input }) => input))] };
};

interface Sending {
  readonly from: number;
  readonly until: number;
  readonly callers: number;
}

/** Sends inputs, several at a time, and tells every thousandth. */
export const sendAll = async (
  { from, until, callers }: Sending,
  send: (input: number) => Promise<void>,
): Promise<readonly Running[]> => {
  const inputs: Running[] = [];
  const began = performance.now();
  let next = from;
  const caller = async (): Promise<void> => {
    while (next < until && performance.now() - began < settings.minutesMax * 60_000) {
      const running = { input: next, began: Date.now(), ended: Infinity };
      next += 1;
      inputs.push(running);
      await send(running.input);
      running.ended = Date.now();
      if (running.input % 1_000 !== 999) continue;
      const seconds = Math.round((performance.now() - began) / 1000);
      console.log(`${String(running.input + 1)} sent, ${String(seconds)} s`);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return inputs;
};

/**
 * What holds the main thread by itself: a stretch tells only which inputs were on their way, and a collection
 * of garbage falls where it falls. So each of them is sent again, alone.
 */
export const holding = async (
  service: WatchedService,
  inputs: readonly number[],
  send: (input: number) => Promise<void>,
): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const input of inputs) {
    const first = await service.heldDuring(() => send(input));
    const held = first <= HELD_MS_MAX ? first : Math.min(first, await service.heldDuring(() => send(input)));
    if (held > HELD_MS_MAX) found.push(`input ${String(input)} holds the main thread: ${held.toFixed(0)} ms`);
  }
  return found;
};

/** What the monitors in the service's own process have seen. */
export const delayText = ({ delay }: WatchedService, worstMs: number): string => {
  const { maxMs, p99Ms } = delay();
  return (
    `event loop of the service: longest delay ${maxMs.toFixed(0)} ms, 99th percentile ${p99Ms.toFixed(0)} ms by ` +
    `the clock; longest stretch without an answer ${worstMs.toFixed(0)} ms of its own CPU ` +
    `(limit ${String(HELD_MS_MAX)})`
  );
};
