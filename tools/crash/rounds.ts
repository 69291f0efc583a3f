import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { seededRandom, type Random } from '../../engine/test/support/random.ts';
import { ADMIN_KEY, startService, type ServiceProcess } from '../../test/support/serviceProcess.ts';
import { isOfRebuild, KILL_POINTS, type KillPoint } from './killPoints.ts';
import { nextOperation, sendOnce, type Operation } from '../../test/support/tradeLoad.ts';

export interface Tenant {
  readonly tenant: string;
  readonly key: string;
}

/** What all rounds so far have sent, and what each of it came to. */
export interface Books {
  readonly tenants: readonly Tenant[];
  readonly operations: Operation[];
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const isSettled = ({ outcome }: Operation): boolean => outcome !== 'unknown';

/** Operations that are settled at a time. */
const SETTLERS = 8;

/** Tells whether a service that is asked still runs. */
type IsAlive = () => boolean;

const settle = async (operation: Operation, url: string, isAlive: IsAlive): Promise<void> => {
  for (let attempt = 0; attempt < 600 && isAlive(); attempt += 1) {
    await sendOnce(operation, url);
    if (isSettled(operation)) return;
    await pause(50);
  }
  if (isAlive()) throw new Error(`${operation.kind} ${operation.identity} never settled`);
};

/** Sends everything whose outcome is unknown until it is known: what a careful client does. */
export const settleUnknown = async (
  books: Books,
  url: string,
  isAlive: IsAlive = () => true,
): Promise<number> => {
  const open = books.operations.filter(({ outcome }) => outcome === 'unknown');
  const waiting = [...open];
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await settle(next, url, isAlive);
  };
  await Promise.all(Array.from({ length: SETTLERS }, worker));
  return open.filter(isSettled).length;
};

const sumOf = (books: Books, tenant: string, member: 'purchased' | 'adjusted' | 'used'): number =>
  books.operations.reduce(
    (sum, operation) => (operation.tenant === tenant ? sum + operation[member] : sum),
    0,
  );

/** A balance that has all that was written before: a service that is behind says so in a header. */
const balanceOf = async (tenant: string, url: string): Promise<Record<string, number>> => {
  for (;;) {
    const answer = await fetch(`${url}/v1/billing/balance/${tenant}`, {
      headers: { 'x-api-key': ADMIN_KEY },
    });
    const said = (await answer.json()) as Record<string, number>;
    if (answer.headers.get('x-projection-lag') === null) return said;
    await pause(100);
  }
};

/** What each tenant's balance must be, by what was acknowledged, against what the service says. */
export const expectBooksBalanced = async (books: Books, url: string): Promise<void> => {
  for (const { tenant } of books.tenants) {
    const said = await balanceOf(tenant, url);
    const [purchased, adjusted, used] = [
      sumOf(books, tenant, 'purchased'),
      sumOf(books, tenant, 'adjusted'),
      sumOf(books, tenant, 'used'),
    ];
    expect(
      {
        purchased: said['total_credits_purchased'],
        adjusted: said['total_credits_adjusted'],
        used: said['total_credits_used'],
        balance: said['balance_credits'],
      },
      `the books of ${tenant}`,
    ).to.deep.equal({ purchased, adjusted, used, balance: purchased + adjusted - used });
  }
};

/** Sends a sample of what was acknowledged again: it must still be there, and count once. */
const repeatSome = async (books: Books, url: string, random: Random): Promise<void> => {
  const done = books.operations.filter(({ acknowledged }) => acknowledged);
  for (let n = 0; n < Math.min(5, done.length); n += 1) await sendOnce(random.pick(done), url);
};

/** Sends one operation after the other until the round is over. */
export const caller = async (
  books: Books,
  random: Random,
  round: { readonly url: string; alive: boolean },
): Promise<void> => {
  while (round.alive) {
    const operation = nextOperation(books.tenants, books.operations, random);
    books.operations.push(operation);
    await sendOnce(operation, round.url);
  }
};

