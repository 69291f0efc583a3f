import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openChildPool, type ChildPool, type PoolLimits } from '../../isolation/children/childPool.ts';
import { familyOf } from '../../isolation/children/childProcess.ts';
import { seededRandom } from '../support/random.ts';
import { stoppedChildren } from '../support/stoppedChildren.ts';
import type { JobOutcome } from '../../isolation/children/jobs.ts';

const POOL = new URL('../../isolation/children/childPool.js', import.meta.url).href;
const HOSTILE = fileURLToPath(new URL('../support/hostileChild.js', import.meta.url));

describe('processes given out by share', () => {
  let pool: ChildPool;
  const opened = (processes: number, sliceMs = 50) => {
    pool = openChildPool({ processes, memoryMb: 768, idleMs: 30_000, entry: HOSTILE, sliceMs });
    return pool;
  };
  const job = (share: string, fileName: string, limits: Partial<PoolLimits> = {}) =>
    pool.run({ file: { fileName, path: HOSTILE } }, { share, deadlineMs: 60_000, ...limits });
  const kind = async (outcome: Promise<JobOutcome>) => (await outcome).kind;
  afterEach(() => pool.close());

  it('do not keep another share waiting until a long job of one has ended', async () => {
    opened(2);
    const long = ['endless', 'endless', 'endless'].map((name) => job('hostile', name));
    const ended: string[] = [];
    for (const one of long) void kind(one).then((how) => ended.push(how));
    expect(await kind(job('bolt', 'good'))).to.equal('answered');
    expect(ended).to.deep.equal([]);
    await pool.close();
    expect(await Promise.all(long.map(kind))).to.deep.equal(['aborted', 'aborted', 'aborted']);
  });

  it('give a share alone all of them, and take no job of its own out of the way', async () => {
    opened(2);
    const long = job('acme', 'endless');
    const others = [job('acme', 'busy 300'), job('acme', 'busy 10')];
    const order: number[] = [];
    others.forEach((one, n) => void one.then(() => order.push(n)));
    expect(await Promise.all(others.map(kind))).to.deep.equal(['answered', 'answered']);
    expect(order).to.deep.equal([0, 1]);
    expect(pool.pauses()).to.deep.equal({ jobs: 0, totalMs: 0 });
    await pool.close();
    expect(await kind(long)).to.equal('aborted');
  });

  it('serve others between the jobs of a queue, in turn', async () => {
    opened(1);
    const ends: string[] = [];
    const told = (share: string, name: string) =>
      job(share, name).then(({ kind: how }) => ends.push(`${share} ${how}`));
    const queue = Array.from({ length: 20 }, () => told('hostile', 'busy 30'));
    const others = ['bolt', 'crux', 'dune'].map((share) => told(share, 'busy 30'));
    await Promise.all([...queue, ...others]);
    expect(ends.slice(0, 5)).to.include.members(['bolt answered', 'crux answered', 'dune answered']);
  });

  it('let a paused job go on where it was, with the time that it had left', async () => {
    opened(1);
    const long = job('hostile', 'busy 500');
    const others = Array.from({ length: 6 }, () => job('bolt', 'busy 60'));
    expect(await kind(long)).to.equal('answered');
    expect(await Promise.all(others.map(kind))).to.deep.equal(Array.from({ length: 6 }, () => 'answered'));
  });

  it('count neither waiting nor a pause as time of the job', async () => {
    opened(1);
    const began = performance.now();
    const long = job('hostile', 'endless', { deadlineMs: 600 });
    const others = Array.from({ length: 8 }, (_, n) => job(`other-${n}`, 'busy 150'));
    await Promise.all(others);
    expect(await kind(long)).to.equal('timed_out');
    expect(performance.now() - began).to.be.above(8 * 150 + 600 - 100);
  });

  it('end a job that is given up while it is paused', async () => {
    opened(1);
    const giveUp = new AbortController();
    const long = job('hostile', 'endless', { signal: giveUp.signal });
    expect(await kind(job('bolt', 'good'))).to.equal('answered');
    const busy = job('bolt', 'busy 300');
    giveUp.abort();
    expect(await kind(long)).to.equal('aborted');
    expect(await kind(busy)).to.equal('answered');
  });

  it('end at once when they are closed, paused jobs too', async () => {
    opened(1);
    const long = job('hostile', 'endless');
    expect(await kind(job('bolt', 'good'))).to.equal('answered');
    const waits = [job('bolt', 'endless'), job('crux', 'good')];
    await pool.close();
    expect(await Promise.all([long, ...waits].map(kind))).to.deep.equal(['aborted', 'aborted', 'aborted']);
  });
});

