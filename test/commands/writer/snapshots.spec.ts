import { expect } from 'chai';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { account } from '../../../domain/account/account.ts';
import { accountStream } from '../../../domain/account/messages.ts';
import { canonicalJson, sha256 } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { Snapshot } from '../../../domain/kernel/recorded.ts';
import {
  accountCodec,
  accountFromJson,
  accountSnapshots,
  accountToJson,
  accountWriter,
} from '../../../src/writer/accountWriter.ts';
import { snapshotOf, type SnapshotFlaw } from '../../../src/writer/streamFold.ts';
import type { SnapshotNotice } from '../../../src/writer/decideBatch.ts';
import { writerHooks } from '../../../src/telemetry/workMetrics.ts';
import {
  adjustment,
  charge,
  hold,
  refund,
  release,
  sale,
  settle,
} from '../../support/money/accountCommands.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';
import { memorySnapshots } from '../../support/logs/memorySnapshots.ts';

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
    expect(text(accountFromJson(accountToJson(state), []))).to.equal(text(state));
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

  /** A snapshot with another state, in all else as a release writes it. */
  const withState = (snapshot: Snapshot, change: JsonObject): Snapshot => {
    const state = { ...snapshot.state, ...change };
    return { ...snapshot, state, state_hash: sha256(canonicalJson(state)) };
  };

  const withHistory = (snapshot: Snapshot, change: JsonObject): Snapshot =>
    withState(snapshot, { history: { ...(snapshot.state['history'] as JsonObject), ...change } });

  // Revisions 4 and 5 are holds, 7 is a keyed charge, 8 a refund.
  const damages: readonly {
    readonly name: string;
    readonly cut?: number;
    readonly flaw: SnapshotFlaw | undefined;
    readonly damage: (snapshot: Snapshot) => Snapshot;
  }[] = [
    {
      name: 'a state that its digest is not of',
      flaw: 'digest',
      damage: (s) => ({ ...s, state: { balance: 1 } }),
    },
    { name: 'another hash', flaw: 'hash', damage: (s) => ({ ...s, hash: 'f'.repeat(64) }) },
    { name: 'a revision that the log lacks', flaw: 'no_event', damage: (s) => ({ ...s, revision: 500n }) },
    { name: 'a revision before its own', flaw: 'hash', damage: (s) => ({ ...s, revision: s.revision - 1n }) },
    {
      name: 'the stream of another tenant',
      flaw: 'other_stream',
      damage: (s) => ({ ...s, stream: 'account-u' }),
    },
    {
      name: 'a balance with a fitting digest',
      flaw: 'balance',
      damage: (s) => withState(s, { balance: 1_000_000 }),
    },
    {
      name: 'a balance that its own sums agree with',
      flaw: 'balance',
      damage: (s) => withState(s, { balance: 1_000_000, purchased: 1_000_000, adjusted: 0, used: 0 }),
    },
    {
      name: 'a balance, where the last event is a hold',
      cut: 4,
      flaw: 'balance',
      damage: (s) => withState(s, { balance: 9_000, purchased: 9_000, adjusted: 0, used: 0 }),
    },
    { name: 'a hold left out', cut: 4, flaw: 'balance', damage: (s) => withState(s, { holds: [], held: 0 }) },
    { name: 'held credits alone', cut: 4, flaw: 'balance', damage: (s) => withState(s, { held: 0 }) },
    { name: 'a charge forgotten', cut: 7, flaw: 'balance', damage: (s) => withHistory(s, { latest: [] }) },
    { name: 'a refund forgotten', cut: 8, flaw: 'balance', damage: (s) => withHistory(s, { latest: [] }) },
    { name: 'events miscounted', flaw: 'balance', damage: (s) => withHistory(s, { events: 5 }) },
    {
      name: 'a page that is not there',
      flaw: 'page',
      damage: (s) => withState(s, { pages: ['f'.repeat(64)] }),
    },
    { name: 'a state of no known shape', flaw: 'unreadable', damage: (s) => withState(s, { holds: 7 }) },
    { name: 'another reducer version', flaw: undefined, damage: (s) => ({ ...s, reducer_version: 1 }) },
  ];
  for (const { name, cut = 5, flaw, damage } of damages)
    it(`with ${name} are ignored, named and counted`, async () => {
      const { store, events, state } = await lived();
      const snapshots = memorySnapshots();
      snapshots.kept.set(accountStream('t'), damage(snapshotAt(events, cut)));
      const register = new Registry();
      const lines: object[] = [];
      const hooks = writerHooks(register, { warn: (line: object) => void lines.push(line) });
      const writer = accountWriter({ store, snapshots, hooks });
      expect(text(await writer.stateOf('t'))).to.equal(text(state));
      const counted = await register.getSingleMetricAsString('quire_snapshots_ignored_total');
      const all = [...counted.matchAll(/reason="(\w+)"\} 1/g)].map(([, reason]) => reason);
      expect(all).to.deep.equal(flaw === undefined ? [] : [flaw]);
      expect(lines).to.have.length(flaw === undefined ? 0 : 1);
      if (flaw !== undefined) expect(lines[0]).to.include({ stream: accountStream('t'), reason: flaw });
    });

  it('that were ignored are replaced after the account was read', async () => {
    const { store, events } = await lived();
    const snapshots = memorySnapshots();
    snapshots.kept.set(accountStream('t'), { ...snapshotAt(events, 4), revision: 9_000n });
    const writer = accountWriter({ store, snapshots, snapshotEveryEvents: 5 });
    await writer.stateOf('t');
    await writer.close();
    expect(snapshots.kept.get(accountStream('t'))?.revision).to.equal(events.at(-1)?.revision);
  });

  it(`that a changed state is in never bend a balance, seed ${SEED}`, async () => {
    const { store, events, state } = await lived();
    const whole = fc.record(
      {
        balance: fc.integer(),
        held: fc.nat(),
        purchased: fc.nat(),
        adjusted: fc.integer(),
        used: fc.nat(),
        plan: fc.constantFrom('free', 'paid'),
      },
      { requiredKeys: [] },
    );
    const cuts = fc.integer({ min: 0, max: events.length - 1 });
    const property = fc.asyncProperty(cuts, whole, async (cut, change) => {
      const snapshots = memorySnapshots();
      snapshots.kept.set(accountStream('t'), withState(snapshotAt(events, cut), change));
      const loaded = await accountWriter({ store, snapshots }).stateOf('t');
      expect([loaded.balance, loaded.held]).to.deep.equal([state.balance, state.held]);
    });
    await fc.assert(property, { seed: SEED, numRuns: 200 });
  });

  it('that cannot be read or written cost nothing but time', async () => {
    const { store } = await lived();
    const notices: SnapshotNotice[] = [];
    const down = () => Promise.reject(new Error('no store'));
    const writer = accountWriter({
      store,
      snapshots: { load: down, save: down },
      snapshotEveryEvents: 1,
      hooks: { onSnapshot: (notice) => notices.push(notice) },
    });
    for (let n = 0; n < 30; n += 1) expect((await writer.execute(adjustment('t', 1))).kind).to.equal('done');
    await writer.close();
    expect(new Set(notices.map(({ reason }) => reason))).to.deep.equal(new Set(['unreadable', 'refused']));
  });

  it('that are too large are not kept, and told', async () => {
    const notices: SnapshotNotice[] = [];
    const snapshots = { ...memorySnapshots(), save: () => Promise.resolve('too_large' as const) };
    const hooks = { onSnapshot: (notice: SnapshotNotice) => void notices.push(notice) };
    const writer = accountWriter({ store: memoryEventStore(), snapshots, snapshotEveryEvents: 1, hooks });
    await writer.execute(adjustment('t', 1));
    await writer.close();
    expect(notices).to.deep.equal([{ kind: 'unsaved', stream: accountStream('t'), reason: 'too_large' }]);
  });
});
