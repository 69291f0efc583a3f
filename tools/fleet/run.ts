import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { strike, openProbe, type Struck, type Callers, type Fault, type Fleet } from './fleet.ts';
import type { Footprint } from '../../test/support/fleet/processes.ts';
import { doOne, repeatSome, settleRest, type Seen, type Traffic } from './traffic.ts';
import { expectBooksBalanced, type Tenant } from '../crash/rounds.ts';
import type { Random } from '../../engine/test/support/random.ts';
import { ADMIN_KEY } from '../../test/support/serviceProcess.ts';

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;

interface Kind {
  readonly ms: number[];
  readonly ends: Map<string, number>;
}

/** Counts requests by kind and by how they ended. */
export const tally = () => {
  const kinds = new Map<string, Kind>();
  let count = 0;
  return {
    count: () => count,
    add: ({ kind, status, code, ms }: Seen): void => {
      count += 1;
      const one = kinds.get(kind) ?? { ms: [], ends: new Map<string, number>() };
      kinds.set(kind, one);
      if (status >= 200 && status < 300) one.ms.push(ms);
      const end = status < 300 && status > 0 ? 'ok' : `${status || ''} ${code}`.trim();
      one.ends.set(end, (one.ends.get(end) ?? 0) + 1);
    },
    print: (): void => {
      const rows = [...kinds].sort().map(([kind, { ms, ends }]) => {
        const sorted = ms.sort((a, b) => a - b);
        const others = [...ends].filter(([end]) => end !== 'ok').map(([end, n]) => `${end} ${n}`);
        return {
          kind,
          ok: ends.get('ok') ?? 0,
          'p50 ms': quantile(sorted, 0.5).toFixed(0),
          'p99 ms': quantile(sorted, 0.99).toFixed(0),
          'max ms': (sorted.at(-1) ?? 0).toFixed(0),
          'other ends': others.join(', '),
        };
      });
      for (const row of rows)
        console.log(
          `| ${row.kind} | ${row.ok} | ${row['p50 ms']} | ${row['p99 ms']} | ${row['max ms']} | ${row['other ends']} |`,
        );
    },
  };
};

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** Per fault: how often, and the median and worst time until writes and reads were back. */
export const printFaults = (struck: readonly Struck[]): void => {
  const names = [...new Set(struck.map(({ name }) => name))];
  console.log(
    '| fault | times | ran again after | writes back after (median, worst) | reads back (median, worst) |',
  );
  for (const name of names) {
    const all = struck.filter((one) => one.name === name);
    const of = (member: 'mendedMs' | 'writesMs' | 'readsMs') =>
      all.map((one) => one[member]).sort((a, b) => a - b);
    const both = (values: readonly number[]) =>
      `${seconds(quantile(values, 0.5))} s, ${seconds(values.at(-1) ?? 0)} s`;
    console.log(
      `| ${name} | ${all.length} | ${seconds(quantile(of('mendedMs'), 0.5))} s | ` +
        `${both(of('writesMs'))} | ${both(of('readsMs'))} |`,
    );
  }
};

/** One look at a process. */
export interface Sample extends Footprint {
  readonly name: string;
  readonly atMs: number;
  /** What was left after its garbage was collected, MB; mostly not asked for. */
  readonly keptMb: number | undefined;
}

const median = (values: readonly number[]): number =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );

/**
 * Memory and open files by sixths of the run: flat means that the last ones equal the ones before.
 * Resident memory holds garbage too; what is kept after a collection tells whether anything leaks.
 */
export const printFootprints = (samples: readonly Sample[]): void => {
  const end = Math.max(...samples.map(({ atMs }) => atMs));
  const PARTS = 6;
  console.log(
    '| process | resident MB by sixths of the run | most | kept MB by sixths | open files by sixths |',
  );
  for (const name of [...new Set(samples.map((one) => one.name))]) {
    const own = samples.filter((one) => one.name === name);
    const by = (member: 'rssMb' | 'keptMb' | 'files') =>
      Array.from({ length: PARTS }, (_, n) => {
        const within = own.filter(({ atMs }) => atMs >= (end * n) / PARTS && atMs <= (end * (n + 1)) / PARTS);
        const known = within.flatMap((one) => one[member] ?? []);
        return known.length === 0 ? '-' : median(known).toFixed(member === 'keptMb' ? 1 : 0);
      }).join(' ');
    const most = Math.max(...own.map(({ rssMb }) => rssMb)).toFixed(0);
    console.log(`| ${name} | ${by('rssMb')} | ${most} | ${by('keptMb')} | ${by('files')} |`);
  }
};

