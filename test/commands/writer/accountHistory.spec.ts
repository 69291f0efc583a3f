import { expect } from 'chai';
import fc from 'fast-check';
import { account, type AccountKind } from '../../../domain/account/account.ts';
import { type AccountCommand, type AccountEvent, accountStream } from '../../../domain/account/messages.ts';
import { type AccountState, chargeAt, evolve, NEW_ACCOUNT, refundAt } from '../../../domain/account/state.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { KEPT_MAX, keptAt, PAGE_ENTRIES, PAGES_MERGED } from '../../../domain/kernel/history.ts';
import { SNAPSHOT_BYTES_MAX } from '../../../domain/ports/log.ts';
import { accountCodec, accountSnapshots, accountWriter } from '../../../src/writer/accountWriter.ts';
import { type Outcome, writerRules } from '../../../src/writer/decideBatch.ts';
import { savePages } from '../../../src/writer/historyPages.ts';
import { snapshotOf } from '../../../src/writer/streamFold.ts';
import { streamWriter } from '../../../src/writer/streamWriter.ts';
import { holds } from '../../../engine/test/support/properties.ts';
import { anyHistory } from '../../support/money/accountArbitrary.ts';
import {
  adjustment,
  charge,
  metaOf,
  NOW,
  refund,
  reversal,
  sale,
} from '../../support/money/accountCommands.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';
import { memorySnapshots } from '../../support/logs/memorySnapshots.ts';

const EACH = 100_000;

const said = (outcome: Outcome<AccountKind>) => {
  if (outcome.kind === 'done') return outcome.events.map(({ type }) => type).join(' ');
  return outcome.kind === 'rejected' ? outcome.rejection : outcome.kind;
};

/** An account that keeps nothing of its sales, refunds, adjustments and charges: all of it is in the log alone. */
const forgetful = {
  ...account,
  evolve: (state: AccountState, event: AccountEvent): AccountState => {
    const { sales, saleKeys, refunds, reversals, adjustments, charges, recalled } = NEW_ACCOUNT;
    return { ...evolve(state, event), sales, saleKeys, refunds, reversals, adjustments, charges, recalled };
  },
};

/** A refund whose ID follows from its transaction, so that a reversal can name it. */
const namedRefund = (credits: number, ids: { readonly txn: string; readonly original: string }) => {
  const { data, ...rest } = refund('t', credits, ids);
  return { ...rest, data: { ...data, refund_id: `rfd_${ids.txn}` } };
};

/** Commands that meet under few names: repeats, other payloads, parts of one sale. */
const fewNames: fc.Arbitrary<readonly AccountCommand[]> = fc.array(
  fc
    .record({
      name: fc.constantFrom('a', 'b', 'c'),
      of: fc.constantFrom('a', 'b'),
      tens: fc.integer({ min: 1, max: 4 }),
    })
    .chain(({ name, of, tens }) =>
      fc.constantFrom<AccountCommand>(
        sale('t', 100, of),
        sale('t', 10 * tens, name),
        namedRefund(10 * tens, { txn: `re-${name}${String(tens)}`, original: of }),
        namedRefund(10 * tens, { txn: name, original: of }),
        reversal(
          't',
          {
            refund_id: `rfd_re-${name}${String(tens)}`,
            provider_txn_id: `re-${name}${String(tens)}`,
          },
          `un-${of}${String(tens)}`,
        ),
        charge('t', tens, name),
        adjustment('t', tens, name),
      ),
    ),
  { minLength: 10, maxLength: 40 },
);

const figures = ({ balance, held, purchased, adjusted, used, plan, history }: AccountState) => ({
  balance,
  held,
  purchased,
  adjusted,
  used,
  plan,
  events: history.events,
});

