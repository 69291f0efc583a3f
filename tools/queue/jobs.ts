import { fork, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Job, Outcome } from './queue.ts';

/** A file that takes longer is given up with its worker, ms. */
const GIVEN_UP_MS = 25 * 60_000;

/** Seconds of wall clock and of CPU that a job is guessed to take before it was run once. */
const GUESS: Seconds = [10, 5];

/** Seconds of wall clock and of CPU. */
export type Seconds = readonly [wall: number, cpu: number];

/** Where the seconds of all jobs are kept. */
export const SECONDS_FILE = resolve('tools/queue/seconds.json');

/** What each job took when that was kept last, by its ID. */
export const remembered = JSON.parse(readFileSync(SECONDS_FILE, 'utf8')) as Readonly<Record<string, Seconds>>;

const expected = (id: string): { readonly wall: number; readonly cpu: number } => {
  const [wall, cpu] = remembered[id] ?? GUESS;
  // What Chromium's processes compute is not counted: they are no children that a worker waits for.
  return { wall, cpu: id.endsWith('.web.ts') ? Math.max(cpu, wall) : cpu };
};

/** A release of Node: its program, and its name where there are two. */
export interface Release {
  readonly node: string;
  readonly label: string;
}

/** Folders of specs whose subject differs between releases: isolation, permissions, adapters, starts of processes. */
const OF_A_RELEASE = ['engine/test/isolation/', 'test/adapters/', 'test/composition/', 'test/contracts/'];

/** Files of these folders start the program, as anybody does, to try something else. */
const STARTS_THE_PROGRAM = /^(?:tools|test\/(?:audit|cli|http|mcp|reference|sdk|security))\//u;

/** These read many documents in processes to compare what is read; how processes work their siblings try. */
const COMPARES_READINGS = /^engine\/test\/isolation\/(?:ranges|keptFiles)\.slow\.spec\.ts$/u;

const dependsOnRelease = (file: string): boolean =>
  ![STARTS_THE_PROGRAM, COMPARES_READINGS].some((other) => other.test(file)) &&
  (OF_A_RELEASE.some((folder) => file.startsWith(folder)) ||
    /from 'node:(?:child_process|worker_threads|vm)'/u.test(readFileSync(file, 'utf8')));

/** Bits of a file's name, by which some commits differ from others. */
const bitsOf = (file: string): number => createHash('sha256').update(file).digest()[0] ?? 0;

/** Files that compute longer than this, s, have their turn in CI with every second commit. */
const LONG_CPU = 10;

/** Files that compute longer than this, s, are left to `npm run test:all` and to CI. */
const QUICK_CPU = 5;

const isLong = (file: string): boolean => expected(file).cpu > LONG_CPU;

/** Whether `npm test` has a file. */
export const isQuick = (file: string): boolean => expected(file).cpu <= QUICK_CPU;

/**
 * A file's place in a run: short ones first, then those of the long whose turn it is with this commit, then the others,
 * whose turn is with the next one.
 */
export const rankOf = (file: string, commits: number): 0 | 1 | 2 => {
  if (!isLong(file)) return 0;
  return (((bitsOf(file) >> 2) + commits) & 1) === 0 ? 1 : 2;
};

/**
 * The releases that a file runs on: all where it depends on them, else one, by a bit of its name and the number of
 * commits, so that it has run on both within two of its turns.
 */
export const releasesFor = (
  file: string,
  releases: readonly Release[],
  commits: number,
): readonly Release[] => {
  if (dependsOnRelease(file)) return releases;
  const turn = isLong(file) ? commits >> 1 : commits;
  return releases.filter((_, index) => index === ((bitsOf(file) & 1) + turn) % releases.length);
};

/** What a worker is told to run; `env` is added to its environment until the file ends. */
export interface Asked {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Worker {
  readonly run: (asked: Asked) => Promise<Outcome & { readonly isLost: boolean }>;
  readonly end: () => Promise<void>;
}

/** Workers without a file now, by release. */
const idle = new Map<string, Worker[]>();

const LOST = { passed: 0, wall: 0, cpu: 0, isLost: true };

const newWorker = async (node: string): Promise<Worker> => {
  const child = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), {
    execPath: node,
    execArgv: ['--enable-source-maps'],
    env: { ...process.env, QUIRE_SHORT_LIVED: 'yes' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? code));
  const answer = () => Promise.race([once(child, 'message').then(([message]) => message as Outcome), ended]);
  await answer();
  return {
    run: async (asked) => {
      const answered = answer();
      if (child.connected) child.send(asked);
      const late = setTimeout(() => child.kill('SIGKILL'), GIVEN_UP_MS);
      const outcome = await answered;
      clearTimeout(late);
      if (typeof outcome !== 'string') return { ...outcome, isLost: false };
      return {
        ...LOST,
        printed: said,
        failed: [{ title: asked.file, text: `its process ended with ${outcome}` }],
      };
    },
    end: async () => {
      if (child.connected) child.send('end');
      await ended;
    },
  };
};

/** Ends the workers; what their specs shared is closed. */
export const endWorkers = async (): Promise<void> => {
  await Promise.all([...idle.values()].flat().map((worker) => worker.end()));
};

/** A spec file on a release of Node; `env` is added to its environment. */
export const specJob = (
  file: string,
  kind: string,
  { node, label, env, ...place }: Release & { readonly env: NodeJS.ProcessEnv } & Pick<Job, 'rank' | 'until'>,
): Job => ({
  id: file,
  name: label === '' ? file : `${file} (${label})`,
  kind,
  ...expected(file),
  ...place,
  run: async () => {
    const free = idle.get(node) ?? [];
    idle.set(node, free);
    const worker = free.pop() ?? (await newWorker(node));
    const compiled = resolve('.test', file.replace(/ts$/u, 'js'));
    const { isLost, ...outcome } = await worker.run({ file: compiled, env });
    if (!isLost) free.push(worker);
    return outcome;
  },
});

/** The shell says at the end, on a pipe of its own, what its children computed. */
const WITH_TIMES = '"$@"; code=$?; times >&3; exit $code';

/** CPU seconds of the children in what `times` prints: its second line, as `1m2.345s 0m1.000s`. */
const cpuIn = (times: string): number =>
  [...(times.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/gu)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );

/** The counts that mocha prints of passed specs. */
const passedIn = (said: string): number =>
  [...said.matchAll(/^ +(\d+) passing/gmu)].reduce((sum, [, count]) => sum + Number(count), 0);

/** A command; without counts of mocha it counts as one that passed or failed. */
export const commandJob = (
  id: string,
  kind: string,
  {
    args,
    env,
    took,
  }: { readonly args: readonly string[]; readonly env?: NodeJS.ProcessEnv; readonly took?: Seconds },
): Job => ({
  id,
  name: id,
  kind,
  ...(took === undefined ? expected(id) : { wall: took[0], cpu: took[1] }),
  rank: 0,
  run: async () => {
    const began = performance.now();
    const child = spawn('bash', ['-c', WITH_TIMES, 'job', ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    let [said, times] = ['', ''];
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-100_000)));
    child.stdio[3]?.on('data', (chunk: Buffer) => (times += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    const wall = (performance.now() - began) / 1000;
    const failed = code === 0 ? [] : [{ title: `ended with ${String(code)}`, text: said.slice(-12_000) }];
    const counted = passedIn(said);
    const passed = counted === 0 && code === 0 ? 1 : counted;
    return { passed, failed, printed: said.slice(-2_000), wall, cpu: cpuIn(times) };
  },
});
