import { seededRandom } from '../../engine/test/support/random.ts';
import { FAULTS, OLDER_COPY, startFleet, UPGRADING } from './fleet.ts';
import {
  printFaults,
  printFootprints,
  tally,
  auditFleet,
  expectBooks,
  expectSameBooks,
  loadFleet,
  untilNothingHeld,
  type Sample,
} from './run.ts';

/**
 * Three API replicas, two projectors and two workers on PostgreSQL, Redis, S3 and the double of EventStoreDB,
 * under load: `npm run test:fleet`. FLEET_FAULTS=off loads without faults (the soak),
 * FLEET_MONEY=0.1 with a tenth of the sales, refunds and adjustments. FLEET_OLDER=../older/dist/main.js, the program of
 * an earlier release that was built, begins with that one and upgrades half of the processes, then the rest.
 */
const { env } = process;
const seconds = Number(env['FLEET_SECONDS'] ?? 600);
const callers = Number(env['FLEET_CALLERS'] ?? 12);
const rate = env['FLEET_RATE'] === undefined ? undefined : Number(env['FLEET_RATE']);
const seed = Number(env['FLEET_SEED'] ?? Date.now() % 1_000_000);
const moneyShare = Number(env['FLEET_MONEY'] ?? 1);
const older = env['FLEET_OLDER'];
const struckBy = older === undefined ? [...FAULTS, OLDER_COPY] : UPGRADING;
const faults = env['FLEET_FAULTS'] === 'off' ? [] : struckBy;
const faultEveryMs = Number(env['FLEET_FAULT_EVERY_MS'] ?? 12_000);
const SIZE = { apis: 3, projectors: 2, workers: 2, program: older };

const inS = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

console.log(`${callers} callers, ${rate ?? 'no'} requests/s at most, ${seconds} s, FLEET_SEED=${seed}`);
const fleet = await startFleet(SIZE, { HEAVY_CONCURRENCY: '16', REBUILD_DIVERGED: 'auto' });
console.log(`up: ${fleet.replicas.map(({ name }) => name).join(', ')}`);
const counted = tally();
const samples: Sample[] = [];
const began = performance.now();
const progress = setInterval(
  () => console.log(`${inS(performance.now() - began)}: ${counted.count()} requests`),
  60_000,
);
let isRight = true;
try {
  const { traffic, struck, settledLate } = await loadFleet(fleet, {
    seconds,
    callers,
    rate,
    moneyShare,
    faults,
    faultEveryMs,
    random: seededRandom(seed),
    onSeen: counted.add,
    onStruck: ({ name, writesMs, readsMs }) =>
      console.log(
        `${inS(performance.now() - began)}: ${name}: writes ${inS(writesMs)}, reads ${inS(readsMs)}`,
      ),
    onSample: (sample) => samples.push(sample),
  });
  clearInterval(progress);
  console.log(
    `\n${counted.count()} requests, ${(counted.count() / seconds).toFixed(0)}/s; settled late: ${settledLate}`,
  );
  console.log('| request | ok | p50 ms | p99 ms | max ms | other ends |');
  counted.print();
  if (struck.length > 0) printFaults(struck);
  printFootprints(samples);
  console.log(`answers that nobody should see: ${traffic.wrong.length}`);
  for (const line of traffic.wrong.slice(0, 20)) console.log(`  ${line}`);
  console.log(`processes that ended by themselves: ${fleet.accidents.length}`);
  for (const line of fleet.accidents.slice(0, 10)) console.log(`  ${line}`);
  console.log(`nothing held after ${inS(await untilNothingHeld(fleet, traffic.tenants))}`);
  if (struck.some(({ name }) => name === OLDER_COPY.name)) {
    await expectSameBooks(fleet, traffic);
    console.log('every balance is the same on every replica; events were lost, so the audit is the measure');
  } else {
    await expectBooks(fleet, traffic);
    console.log('every balance is what the callers were told, on every replica');
  }
  const { text, code } = await auditFleet(fleet);
  console.log(text);
  isRight = traffic.wrong.length === 0 && code === 0;
} catch (error) {
  isRight = false;
  console.error(error);
} finally {
  clearInterval(progress);
  const codes = await fleet.stop();
  console.log(`exit codes after SIGTERM: ${JSON.stringify(codes)}`);
  if (Object.values(codes).some((code) => code !== 0)) isRight = false;
}
process.exitCode = isRight ? 0 : 1;