export interface Round {
  readonly dataDir: string;
  readonly seed: number;
  readonly callers: number;
  /** Where the service is to die; undefined: at a random moment. */
  readonly point: KillPoint | undefined;
  /** Read models are rebuilt all the time, beside the load. */
  readonly rebuilding: boolean;
}

/** What one round came to. */
export interface RoundResult {
  readonly settled: number;
  readonly sent: number;
  /** undefined when it died before it was healthy. */
  readonly startedInMs: number | undefined;
  /** True when the service died where it was meant to, not when its time was up. */
  readonly hit: boolean;
}

const KILLABLE = fileURLToPath(new URL('./killableMain.js', import.meta.url));
/** After this long without reaching its point a service is killed where it is, ms. */
const TIME_UP_MS = 2_500;

/** How often a service may pass its point first: snapshots are seldom, all others come many times a second. */
const nthOf = (point: KillPoint, random: Random): number => {
  if (point.includes('snapshot')) return 1;
  return random.between(1, isOfRebuild(point) ? 8 : 12);
};

const startFor = ({ dataDir, point, rebuilding }: Round, random: Random): Promise<ServiceProcess> => {
  if (point === undefined && !rebuilding) return startService(dataDir);
  const env = {
    KILL_POINT: point ?? KILL_POINTS[0],
    KILL_NTH: point === undefined ? '1000000' : String(nthOf(point, random)),
    REBUILD: rebuilding ? '1' : '0',
  };
  return startService(dataDir, env, KILLABLE);
};

/** A service that dies while it is being asked was hit early: what failed by that is no finding. */
const askedUntilDead = async (
  service: ServiceProcess,
  work: (isAlive: IsAlive) => Promise<number>,
): Promise<number> => {
  try {
    return await work(service.isRunning);
  } catch (error) {
    await Promise.race([service.ended, pause(500)]);
    if (service.isRunning()) throw error;
    return 0;
  }
};

const DIED_AT_START = /the service ended with null/;

/** undefined when the service died at its point before it was healthy. */
const startedFor = async (round: Round, random: Random): Promise<ServiceProcess | undefined> => {
  try {
    return await startFor(round, random);
  } catch (error) {
    if (error instanceof Error && DIED_AT_START.test(error.message)) return undefined;
    throw error;
  }
};

/** Start, settle, check, load, `kill -9` at a named point or at a random moment. */
export const runRound = async (books: Books, round: Round): Promise<RoundResult> => {
  const random = seededRandom(round.seed);
  const service = await startedFor(round, random);
  if (service === undefined) return { settled: 0, sent: 0, startedInMs: undefined, hit: true };
  try {
    const settled = await askedUntilDead(service, async (isAlive) => {
      const count = await settleUnknown(books, service.url, isAlive);
      await repeatSome(books, service.url, random);
      await expectBooksBalanced(books, service.url);
      return count;
    });
    const before = books.operations.length;
    const load = { url: service.url, alive: true };
    const calls = Array.from({ length: round.callers }, () => caller(books, random, load));
    const timeMs = round.point === undefined ? random.between(30, 900) : TIME_UP_MS;
    const dead = service.ended.then(() => true);
    const hit = await Promise.race([dead, pause(timeMs).then(() => false)]);
    await service.stop('SIGKILL');
    load.alive = false;
    await Promise.all(calls);
    return { settled, sent: books.operations.length - before, startedInMs: service.startedInMs, hit };
  } finally {
    await service.stop('SIGKILL');
  }
};

const KEY_TENANTS = ['acme', 'globex', 'initech', 'umbrella'];

/** Opens the tenants of a test: a key each, made through the API. */
export const openTenants = async (url: string): Promise<readonly Tenant[]> =>
  Promise.all(
    KEY_TENANTS.map(async (tenant) => {
      const answer = await fetch(`${url}/v1/api-keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
        body: JSON.stringify({ tenant_id: tenant, name: 'crash rounds' }),
      });
      expect(answer.status).to.equal(201);
      return { tenant, key: ((await answer.json()) as { key: string }).key };
    }),
  );
