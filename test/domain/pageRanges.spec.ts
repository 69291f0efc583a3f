import { expect } from 'chai';
import fc from 'fast-check';
import {
  pageRanges,
  pageRangesStream,
  type PageRangesKind,
  readerMark,
  type TakeRanges,
} from '../../domain/pageRanges.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(pageRanges);
const NOW = '2026-01-31T08:00:00.000Z';
const UNTIL = '2026-01-31T08:00:30.000Z';
const RANGES = 5;

const turn = (
  lease_id: string,
  {
    lost = [],
    ...over
  }: Partial<Omit<TakeRanges['data'], 'lost'>> & { readonly lost?: readonly string[] } = {},
) =>
  ({
    type: 'TakeRanges',
    data: {
      operation_id: 'op_1',
      tenant_id: 'acme',
      part: 'render',
      ranges: RANGES,
      lease_id,
      worker: `worker of ${lease_id}`,
      lease_until: UNTIL,
      lease_ms: 30_000,
      done: [],
      most: 2,
      leaves: false,
      isOwner: lease_id === 'owner',
      lost: new Set(lost),
      ...over,
    },
    meta: { now: NOW, actor: { key_id: 'k', role: 'system' }, correlation_id: 'r', command_id: lease_id },
  }) as const satisfies TakeRanges;

const reader = (lease_id: string, turns: number, ranges: readonly number[]) => ({
  lease_id,
  worker: `worker of ${lease_id}`,
  lease_until: UNTIL,
  lease_ms: 30_000,
  turns,
  ranges,
});

type State = PageRangesKind['state'];

const readersOf = (state: State) => state?.readers ?? [];
const doneOf = (state: State): ReadonlySet<number> => state?.done ?? new Set();

/** Ranges that somebody has: each is one reader's, and none of them is read. */
const heldOnce = (state: State): readonly number[] => {
  const held = readersOf(state).flatMap(({ ranges }) => ranges);
  expect(new Set(held).size).to.equal(held.length);
  for (const at of held) expect(doneOf(state).has(at)).to.equal(false);
  for (const at of [...held, ...doneOf(state)]) expect(at).to.be.below(RANGES);
  return held;
};

describe('ranges of a long document', () => {
  it('are begun by the owner of the operation alone', () => {
    given().when(turn('helper')).thenRejected({ code: 'other_part' });
    given()
      .when(turn('owner'))
      .then(['PageRangesTaken', { done: [], readers: [reader('owner', 1, [0, 1])], ranges: RANGES }]);
    expect(pageRangesStream('op_1')).to.equal('pageRanges-op_1');
  });

  it('have one reader each: others get those that nobody has', () => {
    given(turn('owner'))
      .when(turn('helper'))
      .then(['PageRangesTaken', { readers: [reader('owner', 1, [0, 1]), reader('helper', 1, [2, 3])] }]);
    given(turn('owner'), turn('helper'), turn('third')).when(turn('fourth')).thenNothing();
  });

  it('that are read are taken by nobody again, however often that is told', () => {
    const past = [turn('owner'), turn('helper')];
    given(...past)
      .when(turn('owner', { done: [0] }))
      .then([
        'PageRangesTaken',
        { done: [{ from: 0, to: 0 }], readers: [reader('helper', 1, [2, 3]), reader('owner', 2, [1, 4])] },
      ]);
    expect(given(...past, turn('owner', { done: [0, 1] }), turn('owner', { done: [0, 1, 4] })).state())
      .to.have.property('done')
      .that.deep.equals(new Set([0, 1, 4]));
  });

  it('stay with a reader that renews its lease, and go with one that leaves', () => {
    given(turn('owner'), turn('helper'))
      .when(turn('helper', { most: 0 }))
      .then(['PageRangesTaken', { readers: [reader('owner', 1, [0, 1]), reader('helper', 2, [2, 3])] }]);
    given(turn('owner'), turn('helper'))
      .when(turn('helper', { most: 0, leaves: true, done: [2] }))
      .then(['PageRangesTaken', { done: [{ from: 2, to: 2 }], readers: [reader('owner', 1, [0, 1])] }]);
    given(turn('owner'))
      .when(turn('helper', { leaves: true }))
      .thenNothing();
  });

  it('of a reader that was watched for the time of its lease are free, and no others', () => {
    const past = [turn('owner'), turn('helper')];
    const mark = (lease_id: string, turns: number) => readerMark({ lease_id, turns });
    given(...past)
      .when(turn('third', { lost: [mark('owner', 1)] }))
      .then(['PageRangesTaken', { readers: [reader('helper', 1, [2, 3]), reader('third', 1, [0, 1])] }]);
    given(...past, turn('owner', { most: 0 }))
      .when(turn('third', { lost: [mark('owner', 1)] }))
      .then([
        'PageRangesTaken',
        { readers: [reader('helper', 1, [2, 3]), reader('owner', 2, [0, 1]), reader('third', 1, [4])] },
      ]);
  });

  it('that were read by one who lost them count all the same', () => {
    const lost = turn('third', { lost: [readerMark({ lease_id: 'helper', turns: 1 })] });
    given(turn('owner'), turn('helper'), lost)
      .when(turn('helper', { done: [2], most: 0 }))
      .then([
        'PageRangesTaken',
        { done: [{ from: 2, to: 2 }], readers: [reader('owner', 1, [0, 1]), reader('third', 1, [3])] },
      ]);
  });

  it('begin anew for another part of the document, for its owner alone', () => {
    const past = [turn('owner', { part: 'read' }), turn('owner', { part: 'read', done: [0, 1] })];
    given(...past)
      .when(turn('helper'))
      .thenRejected({ code: 'other_part' });
    given(...past)
      .when(turn('owner'))
      .then(['PageRangesTaken', { part: 'render', done: [], readers: [reader('owner', 1, [0, 1])] }]);
  });

  it('have one reader at most and are never forgotten, whatever readers do in whichever order', () => {
    const move = fc.record({
      lease: fc.constantFrom('owner', 'a', 'b', 'c'),
      done: fc.array(fc.integer({ min: 0, max: RANGES + 1 }), { maxLength: 3 }),
      most: fc.integer({ min: 0, max: 3 }),
      leaves: fc.boolean(),
      lost: fc.subarray(['owner', 'a', 'b', 'c']),
    });
    fc.assert(
      fc.property(fc.array(move, { minLength: 1, maxLength: 40 }), (moves) => {
        let state: State = null;
        for (const { lease, lost, ...how } of moves) {
          const marks = readersOf(state).filter((one) => lost.includes(one.lease_id));
          const decision = pageRanges.decide(state, turn(lease, { ...how, lost: marks.map(readerMark) }));
          if (decision.kind === 'rejected') continue;
          const after: State = decision.events.reduce<State>(pageRanges.evolve, state);
          const held = heldOnce(after);
          for (const at of doneOf(state)) expect(doneOf(after).has(at)).to.equal(true);
          // Nobody loses what is not said to be lost.
          const others = readersOf(state).filter(({ lease_id: id }) => id !== lease && !lost.includes(id));
          for (const at of others.flatMap(({ ranges }) => ranges))
            expect(held.includes(at) || doneOf(after).has(at)).to.equal(true);
          state = after;
        }
      }),
    );
  });
});
