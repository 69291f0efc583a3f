import { expect } from 'chai';
import type { AccountKind } from '../../../domain/account/account.ts';
import { accountStream } from '../../../domain/account/messages.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import type { Outcome } from '../../../src/writer/decideBatch.ts';
import { adjustment, charge } from '../../support/money/accountCommands.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { memoryEventStore, type Fault } from '../../support/logs/memoryEventStore.ts';

const STREAM = accountStream('t');
const random = () => 0;

const setUp = async (options: Partial<Parameters<typeof accountWriter>[0]> = {}) => {
  const store = memoryEventStore();
  const unknowns: string[] = [];
  const hooks = { onUnknown: (_: string, reason: string) => unknowns.push(reason) };
  const writer = accountWriter({ store, hooks, random, appendTimeoutMs: 20, ...options });
  const start = adjustment('t', 100, 'start');
  let begun = await writer.execute(start);
  while (begun.kind !== 'done') begun = await writer.execute(start);
  store.appends.length = 0;
  return { store, writer, unknowns };
};

const kinds = (outcomes: readonly Outcome<AccountKind>[]) => outcomes.map(({ kind }) => kind);

describe('account writer, when the log does not say what happened', () => {
  const faults: readonly Fault[] = [
    'unknown',
    'commit_then_unknown',
    'throw',
    'commit_then_throw',
    'silence',
    'commit_then_silence',
  ];
  for (const fault of faults)
    it(`${fault}: sends the same batch again and burns exactly once`, async () => {
      const { store, writer, unknowns } = await setUp();
      store.script.push(fault, fault);
      const outcomes = await Promise.all([10, 20].map((n) => writer.execute(charge('t', n, `c${n}`))));
      expect(kinds(outcomes)).to.deep.equal(['done', 'done']);
      expect(unknowns).to.have.length(2);
      const [first, ...again] = store.appends;
      for (const append of again) expect(append).to.deep.equal(first);
      expect(await eventsOf(store, STREAM)).to.have.length(4);
      expect((await writer.stateOf('t', 0)).balance).to.equal(70);
    });

  it('does not decide about a refund on what it remembers while the log cannot be read', async () => {
    const { store, writer } = await setUp({ limits: { callerDeadlineMs: 60, closeTimeoutMs: 20 } });
    store.readsHang = true;
    let failure: unknown;
    await writer.stateOf('t', 0).catch((error: unknown) => (failure = error));
    expect(failure).to.be.an('error').with.property('name', 'AccountUnavailable');
    expect((await writer.stateOf('t', 60_000)).balance).to.equal(100);
    await writer.close();
  });

  it('tells a caller `unknown` at its deadline, keeps the batch frozen, and settles it later', async () => {
    const { store, writer } = await setUp({ limits: { callerDeadlineMs: 60 } });
    store.script.push(...Array.from<Fault>({ length: 3 }).fill('silence'));
    expect((await writer.execute(charge('t', 10, 'c'))).kind).to.equal('unknown');
    await writer.close();
    expect(new Set(store.appends.map(({ ids }) => ids.join()))).to.have.length(1);
    expect(await eventsOf(store, STREAM)).to.have.length(3);
  });

  it('answers the same question asked again with what became of it', async () => {
    const { store, writer } = await setUp({ limits: { callerDeadlineMs: 60 } });
    store.script.push('commit_then_silence', 'silence', 'silence');
    const command = charge('t', 10, 'c');
    expect((await writer.execute(command)).kind).to.equal('unknown');
    let outcome = await writer.execute(command);
    while (outcome.kind === 'busy' || outcome.kind === 'unknown') outcome = await writer.execute(command);
    expect(outcome).to.deep.include({ kind: 'done', events: [] });
    expect((await writer.stateOf('t', 0)).balance).to.equal(90);
  });

  it('is busy for those behind a frozen batch whose time is up: nothing of theirs was done', async () => {
    const { store, writer } = await setUp({ limits: { callerDeadlineMs: 60 }, batchMax: 1 });
    store.script.push(...Array.from<Fault>({ length: 4 }).fill('silence'));
    const outcomes = await Promise.all(['a', 'b'].map((key) => writer.execute(charge('t', 1, key))));
    expect(kinds(outcomes)).to.deep.equal(['unknown', 'busy']);
    await writer.close();
    expect((await writer.stateOf('t')).balance).to.equal(99);
  });

  it('decides again when the slot of an unknown batch was taken by another process', async () => {
    const { store, writer } = await setUp();
    const other = accountWriter({ store });
    store.script.push('unknown');
    let first = true;
    store.beforeAppend = () => {
      if (first) void other.execute(charge('t', 95, 'other'));
      first = false;
    };
    const outcome = await writer.execute(charge('t', 10, 'mine'));
    expect(outcome).to.deep.include({
      kind: 'rejected',
      rejection: { code: 'insufficient_credits', required_credits: 10, available_credits: 5 },
    });
    expect(await eventsOf(store, STREAM)).to.have.length(3);
  });

  it('recognises a command that another process has appended meanwhile', async () => {
    const { store, writer } = await setUp();
    const command = adjustment('t', 7);
    const other = accountWriter({ store });
    await other.execute({ ...command, meta: { ...command.meta, now: '2026-01-31T08:00:01.000Z' } });
    expect(await writer.execute(command)).to.deep.include({ kind: 'done', events: [] });
    expect((await writer.execute(charge('t', 7, 'c'))).kind).to.equal('done');
    expect(await eventsOf(store, STREAM)).to.have.length(4);
  });

  it('goes on after another process has appended the very same events', async () => {
    const { store, writer } = await setUp();
    const command = adjustment('t', 7);
    await accountWriter({ store }).execute(command);
    expect((await writer.execute(command)).kind).to.equal('done');
    expect((await writer.execute(charge('t', 7, 'c'))).kind).to.equal('done');
    expect(await eventsOf(store, STREAM)).to.have.length(4);
  });

  it('tells `contended` when others always come first', async () => {
    const { store, writer } = await setUp({ attemptsMax: 3 });
    const plain = { ...store };
    const other = accountWriter({ store: plain });
    await other.stateOf('t');
    let n = 0;
    const append: typeof store.append = (...appended) => plain.append(...appended);
    store.append = async (stream, expected, events) => {
      const mine = events[0]?.data['idempotency_key'] === 'mine';
      if (mine) await other.execute(charge('t', 1, `other ${(n += 1)}`));
      return append(stream, expected, events);
    };
    expect((await writer.execute(charge('t', 10, 'mine'))).kind).to.equal('contended');
    expect(n).to.equal(3);
    expect((await writer.stateOf('t', 0)).balance).to.equal(97);
  });

  it('halves a batch that the log calls too large', async () => {
    const { store, writer } = await setUp();
    store.script.push('too_large', 'too_large');
    const commands = [1, 2, 3, 4].map((n) => charge('t', n, `c${n}`));
    expect(kinds(await Promise.all(commands.map((command) => writer.execute(command))))).to.deep.equal([
      'done',
      'done',
      'done',
      'done',
    ]);
    expect(store.appends.map(({ ids }) => ids.length)).to.deep.equal([4, 2, 1, 3]);
    expect((await writer.stateOf('t')).balance).to.equal(90);
  });

  it('fails a single command that the log will never take', async () => {
    const { store, writer } = await setUp();
    store.script.push('too_large');
    expect(await writer.execute(charge('t', 1, 'c')).catch(String)).to.contain('too_large');
    expect((await writer.execute(charge('t', 1, 'd'))).kind).to.equal('done');
  });

  it('stops deciding for an account whose stream has become shorter', async () => {
    const { store, writer } = await setUp();
    await writer.execute(charge('t', 1, 'c'));
    store.streams.get(STREAM)!.pop();
    expect(await writer.execute(charge('t', 1, 'd')).catch(String)).to.contain('LogWentBack');
    expect(await writer.execute(charge('t', 1, 'e')).catch(String)).to.contain('LogWentBack');
    expect((await writer.execute(adjustment('other', 1, 'a'))).kind).to.equal('done');
  });

  it('gives up on a log that never answers when it has to close', async () => {
    const { store, writer } = await setUp({ limits: { closeTimeoutMs: 40 }, appendTimeoutMs: 60_000 });
    store.script.push('silence');
    const waiting = writer.execute(charge('t', 1, 'c'));
    await new Promise((resolve) => setImmediate(resolve));
    await writer.close();
    expect((await waiting).kind).to.equal('unknown');
  });
});
