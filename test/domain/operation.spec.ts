import { expect } from 'chai';
import fc from 'fast-check';
import { ATTEMPTS_MAX, RENEWALS_MAX } from '../../domain/queue/lease.ts';
import type { OperationCommand } from '../../domain/operation/commands.ts';
import { NO_OPERATION, operation, operationEnded } from '../../domain/operation/decider.ts';
import type { OperationEvent } from '../../domain/operation/events.ts';
import { holds } from '../../engine/test/support/properties.ts';
import { meta, NOW } from '../support/money/moneyCommands.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(operation);
const START = Date.parse(NOW);
const at = (minutes: number): string => new Date(START + minutes * 60_000).toISOString();
const metaAt = (minutes: number) => ({ ...meta, now: at(minutes) });

const acceptIt = (fingerprint = 'f'): OperationCommand => ({
  type: 'AcceptOperation',
  meta,
  data: {
    ...{ operation_id: 'op_1', tenant_id: 'acme', project_id: 'default', task_id: 'default' },
    ...{ kind: 'extract', work_id: 'ext_1', document_id: 'doc_1', mode: 'standard', pages: 3, free: false },
    ...{ billing_type: 'full_service', input_sha256: 'a', fingerprint, hold_id: 'hold_op_1' },
    ...{ api_key_id: 'key_1', api_key_role: 'tenant', correlation_id: 'req-1', expires_at: at(1440) },
  },
});
const start = (lease_id: string, minutes = 0): OperationCommand => ({
  type: 'StartOperation',
  meta: metaAt(minutes),
  data: { lease_id, lease_until: at(minutes + 1), worker: lease_id },
});
const renew = (lease_id: string, minutes: number): OperationCommand => ({
  type: 'ProgressOperation',
  meta: metaAt(minutes),
  data: { lease_id, lease_until: at(minutes + 1), pages_done: 0 },
});
const succeed = (lease_id: string, minutes = 0): OperationCommand => ({
  type: 'SucceedOperation',
  meta: metaAt(minutes),
  data: {
    ...{ lease_id, outcome: 'success', billing_type: 'full_service', hold_id: 'hold_op_1' },
    ...{ usage_id: 'use_1', duration_ms: 5 },
  },
});
const giveUp = (
  lease_id: string,
  minutes: number,
  more: { reason?: 'failed' | 'shutdown'; lasting?: boolean } = {},
): OperationCommand => ({
  type: 'GiveUpOperation',
  meta: metaAt(minutes),
  data: { ...{ lease_id, retry_at: at(minutes), reason: 'failed', lasting: false, code: 'busy' }, ...more },
});
const reap = (minutes: number): OperationCommand => ({ type: 'ReapOperation', meta: metaAt(minutes) });
const cancel: OperationCommand = { type: 'CancelOperation', meta };

/** The events of commands that are all accepted. */
const after = (...commands: readonly OperationCommand[]): readonly OperationEvent[] => {
  const events: OperationEvent[] = [];
  for (const command of commands) {
    const decision = operation.decide(events.reduce(operation.evolve, NO_OPERATION), command);
    if (decision.kind !== 'accepted') throw new Error(`${command.type} was rejected`);
    events.push(...decision.events);
  }
  return events;
};
const ended = (code: string, minutes: number) =>
  ['OperationFailed', { operation_id: 'op_1', tenant_id: 'acme', code, failed_at: at(minutes) }] as const;

describe('an operation', () => {
  it('is accepted once; a repeat changes nothing, and another request is refused', () => {
    given(acceptIt()).when(acceptIt()).thenNothing();
    given(acceptIt()).when(acceptIt('g')).thenRejected({ code: 'idempotency_key_reused' });
    given().when(start('a')).thenRejected({ code: 'operation_not_found' });
  });

  it('belongs to one worker until its lease is over', () => {
    given(acceptIt(), start('a')).when(start('b', 0.5)).thenRejected({ code: 'lease_held' });
    given(acceptIt(), start('a'), start('b', 1)).when(succeed('a', 1.5)).thenRejected({ code: 'lease_lost' });
  });

  it('is started three times at most; a shutdown gives its start back', () => {
    const thrice = [start('a'), start('b', 1), start('c', 2)];
    given(acceptIt(), ...thrice)
      .when(start('d', 3))
      .thenRejected({ code: 'attempts_exhausted' });
    given(acceptIt(), ...thrice)
      .when(reap(2.5))
      .thenRejected({ code: 'lease_held' });
    given(acceptIt(), ...thrice)
      .when(reap(3))
      .then(ended('worker_lost', 3));
    const spared = [start('a'), giveUp('a', 0, { reason: 'shutdown' }), ...thrice];
    expect(after(acceptIt(), ...spared)).to.have.lengthOf(6);
  });

  it('fails at once where it would fail again, and else after its last attempt', () => {
    given(acceptIt(), start('a'))
      .when(giveUp('a', 0, { lasting: true }))
      .then(ended('busy', 0));
    const twice = [start('a'), giveUp('a', 0), start('b', 1), giveUp('b', 1)];
    given(acceptIt(), ...twice, start('c', 2))
      .when(giveUp('c', 2))
      .then(ended('busy', 2));
  });

  it('is over after its time, whoever works on it', () => {
    given(acceptIt()).when(start('a', 1440)).thenRejected({ code: 'attempts_exhausted' });
    given(acceptIt()).when(reap(1440)).then(ended('expired', 1440));
    given(acceptIt()).when(reap(1439)).thenRejected({ code: 'lease_held' });
  });

  it('can be cancelled until it has ended, and its worker has lost it then', () => {
    given(acceptIt(), start('a'), cancel).when(succeed('a')).thenRejected({ code: 'operation_finished' });
    given(acceptIt(), start('a'), succeed('a')).when(cancel).thenRejected({ code: 'operation_finished' });
  });

  it('is renewed a bounded number of times', () => {
    const renewals = Array.from({ length: RENEWALS_MAX }, () => renew('a', 0));
    given(acceptIt(), start('a'), ...renewals)
      .when(renew('a', 0))
      .thenRejected({ code: 'lease_lost' });
  });

  const asked = fc.tuple(
    fc.constantFrom('start', 'renew', 'giveUp', 'shutdown', 'succeed', 'reap', 'cancel'),
    fc.constantFrom('a', 'b', 'c'),
    fc.integer({ min: 0, max: 3 }),
  );
  const commandOf = (what: string, who: string, minutes: number): OperationCommand => {
    switch (what) {
      case 'start':
        return start(who, minutes);
      case 'renew':
        return renew(who, minutes);
      case 'giveUp':
        return giveUp(who, minutes);
      case 'shutdown':
        return giveUp(who, minutes, { reason: 'shutdown' });
      case 'succeed':
        return succeed(who, minutes);
      default:
        return what === 'reap' ? reap(minutes) : cancel;
    }
  };

  holds(
    'has one end, and no more attempts than it may, whatever is asked of it in whatever order',
    fc.property(fc.array(asked, { maxLength: 30 }), (steps) => {
      let state = after(acceptIt()).reduce(operation.evolve, NO_OPERATION);
      let now = 0;
      for (const [what, who, pause] of steps) {
        now += pause;
        const decision = operation.decide(state, commandOf(what, who, now));
        if (decision.kind !== 'accepted') continue;
        expect(operationEnded(state), 'nothing follows the end').to.equal(false);
        state = decision.events.reduce(operation.evolve, state);
        expect(state.attempts - state.spared).to.be.at.most(ATTEMPTS_MAX);
      }
    }),
  );
});
