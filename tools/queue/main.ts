// Runs specs and checks as one queue, with a line for each: npm test -- [options] [parts of file names]
//
//   (none)         the specs of `npm test`: on embedded parts, none that computes for long
//   --all          those that compute for long too
//   --everywhere   all of these on this release of Node and on the one that NODE_OTHER names
//   --ci           all of these once, the integration specs, the console in Chromium, the checks, the simulator
//   --remember     keeps what each job took in tools/queue/seconds.json
//   --picture      shows what ran when
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import {
  commandJob,
  endWorkers,
  isQuick,
  rankOf,
  releasesFor,
  remembered,
  SECONDS_FILE,
  specJob,
  type Seconds,
} from './jobs.ts';
import { pictureOf, runAll, type Job, type Run } from './queue.ts';

const words = process.argv.slice(2);
const isAsked = (option: string): boolean => words.includes(`--${option}`);
const parts = words.filter((word) => !word.startsWith('--'));
const [isCi, isEverywhere] = [isAsked('ci'), isAsked('everywhere')];
/** Checks and the simulator belong to a run that is not limited to some files. */
const isWhole = isCi && parts.length === 0;
/** Nobody waits for files that compute for long unless they are asked for, by their names too. */
const hasQuickAlone = !isCi && !isEverywhere && !isAsked('all') && parts.length === 0;

/** Seconds since the queue began at which this minute of CI begins. */
const atMinute = (minute: number): number => minute * 60 - Number(process.env['CI_BEGAN_SECONDS'] ?? 0);

/** In CI what is left until then is for long files in advance of their turn, properties and the simulator. */
const FILLED_UNTIL = atMinute(17);

/** In CI a file of that rank is not begun where it would end later: on a slow machine a whole run would not end. */
const UNTIL = { 0: Infinity, 1: atMinute(55), 2: FILLED_UNTIL };

/** The simulator runs at least this long in CI, seconds. */
const SIMULATED_MIN = 120;

/** Runs of a property where there is time left; in its turn it has 200. */
const MORE_RUNS = 2000;

/** Kinds of files, by their endings, and whether this run has them. */
const KINDS = [
  { kind: 'integration', ending: '.int.spec.ts', isRun: isCi },
  { kind: 'web', ending: '.web.ts', isRun: isCi },
  { kind: 'long', ending: '.slow.spec.ts', isRun: isCi || isEverywhere || isAsked('all') },
  { kind: 'unit', ending: '.spec.ts', isRun: true },
];

const releases = [
  { node: process.execPath, label: process.version.replace(/\..*/u, '') },
  ...(process.env['NODE_OTHER'] === undefined ? [] : [{ node: process.env['NODE_OTHER'], label: 'other' }]),
];

/** The number of commits; 0 in a copy without history. */
const commitsNow = (): number => {
  try {
    return Number(execFileSync('git', ['rev-list', '--count', 'HEAD'], { stdio: 'pipe' }).toString());
  } catch {
    return 0;
  }
};

/** Takes the servers from the environment: they are for the specs that ask for them. */
const takeServers = (): NodeJS.ProcessEnv => {
  const { DATABASE_URL, REDIS_URL } = process.env;
  delete process.env['DATABASE_URL'];
  delete process.env['REDIS_URL'];
  return { ...(DATABASE_URL && { DATABASE_URL }), ...(REDIS_URL && { REDIS_URL }) };
};

const servers = takeServers();

/** Every spec file below these folders, in the checkout's own words. */
const files = ['engine/test', 'console/test', 'test', 'tools']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  )
  .filter((path) => !path.includes('node_modules') && KINDS.some(({ ending }) => path.endsWith(ending)))
  .sort();
const wanted = files.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));
/** Files that this run leaves to `npm run test:all`. */
const forAll: string[] = [];