const HOLD_TTL_SECONDS = 60;
const WIDE = { rate_per_second: 10_000, burst: 10_000 };

const admin = async (
  url: string,
  [method, path]: readonly [string, string],
  body: unknown,
): Promise<unknown> => {
  const headers = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY };
  const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

/** Tenants with a key, wide limits and credits; holds of a killed process expire after a minute. */
export const openShop = async ({ apis }: Fleet, count: number): Promise<readonly Tenant[]> => {
  const { url } = apis[0]!;
  await admin(url, ['POST', '/v1/admin/billing-config'], { hold_ttl_seconds: HOLD_TTL_SECONDS });
  await admin(url, ['PUT', '/v1/admin/tenants/quire:admin/rate-limits'], { general: WIDE, heavy: WIDE });
  const tenants: Tenant[] = [];
  for (let n = 0; n < count; n += 1) {
    const tenant = `tenant-${n}`;
    const made = await admin(url, ['POST', '/v1/api-keys'], { tenant_id: tenant, name: 'fleet' });
    await admin(url, ['PUT', `/v1/admin/tenants/${tenant}/rate-limits`], { general: WIDE, heavy: WIDE });
    tenants.push({ tenant, key: (made as { readonly key: string }).key });
  }
  return tenants;
};

interface LoadOptions {
  readonly seconds: number;
  /** Goes on until every fault has struck, however long that takes. */
  readonly untilStruck?: boolean;
  readonly callers: number;
  /** Requests a second at most, all callers together; undefined: each asks again as soon as it is answered. */
  readonly rate?: number | undefined;
  /** Of sales, refunds and adjustments so many are sent; by default all. */
  readonly moneyShare?: number;
  /** Struck one after the other, again from the first; none: nothing happens. */
  readonly faults: readonly Fault[];
  readonly faultEveryMs: number;
  readonly random: Random;
  readonly onSeen: (seen: Seen) => void;
  readonly onStruck?: (struck: Struck) => void;
  readonly onSample?: (sample: Sample) => void;
}

/** What a run came to. */
export interface LoadResult {
  readonly traffic: Traffic;
  readonly struck: readonly Struck[];
  /** Operations whose outcome was known only after the load had ended. */
  readonly settledLate: number;
}

const SAMPLE_MS = 5_000;
/** Collecting garbage is not what a service does for itself: asked for seldom, ms. */
const KEPT_EVERY_MS = 150_000;

/** Looks at the processes while the load is on; now and then at what they keep in memory. */
const watching = async (
  { replicas }: Fleet,
  { began, isOn }: { readonly began: number; readonly isOn: () => boolean },
  onSample: (sample: Sample) => void,
): Promise<void> => {
  let keptAt = KEPT_EVERY_MS / 5;
  while (isOn()) {
    const atMs = performance.now() - began;
    const isTurn = atMs >= keptAt;
    if (isTurn) keptAt = atMs + KEPT_EVERY_MS;
    for (const { name, footprint, keptMb } of replicas) {
      const now = await footprint();
      const kept = isTurn ? await keptMb() : undefined;
      if (now !== undefined) onSample({ name, atMs, ...now, keptMb: kept });
    }
    await pause(SAMPLE_MS);
  }
};

const paced = (rate: number | undefined) => {
  let next = performance.now();
  return async (): Promise<void> => {
    if (rate === undefined) return;
    const now = performance.now();
    next = Math.max(next + 1000 / rate, now - 1000);
    if (next > now) await pause(next - now);
  };
};

/** Lets the callers be kept still: `entered` around each of their requests. */
const stillness = (): Callers & { readonly entered: (work: () => Promise<void>) => Promise<void> } => {
  let running = 0;
  let isHeld = false;
  return {
    hold: async () => {
      isHeld = true;
      while (running > 0) await pause(20);
    },
    goOn: () => {
      isHeld = false;
    },
    entered: async (work) => {
      while (isHeld) await pause(20);
      running += 1;
      try {
        await work();
      } finally {
        running -= 1;
      }
    },
  };
};

