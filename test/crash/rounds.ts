import { expect } from 'chai';
import { seededRandom, type Random } from '../support/random.ts';
import { ADMIN_KEY, startService } from '../support/serviceProcess.ts';
import { nextOperation, sendOnce, type Operation } from './load.ts';

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

const settle = async (operation: Operation, url: string): Promise<void> => {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    await sendOnce(operation, url);
    if (isSettled(operation)) return;
    await pause(50);
  }
  throw new Error(`${operation.kind} ${operation.identity} never settled`);
};

/** Sends everything whose outcome is unknown until it is known: what a careful client does. */
export const settleUnknown = async (books: Books, url: string): Promise<number> => {
  const open = books.operations.filter(({ outcome }) => outcome === 'unknown');
  for (const operation of open) await settle(operation, url);
  return open.length;
};

const sumOf = (books: Books, tenant: string, member: 'purchased' | 'adjusted' | 'used'): number =>
  books.operations.reduce(
    (sum, operation) => (operation.tenant === tenant ? sum + operation[member] : sum),
    0,
  );

/** What each tenant's balance must be, by what was acknowledged, against what the service says. */
export const expectBooksBalanced = async (books: Books, url: string): Promise<void> => {
  for (const { tenant } of books.tenants) {
    const answer = await fetch(`${url}/v1/billing/balance/${tenant}`, {
      headers: { 'x-api-key': ADMIN_KEY },
    });
    const said = (await answer.json()) as Record<string, number>;
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
const caller = async (
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
}

/** Start, settle, check, load, `kill -9` at a random moment. Gives what happened, for the report. */
export const runRound = async (books: Books, { dataDir, seed, callers }: Round) => {
  const random = seededRandom(seed);
  const service = await startService(dataDir);
  try {
    const settled = await settleUnknown(books, service.url);
    await repeatSome(books, service.url, random);
    await expectBooksBalanced(books, service.url);
    const before = books.operations.length;
    const round = { url: service.url, alive: true };
    const calls = Array.from({ length: callers }, () => caller(books, random, round));
    await pause(random.between(30, 900));
    await service.stop('SIGKILL');
    round.alive = false;
    await Promise.all(calls);
    return { settled, sent: books.operations.length - before, startedInMs: service.startedInMs };
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