/** Integration specs run beside each other, and some empty the database that they are given: each has its own. */
const withOwnDatabase = (env: NodeJS.ProcessEnv, number: number): NodeJS.ProcessEnv => {
  const { DATABASE_URL } = env;
  if (DATABASE_URL === undefined) return env;
  const name = `quire_queue_${String(process.pid)}_${String(number)}`;
  const url = new URL(DATABASE_URL);
  url.pathname = `/${name}`;
  const made = spawnSync('psql', ['-q', '-c', `create database ${name}`, DATABASE_URL]);
  return made.status === 0 ? { ...env, DATABASE_URL: url.href } : env;
};

const specJobs = (): readonly Job[] => {
  const commits = commitsNow();
  return wanted.flatMap((file) => {
    const found = KINDS.find(({ ending }) => file.endsWith(ending));
    if (found?.isRun !== true) return [];
    if (hasQuickAlone && !isQuick(file)) {
      forAll.push(file);
      return [];
    }
    const some = isCi ? releasesFor(file, releases, commits) : releases.slice(0, 1);
    const on = isEverywhere ? releases : some;
    return on.map(({ node, label }, index) => {
      const number = wanted.indexOf(file) * releases.length + index;
      const env = found.kind === 'integration' ? withOwnDatabase(servers, number) : {};
      const rank = isCi ? rankOf(file, commits) : 0;
      const place = { rank, until: UNTIL[rank] };
      return specJob(file, found.kind, { node, label: releases.length > 1 ? label : '', env, ...place });
    });
  });
};

const check = (name: string, ...more: readonly string[]): Job =>
  commandJob(`npm run ${name}`, 'check', { args: ['npm', 'run', '-s', name, '--', ...more] });

/**
 * Seeds that no commit before has tried, and the same ones whenever this commit is tried again; `part` sets its
 * searches apart. A failing seed is printed with its number.
 */
const simulator = (seconds: number, part: number): Job => {
  const first = String((commitsNow() * 2 + part) * 100_000);
  const args = [
    'npm',
    'run',
    '-s',
    'test:sim',
    '--',
    '--seconds',
    String(Math.round(seconds)),
    '--from',
    first,
  ];
  return commandJob('npm run test:sim', 'simulator', { args, took: [seconds + 5, seconds + 5] });
};

const CHECKS = [
  'typecheck',
  'lint',
  'lint:rooms',
  'lint:openapi',
  'lint:sdk',
  'lint:chart',
  'lint:links',
  'format:check',
];

const checkJobs = (): readonly Job[] => [
  ...CHECKS.map((name) => check(name)),
  check('generate', '--check'),
  check('audit:deps', '--allow-offline'),
  check('sbom', '.test/sbom.cdx.json'),
  simulator(SIMULATED_MIN, 0),
];

const isOfProperties = (file: string): boolean =>
  file.endsWith('.spec.ts') &&
  !file.endsWith('.int.spec.ts') &&
  readFileSync(file, 'utf8').includes('support/properties.ts');

/** The seconds of a file of properties with more runs. */
const withMoreRuns = (file: string): Seconds => {
  const [wall, cpu] = remembered[file] ?? [30, 30];
  return [(wall * MORE_RUNS) / 200, (cpu * MORE_RUNS) / 200];
};

/** Fills the time that is left: the simulator, and beside it properties with more runs and seeds of their own. */
const fillerOf = (): ((now: number) => Job | undefined) => {
  const turn = new Set(files.filter(isOfProperties).sort(() => Math.random() - 0.5));
  let isSimulated = false;
  return (now) => {
    const left = FILLED_UNTIL - now;
    if (!isSimulated && left > 20) {
      const job = simulator(left, 1);
      return { ...job, run: () => ((isSimulated = true), job.run()) };
    }
    const file = [...turn].find((one) => withMoreRuns(one)[0] < left);
    if (file === undefined) return undefined;
    const job = commandJob(`${file}, ${String(MORE_RUNS)} runs`, 'property', {
      args: ['node', 'tools/build/specs.js', file],
      env: { QUIRE_PROPERTY_RUNS: String(MORE_RUNS) },
      took: withMoreRuns(file),
    });
    return { ...job, run: () => (turn.delete(file), job.run()) };
  };
};

const shown = (seconds: number): string => `${seconds.toFixed(1).padStart(6)} s`;

