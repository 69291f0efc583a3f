import { expect } from 'chai';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Check } from '../../src/audit/findings.ts';
import { history } from './auditedHistory.ts';
import { about, dataOf, expectFound } from './found.ts';
import { auditAfter } from './tampering.ts';

describe('the audit of forged training jobs and deployments', () => {
  before(async () => {
    await history();
  });

  /** Appends a changed copy of the last event of a type to a stream that has one like it. */
  const forged = async (type: string, change: (data: JsonObject) => JsonObject, like = type) => {
    let stream = '';
    const { report } = await auditAfter(({ forge, all }) => {
      ({ stream } = all(`type = '${like}' order by position desc limit 1`)[0]!);
      const model = all(`type = '${type}' order by position desc limit 1`)[0]!;
      const own = dataOf(all(`type = '${like}' order by position desc limit 1`)[0]!);
      const { job_id } = own;
      forge(stream, type, change({ ...dataOf(model), ...(job_id === undefined ? {} : { job_id }) }));
    });
    return { report, stream };
  };
  const same = (data: JsonObject) => data;

  const cases: readonly [string, Check, string, ((data: JsonObject) => JsonObject)?, string?][] = [
    ['a job that ends a second time', 'pipeline', 'TrainingJobSucceeded', same],
    ['a job that fails after it succeeded', 'pipeline', 'TrainingJobFailed', same, 'TrainingJobSucceeded'],
    ['a claim of a job that ended', 'pipeline', 'TrainingJobStarted', same, 'TrainingJobCancelled'],
    ['a job that is created twice', 'pipeline', 'TrainingJobCreated', same],
    ['a job at another price', 'rate', 'TrainingJobCreated', (data) => ({ ...data, credits: 1 })],
    ['an artifact that is published twice', 'pipeline', 'ArtifactPublished', same],
    [
      'a deployment of what nobody learned',
      'pipeline',
      'DeploymentActivated',
      (data) => ({ ...data, artifact_id: 'art_none' }),
    ],
    [
      'a deployment in the place of another',
      'owner',
      'DeploymentActivated',
      (data) => ({ ...data, environment: 'staging' }),
    ],
  ];
  for (const [name, check, type, change = same, like = type] of cases)
    it(`finds ${name}`, async () => {
      const { report, stream } = await forged(type, change, like);
      expect(about(report, 'chain', {})).to.be.empty;
      expectFound(report, check, { stream });
    });

  it('finds a charge for a job that failed', async () => {
    const { report } = await auditAfter(({ forge, all }) => {
      const charge = all(`type = 'CreditsBurned' and data like '%"operation":"training"%' limit 1`)[0]!;
      const failed = dataOf(all(`type = 'TrainingJobFailed' order by position desc limit 1`)[0]!);
      const { job_id } = failed;
      forge(charge.stream, 'CreditsBurned', {
        ...dataOf(charge),
        operation_id: job_id ?? '',
        job_id: job_id ?? '',
      });
    });
    expect(about(report, 'pipeline', {})).to.not.be.empty;
  });
});