/** Loads a fleet while it is struck, and settles what was left open. */
export const loadFleet = async (fleet: Fleet, options: LoadOptions): Promise<LoadResult> => {
  const { random, onSeen, faults, moneyShare = 1 } = options;
  const tenants = await openShop(fleet, 12);
  await openProbe(fleet);
  const traffic: Traffic = { fleet, tenants, random, operations: [], moneyShare, onSeen, wrong: [] };
  const began = performance.now();
  const endsAt = began + options.seconds * 1000;
  let striking = options.untilStruck === true;
  const isOn = () => striking || performance.now() < endsAt;
  const turn = paced(options.rate);
  const struck: Struck[] = [];
  const callers = stillness();

  const caller = async (): Promise<void> => {
    while (isOn()) {
      await turn();
      await callers.entered(() => doOne(traffic));
    }
  };
  const strikeAll = async (): Promise<void> => {
    for (let n = 0; faults.length > 0; n += 1) {
      await pause(options.faultEveryMs);
      striking &&= n < faults.length;
      if (!isOn()) return;
      const fault = faults[n % faults.length]!;
      const one = await strike(fleet, fault, callers);
      // What callers were told of what was lost is no measure any more.
      if (fault.loses === true) traffic.operations.length = 0;
      struck.push(one);
      options.onStruck?.(one);
    }
  };
  const watch = watching(fleet, { began, isOn }, options.onSample ?? (() => undefined));
  await Promise.all([strikeAll(), watch, ...Array.from({ length: options.callers }, caller)]);
  const settledLate = await settleRest(traffic);
  await repeatSome(traffic, 50);
  return { traffic, struck, settledLate };
};

const heldBy = async (url: string, { tenant, key }: Tenant): Promise<number> => {
  const answer = await fetch(`${url}/v1/billing/balance/${tenant}`, { headers: { 'x-api-key': key } });
  return ((await answer.json()) as { readonly held_credits: number }).held_credits;
};

/** Waits until the sweepers have released what killed processes held; gives how long that took, ms. */
export const untilNothingHeld = async ({ apis }: Fleet, tenants: readonly Tenant[]): Promise<number> => {
  const began = performance.now();
  for (;;) {
    const held = await Promise.all(tenants.map((one) => heldBy(apis[0]!.url, one)));
    if (held.every((credits) => credits === 0)) return performance.now() - began;
    if (performance.now() - began > 240_000) throw new Error(`still on hold: ${held.join(', ')}`);
    await pause(500);
  }
};

/** `quire audit` beside the fleet: its text, and its exit code. */
export const auditFleet = async ({
  env,
}: Fleet): Promise<{ readonly text: string; readonly code: number }> => {
  const quire = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
  const run = promisify(execFile);
  const { PATH = '', HOME = '' } = process.env;
  try {
    const { stdout } = await run(process.execPath, [quire, 'audit'], {
      env: { PATH, HOME, ...env },
      maxBuffer: 2 ** 26,
    });
    return { text: stdout.trim(), code: 0 };
  } catch (error) {
    const {
      stdout = '',
      stderr = '',
      code = 1,
    } = error as { stdout?: string; stderr?: string; code?: number };
    return { text: `${stdout}${stderr}`.trim(), code };
  }
};

/** Throws unless all replicas show the same books; whether they are the log's the audit says. */
export const expectSameBooks = async ({ apis }: Fleet, { tenants }: Traffic): Promise<void> => {
  for (const { tenant, key } of tenants) {
    const shown = await Promise.all(
      apis.map(async ({ url }) => {
        const answer = await fetch(`${url}/v1/billing/balance/${tenant}`, { headers: { 'x-api-key': key } });
        return ((await answer.json()) as { readonly balance_credits?: number }).balance_credits;
      }),
    );
    if (shown[0] === undefined || new Set(shown).size > 1)
      throw new Error(`${tenant}: the replicas show ${shown.join(', ')}`);
  }
};

/** Throws unless every tenant's balance is what its callers were told, on every replica. */
export const expectBooks = async ({ apis }: Fleet, { tenants, operations }: Traffic): Promise<void> => {
  for (const { url } of apis) await expectBooksBalanced({ tenants, operations }, url);
};
