import { sha256 } from '../../domain/kernel/chain.ts';
import { expect } from 'chai';
import { accountStream } from '../../domain/account/messages.ts';
import { ATTEMPTS_MAX } from '../../domain/leased.ts';
import { OPEN_MAX, type OperationName } from '../../src/commands/operations.ts';
import type { QueueWorker } from '../../src/worker/queue.ts';
import { engineOf, EXTRACTED, TENANT } from '../support/delivery.ts';
import { BALANCE, operationBench, PRICE, type OperationBench, PAGES } from '../support/operationBench.ts';

/** Objects and appends of a worker: claim, request, result, success, charge, end of the work. */
const STAGES = 6;

const moment = (at: number, committed: boolean): string =>
  `at write ${at}, ${committed ? 'after' : 'before'} it took effect`;

describe('operations and their worker', () => {
  let bench: OperationBench;
  beforeEach(async () => {
    bench = await operationBench();
  });
  afterEach(() => bench.dispose());

  const paidOnce = async (name: OperationName): Promise<void> => {
    const state = await bench.stateOf(name);
    expect(state.status).to.equal('succeeded');
    const burns = await bench.burns();
    expect(burns).to.have.length(1);
    expect(burns[0]).to.deep.include({ credits: PRICE, operation_id: state.accepted?.work_id });
    expect(await bench.account()).to.include({ balance: BALANCE - PRICE, held: 0, open_holds: 0 });
    expect(await bench.result(name)).to.have.nested.property('body.result.number', 'Q-1');
    expect(await bench.objects('operations/')).to.deep.equal([]);
    const types = await bench.typesOfWork(state.accepted?.work_id ?? '');
    expect(types).to.deep.equal(['ExtractionRequested', 'ExtractionCompleted']);
  };
  const gaveBack = async (name: OperationName, status: 'failed' | 'cancelled'): Promise<void> => {
    expect((await bench.stateOf(name)).status).to.equal(status);
    expect(await bench.burns()).to.deep.equal([]);
    expect(await bench.account()).to.include({ balance: BALANCE, held: 0, open_holds: 0 });
    expect(await bench.objects('operations/')).to.deep.equal([]);
  };

  /** Watches the lease of an owner that is gone for its whole time, and takes the work over. */
  const takenOver = async (worker: Pick<QueueWorker, 'drain'>): Promise<void> => {
    await worker.drain();
    bench.pass(2);
    await worker.drain();
  };

  it('are done and charged once, however often they are asked for', async () => {
    const name = await bench.process().accept('k');
    expect(await bench.account()).to.include({ held: PRICE, open_holds: 1 });
    const { worker, writes } = bench.process();
    expect(await worker.drain()).to.equal(1);
    expect(writes()).to.be.at.least(STAGES);
    await paidOnce(name);
    expect(await worker.drain()).to.equal(0);
    await worker.reap();
    await paidOnce(name);
    expect(bench.errors).to.deep.equal([]);
  });

  for (const committed of [false, true])
    for (let at = 1; at <= STAGES; at += 1)
      it(`end, charged once, whose worker dies ${moment(at, committed)}`, async () => {
        const name = await bench.process().accept('k');
        const first = bench.process({ at, committed });
        await Promise.race([first.worker.drain(), first.happened]);
        const second = bench.process();
        await takenOver(second.worker);
        await second.worker.reap();
        await paidOnce(name);
      });

  it('that succeeded and could not be charged are charged by the reaper', async () => {
    const name = await bench.process().accept('k');
    const whole = bench.process();
    const billingAway = bench.process(null, {
      accounts: {
        ...whole.accounts,
        execute: (command) =>
          command.type === 'SettleHold'
            ? Promise.reject(new Error('the log is away'))
            : whole.accounts.execute(command),
      },
    });
    await billingAway.worker.drain();
    expect((await bench.stateOf(name)).status).to.equal('succeeded');
    expect(await bench.burns()).to.deep.equal([]);
    expect(await bench.process().worker.reap()).to.be.at.least(1);
    await paidOnce(name);
  });

  for (const committed of [false, true])
    for (let at = 1; at <= 4; at += 1)
      it(`are accepted once by a retry after the request died ${moment(at, committed)}`, async () => {
        const dying = bench.process({ at, committed });
        await Promise.race([dying.accept('k').catch(() => undefined), dying.happened]);
        const name = await bench.process().accept('k');
        expect(await bench.account()).to.include({ held: PRICE, open_holds: 1 });
        await bench.process().worker.drain();
        await paidOnce(name);
      });

  it('are refused, and hold nothing, where a tenant has as many as may be open', async () => {
    const full = await operationBench({ open: { count: OPEN_MAX, bytes: 0 } });
    const refusal = await full
      .process()
      .accept('k')
      .catch((error: unknown) => String(error));
    expect(refusal).to.include('busy: At most 1000 operations of a tenant may wait or run at once.');
    expect(await full.account()).to.include({ held: 0, open_holds: 0 });
    await full.dispose();
  });

  for (const role of ['tenant', 'service'] as const)
    it(`are accepted up to the most that may be open, when many come at once by the role ${role}`, async () => {
      const nearly = await operationBench({ open: { count: OPEN_MAX - 3, bytes: 0 } });
      const { accept } = nearly.process();
      const over = { caller: { key_id: 'key_1', role } };
      const burst = (name: string) =>
        Promise.allSettled(Array.from({ length: 20 }, (_, n) => accept(`${name}${String(n)}`, over)));
      const first = await burst('a');
      expect(first.filter(({ status }) => status === 'fulfilled')).to.have.lengthOf(3);
      expect((await burst('b')).every(({ status }) => status === 'rejected')).to.equal(true);
      const again = first.findIndex(({ status }) => status === 'fulfilled');
      expect(await accept(`a${String(again)}`, over)).to.have.property('operation_id');
      await nearly.dispose();
    });

  it('are accepted up to the bytes that may wait, when many files come at once', async () => {
    const small = await operationBench({ quotaBytes: 1_000 });
    const { accept } = small.process();
    const file = { path: '/dev/null', sha256: sha256(''), bytes: 200, file_name: String(PAGES) };
    const over = { file, caller: { key_id: 'key_1', role: 'service' } } as const;
    const sent = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => accept(`k${String(n)}`, over)),
    );
    expect(sent.filter(({ status }) => status === 'fulfilled')).to.have.lengthOf(5);
    const refusals = sent.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    for (const refusal of refusals)
      expect(refusal).to.include('upload_quota_exceeded').and.to.include('1000 bytes');
    const without = { ...over, file: { ...file, bytes: 0 } };
    expect(await accept('none', without)).to.have.property('operation_id');
    await small.dispose();
  });

  it('give the hold of a request back that died before it was accepted, and was never sent again', async () => {
    for (let at = 2; at <= 3; at += 1) {
      const dying = bench.process({ at, committed: false });
      await Promise.race([dying.accept(`k${String(at)}`).catch(() => undefined), dying.happened]);
    }
    expect(await bench.account()).to.include({ open_holds: 2 });
    const { worker } = bench.process();
    await worker.reap();
    expect(await bench.account()).to.include({ open_holds: 2 });
    bench.pass(11);
    await worker.reap();
    bench.pass(1);
    await worker.reap();
    expect(await bench.account()).to.include({ balance: BALANCE, held: 0, open_holds: 0 });
  });

  it('keep their hold where a list that is late shows them as never accepted', async () => {
    const name = await bench.process().accept('k');
    const { worker } = bench.process(null, { isLate: true });
    for (const minutes of [11, 2, 2]) {
      bench.pass(minutes);
      await worker.reap();
    }
    expect(await bench.account()).to.include({ held: PRICE, open_holds: 1 });
    expect(await bench.process().worker.drain()).to.equal(1);
    await paidOnce(name);
  });

  it('keep the hold of a request that is under way where clocks are a quarter of an hour apart', async () => {
    const asking = bench.process({ at: 2, committed: false });
    await Promise.race([asking.accept('k').catch(() => undefined), asking.happened]);
    const { worker } = bench.process();
    bench.pass(15);
    await worker.reap();
    expect(await bench.account()).to.include({ open_holds: 1 });
    await bench.process().accept('k');
    bench.pass(2);
    await worker.reap();
    expect(await bench.account()).to.include({ open_holds: 1 });
  });

  it('whose cancellation comes while they run are cancelled at no cost', async () => {
    const name = await bench.process().accept('k');
    const engine = engineOf(async () => {
      await bench.process().cancel(name);
      return EXTRACTED;
    });
    await bench.process(null, { engine }).worker.drain();
    await gaveBack(name, 'cancelled');
  });

  it('that are cancelled leave their reader a place by which their hold is given back', async () => {
    const noted: bigint[] = [];
    const process = bench.process(null, { wrote: (_, position) => noted.push(position) });
    await process.cancel(await process.accept('k'));
    const account = await bench.eventsOf(accountStream(TENANT));
    const released = account.find(({ type }) => type === 'HoldReleased');
    expect(noted).to.include(released?.position);
  });

  for (let at = 2; at <= STAGES; at += 1)
    it(`are cancelled, or done and charged, by a cancellation after write ${at} of a dead worker`, async () => {
      const name = await bench.process().accept('k');
      const first = bench.process({ at, committed: true });
      await Promise.race([first.worker.drain(), first.happened]);
      const { cancelled } = (await bench.process().cancel(name)) as { readonly cancelled: boolean };
      await bench.process().worker.reap();
      if (cancelled) await gaveBack(name, 'cancelled');
      else await paidOnce(name);
      expect(cancelled).to.equal(!(await bench.typesOf(name)).includes('OperationSucceeded'));
    });

  it('fail after three attempts whose error may pass, and give their hold back', async () => {
    const name = await bench.process().accept('k');
    let runs = 0;
    const engine = engineOf(() => {
      runs += 1;
      return Promise.reject(new Error('it broke'));
    });
    const { worker } = bench.process(null, { engine });
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      await worker.drain();
      bench.pass(5);
    }
    await worker.drain();
    expect(runs).to.equal(ATTEMPTS_MAX);
    await gaveBack(name, 'failed');
  });

  it('are given up as of now, though their worker stood still since they failed', async () => {
    const name = await bench.process().accept('k');
    const engine = engineOf(() => Promise.reject(new Error('it broke')));
    const { worker } = bench.process(null, {
      engine,
      whilePut: () => bench.pass(180),
    });
    await worker.drain();
    const { lease } = await bench.stateOf(name);
    expect(Date.parse(lease?.lease_until ?? '')).to.be.above(Date.parse(bench.time.now));
  });

  it('fail whose workers all die, and give their hold back', async () => {
    const name = await bench.process().accept('k');
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const dying = bench.process({ at: 2, committed: false });
      await Promise.race([takenOver(dying.worker), dying.happened]);
    }
    const { worker } = bench.process();
    await takenOver(worker);
    await worker.reap();
    expect((await bench.stateOf(name)).failure).to.deep.equal({ code: 'worker_lost' });
    await gaveBack(name, 'failed');
  });

  it('are done once by two workers at once', async () => {
    const name = await bench.process().accept('k');
    const workers = [bench.process().worker, bench.process().worker];
    await Promise.all(workers.map((worker) => worker.drain()));
    await paidOnce(name);
    expect((await bench.typesOf(name)).filter((type) => type === 'OperationStarted')).to.have.length(1);
  });

  it('are given back when their worker is shut down, which is no attempt', async () => {
    const name = await bench.process().accept('k');
    let began: () => void = () => undefined;
    const isRunning = new Promise<void>((resolve) => (began = resolve));
    const extract = (request: { readonly signal?: AbortSignal | undefined }) =>
      new Promise<{ readonly kind: 'aborted' }>((resolve) => {
        began();
        request.signal?.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true });
      });
    const { worker } = bench.process(null, { engine: { name: 'local/default', extract } });
    worker.start();
    await isRunning;
    await worker.stop();
    const state = await bench.stateOf(name);
    expect(state).to.include({ status: 'queued', attempts: 1, spared: 1 });
    await bench.process().worker.drain();
    await paidOnce(name);
  });
});
