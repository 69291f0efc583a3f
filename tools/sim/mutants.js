// Sows faults into the code under simulation, one at a time, and lets the simulator look for each, and where it finds
// nothing the spec that the list names for it:
// node tools/sim/mutants.js [--seconds 60] [--list tools/sim/mutants.json] [--only <part of about>]
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { init } from 'es-module-lexer';
import { MIRROR, mirror, withMovedImports } from '../build/mirror.js';
import { ROOT } from '../build/workspaces.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    list: { type: 'string', default: 'tools/sim/mutants.json' },
    only: { type: 'string', default: '' },
  },
});

/** A copy of all that was compiled: links, so that it costs no space, and what is written anew is its own. */
const COPY = join(ROOT, 'dist/mutant');

const copied = () => {
  rmSync(COPY, { recursive: true, force: true });
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const { status, stderr } = spawnSync('cp', ['-al', join(ROOT, MIRROR), COPY], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cp: ${stderr}`);
};

/** The file with its fault, compiled as the mirror does it. */
const compiled = async ({ file, find, put, about }) => {
  const source = readFileSync(join(ROOT, file), 'utf8');
  if (source.split(find).length !== 2)
    throw new Error(`${about}: ${file} has not exactly one ${JSON.stringify(find)}`);
  const contents = source.replace(find, () => put);
  const sown = {
    name: 'sown',
    setup: (own) => own.onLoad({ filter: /\.ts$/ }, () => ({ contents, loader: 'ts' })),
  };
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [file],
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    tsconfig: 'tsconfig.json',
    logLevel: 'warning',
    plugins: [sown],
  });
  return withMovedImports(outputFiles[0].text, file);
};

/** What long documents are read by. */
const RANGES = /pageRanges|rangedWork|rangeTurns/;

/** What rebuilds by shares. */
const SHARES = /engine\/(shares|spreading)|rebuildInThreads/;

const worldsOf = (file) => {
  if (SHARES.test(file)) return ['--sharing'];
  if (file.startsWith('projections/engine/')) return ['--projecting'];
  if (file.startsWith('src/payments/')) return ['--paying'];
  return RANGES.test(file) ? ['--long'] : [];
};

/** Faults of the projection engine and of the payments process are looked for where these run. */
const judged = ({ file = '' }) => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(COPY, 'test/sim/simMain.js'), '--judge', '--seconds', values.seconds, ...worldsOf(file)],
    // Some faults make a step go on for ever.
    { cwd: ROOT, encoding: 'utf8', timeout: 2_000 * Number(values.seconds) },
  );
  const last = stdout.trim().split('\n').at(-1) ?? '';
  return last.startsWith('{')
    ? JSON.parse(last)
    : { runs: 0, steps: 0, seconds: 0, where: 'it broke', finding: stderr.slice(0, 200) || 'it never ends' };
};

const MOCHA = join(createRequire(import.meta.url).resolve('mocha/package.json'), '../bin/mocha.js');

/** The first test of a fault's own spec that fails; undefined: none does, or it has none. */
const failedIn = ({ spec }) => {
  if (spec === undefined) return undefined;
  const file = join(COPY, spec.replace(/\.ts$/, '.js'));
  const { stdout } = spawnSync(
    process.execPath,
    [MOCHA, '--no-config', '--timeout', '120000', '--bail', '--exit', file],
    { cwd: ROOT, encoding: 'utf8' },
  );
  // What cannot even begin says nothing of the fault.
  return /^\s*1\) (?!".*" hook)(.+)$/m.exec(stdout)?.[1];
};

const line = (cells) => process.stdout.write(`| ${cells.join(' | ')} |\n`);

await mirror();
await init;
const mutants = [
  { about: 'nothing: the code as it is' },
  ...JSON.parse(readFileSync(join(ROOT, values.list), 'utf8')).filter(({ about }) =>
    about.includes(values.only),
  ),
];
line(['fault', 'runs', 'steps', 'seconds', 'where', 'finding']);
line(['---', '--:', '--:', '--:', '---', '---']);
for (const mutant of mutants) {
  copied();
  if (mutant.file !== undefined) {
    const target = join(COPY, mutant.file.replace(/\.ts$/, '.js'));
    const code = await compiled(mutant);
    rmSync(target);
    writeFileSync(target, code);
  }
  const { runs, steps, seconds, where, finding } = judged(mutant);
  const failed = finding === null ? failedIn(mutant) : undefined;
  const found = failed === undefined ? [where, finding ?? 'nothing found'] : [mutant.spec, failed];
  line([mutant.about, runs, steps, seconds.toFixed(1), ...found]);
}
rmSync(COPY, { recursive: true, force: true });
