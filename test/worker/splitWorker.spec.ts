import { expect } from 'chai';
import { batchStream } from '../../domain/batch.ts';
import { batchInputs, stackPartsOn } from '../../src/commands/operationInput.ts';
import type { OperationName } from '../../src/commands/operations.ts';
import { BALANCE, operationBench, PAGES, type OperationBench } from '../support/operationBench.ts';

/** Credits of the split: two a page. */
const PRICE = 2 * PAGES;

describe('splits whose parts go on, and their worker', () => {
  let bench: OperationBench;
  beforeEach(async () => {
    bench = await operationBench();
  });
  afterEach(() => bench.dispose());

  /** One batch, which can be begun with what lies there, and one charge. */
  const goesOnOnce = async (name: OperationName): Promise<void> => {
    const state = await bench.stateOf(name);
    expect(state.status).to.equal('succeeded');
    const batch_id = name.operation_id.replace('op_', 'bat_');
    expect(state.success?.then_batch_id).to.equal(batch_id);
    const events = await bench.eventsOf(batchStream(batch_id));
    expect(events.map(({ type }) => type)).to.deep.equal(['BatchAccepted']);
    const data = events[0]?.data as Record<string, unknown>;
    expect(data['document_ids']).to.deep.equal([state.accepted?.document_id]);
    expect(data['split']).to.deep.include({ operation_id: name.operation_id, pages: ['1'] });
    const { parts, tasks } = await stackPartsOn(bench.stored).load(batch_id, String(data['input_sha256']));
    expect(parts).to.deep.equal([{ pages: '1', task: 0 }]);
    const owner = { id: batch_id, tenant_id: name.tenant_id };
    const inputs = batchInputs({ objects: bench.stored, secrets: undefined });
    const { task } = await inputs.load(owner, tasks[0]?.input_sha256 ?? '');
    expect(task).to.deep.include({ kind: 'extract', config: { config_id: 'cfg-1', version: 1 } });
    const file = (await bench.objects('operations/')).filter((key) => key.includes('/file'));
    expect(file.length).to.equal(1);
    const burns = await bench.burns();
    expect(burns.map(({ credits, operation_id }) => [credits, operation_id])).to.deep.equal([
      [PRICE, state.accepted?.work_id],
    ]);
    expect(await bench.account()).to.include({ balance: BALANCE - PRICE, held: 0, open_holds: 0 });
  };

  it('make one batch, however often they are asked for and reaped', async () => {
    const name = await bench.process().acceptSplit('k');
    const { worker, acceptSplit } = bench.process();
    expect(await worker.drain()).to.equal(1);
    await goesOnOnce(name);
    expect(await acceptSplit('k')).to.deep.equal(name);
    await Promise.all([worker.reap(), bench.process().worker.reap()]);
    await goesOnOnce(name);
    expect(bench.errors).to.deep.equal([]);
  });

  it('make one batch, wherever their worker dies', async () => {
    const { worker, writes, acceptSplit } = bench.process();
    await acceptSplit('first');
    const before = writes();
    await worker.drain();
    const stages = writes() - before;
    expect(stages).to.be.at.least(9);
    for (let at = 1; at <= stages; at += 1)
      for (const committed of [false, true]) {
        await bench.dispose();
        bench = await operationBench();
        const name = await bench.process().acceptSplit('k');
        const dying = bench.process({ at, committed });
        const drained = dying.worker.drain();
        await Promise.race([dying.happened, drained]);
        const next = bench.process().worker;
        await next.drain();
        bench.pass(2);
        await next.drain();
        await next.reap();
        await next.reap();
        await goesOnOnce(name).catch((error: unknown) => {
          throw new Error(`at write ${String(at)}, ${committed ? 'after' : 'before'} it took effect`, {
            cause: error,
          });
        });
      }
  });
});
