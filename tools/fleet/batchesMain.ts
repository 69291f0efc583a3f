import { startFleet } from './fleet.ts';
import { auditFleet, openShop } from './run.ts';
import { runBatch } from './batches.ts';

/**
 * One batch on an API replica, a projector and two workers, of which one is killed every 20 seconds:
 * `BATCH_DOCUMENTS=1000 npm run test:batch`.
 */
const { env } = process;
const documents = Number(env['BATCH_DOCUMENTS'] ?? 100);
const killEveryMs = Number(env['BATCH_KILL_EVERY_MS'] ?? 20_000);
const TOLD_EVERY_MS = 10_000;

const fleet = await startFleet({ apis: 1, projectors: 1, workers: 2 }, { HEAVY_CONCURRENCY: '16' });
let isRight = false;
try {
  const [tenant] = await openShop(fleet, 1);
  if (tenant === undefined) throw new Error('there is no tenant');
  const began = performance.now();
  let toldMs = 0;
  const { batch, lines, kills, seconds, wrong } = await runBatch(fleet, tenant, {
    documents,
    killEveryMs,
    killsMax: Infinity,
    onLook: ({ documents: counts }, killed) => {
      const ms = performance.now() - began;
      if (ms - toldMs < TOLD_EVERY_MS) return;
      toldMs = ms;
      console.log(`${(ms / 1000).toFixed(0)} s, ${killed} kills: ${JSON.stringify(counts)}`);
    },
  });
  const rate = (documents / seconds).toFixed(1);
  console.log(`${documents} documents in ${seconds.toFixed(0)} s (${rate}/s), ${kills} kills of a worker`);
  console.log(`documents: ${JSON.stringify(batch.documents)}`);
  console.log(
    `lines of results: ${lines.length}, in the order of the request; credits: ${batch.credits_used}`,
  );
  console.log(`what is wrong: ${wrong.length}`);
  for (const line of wrong.slice(0, 20)) console.log(`  ${line}`);
  console.log(`processes that ended by themselves: ${fleet.accidents.length}`);
  const { text, code } = await auditFleet(fleet);
  console.log(text);
  isRight = wrong.length === 0 && code === 0 && fleet.accidents.length === 0;
} catch (error) {
  console.error(error);
} finally {
  console.log(`exit codes after SIGTERM: ${JSON.stringify(await fleet.stop())}`);
}
process.exitCode = isRight ? 0 : 1;
