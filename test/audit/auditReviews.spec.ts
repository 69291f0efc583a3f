import { expect } from 'chai';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { history } from './auditedHistory.ts';
import { about, dataOf, expectFound } from './found.ts';
import { auditAfter, type Intruder } from './tampering.ts';

/** What somebody writes past the rules into the stream of a review that was decided, or that is held again. */
const forging = ({ all, forge }: Intruder, which: 'decided' | 'held') => {
  const reopened = `select stream from events where type = 'ReviewReopened'`;
  const last = which === 'held' ? 'in' : 'not in';
  const [decision] = all(`type = 'ReviewDecided' and stream ${last} (${reopened})`);
  const { stream } = decision!;
  const data = dataOf(decision!);
  const { review_id, operation_id, tenant_id, decided_at: at } = data;
  const own = { review_id, operation_id, tenant_id } as JsonObject;
  const put = (type: string, more: JsonObject): string => {
    forge(stream, type, { ...own, ...more });
    return stream;
  };
  return {
    decide: (more: JsonObject = {}) => put('ReviewDecided', { ...data, ...more }),
    lease: (held_by: string, generation: number) =>
      put('ReviewLeased', {
        generation,
        held_by,
        leased_at: at ?? '',
        lease_until: '2999-01-01T00:00:00.000Z',
      }),
    expire: () => put('ReviewExpired', { generation: 1, expired_at: at ?? '' }),
    reopen: (generation: number) => put('ReviewReopened', { generation, reopened_at: at ?? '' }),
  };
};

describe('the audit of reviews', () => {
  before(async () => {
    await history();
  });

  it('finds nothing in one that is opened again and decided anew', async () => {
    const { report } = await auditAfter((intruder) => {
      const by = forging(intruder, 'decided');
      by.reopen(2);
      by.lease('key_2', 2);
      by.decide({ generation: 2, decided_by: 'key_2' });
    });
    expect(about(report, 'review', {})).to.deep.equal([]);
  });

  type Forging = ReturnType<typeof forging>;
  const cases: readonly [string, 'decided' | 'held', (by: Forging) => string][] = [
    ['a second decision of a generation', 'decided', (by) => by.decide()],
    ['a lease of one that was decided', 'decided', (by) => by.lease('key_2', 1)],
    ['a second holder', 'held', (by) => by.lease('key_2', 2)],
    [
      'a decision by somebody who does not hold it',
      'held',
      (by) => by.decide({ generation: 2, decided_by: 'key_2' }),
    ],
    ['a decision of another generation', 'held', (by) => by.decide({ generation: 3 })],
    ['one that is open and opened again', 'held', (by) => by.reopen(3)],
    [
      'one that has expired and is opened again',
      'decided',
      (by) => {
        by.expire();
        return by.reopen(2);
      },
    ],
    ['a decision for another tenant', 'held', (by) => by.decide({ generation: 2, tenant_id: 'poor' })],
  ];
  for (const [name, which, forge] of cases)
    it(`finds ${name}`, async () => {
      let stream = '';
      const { report } = await auditAfter((intruder) => {
        stream = forge(forging(intruder, which));
      });
      expectFound(report, 'review', { stream });
    });
});
