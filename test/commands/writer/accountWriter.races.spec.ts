import { expect } from 'chai';
import { type AccountCommand, accountStream } from '../../../domain/account/messages.ts';
import { account } from '../../../domain/account/account.ts';
import { availableIn } from '../../../domain/account/state.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import { accountCodec, accountWriter, type AccountWriter } from '../../../src/writer/accountWriter.ts';
import {
  adjustment,
  charge,
  hold,
  refund,
  release,
  sale,
  settle,
} from '../../support/money/accountCommands.ts';
import { eventsOf, LOGS, type LogUnderTest } from '../../support/logs/eventLogs.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';

const SEED = 20_260_131;

/** Folds the log by itself, and checks after every event what must always hold. */
const replay = async (store: EventStore, tenantId: string) => {
  let state = account.initialState;
  for (const recorded of await eventsOf(store, accountStream(tenantId))) {
    state = account.evolve(state, accountCodec.decode(recorded));
    expect(state.balance).to.be.at.least(0);
    expect(state.held).to.be.at.least(0);
    expect(availableIn(state)).to.be.at.least(0);
  }
  expect(state.balance).to.equal(state.purchased + state.adjusted - state.used);
  return state;
};

/** Commands given until the outcome is certain. */
const insist = async (writer: AccountWriter, command: AccountCommand) => {
  for (;;) {
    const outcome = await writer.execute(command);
    if (outcome.kind === 'done' || outcome.kind === 'rejected') return outcome;
  }
};

/** Workers burn random sizes until nothing is left; returns what each was granted. */
const burnToZero = async (writers: readonly AccountWriter[], workers: number, seed: number) => {
  let burned = 0;
  let refused = 0;
  const worker = async (id: number) => {
    const random = seededRandom(seed + id);
    const writer = writers[id % writers.length]!;
    for (let n = 0; ; n += 1) {
      const { balance } = await writer.stateOf('t');
      const size = random.between(1, 40);
      const outcome = await insist(writer, charge('t', size, `w${id}-${n}`));
      if (outcome.kind === 'done') burned += size;
      else refused += 1;
      if (balance === 0) return;
      if (outcome.kind === 'rejected' && size === 1) return;
      if (outcome.kind === 'rejected') {
        const last = await insist(writer, charge('t', 1, `w${id}-${n}-last`));
        if (last.kind === 'rejected') return;
        burned += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, id) => worker(id)));
  return { burned, refused };
};

for (const { name, open } of LOGS)
  describe(`account writer under races, ${name}, seed ${SEED}`, () => {
    let log: LogUnderTest;
    beforeEach(async () => {
      log = await open();
    });
    afterEach(() => log.dispose());

    it('lets 64 workers burn a tenant to exactly zero', async () => {
      const writer = accountWriter({ store: log.store });
      await writer.execute(adjustment('t', 10_000, 'start'));
      const { burned, refused } = await burnToZero([writer], 64, SEED);
      expect(burned).to.equal(10_000);
      expect(refused).to.be.greaterThan(0);
      expect((await replay(log.store, 't')).balance).to.equal(0);
    });

    it('loses no update when two processes write to one account', async () => {
      const conflicts = { count: 0 };
      const hooks = {
        onBatch: ({ outcome }: { readonly outcome: string }) => {
          if (outcome === 'conflict') conflicts.count += 1;
        },
      };
      const writers = [1, 2].map(() => accountWriter({ store: log.store, hooks }));
      await insist(writers[0]!, adjustment('t', 3_000, 'start'));
      const { burned } = await burnToZero(writers, 16, SEED + 1000);
      expect(burned).to.equal(3_000);
      expect(conflicts.count).to.be.greaterThan(0);
      expect((await replay(log.store, 't')).used).to.equal(3_000);
    });

    it('closes each hold once, whoever comes first, beside charges and refunds', async () => {
      const random = seededRandom(SEED + 7);
      const writers = [1, 2].map(() => accountWriter({ store: log.store }));
      const pick = () => random.pick(writers);
      await insist(pick(), sale('t', 1_000, 'pay'));
      const holds = Array.from({ length: 40 }, (_, n) => `h${n}`);
      const rounds = holds.map(async (id, n) => {
        const held = await insist(pick(), hold('t', id, random.between(1, 30)));
        if (held.kind === 'rejected') return;
        const closing = [settle('t', id, 1), release('t', id), settle('t', id, 0), release('t', id)];
        const closed = await Promise.all(closing.map((command) => insist(pick(), command)));
        expect(closed.filter(({ kind }) => kind === 'done')).to.have.length(1);
        await insist(pick(), charge('t', random.between(1, 20), `c${n}`));
        const ids = { txn: `re${n}`, original: 'pay' };
        await insist(pick(), refund('t', random.between(1, 10) * 10, ids));
      });
      await Promise.all(rounds);
      const state = await replay(log.store, 't');
      expect(state.held).to.equal(0);
      for (const writer of writers)
        expect(await writer.stateOf('t', 0)).to.include({ balance: state.balance });
    });
  });
