import { seededRandom, type Random } from '../../engine/test/support/random.ts';

const { env } = process;

/** What a run is told by its environment. */
export const settings = {
  inputs: Number(env['FUZZ_INPUTS'] ?? 10_000),
  seed: Number(env['FUZZ_SEED'] ?? Date.now() % 1_000_000),
  /** Only this input, to see it again. */
  only: env['FUZZ_ONLY'] === undefined ? undefined : Number(env['FUZZ_ONLY']),
  /** Documents to mutate; left out: one of each format is made. */
  folder: env['FUZZ_DIR'],
  deadlineSeconds: Number(env['FUZZ_DEADLINE_SECONDS'] ?? 20),
  /** No input is begun after that long. */
  minutesMax: Number(env['FUZZ_MINUTES'] ?? Infinity),
  callers: env['FUZZ_CALLERS'] === undefined ? undefined : Number(env['FUZZ_CALLERS']),
  keep: env['FUZZ_KEEP'],
} as const;

/** Each input has a generator of its own, so that one can be made again without those before it. */
export const randomOf = (input: number): Random => seededRandom((settings.seed * 1_000_003 + input) >>> 0);

/** The inputs of this run. */
export const range = (): { readonly from: number; readonly until: number } => {
  const { only, inputs } = settings;
  return only === undefined ? { from: 0, until: inputs } : { from: only, until: only + 1 };
};
