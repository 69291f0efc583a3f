import type { QueueWorker } from '../../src/worker/queue.ts';
import { cancelWork } from '../../src/commands/queue.ts';
import { type CreatedTrainingJob, jobMoney } from '../../src/commands/training.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { artifactKeyOf } from '../../domain/deployment.ts';
import type { Trainer } from '../../domain/ports/trainer.ts';
import { artifactIdOfJob, trainingJobStream } from '../../domain/trainingJob.ts';
import { TamperedArtifact } from '../../src/commands/deployments.ts';
import type { WorkProblem } from '../../src/commands/workProblem.ts';
import {
  jobAsked,
  pipelineBench,
  plainTrainer,
  PRICE,
  TENANT,
  type PipelineBench,
} from '../support/pipelineBench.ts';
import { until } from '../../engine/test/support/until.ts';

const idOf = (made: CreatedTrainingJob | WorkProblem): string => {
  if (made.kind === 'problem') throw new Error(`${made.code}: ${made.detail}`);
  return made.job_id;
};

/** Writes of a worker: claim, bytes, artifact, success, charge. */
const STAGES = 5;

describe('training jobs and their worker', () => {
  let bench: PipelineBench;
  beforeEach(async () => {
    bench = await pipelineBench();
  });
  afterEach(() => bench.dispose());

  const stateOf = (job_id: string) => bench.process().jobs.stateOf(job_id);

  /** Watches the lease of an owner that is gone for its whole time, and takes the job over. */
  const takenOver = async (worker: Pick<QueueWorker, 'drain'>): Promise<void> => {
    await worker.drain();
    bench.pass(2);
    await worker.drain();
  };
  const paidOnce = async (job_id: string): Promise<void> => {
    const state = await stateOf(job_id);
    expect(state.status).to.equal('succeeded');
    const burns = await bench.burns();
    expect(burns).to.have.length(1);
    expect(burns[0]).to.deep.include({ operation: 'training', credits: PRICE, job_id, pages: 0 });
    expect(await bench.account()).to.deep.equal({ balance: 100_000 - PRICE, held: 0, open_holds: 0 });
    const { artifacts } = bench.process();
    const found = await artifacts.find(TENANT, artifactIdOfJob(job_id));
    expect(found).to.include({ job_id, best_score: 0.9 });
    if (found === undefined) throw new Error('there is no artifact');
    const bytes = await artifacts.load(found);
    expect(JSON.parse(new TextDecoder().decode(bytes))).to.include({ examples: 2, seed: 0 });
    expect(await bench.typesIn(`artifact-${found.artifact_id}`)).to.deep.equal(['ArtifactPublished']);
  };

  it('trains, publishes, and charges what was held', async () => {
    const creator = bench.process();
    const job_id = idOf(await creator.create(jobAsked('k')));
    expect(creator.writes()).to.equal(3);
    expect(await bench.account()).to.deep.equal({ balance: 100_000, held: PRICE, open_holds: 1 });
    const { worker, writes } = bench.process();
    expect(await worker.drain()).to.equal(1);
    expect(writes()).to.be.at.least(STAGES);
    await paidOnce(job_id);
    expect(await worker.drain()).to.equal(0);
    await worker.reap();
    await paidOnce(job_id);
    expect(bench.errors).to.deep.equal([]);
  });

  it('does not bill keys of the service', async () => {
    const { create, worker } = bench.process();
    const job_id = idOf(await create(jobAsked(null, { caller: { key_id: 'key_a', role: 'admin' } })));
    await worker.drain();
    expect((await stateOf(job_id)).status).to.equal('succeeded');
    expect(await bench.account()).to.deep.equal({ balance: 100_000, held: 0, open_holds: 0 });
  });

  it('needs a paid plan, and credits', async () => {
    const free = await pipelineBench({ plan: 'free' });
    expect(await free.process().create(jobAsked('k'))).to.include({ code: 'plan_required' });
    await free.dispose();
    const poor = await pipelineBench({ balance: PRICE - 1 });
    const refused = await poor.process().create(jobAsked('k'));
    expect(refused).to.include({ code: 'insufficient_credits' });
    expect(await poor.account()).to.include({ held: 0 });
    await poor.dispose();
  });

  it('makes 20 jobs and 20 holds of 200 creations with 20 keys at once, by two processes', async () => {
    const [one, two] = [bench.process(), bench.process()];
    const made = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? one : two).create(jobAsked(`k${String(n % 20)}`))),
    );
    expect(new Set(made.map(idOf)).size).to.equal(20);
    expect(made.filter((each) => each.kind === 'created' && !each.replayed)).to.have.length(20);
    expect(await bench.account()).to.deep.equal({ balance: 100_000, held: 20 * PRICE, open_holds: 20 });
  });

  it('keeps a key for seven days, and refuses another request under it', async () => {
    const { create } = bench.process();
    const job_id = idOf(await create(jobAsked('k')));
    const other = { idempotency_key: 'k', fingerprint: 'another' };
    expect(await create(jobAsked('k', { identity: other }))).to.include({ code: 'idempotency_key_reused' });
    bench.pass(7 * 24 * 60 - 1);
    expect(idOf(await create(jobAsked('k')))).to.equal(job_id);
    bench.pass(2);
    expect(idOf(await create(jobAsked('k')))).to.not.equal(job_id);
  });

  for (const committed of [false, true])
    for (let at = 1; at <= STAGES; at += 1) {
      const moment = `at write ${at}, ${committed ? 'after' : 'before'}`;
      it(`ends, charged once, whose worker dies ${moment} it took effect`, async () => {
        const job_id = idOf(await bench.process().create(jobAsked('k')));
        const first = bench.process({ at, committed });
        await Promise.race([first.worker.drain(), first.happened]);
        const second = bench.process();
        await takenOver(second.worker);
        await second.worker.reap();
        await paidOnce(job_id);
      });
    }

  for (const committed of [false, true])
    for (let at = 1; at <= 3; at += 1) {
      const moment = `at write ${at}, ${committed ? 'after' : 'before'}`;
      it(`is created once by a retry after the request died ${moment} it`, async () => {
        const dying = bench.process({ at, committed });
        await Promise.race([dying.create(jobAsked('k')), dying.happened]);
        const job_id = idOf(await bench.process().create(jobAsked('k')));
        expect(await bench.account()).to.deep.equal({ balance: 100_000, held: PRICE, open_holds: 1 });
        await bench.process().worker.drain();
        await paidOnce(job_id);
      });
    }

  it('gives the hold of a request back that died before its job was created, and was never sent again', async () => {
    const dying = bench.process({ at: 3, committed: false });
    await Promise.race([dying.create(jobAsked('k')), dying.happened]);
    expect(await bench.account()).to.include({ open_holds: 1 });
    const { worker } = bench.process();
    await worker.reap();
    expect(await bench.account()).to.include({ open_holds: 1 });
    bench.pass(11);
    await worker.reap();
    bench.pass(1);
    await worker.reap();
    expect(await bench.account()).to.deep.equal({ balance: 100_000, held: 0, open_holds: 0 });
  });

  const failing = (lasting: boolean): Trainer & { runs: number } => {
    const trainer = {
      runs: 0,
      run: () => {
        trainer.runs += 1;
        return Promise.resolve({ kind: 'failed', code: 'provider_timeout', detail: 'No.', lasting } as const);
      },
    };
    return trainer;
  };

  for (const [lasting, runs] of [
    [true, 1],
    [false, 3],
  ] as const)
    it(`fails after ${runs} attempts when the error ${lasting ? 'lasts' : 'may pass'}, at no cost`, async () => {
      const trainer = failing(lasting);
      const { create, worker } = bench.process(null, trainer);
      const job_id = idOf(await create(jobAsked('k')));
      for (let round = 0; round < 5; round += 1) {
        await worker.drain();
        bench.pass(2);
      }
      expect(trainer.runs).to.equal(runs);
      expect((await stateOf(job_id)).failure).to.include({ code: 'provider_timeout' });
      expect(await bench.account()).to.deep.equal({ balance: 100_000, held: 0, open_holds: 0 });
    });

  it('fails a job whose workers all die, and gives its hold back', async () => {
    const job_id = idOf(await bench.process().create(jobAsked('k')));
    for (let round = 0; round < 3; round += 1) {
      const dying = bench.process({ at: 2, committed: false });
      await Promise.race([takenOver(dying.worker), dying.happened]);
    }
    await takenOver(bench.process().worker);
    expect((await stateOf(job_id)).failure).to.include({ code: 'worker_lost' });
    expect(await bench.account()).to.deep.equal({ balance: 100_000, held: 0, open_holds: 0 });
  });

  const waiting = (): Trainer & { readonly began: Promise<void> } => {
    let begin: () => void = () => undefined;
    const began = new Promise<void>((resolve) => (begin = resolve));
    return {
      began,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          begin();
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    };
  };

  it('stops when the job is cancelled, and charges nothing', async () => {
    const trainer = waiting();
    const { create, worker, jobs, accounts, store, clock } = bench.process(null, trainer);
    const job_id = idOf(await create(jobAsked('k')));
    const drained = worker.drain();
    await trainer.began;
    const { objects } = bench.process();
    const deps = { jobs, accounts, store, clock, objects, secrets: undefined, wrote: () => undefined };
    const metaOf = () => ({
      now: clock.now(),
      actor: { key_id: 'key_1', role: 'tenant' as const },
      correlation_id: 'r',
      command_id: clock.uuid(),
    });
    const job = { job_id, tenant_id: TENANT };
    const cancel = () => cancelWork(deps, jobMoney(deps), { name: job, meta: metaOf() });
    expect(await cancel()).to.include({ cancelled: true });
    expect(await cancel()).to.include({ cancelled: false });
    await drained;
    expect((await stateOf(job_id)).status).to.equal('cancelled');
    expect(await bench.account()).to.deep.equal({ balance: 100_000, held: 0, open_holds: 0 });
  });

  it('gives a running job back when the process is shut down, and another process does it', async () => {
    const trainer = waiting();
    const { create, worker } = bench.process(null, trainer);
    const job_id = idOf(await create(jobAsked('k')));
    const drained = worker.drain();
    await trainer.began;
    await worker.stop();
    await drained;
    expect((await stateOf(job_id)).status).to.equal('queued');
    await bench.process(null, plainTrainer).worker.drain();
    await paidOnce(job_id);
  });

  it('does not keep a tenant waiting behind the jobs of another', async () => {
    const began: string[] = [];
    const endless: Trainer = {
      run: (task, { signal }) =>
        new Promise((_, reject) => {
          began.push(task.tenant_id);
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    };
    const trainer: Trainer = {
      run: (task, context) => (task.seed === 0 ? endless : plainTrainer).run(task, context),
    };
    const { create, worker } = bench.process(null, trainer);
    for (const key of ['a', 'b', 'c', 'd']) await create(jobAsked(key));
    const drained = [worker.drain()];
    const caller = { key_id: 'key_a', role: 'admin' } as const;
    const other = idOf(await create(jobAsked('e', { tenant_id: 'other', caller, seed: 1 })));
    drained.push(worker.drain());
    while ((await stateOf(other)).status !== 'succeeded') await nextTurn();
    await worker.stop();
    await Promise.all(drained);
    // One place is left for tenants that have none.
    expect(began).to.deep.equal([TENANT, TENANT]);
  });

  it('lets two workers at once do a job once', async () => {
    const job_id = idOf(await bench.process().create(jobAsked('k')));
    const ran = await Promise.all([1, 2, 3, 4].map(() => bench.process().worker.drain()));
    expect(ran.reduce((sum, n) => sum + n, 0)).to.equal(1);
    await paidOnce(job_id);
  });

  it('renews its lease as the work goes on, in few events', async () => {
    const slow: Trainer = {
      run: async (task, context) => {
        for (let call = 1; call <= 60; call += 1) {
          bench.pass(0.4);
          context.onProgress({ metric_calls: call, max_metric_calls: 60 });
          // Each tenth of the work renews the lease, once a heartbeat has seen it.
          if (call % 6 === 0) await until(async () => (await events()).length >= 2 + call / 6);
        }
        return plainTrainer.run(task, context);
      },
    };
    const { create, worker } = bench.process(null, slow);
    const job_id = idOf(await create(jobAsked('k')));
    const events = () => bench.typesIn(trainingJobStream(job_id));
    await worker.drain();
    await paidOnce(job_id);
    expect((await events()).length).to.be.within(5, 60);
  });

  it('does not give bytes out that are not those that were published', async () => {
    const { create, worker, artifacts, objects } = bench.process();
    const job_id = idOf(await create(jobAsked('k')));
    await worker.drain();
    const found = await artifacts.find(TENANT, artifactIdOfJob(job_id));
    if (found === undefined) throw new Error('there is no artifact');
    await objects.put(artifactKeyOf(found.sha256), new TextEncoder().encode('{}'));
    const refused: unknown = await artifacts.load(found).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(TamperedArtifact);
    expect(await artifacts.find('another', found.artifact_id)).to.equal(undefined);
  });
});