const lineOf = ({ job, began, ended, outcome }: Run): string => {
  const bad = outcome.failed.length === 0 ? '' : `, ${String(outcome.failed.length)} FAILED`;
  const counted = `${String(outcome.passed).padStart(5)} passed${bad}`;
  return `${shown(ended - began)} ${shown(outcome.cpu)} CPU ${counted}  ${job.name}`;
};

const indented = (text: string, by: number): string => text.replace(/^/gmu, ' '.repeat(by));

/** What failed in a run, with the end of what it printed. */
const failuresOf = ({ job, outcome: { failed, printed } }: Run): readonly string[] => {
  if (failed.length === 0) return [];
  const each = failed.map(({ title, text }) => `${indented(title, 3)}\n${indented(text, 5)}`);
  const told = printed === '' ? [] : [`   printed at the end:\n${indented(printed.slice(-4_000), 5)}`];
  return [`-- ${job.name}`, ...each, ...told];
};

/** Keeps what each job took, and forgets files that are gone. */
const remember = (runs: readonly Run[]): void => {
  const known = Object.entries(remembered).filter(([id]) => files.includes(id) || id.startsWith('npm run'));
  const all = new Map<string, Seconds>(known);
  for (const { job, outcome } of runs) {
    const round = (value: number) => Math.round(value * 10) / 10;
    if (!['simulator', 'property'].includes(job.kind))
      all.set(job.id, [round(outcome.wall), round(outcome.cpu)]);
  }
  const lines = [...all].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = lines.map(([id, took]) => `  ${JSON.stringify(id)}: [${took.join(', ')}]`).join(',\n');
  writeFileSync(SECONDS_FILE, `{\n${text}\n}\n`);
};

/** Jobs that the end names. */
const SLOWEST = 10;

const jobs = [...specJobs(), ...(isWhole ? checkJobs() : [])];
if (jobs.length === 0) throw new Error('no spec file of this run has one of these parts in its name');
console.log(`${String(jobs.length)} jobs on ${String(availableParallelism())} cores`);
const began = performance.now();
const left: Job[] = [];
const runs = await runAll(jobs, {
  leftOut: (job, pace) => {
    left.push(job);
    const why =
      job.rank === 2 ? 'its turn is with the next commit' : `${pace.toFixed(1)} × the remembered time`;
    console.log(`left out (${why}): ${job.name}`);
  },
  told: (run, more) => {
    console.log(`${lineOf(run)}${more > 0 ? `  (${String(more)} left)` : ''}`);
    for (const { title } of run.outcome.failed) console.log(indented(title, 4));
  },
  ...(isWhole && { filler: fillerOf() }),
});
await endWorkers();

const failures = runs.flatMap(failuresOf);
if (failures.length > 0) console.log(`\n== Failures\n${failures.join('\n\n')}`);
if (isAsked('remember')) remember(runs);
if (isCi || isAsked('picture')) {
  const kinds = [...new Set(runs.map(({ job }) => job.kind))].join(', ');
  console.log(`\n== What ran when: ${kinds}\n${pictureOf(runs)}`);
}
const slowest = [...runs].sort((a, b) => b.ended - b.began - (a.ended - a.began)).slice(0, SLOWEST);
console.log(`\n== The slowest\n${slowest.map(lineOf).join('\n')}`);

const sum = (of: (run: Run) => number): number => runs.reduce((total, run) => total + of(run), 0);
const [passed, failed] = [sum(({ outcome }) => outcome.passed), sum(({ outcome }) => outcome.failed.length)];
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
console.log(`\n${minutes} minutes, ${(sum(({ outcome }) => outcome.cpu) / 60).toFixed(1)} minutes of CPU`);
if (forAll.length > 0)
  console.log(`${String(forAll.length)} files that compute for long were left to npm run test:all`);
const notRun = left.length + forAll.length;
const skipped = notRun === 0 ? '' : `, ${String(notRun)} skipped`;
console.log(`${String(passed)} passed, ${String(failed)} failed${skipped}`);
// What a spec left running would keep this process, by the pipes of its worker.
process.exit(failed === 0 && passed > 0 ? 0 : 1);
