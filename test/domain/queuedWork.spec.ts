import { expect } from 'chai';
import fc from 'fast-check';
import { asCredits } from '../../domain/kernel/amounts.ts';
import { operation, type OperationWork } from '../../domain/operation.ts';
import {
  ATTEMPTS_MAX,
  hasEnded,
  leaseMark,
  type QueuedKind,
  RENEWALS_MAX,
  type WorkCommand,
  type WorkTypes,
} from '../../domain/leased.ts';
import type { Decider } from '../../domain/kernel/decider.ts';
import { jobIdFor, trainingJob, type TrainingWork } from '../../domain/trainingJob.ts';
import { holds } from '../../engine/test/support/properties.ts';
import { meta, NOW } from '../support/money/moneyCommands.ts';
import { specFor } from '../support/specFor.ts';

const START = Date.parse(NOW);
const at = (minutes: number): string => new Date(START + minutes * 60_000).toISOString();
const metaAt = (minutes: number) => ({ ...meta, now: at(minutes) });

/** What the specs need to know of one kind of work. */
interface Kind<W extends WorkTypes> {
  readonly name: string;
  readonly decider: Decider<QueuedKind<W>>;
  readonly identity: W['identity'];
  readonly accepted: (fingerprint: string) => W['accepted'];
  readonly reached: W['reached'];
  readonly success: Omit<Extract<WorkCommand<W>, { type: 'Succeed' }>['data'], 'lease_id'>;
  /** Minutes that it has. */
  readonly lifetime: number;
  /** What its events begin with. */
  readonly prefix: string;
  readonly acceptedAs: W['event']['type'];
}

