import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { rulesWorker } from '../../src/parts/threads.ts';

const JOB = { checks: [], schema: {}, result: {} };
const NO_END = new AbortController().signal;

/** A thread that answers all work. */
const ANSWERS = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', () => parentPort.postMessage({ answer: { checks: [] } }));
  parentPort.postMessage('ready');`;

describe('a thread for the checks of configs', () => {
  const workers: { readonly stop: () => Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((one) => one.stop()));
  });

  /** Starts a thread of each code, the last one again and again. */
  const workerOf = (...codes: readonly string[]) => {
    const started: Worker[] = [];
    const worker = rulesWorker(() => {
      const own = new Worker(codes[started.length] ?? codes.at(-1) ?? '', { eval: true });
      started.push(own);
      return own;
    });
    workers.push(worker);
    return { worker, started };
  };

  for (const [how, code] of [
    ['throws', 'throw new Error("scripted")'],
    ['ends', 'process.exit(3)'],
  ] as const)
    it(`that ${how} before it is ready fails its own work alone`, async () => {
      const { worker, started } = workerOf(code, ANSWERS);
      const failed: unknown = await worker.judge('t', JOB, NO_END).catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(Error);
      expect(await worker.judge('t', JOB, NO_END)).to.deep.equal({ checks: [] });
      expect(await worker.judge('u', JOB, NO_END)).to.deep.equal({ checks: [] });
      expect(started).to.have.length(2);
    });

  it('that ended while it rested is not sent work', async () => {
    const { worker, started } = workerOf(ANSWERS);
    await worker.judge('t', JOB, NO_END);
    await started[0]?.terminate();
    expect(await worker.judge('t', JOB, NO_END)).to.deep.equal({ checks: [] });
    expect(started).to.have.length(2);
  });

  it('that never becomes ready is given up once the caller has left, and others go on', async () => {
    const { worker, started } = workerOf('setInterval(() => undefined, 1000)', ANSWERS);
    const caller = new AbortController();
    const waiting = worker.judge('t', JOB, caller.signal).catch((error: unknown) => error);
    const next = worker.judge('u', JOB, NO_END);
    while (started[0] === undefined) await Promise.resolve();
    await once(started[0], 'online');
    caller.abort();
    expect(await waiting).to.be.instanceOf(Error);
    expect(await next).to.deep.equal({ checks: [] });
  });
});
