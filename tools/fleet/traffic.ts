import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { nextOperation, sendOnce, type Operation } from '../../test/support/tradeLoad.ts';
import type { Tenant } from '../crash/rounds.ts';
import type { Random } from '../../engine/test/support/random.ts';
import { ADMIN_KEY } from '../../test/support/serviceProcess.ts';
import type { Fleet } from './fleet.ts';

/** One request as its caller saw it. `code` is the problem's, or what became of the connection. */
export interface Seen {
  readonly kind: string;
  readonly status: number;
  readonly code: string;
  readonly ms: number;
}

/** What the callers share. */
export interface Traffic {
  readonly fleet: Fleet;
  readonly tenants: readonly Tenant[];
  readonly random: Random;
  readonly operations: Operation[];
  /** Of sales, refunds and adjustments so many are sent; work takes the place of the others. 1: all. */
  readonly moneyShare: number;
  readonly onSeen: (seen: Seen) => void;
  /** Answers that no caller should ever see: a 500, or a refusal of what was acknowledged. */
  readonly wrong: string[];
}

const CALL_MS = 30_000;

/** Callers keep to one replica and go to another when it does not answer, as behind a load balancer. */
const urlFor = ({ fleet: { apis } }: Traffic, attempt: number, first: number): string =>
  apis[(first + attempt) % apis.length]!.url;

const codeIn = (text: string): string => /"code":"(\w+)"/u.exec(text)?.[1] ?? 'none';

class NoAnswer extends Error {}

const inTime = async (work: Promise<Response>): Promise<Response> => {
  const late = new AbortController();
  const timer = pause(CALL_MS, undefined, { signal: late.signal }).then(() => {
    throw new NoAnswer();
  });
  try {
    return await Promise.race([work, timer]);
  } finally {
    late.abort();
    timer.catch(() => undefined);
  }
};

/** Sends one request and notes how it ended. */
const observed = async (
  { onSeen }: Traffic,
  kind: string,
  send: () => Promise<Response>,
): Promise<Response> => {
  const began = performance.now();
  const seen = (status: number, code: string) =>
    onSeen({ kind, status, code, ms: performance.now() - began });
  try {
    const answer = await inTime(send());
    const text = await answer.text();
    seen(answer.status, answer.ok ? 'ok' : codeIn(text));
    return new Response(text, { status: answer.status, headers: answer.headers });
  } catch (error) {
    seen(0, error instanceof NoAnswer ? 'no_answer' : 'connection_broken');
    throw error;
  }
};

const READS: readonly ((tenant: Tenant) => { kind: string; path: string; key: string })[] = [
  ({ tenant, key }) => ({ kind: 'balance', path: `/v1/billing/balance/${tenant}`, key }),
  ({ tenant, key }) => ({ kind: 'balance', path: `/v1/billing/balance/${tenant}`, key }),
  ({ tenant, key }) => ({ kind: 'usage', path: `/v1/billing/usage/${tenant}?limit=20`, key }),
  ({ tenant }) => ({ kind: 'ledger', path: `/v1/admin/tenants/${tenant}/ledger?limit=20`, key: ADMIN_KEY }),
];

const NOTES = '# Notes\n\nA first paragraph.\n\n- one\n- two\n';

/** A conversion with an identity of its own; for the books it is work like an extraction. */
const conversion = ({ tenant, key }: Tenant): Operation => {
  const identity = randomUUID();
  const send = (url: string) => {
    const form = new FormData();
    form.set('file', new Blob([NOTES], { type: 'text/markdown' }), 'notes.md');
    const headers = { 'x-api-key': key, 'idempotency-key': identity };
    return fetch(`${url}/v1/to-markdown`, { method: 'POST', headers, body: form });
  };
  const sums = { purchased: 0, adjusted: 0, used: 0 };
  return { kind: 'extract', tenant, identity, send, outcome: 'unknown', acknowledged: false, ...sums };
};

const READ_SHARE = 0.4;
const CONVERSION_SHARE = 0.1;
/** A careful client asks again this often at once, and leaves the rest to the end of the run. */
const ATTEMPTS = 12;

const isOpen = ({ outcome }: Operation): boolean => outcome === 'unknown';

const attempt = async (traffic: Traffic, operation: Operation, url: string): Promise<void> => {
  const asked = {
    ...operation,
    send: (to: string) => observed(traffic, operation.kind, () => operation.send(to)),
  };
  try {
    await sendOnce(asked, url);
  } catch (error) {
    traffic.wrong.push(error instanceof Error ? error.message : String(error));
  }
  const { outcome, acknowledged, purchased, adjusted, used } = asked;
  Object.assign(operation, { outcome, acknowledged, purchased, adjusted, used });
};

/** Sends until the outcome is known, at another replica each time, with growing pauses. */
const settled = async (traffic: Traffic, operation: Operation, attempts = ATTEMPTS): Promise<void> => {
  const first = traffic.random.between(0, 100);
  for (let n = 0; n < attempts; n += 1) {
    await attempt(traffic, operation, urlFor(traffic, n, first));
    if (!isOpen(operation)) return;
    await pause(Math.min(2_000, 50 * 2 ** n));
  }
};

const read = async (traffic: Traffic): Promise<void> => {
  const { random, tenants } = traffic;
  const { kind, path, key } = random.pick(READS)(random.pick(tenants));
  const first = random.between(0, 100);
  for (let n = 0; n < 3; n += 1) {
    const url = urlFor(traffic, n, first);
    const send = () => fetch(`${url}${path}`, { headers: { 'x-api-key': key } });
    const answer = await observed(traffic, kind, send).catch(() => undefined);
    if (answer?.ok === true) return;
    if (answer !== undefined && answer.status !== 503 && answer.status !== 429)
      traffic.wrong.push(`${kind}: ${answer.status} ${await answer.text()}`);
    await pause(50 * 2 ** n);
  }
};

const nextOf = ({ tenants, operations, random, moneyShare }: Traffic): Operation => {
  const next = nextOperation(tenants, operations, random);
  const isSent = next.kind === 'extract' || moneyShare >= 1 || random.next() < moneyShare;
  return isSent ? next : conversion(random.pick(tenants));
};

/** One thing that a customer or an operator wants: a read, a piece of work, or a movement of credits. */
export const doOne = async (traffic: Traffic): Promise<void> => {
  const { random, tenants, operations } = traffic;
  const dice = random.next();
  if (dice < READ_SHARE) return read(traffic);
  const operation = dice < READ_SHARE + CONVERSION_SHARE ? conversion(random.pick(tenants)) : nextOf(traffic);
  operations.push(operation);
  return settled(traffic, operation);
};

/** Asks for everything whose outcome is unknown until it is known; gives how many there were. */
export const settleRest = async (traffic: Traffic): Promise<number> => {
  const open = traffic.operations.filter(isOpen);
  for (const operation of open) await settled(traffic, operation, 60);
  const left = open.filter(isOpen).length;
  if (left > 0) throw new Error(`${left} operations never settled`);
  return open.length;
};

/** Sends a sample of what was acknowledged again: it must still be there, and count once. */
export const repeatSome = async (traffic: Traffic, count: number): Promise<void> => {
  const done = traffic.operations.filter(({ acknowledged }) => acknowledged);
  for (let n = 0; n < Math.min(count, done.length); n += 1)
    await attempt(traffic, traffic.random.pick(done), urlFor(traffic, n, 0));
};
