import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { history } from '../audit/auditedHistory.ts';
import { runCommand } from '../support/quireCommand.ts';

/** Passes on what it reads, 4 kB at a time with 2 ms between them: a pipe before it is always full. */
const SLOW_READER = `
  const { readSync, writeSync } = require('node:fs');
  const [part, nobody] = [Buffer.alloc(4096), new Int32Array(new SharedArrayBuffer(4))];
  for (let read; (read = readSync(0, part)) > 0; Atomics.wait(nobody, 0, 0, 2)) writeSync(1, part, 0, read);
`;

describe('a reader of the command line that takes its time', () => {
  it('gets all that was written', async () => {
    const { PATH = '', HOME = '' } = process.env;
    const env = { DATA_DIR: await history() };
    const { out } = await runCommand(env, 'events', 'export');
    const piped = 'set -o pipefail; "$NODE" "$QUIRE" events export | "$NODE" -e "$SLOW_READER"';
    const own = { NODE: process.execPath, QUIRE: resolve('bin/quire.js'), SLOW_READER };
    const child = spawn('bash', ['-c', piped], {
      env: { PATH, HOME, ...env, ...own },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let read = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (read += part));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).to.equal(0);
    expect(out.length, 'characters, more than what a pipe holds').to.be.greaterThan(100_000);
    expect(read.length, 'characters').to.equal(out.length);
    expect(read).to.equal(out);
  });
});
