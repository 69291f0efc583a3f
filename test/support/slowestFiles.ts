import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import Mocha, { type Hook, type MochaOptions, type Runner, type Test } from 'mocha';

/** How many files the table names. */
const SHOWN = 10;

/** What one spec file took: its specs, and the hooks around them. */
export interface FileSeconds {
  readonly file: string;
  readonly specs: number;
  readonly specMs: number;
  readonly hookMs: number;
  /** The spec or hook that took longest. */
  readonly worst: { readonly title: string; readonly ms: number };
}

const NOTHING = { specs: 0, specMs: 0, hookMs: 0, worst: { title: '', ms: 0 } };

const nameOf = (file: string | undefined): string =>
  file === undefined
    ? '(all files)'
    : relative(process.cwd(), file)
        .replace(/^(dist|\.test)\//, '')
        .replace(/\.js$/, '.ts');

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** The slowest files as a Markdown table. */
export const tableOf = (files: readonly FileSeconds[]): string => {
  const slowest = [...files].sort((a, b) => b.specMs + b.hookMs - a.specMs - a.hookMs).slice(0, SHOWN);
  const rows = slowest.map(
    ({ file, specs, specMs, hookMs, worst }) =>
      `| \`${file}\` | ${seconds(specMs + hookMs)} | ${seconds(hookMs)} | ${specs} | ` +
      `${worst.title} (${seconds(worst.ms)}) |`,
  );
  return [
    '| file | seconds | of these in hooks | specs | longest |',
    '| --- | --: | --: | --: | --- |',
    ...rows,
  ].join('\n');
};

/** Mocha's own reporter, and at the end a table of the slowest files; `-O to=FILE` keeps the seconds of all. */
export default class SlowestFiles extends Mocha.reporters.Spec {
  private readonly files = new Map<string, FileSeconds>();

  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const { to } = (options.reporterOptions ?? {}) as { to?: string };
    runner.on('test end', (test) => this.count(test, true));
    runner.on('hook end', (hook) => this.count(hook, false));
    runner.once('end', () => {
      const files = [...this.files.values()];
      console.log(`\n${tableOf(files)}\n`);
      if (to === undefined) return;
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, JSON.stringify(files, null, 1));
    });
  }

  private count(run: Test | Hook, isSpec: boolean): void {
    const file = nameOf(run.file ?? run.parent?.file);
    const before = this.files.get(file) ?? { file, ...NOTHING };
    const ms = run.duration ?? 0;
    this.files.set(file, {
      file,
      specs: before.specs + (isSpec ? 1 : 0),
      specMs: before.specMs + (isSpec ? ms : 0),
      hookMs: before.hookMs + (isSpec ? 0 : ms),
      worst: ms > before.worst.ms ? { title: run.title, ms } : before.worst,
    });
  }
}