describe('a paused process', () => {
  let pool: ChildPool;
  const opened = (processes: number) => {
    pool = openChildPool({ processes, memoryMb: 768, idleMs: 30_000, entry: HOSTILE, sliceMs: 20 });
  };
  const job = async (share: string, fileName: string, signal?: AbortSignal) => {
    const outcome = pool.run(
      { file: { fileName, path: HOSTILE } },
      { share, deadlineMs: 60_000, ...(signal && { signal }) },
    );
    return (await outcome).kind;
  };
  const untilPaused = async () => {
    while (pool.pauses().jobs === 0) await nextTurn();
  };
  afterEach(() => pool.close());

  it('goes on when the others have nothing to do any more, and its pause is counted', async () => {
    opened(1);
    const long = job('acme', 'busy 600');
    const others = [job('bolt', 'busy 60'), job('crux', 'busy 60')];
    await untilPaused();
    while (stoppedChildren().length === 0) await nextTurn();
    await Promise.all(others);
    while (pool.pauses().jobs > 0) await nextTurn();
    const { totalMs } = pool.pauses();
    expect(totalMs).to.be.greaterThan(0);
    expect(await long).to.equal('answered');
    expect([stoppedChildren(), pool.pauses()]).to.deep.equal([[], { jobs: 0, totalMs }]);
  });

  for (const [how, other] of [
    ['were given up', 'endless'],
    ['died', 'exit'],
  ] as const)
    it(`goes on when its tenant is the only one left, because the others ${how}`, async () => {
      opened(1);
      const giveUp = new AbortController();
      const long = job('acme', 'busy 600');
      const others = ['bolt', 'crux', 'dune'].map((share) => job(share, other, giveUp.signal));
      if (other === 'endless') {
        await untilPaused();
        giveUp.abort();
      }
      expect(await Promise.all(others)).not.to.include('answered');
      expect(await long).to.equal('answered');
      expect([stoppedChildren(), pool.pauses().jobs]).to.deep.equal([[], 0]);
    });

  it('always goes on, whatever comes and goes beside it', async () => {
    opened(2);
    const { between } = seededRandom(20_260_131);
    const whole = (max: number) => between(0, max - 1);
    const ends: Promise<string>[] = [];
    for (let n = 0; n < 60; n += 1) {
      const name = ['busy 5', 'busy 60', 'busy 150', 'exit', 'endless'][whole(5)] ?? 'exit';
      const tenant = `tenant-${whole(5)}`;
      const isGivenUp = name === 'endless' || whole(4) === 0;
      ends.push(job(tenant, name, isGivenUp ? AbortSignal.timeout(whole(400)) : undefined));
      if (whole(5) === 0) await ends[whole(ends.length)];
    }
    const kinds = new Set(await Promise.all(ends));
    expect([...kinds]).to.include('answered');
    expect(kinds.has('timed_out')).to.equal(false);
    expect([stoppedChildren(), pool.pauses().jobs]).to.deep.equal([[], 0]);
  });
});

describe('a process that was killed while jobs of its were paused', () => {
  it('leaves none of them behind', async () => {
    const script = `
      const { openChildPool } = await import(${JSON.stringify(POOL)});
      const pool = openChildPool({
        processes: 1, memoryMb: 768, idleMs: 30000, entry: ${JSON.stringify(HOSTILE)}, sliceMs: 50,
      });
      const limits = { deadlineMs: 60000 };
      const path = ${JSON.stringify(HOSTILE)};
      void pool.run({ file: { fileName: 'endless', path } }, { ...limits, share: 'hostile' });
      await pool.run({ file: { fileName: 'good', path } }, { ...limits, share: 'bolt' });
      void pool.run({ file: { fileName: 'pid', path } }, { ...limits, share: 'bolt' });
      process.stdout.write('paused');`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    const children = familyOf(parent.pid ?? 0).slice(1);
    expect(children.length).to.be.above(1);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    const isThere = (pid: number) => existsSync(`/proc/${pid}/stat`);
    while (children.some(isThere)) await nextTurn();
  });
});
