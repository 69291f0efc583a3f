import { expect } from 'chai';
import fc from 'fast-check';
import type { TrainingJobCommand } from '../../domain/trainingJob/commands.ts';
import { hasEnded, NO_JOB, trainingJob, type TrainingJobState } from '../../domain/trainingJob/decider.ts';
import { ATTEMPTS_MAX, RENEWALS_MAX } from '../../domain/queue/lease.ts';
import type { TrainingJobEvent } from '../../domain/trainingJob/events.ts';
import { jobIdFor } from '../../domain/trainingJob/identity.ts';
import { asCredits } from '../../domain/kernel/units.ts';
import { meta, NOW } from '../support/money/moneyCommands.ts';
import { holds } from '../../engine/test/support/properties.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(trainingJob);
const START = Date.parse(NOW);
const at = (minutes: number): string => new Date(START + minutes * 60_000).toISOString();
const metaAt = (minutes: number) => ({ ...meta, now: at(minutes) });

const create = (fingerprint = 'f'): TrainingJobCommand => ({
  type: 'CreateTrainingJob',
  meta,
  data: {
    ...{ job_id: 'job_1', tenant_id: 'acme', project_id: 'default', task_id: 'default', name: null },
    ...{ optimizer_tier: 'light', mode: 'standard', billing_type: 'full_service', examples: 2 },
    ...{ max_metric_calls: 60, input_sha256: 'a', fingerprint, hold_id: 'hold_1' },
    ...{ credits: asCredits(2640), billing_config_version: 1, api_key_id: 'key_1', expires_at: at(10_080) },
  },
});
const start = (lease_id: string, minutes = 0): TrainingJobCommand => ({
  type: 'StartTrainingJob',
  meta: metaAt(minutes),
  data: { lease_id, lease_until: at(minutes + 1), worker: lease_id },
});
const progress = { metric_calls: 6, max_metric_calls: 60 };
const renew = (lease_id: string, minutes: number): TrainingJobCommand => ({
  type: 'ProgressTrainingJob',
  meta: metaAt(minutes),
  data: { lease_id, lease_until: at(minutes + 1), progress },
});
const succeed = (lease_id: string, minutes = 0): TrainingJobCommand => ({
  type: 'SucceedTrainingJob',
  meta: metaAt(minutes),
  data: { lease_id, artifact_id: 'art_1', baseline_score: 0.5, best_score: 0.9, per_field: [], progress },
});
const giveUp = (
  lease_id: string,
  minutes: number,
  more: { reason?: 'failed' | 'shutdown'; lasting?: boolean } = {},
): TrainingJobCommand => ({
  type: 'GiveUpTrainingJob',
  meta: metaAt(minutes),
  data: {
    ...{ lease_id, retry_at: at(minutes), reason: 'failed', lasting: false, code: 'x', detail: 'y.' },
    ...more,
  },
});
const cancel = (minutes = 0): TrainingJobCommand => ({
  type: 'CancelTrainingJob',
  meta: metaAt(minutes),
});
const reap = (minutes: number): TrainingJobCommand => ({
  type: 'ReapTrainingJob',
  meta: metaAt(minutes),
});

