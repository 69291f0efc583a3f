import { expect } from 'chai';
import fc from 'fast-check';
import { account } from '../../domain/account/decider.ts';
import { accountStream } from '../../domain/account/stream.ts';
import { canonicalJson } from '../../domain/kernel/chain.ts';
import { accountFromJson, accountSnapshots, accountToJson } from '../../src/commands/accountSnapshot.ts';
import { accountCodec, accountWriter } from '../../src/commands/accountWriter.ts';
import { snapshotOf } from '../../src/commands/coldLoad.ts';
import { adjustment, charge, hold, refund, release, sale, settle } from '../support/accountCommands.ts';
import { eventsOf } from '../support/eventLogs.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { memorySnapshots } from '../support/memorySnapshots.ts';

const SEED = 5_202;

/** An account with every kind of thing to remember. */
const lived = async () => {
  const store = memoryEventStore();
  const writer = accountWriter({ store });
  const commands = [
    sale('t', 1000, 'pay'),
    adjustment('t', 50, 'gift'),
    hold('t', 'h1', 20),
    hold('t', 'h2', 30),
    settle('t', 'h1', 15),
    charge('t', 25, 'c1'),
    refund('t', 100, { txn: 're1', original: 'pay' }),
    hold('t', 'h3', 5),
    release('t', 'h3'),
    charge('t', 5, 'c2'),
  ];
  for (const command of commands) await writer.execute(command);
  const events = await eventsOf(store, accountStream('t'));
  return { store, events, state: await writer.stateOf('t') };
};

const snapshotAt = (events: Awaited<ReturnType<typeof lived>>['events'], cut: number) => {
  const last = events[cut]!;
  const state = events
    .slice(0, cut + 1)
    .map((event) => accountCodec.decode(event))
    .reduce(account.evolve, account.initialState);
  const hash = last.metadata['hash'] as string;
  const folded = { state, revision: last.revision, hash, position: last.position };
  return snapshotOf(accountStream('t'), folded, accountSnapshots(memorySnapshots()))!;
};

const text = (state: Parameters<typeof accountToJson>[0]) => canonicalJson(accountToJson(state));

describe('snapshots', () => {
  it(`fold(events) = fold(snapshot + tail) at every cut, seed ${SEED}`, async () => {
    const { store, events, state } = await lived();
    const cuts = fc.integer({ min: 0, max: events.length - 1 });
    const property = fc.asyncProperty(cuts, async (cut) => {
      const snapshots = memorySnapshots();
      await snapshots.save(snapshotAt(events, cut));
      const loaded = await accountWriter({ store, snapshots }).stateOf('t');
      expect(text(loaded)).to.equal(text(state));
    });
    await fc.assert(property, { seed: SEED, numRuns: 60 });
  });

  it('survives its own JSON', async () => {
    const { state } = await lived();
    expect(text(accountFromJson(accountToJson(state)))).to.equal(text(state));
  });

  it('are taken every so many events, are used, and can all be deleted', async () => {
    const store = memoryEventStore();
    const snapshots = memorySnapshots();
    const writer = accountWriter({ store, snapshots, snapshotEveryEvents: 5 });
    for (let n = 0; n < 40; n += 1) await writer.execute(adjustment('t', 1));
    await writer.close();
    const kept = snapshots.kept.get(accountStream('t'));
    expect(Number(kept?.revision)).to.be.within(5, 40);

    const reads: bigint[] = [];
    const counting = {
      ...store,
      read: (stream: string, options?: { readonly from?: bigint }) => {
        reads.push(options?.from ?? 0n);
        return store.read(stream, options);
      },
    };
    expect((await accountWriter({ store: counting, snapshots }).stateOf('t')).balance).to.equal(40);
    expect(reads).to.deep.equal([kept!.revision, kept!.revision + 1n]);
    snapshots.kept.clear();
    expect((await accountWriter({ store, snapshots }).stateOf('t')).balance).to.equal(40);
  });

  const damages = {
    'a changed state': { state: { balance: 1_000_000 } },
    'another hash': { hash: 'f'.repeat(64) },
    'a revision that the log does not have': { revision: 500n },
  };
  for (const [name, damage] of Object.entries(damages))
    it(`with ${name} are ignored`, async () => {
      const { store, events, state } = await lived();
      const snapshots = memorySnapshots();
      snapshots.kept.set(accountStream('t'), { ...snapshotAt(events, 4), ...damage });
      expect(text(await accountWriter({ store, snapshots }).stateOf('t'))).to.equal(text(state));
    });

  it('that cannot be read or written cost nothing but time', async () => {
    const { store } = await lived();
    const errors: unknown[] = [];
    const down = () => Promise.reject(new Error('no database'));
    const writer = accountWriter({
      store,
      snapshots: { load: down, save: down },
      snapshotEveryEvents: 1,
      hooks: { onError: (error) => errors.push(error) },
    });
    for (let n = 0; n < 30; n += 1) expect((await writer.execute(adjustment('t', 1))).kind).to.equal('done');
    await writer.close();
    expect(errors).to.not.be.empty;
  });
});
