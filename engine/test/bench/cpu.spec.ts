import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpuSince, processTimes, treesOf } from './cpu.ts';

const process_ = (pid: number, parent: number) => ({ pid, parent, cpuMs: 0 });

/** Uses a core for so long, by its own account. */
const BUSY = `const busy = (ms) => {
  const began = process.cpuUsage();
  for (let spent = 0; spent < ms * 1000; ) { const { user, system } = process.cpuUsage(began); spent = user + system; }
};`;

describe('CPU time of processes', () => {
  it('counts a process in both modes, and its children that ended', () => {
    const text = '17 (a) (b c) S 4 17 17 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 5 6 7';
    assert.deepEqual(processTimes(text), { pid: 17, parent: 4, cpuMs: 1000 });
  });

  it('finds what a process started, however indirectly, and nothing else', () => {
    const all = [process_(5, 4), process_(1, 0), process_(4, 2), process_(3, 1), process_(2, 1)];
    const found = treesOf([2, 4], all).map(({ pid }) => pid);
    assert.deepEqual(found.sort(), [2, 4, 5]);
  });

  it('of a process that has ended is none', () => {
    assert.deepEqual(treesOf([9], [process_(1, 0)]), []);
  });

  it('counts what a child of a child takes, while it runs and when it has ended', async () => {
    const grandchild = `${BUSY} busy(200); console.log('busy no more'); process.stdin.on('data', () => process.exit())`;
    const child = spawn(
      process.execPath,
      [
        '-e',
        `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}],
         { stdio: 'inherit' }).on('exit', () => console.log('ended'));
         process.on('SIGTERM', () => process.exit())`,
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const { pid = 0 } = child;
    const spent = cpuSince([pid]);
    await once(child.stdout, 'data');
    const running = spent();
    assert.ok(running >= 200, `${running} ms`);
    child.stdin.write('end');
    await once(child.stdout, 'data');
    assert.ok(spent() >= running, `${spent()} ms after ${running} ms`);
    child.kill();
    await once(child, 'exit');
  });
});