const kindsOfWork = <W extends WorkTypes>(kind: Kind<W>): void => {
  const { decider, prefix, lifetime } = kind;
  type Ask = WorkCommand<W>;
  const { given } = specFor<QueuedKind<W>>(decider);
  const create = (fingerprint = 'f'): Ask => ({ type: 'Accept', meta, data: kind.accepted(fingerprint) });
  const start = (lease_id: string, minutes = 0, watched: string | null = null): Ask => ({
    type: 'Start',
    meta: metaAt(minutes),
    data: { lease_id, lease_until: at(minutes + 1), worker: lease_id, watched },
  });
  const renew = (lease_id: string, minutes: number): Ask => ({
    type: 'Progress',
    meta: metaAt(minutes),
    data: { ...kind.reached, lease_id, lease_until: at(minutes + 1) },
  });
  const succeed = (lease_id: string, minutes = 0): Ask =>
    ({ type: 'Succeed', meta: metaAt(minutes), data: { ...kind.success, lease_id } }) as Ask;
  const giveUp = (
    lease_id: string,
    minutes: number,
    more: { reason?: 'failed' | 'shutdown'; lasting?: boolean } = {},
  ): Ask => ({
    type: 'GiveUp',
    meta: metaAt(minutes),
    data: { lease_id, retry_at: at(minutes), reason: 'failed', lasting: false, code: 'busy', ...more },
  });
  const cancel = (minutes = 0): Ask => ({ type: 'Cancel', meta: metaAt(minutes) });
  const reap = (minutes: number, watched: string | null = null): Ask => ({
    type: 'Reap',
    meta: metaAt(minutes),
    data: { watched },
  });
  const abandon: Ask = { type: 'Abandon', meta, data: kind.identity };
  /** The mark of the lease that the n-th start has begun at a minute. */
  const mark = (attempt: number, minutes: number): string => `${attempt}|${at(minutes + 1)}`;

  describe(kind.name, () => {
    it('is accepted once; a repeat changes nothing, and another request is refused', () => {
      given().when(create()).then([kind.acceptedAs, kind.identity]);
      given(create()).when(create()).thenNothing();
      given(create()).when(create('g')).thenRejected({ code: 'idempotency_key_reused' });
      given(create(), cancel()).when(create()).thenNothing();
    });

    it('needs to exist', () => {
      for (const command of [start('a'), renew('a', 0), succeed('a'), cancel(), reap(0)])
        given().when(command).thenRejected({ code: 'not_found' });
    });

    it('is closed for good where its request was given up before it was accepted', () => {
      given()
        .when(abandon)
        .then([`${prefix}Cancelled`, { ...kind.identity, cancelled_at: NOW }]);
      given(abandon).when(abandon).thenNothing();
      given(abandon).when(create()).thenRejected({ code: 'finished' });
      given(abandon).when(start('a')).thenRejected({ code: 'not_found' });
    });

    it('cannot be given up so once it is accepted', () => {
      given(create()).when(abandon).thenRejected({ code: 'accepted' });
      given(create(), cancel()).when(abandon).thenRejected({ code: 'accepted' });
    });

    it('has one owner until somebody has watched its lease for its whole time, whatever the clocks say', () => {
      given(create())
        .when(start('a'))
        .then([`${prefix}Started`, { attempt: 1, lease_id: 'a' }]);
      given(create(), start('a')).when(start('b', 600)).thenRejected({ code: 'lease_held' });
      given(create(), start('a'))
        .when(start('b', 0, mark(1, 0)))
        .then([`${prefix}Started`, { attempt: 2 }]);
    });

    it('is its owner’s that has renewed it while it was watched', () => {
      given(create(), start('a'), renew('a', 0.5))
        .when(start('b', 2, mark(1, 0)))
        .thenRejected({ code: 'lease_held' });
      given(create(), start('a'), start('b', 2, mark(1, 0)))
        .when(start('c', 4, mark(1, 0)))
        .thenRejected({ code: 'lease_held' });
    });

    it('moves by its owner alone', () => {
      const lost = [create(), start('a'), start('b', 2, mark(1, 0))];
      for (const command of [renew('a', 2), succeed('a', 2), giveUp('a', 2)])
        given(...lost)
          .when(command)
          .thenRejected({ code: 'lease_lost' });
      given(...lost)
        .when(succeed('b', 2))
        .then([`${prefix}Succeeded`, { lease_id: 'b' }]);
      given(create()).when(succeed('a')).thenRejected({ code: 'lease_lost' });
      given(create(), start('a'), giveUp('a', 0)).when(succeed('a')).thenRejected({ code: 'lease_lost' });
    });

    it('fails for good after three attempts, or at once by an error that lasts', () => {
      given(create(), start('a'))
        .when(giveUp('a', 0))
        .then([`${prefix}Progressed`, { gave_up: 'failed' }]);
      given(create(), start('a'))
        .when(giveUp('a', 0, { lasting: true }))
        .then([`${prefix}Failed`, { code: 'busy', failed_at: at(0) }]);
      const twice = [create(), start('a'), giveUp('a', 0), start('b'), giveUp('b', 0)];
      given(...twice, start('c'))
        .when(giveUp('c', 0))
        .then([`${prefix}Failed`]);
      given(...twice, start('c'))
        .when(start('d', 2, mark(3, 0)))
        .thenRejected({ code: 'attempts_exhausted' });
      given(...twice, start('c'))
        .when(reap(600))
        .thenRejected({ code: 'lease_held' });
      given(...twice, start('c'))
        .when(reap(2, mark(3, 0)))
        .then([`${prefix}Failed`, { code: 'worker_lost' }]);
    });

    it('waits before another attempt, but not after a shutdown, which is none', () => {
      const later: Ask = {
        ...giveUp('a', 0),
        data: { ...(giveUp('a', 0) as { data: object }).data, retry_at: at(1) },
      } as Ask;
      given(create(), start('a'), later).when(start('b', 0.5)).thenRejected({ code: 'lease_held' });
      const given10 = Array.from({ length: 10 }, (_, n) => [
        start(`s${String(n)}`),
        giveUp(`s${String(n)}`, 0, { reason: 'shutdown' }),
      ]).flat();
      given(create(), ...given10)
        .when(start('z'))
        .then([`${prefix}Started`, { attempt: 11 }]);
    });

    it('is given up when its time is over, whoever works on it', () => {
      given(create()).when(reap(1)).thenRejected({ code: 'lease_held' });
      given(create(), start('a'))
        .when(reap(lifetime))
        .then([`${prefix}Failed`, { code: 'expired' }]);
      given(create()).when(start('a', lifetime)).thenRejected({ code: 'attempts_exhausted' });
      given(create())
        .when(reap(lifetime - 1))
        .thenRejected({ code: 'lease_held' });
    });

    it('can be cancelled until it has ended, and its worker has lost it then', () => {
      given(create(), start('a'), cancel()).when(succeed('a')).thenRejected({ code: 'finished' });
      given(create(), start('a'), succeed('a')).when(cancel()).thenRejected({ code: 'finished' });
    });

    it('renews a lease a bounded number of times', () => {
      const renewals = Array.from({ length: RENEWALS_MAX }, () => renew('a', 0));
      given(create(), start('a'), ...renewals)
        .when(renew('a', 0))
        .thenRejected({ code: 'lease_lost' });
    });

    const step = fc.record({
      what: fc.constantFrom(
        'start',
        'renew',
        'giveUp',
        'shutdown',
        'succeed',
        'reap',
        'cancel',
        'accept',
        'abandon',
      ),
      who: fc.constantFrom('current', 'before', 'nobody'),
      watches: fc.boolean(),
      pause: fc.nat({ max: 6 }),
    });
    // eslint-disable-next-line max-params -- what an order draws
    const asked = (what: string, lease: string, minutes: number, watched: string | null): Ask => {
      switch (what) {
        case 'start':
          return start(`${lease}${String(minutes)}`, minutes, watched);
        case 'renew':
          return renew(lease, minutes);
        case 'giveUp':
          return giveUp(lease, minutes);
        case 'shutdown':
          return giveUp(lease, minutes, { reason: 'shutdown' });
        case 'succeed':
          return succeed(lease, minutes);
        case 'reap':
          return reap(minutes, watched);
        case 'accept':
          return create();
        default:
          return what === 'cancel' ? cancel(minutes) : abandon;
      }
    };

    holds(
      'has one owner at a time and one end, whatever is asked of it in whatever order',
      fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, isAccepted) => {
        let state = decider.initialState;
        let minutes = 0;
        const log: W['event'][] = [];
        const owners: string[] = [];
        const ask = (command: Ask) => {
          const decision = decider.decide(state, command);
          if (decision.kind === 'rejected') return;
          for (const event of decision.events) {
            expect(hasEnded(state), 'nothing follows the end').to.equal(false);
            const { lease_id } = event.data as { readonly lease_id?: string };
            if (event.type.endsWith('Started')) owners.push(lease_id ?? '');
            else if (lease_id !== undefined) {
              expect(lease_id).to.equal(owners.at(-1));
              expect(state.lease?.held).to.equal(true);
            }
            state = decider.evolve(state, event);
            log.push(event);
          }
        };
        if (isAccepted) ask(create());
        for (const { what, who, watches, pause } of steps) {
          minutes += pause / 4;
          const known = { current: owners.at(-1), before: owners.at(-2), nobody: undefined }[who] ?? 'x';
          ask(asked(what, known, minutes, watches ? leaseMark(state) : null));
        }
        const ends = log.filter(({ type }) => /Succeeded|Failed|Cancelled/.test(type));
        expect(ends.length).to.equal(hasEnded(state) ? 1 : 0);
        expect(state.attempts - state.spared).to.be.at.most(ATTEMPTS_MAX);
      }),
    );
  });
};

