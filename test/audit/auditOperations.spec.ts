import { expect } from 'chai';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { history } from './auditedHistory.ts';
import { about, dataOf, expectFound } from './found.ts';
import { auditAfter, type Intruder } from './tampering.ts';

const LATER = '2999-01-01T00:00:00.000Z';

/** What somebody writes past the rules into the stream of an operation that waits, or that was cancelled. */
const forging = (intruder: Intruder, which: 'waits' | 'cancelled') => {
  const { all, forge } = intruder;
  const ended = `select stream from events where type = 'OperationCancelled'`;
  const accepted = all(
    `type = 'OperationAccepted' and stream ${which === 'waits' ? 'not ' : ''}in (${ended}) limit 1`,
  )[0]!;
  const { stream } = accepted;
  const data = dataOf(accepted);
  const { operation_id, tenant_id, work_id, hold_id, pages, accepted_at: now } = data;
  const own = { operation_id, tenant_id } as JsonObject;
  const write = (at: string, type: string, event: JsonObject): string => {
    forge(at, type, event);
    return at;
  };
  const put = (type: string, more: JsonObject) => write(stream, type, { ...own, ...more });
  return {
    stream,
    acceptAgain: () => write(stream, 'OperationAccepted', data),
    start: (lease_id: string, lease_until = LATER) =>
      put('OperationStarted', { lease_id, lease_until, worker: 'w', attempt: 1, started_at: now ?? '' }),
    renew: (lease_id: string) =>
      put('OperationProgressed', {
        lease_id,
        lease_until: LATER,
        pages_done: 0,
        gave_up: null,
        progressed_at: now ?? '',
      }),
    succeed: (lease_id: string, hold = hold_id) =>
      put('OperationSucceeded', {
        lease_id,
        outcome: 'success',
        billing_type: 'full_service',
        hold_id: hold ?? null,
        usage_id: 'use_1',
        duration_ms: 5,
        succeeded_at: now ?? '',
      }),
    fail: () => put('OperationFailed', { code: 'worker_lost', failed_at: now ?? '' }),
    charge: (more: JsonObject = {}) => {
      const burn = all(
        `type = 'CreditsBurned' and stream = 'account-${JSON.stringify(tenant_id).slice(1, -1)}' limit 1`,
      )[0]!;
      const billed = { operation_id: work_id ?? '', hold_id: hold_id ?? null, pages: pages ?? 1 };
      return write(burn.stream, 'CreditsBurned', { ...dataOf(burn), ...billed, ...more });
    },
  };
};
type Forging = ReturnType<typeof forging>;

describe('the audit of operations', () => {
  before(async () => {
    await history();
  });

  const after = async (forge: (by: Forging) => unknown, which: 'waits' | 'cancelled' = 'waits') => {
    let stream = '';
    const { report } = await auditAfter((intruder) => {
      const by = forging(intruder, which);
      ({ stream } = by);
      forge(by);
    });
    return { report, stream };
  };

  it('finds nothing in one that was claimed, done and charged, and notes one that is not charged yet', async () => {
    const done = (by: Forging) => {
      by.start('a');
      by.renew('a');
      by.succeed('a');
    };
    const { report } = await after((by) => {
      done(by);
      by.charge();
    });
    expect(about(report, 'operation', {})).to.deep.equal([]);
    expect(report.notes.join()).not.to.match(/op_\S+ of \S+ succeeded and is not charged/);
    const { report: unsettled } = await after(done);
    expect(about(unsettled, 'operation', {})).to.deep.equal([]);
    expect(unsettled.notes.join()).to.match(/op_\S+ of \S+ succeeded and is not charged yet/);
  });

  const cases: readonly [string, (by: Forging) => unknown, ('waits' | 'cancelled')?][] = [
    ['one that is accepted twice', (by) => by.acceptAgain()],
    ['a claim of one that ended', (by) => by.start('a'), 'cancelled'],
    ['one that fails after it was cancelled', (by) => by.fail(), 'cancelled'],
    ['a lease that is renewed by another worker', (by) => [by.start('a'), by.renew('b')]],
    ['an end by a worker that does not own it', (by) => [by.start('a'), by.succeed('b')]],
    ['a success that nobody claimed', (by) => by.succeed('a')],
    ['two ends', (by) => [by.start('a'), by.succeed('a'), by.fail()]],
    ['a settlement from the hold of another', (by) => [by.start('a'), by.succeed('a', 'hold_other')]],
  ];
  for (const [name, forge, which] of cases)
    it(`finds ${name}`, async () => {
      const { report, stream } = await after(forge, which);
      expect(about(report, 'chain', {})).to.be.empty;
      expectFound(report, 'operation', { stream });
      expect(about(report, 'operation', {})).to.have.lengthOf(1);
    });

  const charges: readonly [string, (by: Forging) => unknown, ('waits' | 'cancelled')?][] = [
    ['before it succeeded', (by) => by.charge()],
    ['that was cancelled', (by) => by.charge(), 'cancelled'],
    ['twice', (by) => [by.start('a'), by.succeed('a'), by.charge(), by.charge()]],
    ['from another hold', (by) => [by.start('a'), by.succeed('a'), by.charge({ hold_id: 'hold_x' })]],
    ['for other pages', (by) => [by.start('a'), by.succeed('a'), by.charge({ pages: 99 })]],
  ];
  for (const [name, forge, which] of charges)
    it(`finds a charge of one ${name}`, async () => {
      const { report } = await after(forge, which);
      const found = about(report, 'operation', {});
      expect(found, JSON.stringify(found)).to.have.lengthOf(1);
      expect(found[0]?.stream).to.match(/^account-/);
    });
});
