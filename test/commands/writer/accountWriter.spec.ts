import { expect } from 'chai';
import type { AccountKind } from '../../../domain/account/account.ts';
import { accountStream } from '../../../domain/account/messages.ts';
import { MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';
import { APPEND_BYTES_MAX } from '../../../domain/ports/log.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import type { BatchReport, Outcome } from '../../../src/writer/decideBatch.ts';
import { adjustment, charge, hold, metaOf, release, settle } from '../../support/money/accountCommands.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';

const setUp = (options: Partial<Parameters<typeof accountWriter>[0]> = {}) => {
  const store = memoryEventStore();
  const batches: BatchReport[] = [];
  const writer = accountWriter({ store, hooks: { onBatch: (report) => batches.push(report) }, ...options });
  return { store, writer, batches };
};

const kinds = (outcomes: readonly Outcome<AccountKind>[]) => outcomes.map(({ kind }) => kind);
const eventCount = (outcome: Outcome<AccountKind> | undefined) =>
  outcome?.kind === 'done' ? outcome.events.length : undefined;

describe('account writer', () => {
  it('appends what the account accepts and answers with the state after it', async () => {
    const { writer, store } = setUp();
    const outcome = await writer.execute(adjustment('t', 100, 'a'));
    if (outcome.kind !== 'done') throw new Error(outcome.kind);
    expect(outcome.events.map(({ type }) => type)).to.deep.equal(['AccountOpened', 'CreditsAdjusted']);
    expect(outcome.state.balance).to.equal(100);
    expect(outcome.position).to.equal(2n);
    const [first, second] = await eventsOf(store, accountStream('t'));
    expect(first!.metadata).to.include({ tenant_id: 't', schema_version: 1, prev_hash: null });
    expect(second!.metadata['prev_hash']).to.equal(first!.metadata['hash']);
  });

  it('decides what waits in one batch, each on what those before it leave', async () => {
    const { writer, store, batches } = setUp();
    await writer.execute(adjustment('t', 100, 'a'));
    const outcomes = await Promise.all([60, 60, 40].map((n, i) => writer.execute(charge('t', n, `c${i}`))));
    expect(kinds(outcomes)).to.deep.equal(['done', 'rejected', 'done']);
    expect(store.appends).to.have.length(2);
    expect(batches.at(-1)).to.include({ commands: 3, events: 2, outcome: 'appended' });
    expect((await writer.stateOf('t')).balance).to.equal(0);
  });

  it('honours the same key twice inside one batch once', async () => {
    const { writer } = setUp();
    await writer.execute(adjustment('t', 100, 'a'));
    const [first, second] = await Promise.all([1, 2].map(() => writer.execute(charge('t', 30, 'same'))));
    expect([eventCount(first), eventCount(second)]).to.deep.equal([1, 0]);
    expect((await writer.stateOf('t')).balance).to.equal(70);
  });

  it('takes the same command once, inside one batch and later', async () => {
    const { writer, store } = setUp();
    const command = adjustment('t', 100);
    const together = await Promise.all([writer.execute(command), writer.execute(command)]);
    const later = await writer.execute(command);
    expect([...together, later].map(eventCount)).to.deep.equal([2, 0, 0]);
    expect(await eventsOf(store, accountStream('t'))).to.have.length(2);
  });

  it('appends nothing for a rejection', async () => {
    const { writer, store } = setUp();
    const outcome = await writer.execute(charge('t', 1, 'c'));
    expect(outcome).to.deep.include({
      kind: 'rejected',
      rejection: { code: 'insufficient_credits', required_credits: 1, available_credits: 0 },
    });
    expect(store.appends).to.have.length(0);
  });

  it('asks the log before it rejects: another process may have sold credits', async () => {
    const { writer, store } = setUp();
    await writer.execute(charge('t', 1, 'warm'));
    const other = accountWriter({ store });
    await other.execute(adjustment('t', 50, 'sold elsewhere'));
    expect((await writer.execute(charge('t', 50, 'c'))).kind).to.equal('done');
  });

  it('refuses more than its queue holds', async () => {
    const { writer } = setUp({ limits: { queueMax: 2 } });
    const outcomes = await Promise.all([1, 2, 3].map((n) => writer.execute(adjustment('t', n, `k${n}`))));
    expect(kinds(outcomes)).to.deep.equal(['done', 'done', 'busy']);
  });

  it('is busy when the log cannot be read, and goes on when it can', async () => {
    const { writer, store } = setUp();
    store.readsFail = true;
    expect((await writer.execute(adjustment('t', 5, 'a'))).kind).to.equal('busy');
    expect(await writer.stateOf('t').catch(String)).to.contain('AccountUnavailable');
    store.readsFail = false;
    expect((await writer.execute(adjustment('t', 5, 'a'))).kind).to.equal('done');
  });

  it('refuses a command for more credits than one movement may have, and only that one', async () => {
    const { writer } = setUp();
    const [fine, broken] = await Promise.all([
      writer.execute(adjustment('t', MOVEMENT_MAX, 'a')),
      writer.execute(adjustment('t', MOVEMENT_MAX + 1, 'b')),
    ]);
    expect([fine.kind, broken.kind]).to.deep.equal(['done', 'rejected']);
    expect((await writer.stateOf('t')).balance).to.equal(MOVEMENT_MAX);
  });

  it('keeps an event that does not fit its schema out of the log', async () => {
    const { writer, store } = setUp();
    const command = adjustment('t', 5, 'x'.repeat(81));
    const error: unknown = await writer.execute(command).catch((reason: unknown) => reason);
    expect(String(error)).to.contain('idempotency_key');
    expect(store.appends).to.have.length(0);
  });

  it('forgets the least used accounts, and loses nothing by it', async () => {
    const { writer, store } = setUp({ limits: { warmMax: 2 } });
    for (const tenant of ['a', 'b', 'c', 'd', 'a', 'b']) await writer.execute(adjustment(tenant, 10));
    expect((await writer.stateOf('a')).balance).to.equal(20);
    expect((await writer.stateOf('d')).balance).to.equal(10);
    expect(await eventsOf(store, accountStream('b'))).to.have.length(3);
  });

  it('tells a state that the log has confirmed, when asked for one', async () => {
    const { writer, store } = setUp({ limits: { stateMaxAgeMs: 60_000 } });
    await writer.execute(adjustment('t', 10, 'a'));
    await accountWriter({ store }).execute(adjustment('t', 5, 'b'));
    expect((await writer.stateOf('t')).balance).to.equal(10);
    expect((await writer.stateOf('t', 0)).balance).to.equal(15);
  });

  it('settles a hold once: the same settlement again does nothing, another is refused', async () => {
    const { writer } = setUp();
    await writer.execute(adjustment('t', 10, 'a'));
    await writer.execute(hold('t', 'h', 10));
    const settlement = settle('t', 'h', 4);
    expect(eventCount(await writer.execute(settlement))).to.equal(1);
    expect(eventCount(await writer.execute(settlement))).to.equal(0);
    expect((await writer.execute(release('t', 'h'))).kind).to.equal('rejected');
    expect(await writer.stateOf('t')).to.include({ balance: 6, held: 0 });
  });

  it('fails the commands of a stream that cannot be believed, names it, and serves the others', async () => {
    const { writer, store } = setUp();
    await writer.execute(adjustment('bad', 10, 'a'));
    await writer.close();
    const events = store.streams.get(accountStream('bad'))!;
    const forged = { ...events[1]!.data, credits: 1_000_000 };
    events[1] = { ...events[1]!, data: forged };
    const fresh = accountWriter({ store });
    const [bad, good] = await Promise.allSettled([
      fresh.execute(charge('bad', 5, 'c')),
      fresh.execute(adjustment('good', 10, 'a')),
    ]);
    expect(bad.status === 'rejected' && String(bad.reason)).to.match(/account-bad, revision 1/);
    expect(good.status).to.equal('fulfilled');
    expect(await fresh.stateOf('bad').catch(String)).to.contain('UnreadableStream');
  });

  it('fails on an event of a type that it does not know', async () => {
    const { writer, store } = setUp();
    await writer.execute(adjustment('t', 10, 'a'));
    const [first] = store.streams.get(accountStream('t'))!;
    store.streams.set(accountStream('t'), [{ ...first!, type: 'AccountMoved' }]);
    expect(
      await accountWriter({ store })
        .execute(charge('t', 1, 'c'))
        .catch(String),
    ).to.contain('revision 0');
  });

  it('finishes what it has before it closes, and takes nothing more', async () => {
    const { writer, store } = setUp();
    const pending = [1, 2, 3].map((n) => writer.execute(adjustment('t', n, `k${n}`)));
    await writer.close();
    expect(kinds(await Promise.all(pending))).to.deep.equal(['done', 'done', 'done']);
    expect((await writer.execute(adjustment('t', 1, 'late'))).kind).to.equal('busy');
    expect(await eventsOf(store, accountStream('t'))).to.have.length(4);
  });

  it('splits what waits into batches that the log takes', async () => {
    const { writer, store } = setUp({ batchMax: 10 });
    const commands = Array.from({ length: 25 }, (_, n) => adjustment('t', 1, `k${n}`));
    const outcomes = await Promise.all(commands.map((command) => writer.execute(command)));
    expect(new Set(kinds(outcomes))).to.deep.equal(new Set(['done']));
    expect(store.appends.map(({ ids }) => ids.length)).to.deep.equal([11, 10, 5]);
  });

  it('keeps a batch below the size of an append', async () => {
    const { writer, store } = setUp();
    await writer.execute(adjustment('t', 1, 'open'));
    const long = (n: number) => ({
      ...adjustment('t', 1, `k${n}`),
      data: { ...adjustment('t', 1, `k${n}`).data, reason: 'x'.repeat(100_000) },
    });
    await Promise.all(Array.from({ length: 20 }, (_, n) => writer.execute({ ...long(n), meta: metaOf() })));
    const most = Math.floor(APPEND_BYTES_MAX / 100_000);
    expect(store.appends.map(({ ids }) => ids.length)).to.deep.equal([2, most, most, 20 - 2 * most]);
    expect((await writer.stateOf('t')).balance).to.equal(21);
  });
});
