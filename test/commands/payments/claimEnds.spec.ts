import { allKept, nothingKept } from '../../../domain/kernel/history.ts';
import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  accountStream,
  type GrantCredits,
  paymentStream,
  type RefundCredits,
} from '../../../domain/account/messages.ts';
import { asCredits, MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';
import { decodeAny } from '../../../domain/catalogue.ts';
import { auditedEvent } from '../../../src/audit/auditedEvent.ts';
import { claimsCheck } from '../../../src/audit/claims.ts';
import { findingsKept } from '../../../src/audit/findings.ts';
import { reference } from '../../../src/audit/margin.ts';
import { compactSet } from '../../../src/audit/streams.ts';
import { accountWriter, type AccountWriter } from '../../../src/writer/accountWriter.ts';
import { payments, type PaymentResult } from '../../../src/commands/money/payments.ts';
import { adjustment, charge, metaOf, NOW, refund, sale } from '../../support/money/accountCommands.ts';
import { eventsOf, LOGS, type LogUnderTest } from '../../support/logs/eventLogs.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';

/** From the compiled spec to the sources. */
const GOLDEN = new URL('../../../../test/golden/', import.meta.url);
const LATE = '2026-02-03T09:30:00.000Z';
/** Commands that wait for one account at once. */
const CHUNK = 500;
/** There is room for one more sale of so many credits, and for no two. */
const FULL = 9_006;

const claimOf = (txn: string) => paymentStream({ provider: 'stripe', provider_txn_id: txn });
const codeOf = ({ outcome }: Pick<PaymentResult, 'outcome'>) =>
  outcome.kind === 'rejected' ? outcome.rejection.code : outcome.kind;

const golden = (file: string): RecordedEvent => {
  const stored = JSON.parse(readFileSync(new URL(file, GOLDEN), 'utf8')) as RecordedEvent;
  return { ...stored, revision: 0n, position: 0n };
};

/** Fills an account, so that there is room for one more of the largest movements. */
const filled = async (writer: AccountWriter, tenant: string): Promise<void> => {
  for (let done = 0; done < FULL; done += CHUNK)
    await Promise.all(
      Array.from({ length: Math.min(CHUNK, FULL - done) }, () =>
        writer.execute(adjustment(tenant, MOVEMENT_MAX)),
      ),
    );
};

/** Puts an event into a log as it was stored once. */
const restored = async (store: EventStore, { stream, id, type, data, metadata }: RecordedEvent) => {
  const result = await store.append(stream, 'no_stream', [{ id, type, data, metadata }]);
  expect(result.kind).to.equal('appended');
};

/** Claims as a process does that dies before its account hears of it. */
const claimAndDie = (store: EventStore, writer: AccountWriter, command: GrantCredits | RefundCredits) =>
  new Promise<void>((died) => {
    const execute = () => {
      died();
      return new Promise<never>(() => undefined);
    };
    const pay = payments({ store, writer: { ...writer, execute } });
    void (command.type === 'GrantCredits' ? pay.sellCredits(command) : pay.refundCredits(command));
  });

/** What an audit says of the claims in some streams. */
const claimFindings = async (store: EventStore, streams: readonly string[]): Promise<readonly string[]> => {
  const events = (await Promise.all(streams.map((stream) => eventsOf(store, stream)))).flat();
  const findings = findingsKept(10);
  const books = { findings, reference: reference(findings), once: compactSet(), touch: () => undefined };
  const claims = claimsCheck(books);
  for (const event of events.sort((one, other) => Number(one.position - other.position)))
    claims.apply(auditedEvent(event, decodeAny(event)));
  claims.finish(LATE);
  return findings.result().findings.map(({ message }) => message);
};

/** So many credits for so little money: prices are checked elsewhere. */
const largeSale = (txn: string): GrantCredits => {
  const { data, ...rest } = sale('t', 10, txn);
  const credits = asCredits(MOVEMENT_MAX);
  return { ...rest, data: { ...data, credits, fingerprint: `large ${txn}` } };
};

for (const { name, open } of LOGS)
  describe(`every claim ends, ${name}`, () => {
    let log: LogUnderTest;
    beforeEach(async () => {
      log = await open();
    });
    afterEach(() => log.dispose());

    const setUp = () => {
      const { store } = log;
      const writer = accountWriter({ store });
      const types = async (stream: string) => (await eventsOf(store, stream)).map(({ type }) => type);
      return { store, writer, types, pay: payments({ store, writer }) };
    };

    for (const processes of [1, 3])
      it(`refuses seven of eight sales that pass 2^53 together, for good: ${processes} processes`, async () => {
        const { store, writer, types } = setUp();
        await filled(writer, 't');
        const all = Array.from({ length: processes }, () =>
          payments({ store, writer: accountWriter({ store }) }),
        );
        const results = await Promise.all(
          Array.from({ length: 8 }, (_, n) => all[n % processes]!.sellCredits(largeSale(`p${n}`))),
        );
        expect(results.map(codeOf).sort()).to.deep.equal([
          ...Array<string>(7).fill('credits_out_of_range'),
          'done',
        ]);
        // There is room again, and the sweeper comes.
        await writer.execute(adjustment('t', -MOVEMENT_MAX));
        for (let n = 0; n < 8; n += 1) await all[0]!.finishClaim(claimOf(`p${n}`), LATE);
        expect((await writer.stateOf('t', 0)).balance).to.equal(FULL * MOVEMENT_MAX);
        for (let n = 0; n < 8; n += 1)
          expect((await types(claimOf(`p${n}`))).at(-1)).to.equal(
            codeOf(results[n]!) === 'done' ? 'PaymentClaimed' : 'PaymentReleased',
          );
      });

    for (const [what, change] of [
      ['a time that no event may have', { occurred_at: '-000001-12-31T10:00:00.000Z' }],
      ['a fraction of a cent', { provider_fee_minor: -0.5 }],
    ] as const)
      it(`claims nothing for ${what}`, async () => {
        const { pay, types } = setUp();
        await pay.sellCredits(sale('t', 1000, 'p1'));
        const bad = sale('t', 1000, 'p2');
        const badRefund = refund('t', 10, { txn: 're', original: 'p1' });
        for (const given of [
          pay.sellCredits({ ...bad, data: { ...bad.data, ...change } }),
          pay.refundCredits({ ...badRefund, data: { ...badRefund.data, ...change } }),
        ])
          expect(String(await given.catch((error: unknown) => error))).to.contain('UndecodableEvent');
        for (const txn of ['p2', 're']) expect(await types(claimOf(txn))).to.deep.equal([]);
        expect((await pay.sellCredits(sale('t', 1000, 'p2'))).credited).to.equal(true);
      });

    it('finishes late with the time of the sale, recorded when it was appended', async () => {
      const { store, writer, pay } = setUp();
      await claimAndDie(store, writer, sale('t', 1000, 'p1'));
      await pay.finishClaim(claimOf('p1'), LATE);
      await claimAndDie(store, writer, refund('t', 10, { txn: 're', original: 'p1' }));
      await pay.finishClaim(claimOf('re'), LATE);
      const found = (await eventsOf(store, accountStream('t'))).filter(({ type }) =>
        ['CreditsGranted', 'CreditsRefunded'].includes(type),
      );
      expect(found).to.have.length(2);
      for (const { data, metadata } of found)
        expect([data['occurred_at'], data['created_at'], metadata['recorded_at']]).to.deep.equal([
          NOW,
          LATE,
          LATE,
        ]);
    });

    it('does not do what was refused while a sweeper was about to do it', async () => {
      const { store, writer, pay } = setUp();
      await pay.sellCredits(sale('t', 1000, 'p1'));
      await claimAndDie(store, writer, refund('t', 1000, { txn: 're', original: 'p1' }));
      let read = 0;
      // Its caller is answered no right before the sweeper's append.
      const late: EventStore = {
        ...store,
        append: async (stream, expected, events) => {
          if (stream === accountStream('t') && read === 0) {
            read += 1;
            await writer.execute(charge('t', 600, 'c'));
            const again = await pay.refundCredits(refund('t', 1000, { txn: 're', original: 'p1' }));
            expect(codeOf(again)).to.equal('insufficient_balance');
            await writer.execute(adjustment('t', 600));
          }
          return store.append(stream, expected, events);
        },
      };
      const sweeping = payments({ store: late, writer: accountWriter({ store }) });
      await sweeping.finishClaim(claimOf('re'), LATE);
      expect(read).to.equal(1);
      expect((await writer.stateOf('t', 0)).refunds).to.deep.equal(nothingKept());
    });

    it('keeps what another process booked while a look at its claim failed', async () => {
      const { store, writer, pay, types } = setUp();
      await claimAndDie(store, writer, sale('t', 1000, 'p1'));
      let looks = 0;
      const booked = async function* () {
        await pay.finishClaim(claimOf('p1'), LATE);
        yield* [];
        throw new Error('the log is away');
      };
      const torn: EventStore = {
        ...store,
        read: (stream, options) => {
          if (stream === claimOf('p1')) looks += 1;
          return stream === claimOf('p1') && looks === 2 ? booked() : store.read(stream, options);
        },
      };
      const sweeping = payments({ store: torn, writer: accountWriter({ store }) });
      expect((await sweeping.finishClaim(claimOf('p1'), LATE))?.kind).to.equal('done');
      expect((await writer.stateOf('t', 0)).balance).to.equal(1000);
      expect((await types(claimOf('p1'))).at(-1)).to.equal('PaymentClaimed');
    });

    it('is booked by a request that stood still while a failed look freed its claim, and an audit agrees', async () => {
      const { store, writer, types } = setUp();
      let goOn = (): void => undefined;
      let done: Promise<PaymentResult> | undefined;
      const stopped = new Promise<void>((stop) => {
        const execute: AccountWriter['execute'] = async (command) => {
          stop();
          await new Promise<void>((wakes) => (goOn = wakes));
          return writer.execute(command);
        };
        done = payments({ store, writer: { ...writer, execute } }).sellCredits(sale('t', 1000, 'p1'));
      });
      await stopped;
      let looks = 0;
      const torn: EventStore = {
        ...store,
        read: (stream, options) => {
          if (stream === claimOf('p1')) looks += 1;
          if (stream === claimOf('p1') && looks === 2) throw new Error('the log is away');
          return store.read(stream, options);
        },
      };
      const other = payments({ store: torn, writer: accountWriter({ store }) });
      await other.finishClaim(claimOf('p1'), LATE).catch(() => undefined);
      expect(await types(claimOf('p1'))).to.deep.equal(['PaymentClaimed', 'PaymentReleased']);
      goOn();
      expect((await done)?.outcome.kind).to.equal('done');
      expect((await types(claimOf('p1'))).at(-1)).to.equal('PaymentClaimed');
      const found = await claimFindings(store, [accountStream('t'), claimOf('p1')]);
      expect(found).to.deep.equal([]);
    });

    it('is claimed and recorded as of now, however long its request stood still, never before its claim', async () => {
      const { store, writer } = setUp();
      const before = '2026-01-31T07:00:00.000Z';
      const times = [LATE, LATE, LATE, before];
      const pay = payments({ store, writer, clock: { now: () => times.shift()! } });
      await pay.sellCredits(sale('t', 1000, 'p1'));
      await pay.sellCredits(sale('t', 1000, 'p2'));
      const recorded = async (stream: string, which: string) =>
        (await eventsOf(store, stream))
          .filter(({ type }) => type === which)
          .map(({ metadata }) => metadata['recorded_at']);
      for (const claim of ['p1', 'p2'])
        expect(await recorded(claimOf(claim), 'PaymentClaimed'), claim).to.deep.equal([LATE]);
      expect(await recorded(accountStream('t'), 'CreditsGranted')).to.deep.equal([LATE, LATE]);
    });

    it('frees a claim whose command fails in the account, and says so', async () => {
      const { store, writer, types } = setUp();
      const failing = { ...writer, execute: () => Promise.reject(new Error('a defect')) };
      const failed = payments({ store, writer: failing }).sellCredits(sale('t', 1000, 'p1'));
      expect(String(await failed.catch((error: unknown) => error))).to.contain('a defect');
      expect(await types(claimOf('p1'))).to.deep.equal(['PaymentClaimed', 'PaymentReleased']);
    });

    for (const version of [1, 2])
      it(`finishes the golden claims of version ${version}: a sale and its refund`, async () => {
        const { store, writer, pay } = setUp();
        const finishing = { sale: '2026-01-31T07:00:00.000Z', refund: LATE };
        for (const [kind, now] of Object.entries(finishing)) {
          const event = golden(`claims/${kind}.v${version}.json`);
          await restored(store, event);
          expect((await pay.finishClaim(event.stream, now))?.kind, kind).to.equal('done');
        }
        const state = await writer.stateOf('acme', 0);
        expect(state.balance).to.equal(10870 - 5435);
        expect([...allKept(state.sales)][0]).to.deep.include({ refunded_vat_minor: 95 });
      });

    it('finishes the golden claim of a reversal', async () => {
      const { store, writer, pay } = setUp();
      for (const kind of ['sale', 'refund', 'reversal']) {
        const event = golden(`claims/${kind}.v2.json`);
        await restored(store, event);
        expect((await pay.finishClaim(event.stream, LATE))?.kind, kind).to.equal('done');
      }
      expect((await writer.stateOf('acme', 0)).balance).to.equal(10870);
    });

    it('leaves the golden claim whose command is not whole to an operator, or to a retry', async () => {
      const { store, writer, pay, types } = setUp();
      const event = golden('PaymentClaimed.v1.json');
      await restored(store, event);
      expect(await pay.finishClaim(event.stream, LATE)).to.deep.equal({ kind: 'stuck', why: 'unreadable' });
      const meta = { ...metaOf(randomUUID()), now: LATE };
      const released = await pay.releaseClaim(event.stream, { reason: 'paid back by hand', meta });
      expect(released.kind).to.equal('released');
      const [, freed] = await eventsOf(store, event.stream);
      expect(freed?.data).to.deep.include({ reason: 'paid back by hand', released_by: 'operator' });
      const { provider, provider_txn_id } = event.data as { provider: string; provider_txn_id: string };
      const again = sale('acme', 1000, provider_txn_id);
      const data = { ...again.data, provider };
      expect((await pay.sellCredits({ ...again, data })).credited).to.equal(true);
      expect((await writer.stateOf('acme', 0)).balance).to.equal(1000);
      expect(await types(paymentStream(data))).to.deep.equal(['PaymentClaimed']);
    });

    it('finishes no claim of version 1 that an account may have refused since', async () => {
      const { store, writer, pay } = setUp();
      await filled(writer, 'acme');
      const rest = Number.MAX_SAFE_INTEGER - FULL * MOVEMENT_MAX - 1000;
      await writer.execute(adjustment('acme', MOVEMENT_MAX));
      await writer.execute(adjustment('acme', rest - MOVEMENT_MAX));
      const event = golden('claims/sale.v1.json');
      await restored(store, event);
      await writer.execute(adjustment('acme', -MOVEMENT_MAX));
      expect(await pay.finishClaim(event.stream, LATE)).to.deep.equal({
        kind: 'stuck',
        why: 'may_have_been_refused',
      });
      expect((await writer.stateOf('acme', 0)).balance).to.equal(FULL * MOVEMENT_MAX + rest - MOVEMENT_MAX);
    });

    it('frees nothing that took effect, nor what may still be under way', async () => {
      const { store, writer, pay, types } = setUp();
      await pay.sellCredits(sale('t', 1000, 'p1'));
      const given = (now: string) => ({ reason: 'x', meta: { ...metaOf(), now } });
      expect(await pay.releaseClaim(claimOf('p1'), given(LATE))).to.deep.equal({ kind: 'took_effect' });
      await claimAndDie(store, writer, sale('t', 1000, 'p2'));
      expect(await pay.releaseClaim(claimOf('p2'), given(NOW))).to.deep.equal({ kind: 'young' });
      expect(await pay.releaseClaim(claimOf('p3'), given(LATE))).to.deep.equal({ kind: 'none' });
      for (const txn of ['p1', 'p2']) expect(await types(claimOf(txn))).to.deep.equal(['PaymentClaimed']);
    });
  });

describe('a refusal whose release is not written', () => {
  it('is no refusal: the caller asks again, and may be given what it wants', async () => {
    const store = memoryEventStore();
    const writer = accountWriter({ store });
    const options = { deadlineMs: 400 };
    const pay = payments({ store, writer, options });
    await pay.sellCredits(sale('t', 1000, 'p1'));
    const late: AccountWriter = {
      ...writer,
      execute: async (command) => {
        await writer.execute(charge('t', 600, 'in between'));
        const outcome = await writer.execute(command);
        store.script.push('silence', 'silence', 'silence', 'silence');
        return outcome;
      },
    };
    const ids = { txn: 're', original: 'p1' };
    const refused = await payments({ store, writer: late, options }).refundCredits(refund('t', 1000, ids));
    expect(codeOf(refused)).to.equal('unknown');
    store.script.length = 0;
    await writer.execute(adjustment('t', 600));
    await pay.finishClaim(claimOf('re'), LATE);
    expect((await writer.stateOf('t', 0)).balance).to.equal(0);
  });
});