kindsOfWork<OperationWork>({
  name: 'an operation',
  decider: operation,
  identity: { operation_id: 'op_1', tenant_id: 'acme' },
  accepted: (fingerprint) => ({
    operation_id: 'op_1',
    tenant_id: 'acme',
    project_id: 'default',
    task_id: 'default',
    kind: 'extract',
    work_id: 'ext_1',
    document_id: 'doc_1',
    mode: 'standard',
    pages: 3,
    free: false,
    billing_type: 'full_service',
    input_sha256: 'a',
    fingerprint,
    hold_id: 'hold_op_1',
    api_key_id: 'key_1',
    api_key_role: 'tenant',
    correlation_id: 'req-1',
    accepted_at: NOW,
    expires_at: at(1440),
  }),
  reached: { pages_done: 0 },
  success: {
    outcome: 'success',
    billing_type: 'full_service',
    hold_id: 'hold_op_1',
    usage_id: 'use_1',
    duration_ms: 5,
  },
  lifetime: 1440,
  prefix: 'Operation',
  acceptedAs: 'OperationAccepted',
});

const progress = { metric_calls: 6, max_metric_calls: 60 };
kindsOfWork<TrainingWork>({
  name: 'a training job',
  decider: trainingJob,
  identity: { job_id: 'job_1', tenant_id: 'acme' },
  accepted: (fingerprint) => ({
    job_id: 'job_1',
    tenant_id: 'acme',
    project_id: 'default',
    task_id: 'default',
    name: null,
    optimizer_tier: 'light',
    mode: 'standard',
    billing_type: 'full_service',
    examples: 2,
    max_metric_calls: 60,
    input_sha256: 'a',
    fingerprint,
    hold_id: 'hold_1',
    credits: asCredits(2640),
    billing_config_version: 1,
    api_key_id: 'key_1',
    created_at: NOW,
    expires_at: at(10_080),
  }),
  reached: { progress },
  success: { artifact_id: 'art_1', baseline_score: 0.5, best_score: 0.9, per_field: [], progress },
  lifetime: 10_080,
  prefix: 'TrainingJob',
  acceptedAs: 'TrainingJobCreated',
});

describe('the ID of a training job', () => {
  it('follows from its identity', () => {
    const identity = { tenant_id: 'acme', idempotency_key: 'k', generation: 0 };
    expect(jobIdFor(identity))
      .to.equal(jobIdFor({ ...identity }))
      .and.match(/^job_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(jobIdFor({ ...identity, generation: 1 })).to.not.equal(jobIdFor(identity));
    expect(jobIdFor({ ...identity, tenant_id: 'b' })).to.not.equal(jobIdFor(identity));
  });
});