describe('a training job', () => {
  it('is created once; the same identity with another request is refused', () => {
    given()
      .when(create())
      .then(['TrainingJobCreated', { job_id: 'job_1', created_at: NOW }]);
    given(create()).when(create()).thenNothing();
    given(create()).when(create('g')).thenRejected({ code: 'idempotency_key_reused' });
    given(create(), cancel()).when(create()).thenNothing();
  });

  it('needs to exist', () => {
    for (const command of [start('a'), renew('a', 0), succeed('a'), cancel(), reap(0)])
      given().when(command).thenRejected({ code: 'job_not_found' });
  });

  it('has one owner until its lease runs out', () => {
    given(create())
      .when(start('a'))
      .then(['TrainingJobStarted', { attempt: 1, lease_id: 'a' }]);
    given(create(), start('a')).when(start('b', 0.5)).thenRejected({ code: 'lease_held' });
    given(create(), start('a'))
      .when(start('b', 1))
      .then(['TrainingJobStarted', { attempt: 2 }]);
    given(create(), start('a'), renew('a', 0.9)).when(start('b', 1)).thenRejected({ code: 'lease_held' });
  });

  it('moves by its owner alone', () => {
    const lost = [create(), start('a'), start('b', 2)];
    for (const command of [renew('a', 2), succeed('a', 2), giveUp('a', 2)])
      given(...lost)
        .when(command)
        .thenRejected({ code: 'lease_lost' });
    given(...lost)
      .when(succeed('b', 2))
      .then(['TrainingJobSucceeded', { artifact_id: 'art_1' }]);
    given(create()).when(succeed('a')).thenRejected({ code: 'lease_lost' });
    given(create(), start('a'), giveUp('a', 0)).when(succeed('a')).thenRejected({ code: 'lease_lost' });
  });

  it('fails for good after three attempts, or at once by an error that lasts', () => {
    given(create(), start('a'))
      .when(giveUp('a', 0))
      .then(['TrainingJobProgressed', { gave_up: 'failed' }]);
    given(create(), start('a'))
      .when(giveUp('a', 0, { lasting: true }))
      .then(['TrainingJobFailed', { code: 'x' }]);
    const twice = [create(), start('a'), giveUp('a', 0), start('b'), giveUp('b', 0)];
    given(...twice, start('c'))
      .when(giveUp('c', 0))
      .then(['TrainingJobFailed']);
    given(...twice, start('c'))
      .when(start('d', 2))
      .thenRejected({ code: 'attempts_exhausted' });
    given(...twice, start('c'))
      .when(reap(0.5))
      .thenRejected({ code: 'lease_held' });
    given(...twice, start('c'))
      .when(reap(2))
      .then(['TrainingJobFailed', { code: 'worker_lost' }]);
  });

  it('does not count an attempt that a shutdown gave back', () => {
    const given10 = Array.from({ length: 10 }, (_, n) => [
      start(`s${String(n)}`),
      giveUp(`s${String(n)}`, 0, { reason: 'shutdown' }),
    ]).flat();
    given(create(), ...given10)
      .when(start('z'))
      .then(['TrainingJobStarted', { attempt: 11 }]);
  });

  it('is given up when its time is over', () => {
    given(create()).when(reap(1)).thenRejected({ code: 'lease_held' });
    given(create(), start('a'))
      .when(reap(10_080))
      .then(['TrainingJobFailed', { code: 'expired' }]);
    given(create()).when(start('a', 10_080)).thenRejected({ code: 'attempts_exhausted' });
  });

  it('renews a lease a bounded number of times', () => {
    const renewals = Array.from({ length: RENEWALS_MAX }, () => renew('a', 0));
    given(create(), start('a'), ...renewals)
      .when(renew('a', 0))
      .thenRejected({ code: 'lease_lost' });
  });

  it('has an ID that follows from its identity', () => {
    const identity = { tenant_id: 'acme', idempotency_key: 'k', generation: 0 };
    expect(jobIdFor(identity))
      .to.equal(jobIdFor({ ...identity }))
      .and.match(/^job_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(jobIdFor({ ...identity, generation: 1 })).to.not.equal(jobIdFor(identity));
    expect(jobIdFor({ ...identity, tenant_id: 'b' })).to.not.equal(jobIdFor(identity));
  });

  /** A claim needs that no lease runs; everything else that names a lease, that it is the last one given. */
  const checkOwner = (
    { lease: before }: TrainingJobState,
    event: TrainingJobEvent,
    { owners, now }: { readonly owners: string[]; readonly now: string },
  ): void => {
    if (event.type === 'TrainingJobStarted') {
      expect(before === null || before.lease_until <= now).to.equal(true);
      owners.push(event.data.lease_id);
    } else if ('lease_id' in event.data) {
      expect(event.data.lease_id).to.equal(owners.at(-1));
      expect(before?.held).to.equal(true);
    }
  };

  const lease = fc.constantFrom('a', 'b', 'c', 'd');
  const command = fc
    .tuple(fc.constantFrom(start, renew, succeed, giveUp, cancel, reap, create), lease, fc.nat({ max: 6 }))
    .map(([make, lease_id, pause]) => ({ make, lease_id, pause }));

  const made = (
    { make, lease_id }: { make: unknown; lease_id: string },
    minutes: number,
  ): TrainingJobCommand => {
    if (make === cancel) return cancel(minutes);
    if (make === reap) return reap(minutes);
    if (make === create) return create();
    if (make === start) return start(`${lease_id}${String(minutes)}`, minutes);
    return (make as typeof renew)(lease_id, minutes);
  };

  holds(
    'has one owner at a time and one end, whatever workers do in whatever order',
    fc.property(fc.array(command, { maxLength: 40 }), (steps) => {
      let state = NO_JOB;
      let minutes = 0;
      const log: TrainingJobEvent[] = [];
      const owners: string[] = [];
      for (const step of [{ make: create, lease_id: '', pause: 0 }, ...steps]) {
        minutes += step.pause / 4;
        // Workers know the lease that they were given: sometimes the current one, sometimes an old one.
        const known = owners.at(step.lease_id === 'a' ? -2 : -1) ?? step.lease_id;
        const decision = trainingJob.decide(state, made({ ...step, lease_id: known }, minutes));
        if (decision.kind === 'rejected') continue;
        for (const event of decision.events) {
          checkOwner(state, event, { owners, now: at(minutes) });
          state = trainingJob.evolve(state, event);
          log.push(event);
        }
      }
      const ends = log.filter(({ type }) => /Succeeded|Failed|Cancelled/.test(type));
      expect(ends.length).to.equal(hasEnded(state) ? 1 : 0);
      if (ends.length > 0) expect(log.at(-1)).to.equal(ends[0]);
      expect(state.attempts - state.spared).to.be.at.most(ATTEMPTS_MAX);
    }),
  );
});
