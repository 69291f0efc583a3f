// Runs spec files that the queue names, one after another, and says of each what passed, what failed and what it took.
// What files import is loaded once for all of them, as in a parallel run of mocha.
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import Mocha from 'mocha';
import '../../engine/test/support/tempSpace.ts';
import { closeShared } from '../../test/support/processEnd.ts';
import type { Asked } from './jobs.ts';
import type { Outcome } from './queue.ts';

/** A spec has three minutes if it does not say otherwise. */
const TIMEOUT_MS = 180_000;

/** Times as long as a spec says, it may take: it says what is enough on a machine that is all its own. */
const PATIENCE = 3;

const { timeout } = Mocha.Runnable.prototype as { timeout: (ms?: number | string) => unknown };
Object.assign(Mocha.Runnable.prototype, {
  timeout(this: Mocha.Runnable, ms?: number | string) {
    return ms === undefined ? timeout.call(this) : timeout.call(this, Number(ms) * PATIENCE);
  },
});

/** Characters that are kept of the end of what a file prints: seeds, and what stands around a failure. */
const PRINTED_MAX = 20_000;

/** Clock ticks a second in which Linux counts the time of processes. */
const TICKS = 100;

/** CPU seconds of this process, its threads and its ended children; without `/proc`, of this process alone. */
const cpuSeconds = (): number => {
  try {
    // Behind the name in parentheses, which may hold anything: fields 14 to 17 of the line are times.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /su, '')
      .split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
};

let printed = '';
const keep = (chunk: string | Uint8Array, encoding?: unknown, done?: unknown): boolean => {
  printed = (printed + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())).slice(
    -PRINTED_MAX,
  );
  const told = (typeof encoding === 'function' ? encoding : done) as (() => void) | undefined;
  if (told !== undefined) queueMicrotask(told);
  return true;
};
process.stdout.write = keep;
process.stderr.write = keep;

const textOf = (error: Error & { expected?: unknown; actual?: unknown }): string => {
  const isComparison = error.expected !== undefined && typeof error.actual === typeof error.expected;
  const shown = (value: unknown) =>
    typeof value === 'string' ? value : inspect(value, { depth: 9, sorted: true });
  const diff = isComparison
    ? Mocha.reporters.Base.generateDiff(shown(error.actual), shown(error.expected))
    : '';
  const { cause } = error;
  const because = cause instanceof Error ? `\n  caused by ${cause.stack ?? String(cause)}` : '';
  return `${error.stack ?? String(error)}${because}${diff}`;
};

const runFile = async (file: string): Promise<Pick<Outcome, 'passed' | 'failed'>> => {
  const failed: { title: string; text: string }[] = [];
  let passed = 0;
  const mocha = new Mocha({
    timeout: TIMEOUT_MS,
    color: false,
    reporter: function (runner: Mocha.Runner) {
      runner.on('pass', () => (passed += 1));
      runner.on('fail', (test, error: Error) =>
        failed.push({ title: test.fullTitle(), text: textOf(error) }),
      );
    } as unknown as Mocha.ReporterConstructor,
  });
  mocha.addFile(file);
  try {
    await mocha.loadFilesAsync();
    await new Promise((resolve) => mocha.run(resolve));
  } catch (error) {
    failed.push({
      title: `${file} cannot be loaded`,
      text: error instanceof Error ? textOf(error) : String(error),
    });
  }
  mocha.dispose();
  return { passed, failed };
};

const run = async ({ file, env }: Asked): Promise<Outcome> => {
  printed = '';
  const [began, cpu] = [performance.now(), cpuSeconds()];
  Object.assign(process.env, env);
  const counted = await runFile(file);
  for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name);
  return { ...counted, printed, wall: (performance.now() - began) / 1000, cpu: cpuSeconds() - cpu };
};

process.on('message', (asked: Asked | 'end') => {
  if (asked === 'end') void closeShared().then(() => process.exit(0));
  else void run(asked).then((outcome) => process.send?.(outcome));
});
// Without its queue nobody reads what it finds.
process.on('disconnect', () => process.exit(1));
process.send?.({ ready: true });
