import { expect } from 'chai';
import { workAtOnce, type WorkTurns } from '../../src/worker/queue.ts';

interface Piece {
  readonly id: string;
  readonly tenant_id: string;
}

const PIECES = 6;
const piecesOf = (tenant_id: string): readonly Piece[] =>
  Array.from({ length: PIECES }, (_, n) => ({ id: `${tenant_id}${String(n)}`, tenant_id }));

/** What waits at each look at the queue: all that was not begun, the tenants in turn. */
const queueOf = (tenants: readonly string[]) => {
  const begun = new Set<string>();
  const all = Array.from({ length: PIECES }, (_, n) => tenants.map((tenant) => piecesOf(tenant)[n]!)).flat();
  return { begun, waiting: () => Promise.resolve(all.filter(({ id }) => !begun.has(id))) };
};

/** Whose pieces ran, in order; a piece costs its tenant so much CPU time, ms. */
const ranIn = async (costs: Readonly<Record<string, number>>): Promise<readonly string[]> => {
  const order: string[] = [];
  const { begun, waiting } = queueOf(Object.keys(costs));
  const told = new Set<Parameters<WorkTurns['listen']>[0]>();
  const shutdown = new AbortController();
  const work = workAtOnce<Piece>({
    idOf: ({ id }) => id,
    waiting,
    run: async ({ id, tenant_id }) => {
      begun.add(id);
      order.push(tenant_id);
      for (const charged of told) charged(tenant_id, costs[tenant_id] ?? 0);
      await Promise.resolve();
      return 'ran';
    },
    onError: (error) => {
      throw error;
    },
    shutdown: shutdown.signal,
    turns: {
      listen: (charged) => {
        told.add(charged);
        return () => told.delete(charged);
      },
    },
  });
  await work.takeUp();
  await work.settled();
  expect(work.ran()).to.equal(order.length);
  shutdown.abort();
  expect(told.size).to.equal(0);
  return order;
};

describe('work of several tenants beside each other', () => {
  it('goes in turns where all cost the same', async () => {
    const order = await ranIn({ a: 100, b: 100, c: 100, d: 100 });
    expect(order).to.have.lengthOf(4 * PIECES);
    for (let turn = 0; turn < PIECES; turn += 1)
      expect(new Set(order.slice(4 * turn, 4 * turn + 4))).to.deep.equal(new Set(['a', 'b', 'c', 'd']));
  });

  it('goes by CPU time: long documents of one do not keep the short ones of others waiting', async () => {
    const order = await ranIn({ heavy: 60_000, a: 100, b: 100, c: 100 });
    expect(order).to.have.lengthOf(4 * PIECES);
    const lastLight = Math.max(...['a', 'b', 'c'].map((tenant) => order.lastIndexOf(tenant)));
    expect(order.slice(0, lastLight).filter((tenant) => tenant === 'heavy')).to.have.lengthOf(1);
  });

  it('gives a tenant alone all places', async () => {
    expect(await ranIn({ a: 100 })).to.have.lengthOf(PIECES);
  });
});
