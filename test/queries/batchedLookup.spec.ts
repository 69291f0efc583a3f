import { expect } from 'chai';
import fc from 'fast-check';
import { batchedLookup } from '../../src/queries/queries.ts';

/** A table that answers when it is told to. */
const table = () => {
  const asked: { keys: readonly string[]; answer: (error?: Error) => Promise<void> }[] = [];
  const ask = (keys: readonly string[]) =>
    new Promise<ReadonlyMap<string, string>>((resolve, reject) => {
      const answer = async (error?: Error) => {
        if (error === undefined)
          resolve(new Map(keys.flatMap((key) => (key === 'none' ? [] : [[key, `row ${key}`]]))));
        else reject(error);
        await turn();
      };
      asked.push({ keys, answer });
    });
  return { asked, ask };
};

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

describe('asking together', () => {
  it('asks once for all keys of a turn, and once for a key asked twice', async () => {
    const { asked, ask } = table();
    const rowOf = batchedLookup(ask);
    const rows = Promise.all([rowOf('a'), rowOf('b'), rowOf('a'), rowOf('none')]);
    await turn();
    expect(asked.map(({ keys }) => keys)).to.deep.equal([['a', 'b', 'none']]);
    await asked[0]?.answer();
    expect(await rows).to.deep.equal(['row a', 'row b', 'row a', undefined]);
  });

  it('never answers from a statement that was sent before the question', async () => {
    const { asked, ask } = table();
    const rowOf = batchedLookup(ask);
    const first = rowOf('a');
    await turn();
    const second = rowOf('a');
    await turn();
    expect(asked).to.have.lengthOf(2);
    await asked[1]?.answer();
    expect(await second).to.equal('row a');
    await asked[0]?.answer();
    expect(await first).to.equal('row a');
  });

  it('lets those who come while enough is under way wait for the next statement', async () => {
    const { asked, ask } = table();
    const rowOf = batchedLookup(ask, { keysMax: 2, atOnceMax: 1 });
    const rows = Promise.all(['a', 'b', 'c', 'd', 'e'].map(rowOf));
    await turn();
    expect(asked.map(({ keys }) => keys)).to.deep.equal([['a', 'b']]);
    await asked[0]?.answer();
    await asked[1]?.answer();
    await asked[2]?.answer();
    expect(asked.map(({ keys }) => keys)).to.deep.equal([['a', 'b'], ['c', 'd'], ['e']]);
    expect(await rows).to.deep.equal(['row a', 'row b', 'row c', 'row d', 'row e']);
  });

  it('fails those whose statement failed, and goes on', async () => {
    const { asked, ask } = table();
    const rowOf = batchedLookup(ask, { keysMax: 1, atOnceMax: 2 });
    const settled = Promise.allSettled([rowOf('a'), rowOf('b'), rowOf('c')]);
    await turn();
    await asked[0]?.answer(new Error('away'));
    await asked[1]?.answer();
    await asked[2]?.answer();
    const [a, b, c] = await settled;
    expect(a).to.include({ status: 'rejected' });
    expect([b, c]).to.deep.equal([
      { status: 'fulfilled', value: 'row b' },
      { status: 'fulfilled', value: 'row c' },
    ]);
  });

  it('gives everyone the row of its own key, whatever comes when', async () => {
    const plan = fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'none'), { maxLength: 8 }), {
      maxLength: 6,
    });
    const property = fc.asyncProperty(plan, fc.integer({ min: 1, max: 4 }), async (turns, keysMax) => {
      const rowOf = batchedLookup(
        (keys) =>
          Promise.resolve(new Map(keys.flatMap((key) => (key === 'none' ? [] : [[key, `row ${key}`]])))),
        { keysMax, atOnceMax: 2 },
      );
      const asked: Promise<void>[] = [];
      for (const keys of turns) {
        for (const key of keys)
          asked.push(
            rowOf(key)
              .then((row) => expect(row).to.equal(key === 'none' ? undefined : `row ${key}`))
              .then(() => undefined),
          );
        await turn();
      }
      await Promise.all(asked);
    });
    await fc.assert(property, { numRuns: 100 });
  });
});