/** Sales, refunds, adjustments and charges, so many of each, as events of one account. */
function* manyOfEach(count: number): Generator<AccountEvent> {
  const granted = (n: number) => {
    const { tenant_id: _, ...data } = sale('t', 1_000, `pay-${String(n)}`).data;
    return { ...data, grant_id: `grt_${String(n)}`, created_at: NOW, balance_after: asCredits(0) };
  };
  const [template, given, burned] = [
    granted(0),
    adjustment('t', 1, 'k').data,
    charge('t', 1, 'k').data,
  ] as const;
  const { tenant_id: _, ...adjusted } = given;
  const { tenant_id: __, paid_plan_required: ___, ...charged } = burned;
  const at = { created_at: NOW, balance_after: asCredits(0) };
  yield { type: 'AccountOpened', data: { tenant_id: 't', created_at: NOW } };
  for (let n = 0; n < count; n += 1) {
    const [txn, grant_id] = [`pay-${String(n)}`, `grt_${String(n)}`];
    yield { type: 'CreditsGranted', data: { ...template, provider_txn_id: txn, grant_id } };
    yield {
      type: 'CreditsRefunded',
      data: {
        refund_id: `rfd_${String(n)}`,
        grant_id,
        provider: 'stripe',
        provider_txn_id: `back-${String(n)}`,
        credits: asCredits(1),
        currency: 'USD',
        gross_amount_minor: 1,
        vat_amount_minor: 0,
        provider_fee_minor: 0,
        fingerprint: 'f',
        reason: null,
        occurred_at: NOW,
        ...at,
      },
    };
    yield { type: 'CreditsAdjusted', data: { ...adjusted, idempotency_key: `gift-${String(n)}`, ...at } };
    yield {
      type: 'CreditsBurned',
      data: {
        ...charged,
        operation_id: '',
        hold_id: null,
        extraction_mode: null,
        pages: 0,
        free_pages: 0,
        idempotency_key: `charge-${String(n)}`,
        credits_per_page: asCredits(0),
        ...at,
      },
    };
  }
}

describe('what an account remembers', () => {
  it('has a bound: 100,000 sales, refunds, adjustments and charges of each leave a small state', async () => {
    let state = NEW_ACCOUNT;
    for (const event of manyOfEach(EACH)) state = evolve(state, event);
    const { sales, saleKeys, refunds, reversals, adjustments, charges } = state;
    for (const { young, old } of [sales, saleKeys, refunds, reversals, adjustments, charges])
      expect(young.size + old.size).to.be.at.most(2 * KEPT_MAX);
    const { history } = state;
    expect(history.events).to.equal(4 * EACH + 1);
    expect(history.latestCount).to.be.below(PAGE_ENTRIES);

    const store = memorySnapshots();
    const folded = { state, revision: BigInt(history.events - 1), hash: 'h', position: undefined };
    const snapshot = snapshotOf(accountStream('t'), folded, accountSnapshots(store))!;
    expect(Buffer.byteLength(JSON.stringify(snapshot.state))).to.be.below(SNAPSHOT_BYTES_MAX / 2);
    expect(await savePages(store, snapshot, history.pages)).to.equal('saved');
    const pages = [...store.kept.values()].map((page) => Buffer.byteLength(JSON.stringify(page.state)));
    // A sale and a refund have two names each, an adjustment and the charge of an export without a job one.
    const small = Math.floor((6 * EACH) / PAGE_ENTRIES);
    expect(pages.length).to.equal(Math.floor(small / PAGES_MERGED) + (small % PAGES_MERGED));
    for (const bytes of pages) expect(bytes).to.be.below(SNAPSHOT_BYTES_MAX);
    expect(pages.reduce((sum, bytes) => sum + bytes, 0)).to.be.below(24 * 6 * EACH);

    // The next snapshot writes the pages that are new, and no other.
    const before = new Map(store.kept);
    const next = [...manyOfEach(PAGE_ENTRIES)].slice(1).reduce(evolve, state);
    await savePages(store, snapshot, next.history.pages);
    for (const [stream, page] of before) expect(store.kept.get(stream)).to.equal(page);
    expect(store.kept.size - before.size).to.be.within(1, 6);
  });

  holds(
    'decides as one that keeps all, where it keeps nothing',
    fc.asyncProperty(fc.oneof(anyHistory, fewNames), async (commands) => {
      const [plain, bare] = [account, forgetful].map((decider) => {
        const rules = writerRules<AccountKind>({ store: memoryEventStore(), decider, codec: accountCodec });
        return streamWriter(rules, accountStream);
      }) as [ReturnType<typeof streamWriter<AccountKind>>, ReturnType<typeof streamWriter<AccountKind>>];
      const all = (writer: typeof plain) =>
        Promise.all(
          commands.map((command) => writer.execute(command.data.tenant_id, { ...command, meta: metaOf() })),
        );
      const [expected, found] = [await all(plain), await all(bare)];
      expect(found.map(said)).to.deep.equal(expected.map(said));
      for (const tenant of new Set(commands.map(({ data }) => data.tenant_id))) {
        const [one, other] = [await plain.stateOf(tenant), await bare.stateOf(tenant)];
        expect(other && figures(other)).to.deep.equal(one && figures(one));
      }
      await Promise.all([plain.close(), bare.close()]);
    }),
  );
});

