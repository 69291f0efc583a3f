import { expect } from 'chai';
import { evaluationWorker, type EvaluationWorkerDeps } from '../../src/worker/evaluations.ts';

/** A worker that finds these runs, by its list, and cannot score any now: their batches cannot be read. */
const workerFor = (runs: readonly { readonly run_id: string; readonly tenant_id: string }[]) => {
  const looked: string[] = [];
  let [atOnce, most] = [0, 0];
  const deps = {
    clock: { now: () => '2026-11-28T08:00:00.000Z' },
    toScore: (limit: number, except: readonly string[]) =>
      Promise.resolve(runs.filter(({ run_id }) => !except.includes(run_id)).slice(0, limit)),
    batches: {
      stateOf: async (batchId: string) => {
        looked.push(batchId);
        atOnce += 1;
        most = Math.max(most, atOnce);
        await new Promise(setImmediate);
        atOnce -= 1;
        throw new Error('not now');
      },
    },
    onError: () => undefined,
  } as unknown as EvaluationWorkerDeps;
  return { worker: evaluationWorker(deps), looked, most: () => most };
};

describe('scoring of runs', () => {
  it('that cannot be done now keeps no other run from it', async () => {
    const runs = Array.from({ length: 45 }, (_, n) => ({ run_id: `evr_${String(n)}`, tenant_id: 'acme' }));
    const { worker, looked } = workerFor(runs);
    for (let look = 0; look < 3; look += 1) await worker.look();
    expect(new Set(looked).size).to.equal(45);
    expect(looked).to.have.length(45);
  });

  it('goes on for several tenants at once, and for one tenant in order', async () => {
    const runs = Array.from({ length: 12 }, (_, n) => ({
      run_id: `evr_${String(n)}`,
      tenant_id: `t${String(n % 6)}`,
    }));
    const many = workerFor(runs);
    await many.worker.look();
    expect(many.most()).to.equal(4);
    const one = workerFor(runs.map((run) => ({ ...run, tenant_id: 'acme' })));
    await one.worker.look();
    expect(one.most()).to.equal(1);
    expect(one.looked).to.deep.equal(runs.map(({ run_id }) => run_id.replace('evr_', 'bat_')));
  });
});
