import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../../../engine/test/bench/measure.ts';
import { writeTradingLog } from '../../../tools/bench/tradingLog.ts';
import { startWorld, type World } from '../web/support/world.ts';
import { heldByClicks } from './clicks.ts';
import {
  bytesRead,
  countLongTasks,
  longTasks,
  timedFirstResult,
  timedSignIn,
  type FirstResult,
} from './timedPages.ts';

/**
 * `npm run bench:console`: sizes, signing in, the first result, hashing a long log, and memory after many clicks, in
 * the browser. 0 leaves one of them out.
 */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const events = Number(process.env['BENCH_EVENTS'] ?? 100_000);
/** Half an hour of a click each three seconds, done as quickly as the pages come. */
const clicks = Number(process.env['BENCH_CLICKS'] ?? 600);

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`;
const middle = (values: readonly number[]): string => `${median(values).toFixed(0)} ms`;

interface Round {
  readonly signInMs: number;
  readonly firstBytes: number;
  readonly withResultBytes: number;
  readonly first: FirstResult;
  readonly second: FirstResult;
}

/** A browser that was never here: it signs in, reads the sample, and reads it again. */
const oneRound = async (world: World, key: string): Promise<Round> => {
  const page = await world.open('/sign-in', { key: undefined });
  try {
    await page.getByLabel('API key').fill(key);
    const signInMs = await timedSignIn(page);
    await page.waitForLoadState('networkidle');
    const firstBytes = await bytesRead(page);
    const first = await timedFirstResult(page, 'Invoice');
    await page.waitForLoadState('networkidle');
    const withResultBytes = await bytesRead(page);
    await page.getByRole('button', { name: 'Replace document' }).click();
    const second = await timedFirstResult(page, 'Invoice');
    return { signInMs, firstBytes, withResultBytes, first, second };
  } finally {
    await page.context().close();
  }
};

const benchFirstResult = async (): Promise<void> => {
  const world = await startWorld();
  try {
    const { key } = await world.tenant('bench', 100_000);
    // the reader of the service is warm, as it is for all but the first person
    await oneRound(world, key);
    const found: Round[] = [];
    for (let round = 0; round < rounds; round += 1) found.push(await oneRound(world, key));
    const of = (figure: (round: Round) => number): string => middle(found.map(figure));
    console.table({
      'first load, compressed': kilobytes(median(found.map(({ firstBytes }) => firstBytes))),
      'with the first result': kilobytes(median(found.map(({ withResultBytes }) => withResultBytes))),
      'sign-in': of(({ signInMs }) => signInMs),
      'first page drawn, first document': of(({ first }) => first.drawnMs),
      'first value, first document': of(({ first }) => first.valueMs),
      'first page drawn, second document': of(({ second }) => second.drawnMs),
      'first value, second document': of(({ second }) => second.valueMs),
    });
  } finally {
    await world.close();
  }
};

/** The audit page hashes every event of a long log; meanwhile it must stay free. */
const benchHashes = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'quire-console-'));
  const log = { path: join(folder, 'events.db'), events, tenants: 1_000, seed: 20261122 };
  const written = await writeTradingLog(log, () => undefined);
  const world = await startWorld({ DATA_DIR: folder });
  try {
    // read models of a large log are made for the first time meanwhile
    while (!(await fetch(`${world.url}/health/ready`)).ok) await pause(200);
    const page = await world.open('/sign-in');
    page.setDefaultTimeout(600_000);
    await countLongTasks(page);
    const began = performance.now();
    await page.goto(`${world.url}/app/audit`);
    const done = page.locator('[role=status][data-state=done]');
    const paused = page.locator('[role=status][data-state=paused] button');
    for (;;) {
      await done.or(paused).first().waitFor();
      if ((await done.count()) > 0) break;
      await paused.click();
    }
    const seconds = (performance.now() - began) / 1000;
    const { count, longestMs, sumMs } = await longTasks(page);
    console.table({
      'events hashed': written,
      'seconds until the last': seconds.toFixed(1),
      'long tasks of the page': count,
      'the longest': `${longestMs.toFixed(0)} ms`,
      'their sum': `${sumMs.toFixed(0)} ms`,
    });
  } finally {
    await world.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
};

if (rounds > 0) await benchFirstResult();
if (events > 0) await benchHashes();
if (clicks > 0) {
  const shares = [1 / 30, 1 / 3, 2 / 3, 1];
  for await (const { seconds, heapMb, nodes, listeners, ...at } of heldByClicks(
    shares.map((share) => Math.round(share * clicks)),
  ))
    console.log(
      `${String(at.clicks)} clicks in ${String(seconds)} s: ${String(heapMb)} MB, ` +
        `${String(nodes)} nodes, ${String(listeners)} listeners`,
    );
}
