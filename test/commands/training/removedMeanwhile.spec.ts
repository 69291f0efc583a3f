import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { DocumentEvent } from '../../../domain/document.ts';
import { trainingJobStream } from '../../../domain/trainingJob.ts';
import { cancelWork } from '../../../src/commands/queue.ts';
import { removeUpload } from '../../../src/commands/erasing.ts';
import { jobMoney } from '../../../src/commands/training.ts';
import { START } from '../../support/delivery.ts';
import { meta } from '../../support/money/moneyCommands.ts';
import { jobAsked, pipelineBench, TENANT, type PipelineBench } from '../../support/pipelineBench.ts';

const presigned = (document_id: string): DocumentEvent => ({
  type: 'UploadPresigned',
  data: {
    document_id,
    tenant_id: TENANT,
    project_id: 'default',
    task_id: 'default',
    file_name: null,
    content_type: null,
    bytes: null,
    kind: 'document',
    dataset_id: null,
    expires_at: START,
    created_at: START,
  },
});

describe('an upload that is removed while a job is created from it', () => {
  let bench: PipelineBench;
  let process: ReturnType<PipelineBench['process']>;
  const metaNow = () => ({ ...meta, command_id: randomUUID() });
  beforeEach(async () => {
    bench = await pipelineBench();
    process = bench.process();
    for (const id of ['doc_1', 'doc_2']) await process.documents.record(presigned(id), metaNow());
  });
  afterEach(() => bench.dispose());

  const removal = (documents = process.documents) => {
    const jobs = new Set<string>();
    const remove = removeUpload({
      documents,
      objects: process.objects,
      stock: { forget: () => undefined },
      // As a read model that is never behind.
      learningFrom: () => Promise.resolve([...jobs].map((job_id) => ({ job_id, tenant_id: TENANT }))),
      cancelJob: (name, at) => cancelWork(process, jobMoney(process), { name, meta: at }),
      forgetInEvaluations: () => Promise.resolve(),
      clock: process.clock,
      settle: () => Promise.resolve(),
    });
    const by = { tenant_id: TENANT, allTenants: false };
    return { jobs, remove: () => remove(by, 'doc_1', metaNow()) };
  };

  it('is gone, and the job refused, where it was removed after it was counted', async () => {
    expect(await removal().remove()).to.equal(undefined);
    const made = await process.create(jobAsked('k'));
    expect(made).to.include({ kind: 'problem', code: 'document_not_found' });
    expect(await bench.account()).to.deep.equal({ balance: 100_000, held: 0, open_holds: 0 });
  });

  it('is gone, and the job cancelled, where neither saw the other before it was written', async () => {
    let created = '';
    const { jobs, remove } = removal({
      ...process.documents,
      record: async (event, at) => {
        const made = await process.create(jobAsked('k'));
        if (made.kind !== 'created') throw new Error(made.code);
        created = made.job_id;
        jobs.add(created);
        return process.documents.record(event, at);
      },
    });
    expect(await remove()).to.equal(undefined);
    expect(await bench.typesIn(trainingJobStream(created))).to.deep.equal([
      'TrainingJobCreated',
      'TrainingJobCancelled',
    ]);
    expect(await bench.account()).to.deep.equal({ balance: 100_000, held: 0, open_holds: 0 });
  });

  it('stays where the job is known first', async () => {
    const made = await process.create(jobAsked('k'));
    const { jobs, remove } = removal();
    jobs.add(made.kind === 'created' ? made.job_id : '');
    expect(await remove()).to.include({ code: 'document_in_use' });
    expect((await process.documents.stateOf('doc_1')).removed).to.equal(null);
  });
});
