import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { paymentStream } from '../../domain/account/messages.ts';
import { payment, paymentCodec } from '../../domain/payment.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { runAudit } from '../../src/audit/runAudit.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { commandHandler } from '../../src/writer/commandHandler.ts';
import { adjustment } from '../support/money/accountCommands.ts';
import { LOGS } from '../support/logs/eventLogs.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { memorySnapshots } from '../support/logs/memorySnapshots.ts';
import { auditAfter } from './tampering.ts';
import { history } from './auditedHistory.ts';

const START = Date.parse('2026-01-31T08:00:00.000Z');
const MINUTE_MS = 60_000;

const at = (minutes: number): string => new Date(START + minutes * MINUTE_MS).toISOString();

const adjusted = (tenant: string, minutes: number) => {
  const command = adjustment(tenant, 100, randomUUID());
  return { ...command, meta: { ...command.meta, now: at(minutes), command_id: randomUUID() } };
};

const recordedIn = async (store: EventStore, stream: string): Promise<readonly string[]> => {
  const times: string[] = [];
  for await (const { metadata } of store.read(stream)) times.push(metadata['recorded_at'] as string);
  return times;
};

/** A payment that is claimed at the beginning, and neither booked nor released. */
const claimedIn = async (store: EventStore): Promise<void> => {
  const identity = { provider: 'stripe', provider_txn_id: 'left' };
  const handle = commandHandler({ decider: payment, codec: paymentCodec, store, tenantOf: () => 't' });
  const intent = { type: 'Unreadable', stored: {} } as const;
  const data = { ...identity, tenant_id: 't', kind: 'sale', fingerprint: 'f', intent } as const;
  await handle(paymentStream(identity), { type: 'ClaimPayment', data, meta: adjusted('t', 0).meta });
};

type Adjustments = readonly (readonly [tenant: string, minutes: number])[];

/** The audit of an embedded log, after some adjustments of tenants at these minutes, by one process. */
const reportAfter = async (adjustments: Adjustments, before?: (store: EventStore) => Promise<void>) => {
  const folder = tempFolder();
  const store = openSqliteEventLog({ path: `${folder.path}/events.db` });
  try {
    await before?.(store);
    const writer = accountWriter({ store });
    for (const adjustment of adjustments) await writer.execute(adjusted(...adjustment));
    await writer.close();
    return (await runAudit({ feed: store, dense: true })).report;
  } finally {
    await store.close();
    folder.remove();
  }
};

const findingsAfter = async (adjustments: Parameters<typeof reportAfter>[0]) =>
  (await reportAfter(adjustments)).findings;

describe('a clock that is set back', () => {
  for (const { name, open } of LOGS)
    it(`by 20 minutes between two adjustments records neither in the past (${name})`, async () => {
      const log = await open();
      const writer = accountWriter({ store: log.store });
      for (const minutes of [0, 30, 10]) await writer.execute(adjusted('t', minutes));
      await writer.close();
      const times = [0, 0, 30, 30].map(at);
      expect(await recordedIn(log.store, 'account-t')).to.deep.equal(times);
      await log.dispose();
    });

  it('leaves an audit that finds nothing', async () => {
    const minutes = [0, 30, 10].map((minute) => ['t', minute] as const);
    expect(await findingsAfter(minutes)).to.deep.equal([]);
  });

  it('by days is named, though every stream goes on forward', async () => {
    const minutes = [['a', 0] as const, ...['b', 'c', 'd'].map((one) => [one, -3 * 24 * 60] as const)];
    const { findings, notes } = await reportAfter(minutes);
    expect(findings).to.deep.equal([]);
    expect(notes.join()).to.match(/A clock was set back by 4320 minutes at position \d+: up to position \d+/);
  });

  it('is known to a process that has just started, by the log and by a snapshot', async () => {
    const log = await LOGS[0]!.open();
    const snapshots = memorySnapshots();
    for (const [minutes, kept] of [
      [30, undefined],
      [10, undefined],
      [40, snapshots],
      [5, snapshots],
    ] as const) {
      const writer = accountWriter({
        store: log.store,
        ...(kept && { snapshots: kept, snapshotEveryEvents: 1 }),
      });
      await writer.execute(adjusted('t', minutes));
      await writer.close();
    }
    expect(await recordedIn(log.store, 'account-t')).to.deep.equal([30, 30, 30, 40, 40].map(at));
    await log.dispose();
  });

  it('however often, never records an event before its predecessor', async () => {
    const walks = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: -90, max: 90 })), {
      minLength: 1,
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(walks, async (steps) => {
        let now = 0;
        const findings = await findingsAfter(steps.map(([tenant, by]) => [tenant, (now += by)] as const));
        expect(findings).to.deep.equal([]);
      }),
      { numRuns: 30 },
    );
  });
});

describe('the audit of a log in which the service stood still', () => {
  const auditAt = (...minutes: readonly number[]) =>
    reportAfter(
      minutes.map((minute) => ['t', minute] as const),
      claimedIn,
    );

  for (const minutes of [[0], [4], [600], [600, 604]])
    it(`gives it time to settle what was open before (adjustments at minutes ${minutes.join(', ')})`, async () => {
      const { findings, notes } = await auditAt(...minutes);
      expect(findings).to.deep.equal([]);
      expect(notes.join()).to.contain('has no effect yet');
    });

  for (const minutes of [
    [4, 8],
    [600, 604, 608],
    [600, 1200],
    [600, 604, 1200],
  ])
    it(`finds what is open when that is over (adjustments at minutes ${minutes.join(', ')})`, async () => {
      const { findings } = await auditAt(...minutes);
      expect(findings.map(({ check }) => check)).to.deep.equal(['claim']);
    });
});

describe('the audit of a log in which a clock was set back', () => {
  before(async () => {
    await history();
  });

  it('notes it, and finds nothing wrong', async () => {
    const { report } = await auditAfter((intruder) => {
      const events = intruder.all('1 = 1 order by position');
      const from = events[Math.floor(events.length / 2)]!.position;
      const streams = new Set<string>();
      for (const { position, stream, data, metadata } of events) {
        if (position < from) continue;
        // Everything that says when it was written or done is 20 minutes earlier.
        const earlier = (text: string) =>
          text.replaceAll(/"(20\d\d-[01]\d-[0-3]\dT[^"]{9,14}Z)"/g, (_, time: string) =>
            JSON.stringify(new Date(Date.parse(time) - 20 * MINUTE_MS).toISOString()),
          );
        const after = [earlier(data), earlier(metadata)] as const;
        intruder.run('update events set data = ?, metadata = ? where position = ?', ...after, position);
        streams.add(stream);
      }
      for (const stream of streams) intruder.rechain(stream);
    });
    expect(report.findings.map(({ check, message }) => `${check}: ${message}`)).to.deep.equal([]);
    expect(report.notes.join('\n')).to.contain('A clock was set back by 20 minutes');
  });
});
