import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OCR_LANGUAGES } from '@quire/engine/isolation/documentWorkers';
import { openChildPool } from '@quire/engine/isolation/children/childPool';
import type { Job, JobOutcome } from '@quire/engine/isolation/jobs';
import { seededRandom, type Random } from '../../engine/test/support/random.ts';
import { mutant } from './mutate.ts';
import { generatedSeeds, seedsIn } from './seeds.ts';

const { env } = process;
const inputs = Number(env['FUZZ_INPUTS'] ?? 10_000);
const seed = Number(env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
const folder = env['FUZZ_DIR'];
/** Only this input, to see it again; it is kept. */
const only = env['FUZZ_ONLY'] === undefined ? undefined : Number(env['FUZZ_ONLY']);
const deadlineMs = Number(env['FUZZ_DEADLINE_MS'] ?? 20_000);
const processes = Number(env['FUZZ_JOBS'] ?? availableParallelism());
const kept = env['FUZZ_KEEP'] ?? join(tmpdir(), `quire-fuzz-${seed}`);

const SEED_BYTES_MAX = 2_000_000;
/** From the deadline to a dead child and its answer. */
const GRACE_MS = 1_000;
const EXTRACT_SHARE = 0.2;
/** Recognising text takes a hundred times as long as reading it. */
const RECOGNISE_SHARE = 0.1;
const SCHEMA = {
  type: 'object',
  properties: {
    order_number: { type: 'string' },
    date: { type: 'string', format: 'date' },
    total: { type: 'number' },
    items: {
      type: 'array',
      items: { type: 'object', properties: { item: { type: 'string' }, price: { type: 'number' } } },
    },
  },
};

const work = mkdtempSync(join(tmpdir(), 'quire-fuzzing-'));
const seeds = folder === undefined ? await generatedSeeds() : seedsIn(folder, SEED_BYTES_MAX);
if (seeds.length === 0) throw new Error(`no document up to ${SEED_BYTES_MAX} bytes is in ${folder ?? ''}`);
const pool = openChildPool({
  processes,
  memoryMb: 1024,
  idleMs: 30_000,
  entry: fileURLToPath(new URL('../../engine/isolation/child.js', import.meta.url)),
});

const outcomes = new Map<string, Map<string, number>>();
const suspects: string[] = [];
let longest = { ms: 0, input: -1, name: '' };
let broken = 0;

const wordOf = (outcome: JobOutcome): string =>
  outcome.kind === 'answered' ? (outcome.answer as { readonly kind: string }).kind : outcome.kind;

const jobFor = (path: string, fileName: string, random: Random): Job => {
  const effort = random.next() < RECOGNISE_SHARE ? 'standard' : 'fast';
  const file = { path, fileName, effort, pagesMax: 100, languages: OCR_LANGUAGES.slice(0, 1) } as const;
  return random.next() < EXTRACT_SHARE
    ? { kind: 'extract', file, schema: SCHEMA, citations: true }
    : { kind: 'render', file };
};

/** Each input has a generator of its own, so that one can be made again without those before it. */
const randomOf = (input: number): Random => seededRandom((seed * 1_000_003 + input) >>> 0);

const keep = (input: number, { name, bytes }: { name: string; bytes: Uint8Array }): string => {
  mkdirSync(kept, { recursive: true });
  const path = join(kept, `${input}-${name}`);
  writeFileSync(path, bytes);
  return path;
};

const judge = (
  input: number,
  made: ReturnType<typeof mutant>,
  ended: { outcome: JobOutcome; ms: number },
): void => {
  const { outcome, ms } = ended;
  const word = wordOf(outcome);
  const counts = outcomes.get(made.from) ?? new Map<string, number>();
  outcomes.set(made.from, counts.set(word, (counts.get(word) ?? 0) + 1));
  if (ms > longest.ms) longest = { ms, input, name: made.name };
  const isLate = ms > deadlineMs + GRACE_MS;
  if (outcome.kind === 'failed' || isLate) broken += 1;
  if (outcome.kind === 'answered' && !isLate && only === undefined) return;
  const why = outcome.kind === 'failed' ? outcome.message : word;
  suspects.push(`input ${input}, ${made.name}, ${Math.round(ms)} ms: ${why}\n  kept as ${keep(input, made)}`);
};

const runInput = async (input: number): Promise<void> => {
  const random = randomOf(input);
  const made = mutant(seeds, random);
  const path = join(work, `${input}`);
  writeFileSync(path, made.bytes);
  const began = performance.now();
  const outcome = await pool.run(jobFor(path, made.name, random), { deadlineMs });
  judge(input, made, { outcome, ms: performance.now() - began });
  rmSync(path, { force: true });
};

let next = only ?? 0;
const until = only === undefined ? inputs : only + 1;
const caller = async (): Promise<void> => {
  while (next < until) {
    const input = next;
    next += 1;
    await runInput(input);
    if (input % 1_000 === 999) console.log(`${input + 1} inputs`);
  }
};

const total = (word: string): number =>
  [...outcomes.values()].reduce((sum, counts) => sum + (counts.get(word) ?? 0), 0);

const report = (seconds: number): void => {
  const words = [...new Set([...outcomes.values()].flatMap((counts) => [...counts.keys()]))].sort();
  const row = (counts: ReadonlyMap<string, number>) =>
    Object.fromEntries(words.map((word) => [word, counts.get(word) ?? 0]));
  const all = new Map(words.map((word) => [word, total(word)]));
  console.table(
    Object.fromEntries(
      [...outcomes]
        .sort()
        .concat([['all', all]])
        .map(([from, counts]) => [from, row(counts)]),
    ),
  );
  for (const suspect of suspects) console.log(suspect);
  console.log(
    [
      `${until - (only ?? 0)} inputs in ${Math.round(seconds)} s, seed ${seed}; this process lived through all of them`,
      `longest: ${Math.round(longest.ms)} ms (input ${longest.input}, ${longest.name}), deadline ${deadlineMs} ms`,
      `longest delay of the event loop: ${Math.round(delays.max / 1e6)} ms, 99th percentile ${Math.round(delays.percentile(99) / 1e6)} ms`,
      `failed of our own: ${total('failed')}; ended late: ${broken - total('failed')}; children that died: ${total('died')}, out of memory: ${total('out_of_memory')}, timed out: ${total('timed_out')}`,
    ].join('\n'),
  );
};

console.log(
  `${inputs} inputs from ${seeds.length} documents, seed ${seed} (FUZZ_SEED repeats it, FUZZ_ONLY=<input> shows one)`,
);
/** A mutation of what is refused as it is tests little: this says which documents those are. */
const sound = async (): Promise<void> => {
  const refused: string[] = [];
  for (const { name, bytes } of seeds) {
    const path = join(work, 'sound');
    writeFileSync(path, bytes);
    const file = { path, fileName: name, effort: 'fast', pagesMax: 100, languages: ['eng'] } as const;
    const word = wordOf(await pool.run({ kind: 'render', file }, { deadlineMs }));
    if (word !== 'ok') refused.push(`${name} ${word}`);
  }
  console.log(`read as they are: ${seeds.length - refused.length}; not: ${refused.join(', ') || 'none'}`);
};

await sound();
/** Of this process, which only hands documents to children: what they send back must not hold it. */
const delays = monitorEventLoopDelay({ resolution: 20 });
delays.enable();
const began = performance.now();
await Promise.all(Array.from({ length: processes }, caller));
report((performance.now() - began) / 1000);
await pool.close();
rmSync(work, { recursive: true, force: true });
process.exitCode = broken === 0 ? 0 : 1;