describe('an account with many sales', () => {
  const MANY = 3 * KEPT_MAX;
  const store = memoryEventStore();
  const snapshots = memorySnapshots();
  const opened = () => accountWriter({ store, snapshots, snapshotEveryEvents: 100 });
  let writer = opened();
  const first = sale('t', 1_000, 'pay-0');
  const back = refund('t', 300, { txn: 'back-0', original: 'pay-0' });
  const run = (command: AccountCommand) => writer.execute(command);
  const again = (command: AccountCommand) => run({ ...command, meta: metaOf() });

  before(async () => {
    await run(first);
    await run(back);
    await run(charge('t', 5, 'charge-0'));
    await run(adjustment('t', 7, 'gift-0'));
    const fill = Array.from({ length: MANY }, (_, n) => [
      sale('t', 100, `pay-${String(n + 1)}`),
      charge('t', 1, `charge-${String(n + 1)}`),
      adjustment('t', 1, `gift-${String(n + 1)}`),
    ]);
    for (const three of fill) await Promise.all(three.map(run));
    for (let n = 0; n < MANY; n += 1)
      await run(refund('t', 10, { txn: `back-${String(n + 1)}`, original: `pay-${String(n + 1)}` }));
  });
  after(() => writer.close());

  const tests = (): void => {
    it('keeps the earliest of them in the log alone', async () => {
      const state = await writer.stateOf('t', 0);
      expect(keptAt(state.sales, 'stripe\u001fpay-0')).to.equal(undefined);
      expect(() => chargeAt(state, 'charge-0')).to.throw('events at revisions');
      expect(chargeAt(state, 'charge-none')).to.equal(undefined);
      const { answer } = await writer.ask('t', (of) => chargeAt(of, 'charge-0'), 0);
      expect(answer?.credits).to.equal(5);
    });

    it('takes no payment, charge or adjustment a second time', async () => {
      const { balance } = await writer.stateOf('t', 0);
      for (const command of [first, back, charge('t', 5, 'charge-0'), adjustment('t', 7, 'gift-0')])
        expect(said(await again(command))).to.equal('');
      const other = [
        sale('t', 2_000, 'pay-0'),
        sale('t', 300, 'back-0'),
        refund('t', 10, { txn: 'back-0', original: 'pay-0' }),
        refund('t', 300, { txn: 'pay-0', original: 'pay-0' }),
        charge('t', 6, 'charge-0'),
        adjustment('t', 8, 'gift-0'),
      ];
      for (const command of other)
        expect(said(await run(command))).to.have.property('code', 'idempotency_key_reused');
      expect((await writer.stateOf('t', 0)).balance).to.equal(balance);
    });

    it('answers a repeated refund with what is left of its sale', async () => {
      const outcome = await again(back);
      const found = outcome.kind === 'done' ? refundAt(outcome.state, 'stripe\u001fback-0') : undefined;
      expect([found?.refund.credits, found?.of.sale.credits]).to.deep.equal([300, 1_000]);
      expect(found?.of.refunded_credits).to.be.at.least(300);
    });
  };
  describe('that was written here', tests);

  describe('after a restart, from a snapshot', () => {
    before(async () => {
      await writer.close();
      const isPage = (stream: string) => stream.startsWith(`${accountStream('t')}~`);
      expect([...snapshots.kept.keys()].filter(isPage)).to.have.lengthOf(2);
      writer = opened();
    });
    tests();

    it('refunds no more of the earliest sale than is left of it', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          run(refund('t', 100, { txn: `later-${String(n)}`, original: 'pay-0' })),
        ),
      );
      const done = outcomes.filter(({ kind }) => kind === 'done');
      expect(done).to.have.lengthOf(7);
      expect(said(outcomes.find(({ kind }) => kind !== 'done')!)).to.include({
        code: 'refund_exceeds_original',
        refundable_credits: 0,
      });
    });
  });
});
