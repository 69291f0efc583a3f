import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { history } from '../audit/auditedHistory.ts';
import { MAIN } from '../support/program.ts';
import { runCommand } from '../support/quireCommand.ts';

/** Passes on what it reads, 4 kB at a time with 2 ms between them: a pipe before it is always full. */
const SLOW_READER = `
  const { readSync, writeSync } = require('node:fs');
  const [part, nobody] = [Buffer.alloc(4096), new Int32Array(new SharedArrayBuffer(4))];
  for (let read; (read = readSync(0, part)) > 0; Atomics.wait(nobody, 0, 0, 2)) writeSync(1, part, 0, read);
`;

/** Runs a shell's line with programs by name, and gives what came out at its end. */
const piped = async (line: string, env: Readonly<Record<string, string>>) => {
  const { PATH = '', HOME = '' } = process.env;
  const programs = { NODE: process.execPath, QUIRE: resolve('bin/quire.js'), MAIN, SLOW_READER };
  const child = spawn('bash', ['-c', `set -o pipefail; ${line}`], {
    env: { PATH, HOME, ...env, ...programs },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let read = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (read += part));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, read };
};

describe('a reader of the service that takes its time', () => {
  it('gets all that the service said before it ended', async () => {
    const wrong = Array.from({ length: 2_000 }, (_, n) => [`S3_UNKNOWN_VARIABLE_${String(n)}`, 'x'] as const);
    const { code, read } = await piped('"$NODE" "$MAIN" 2>&1 | "$NODE" -e "$SLOW_READER"', {
      ...Object.fromEntries(wrong),
    });
    expect(code).to.equal(1);
    expect(read.length, 'characters, more than what a pipe holds').to.be.greaterThan(100_000);
    for (const [name] of wrong) expect(read).to.contain(`${name}: is not a variable of Quire`);
  });
});

describe('a reader of the command line that takes its time', () => {
  it('gets all that was written', async () => {
    const env = { DATA_DIR: await history() };
    const { out } = await runCommand(env, 'events', 'export');
    const { code, read } = await piped('"$NODE" "$QUIRE" events export | "$NODE" -e "$SLOW_READER"', env);
    expect(code).to.equal(0);
    expect(out.length, 'characters, more than what a pipe holds').to.be.greaterThan(100_000);
    expect(read.length, 'characters').to.equal(out.length);
    expect(read).to.equal(out);
  });
});

describe('a reader of the command line that has gone', () => {
  for (const line of ['--help', 'audit --help', 'completion bash'])
    it(`ends \`quire ${line}\` without a word`, async () => {
      expect(await piped(`"$NODE" "$QUIRE" ${line} 2>&1 > >(exec true)`, {})).to.deep.equal({
        code: 0,
        read: '',
      });
    });
});
