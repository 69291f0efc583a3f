import { expect } from 'chai';
import { topUpStream, type TopUpKind } from '../../domain/topUp.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { auditedEvent } from '../../src/audit/auditedEvent.ts';
import { findingsKept } from '../../src/audit/findings.ts';
import { topUpsCheck } from '../../src/audit/topUps.ts';
import { topUpCommands } from '../../src/commands/apiKeys.ts';
import { eventsOf } from '../support/logs/eventLogs.ts';
import { memoryEventStore } from '../support/logs/memoryEventStore.ts';

type Wanted = Partial<TopUpKind['command']['data']>;

const PLAIN = {
  tenant_id: 'acme',
  active: true,
  threshold_credits: 1_000,
  credits: 5_000,
  currency: 'USD',

  monthly_credits_max: 20_000,
  payer: null,
  payment_method: null,
  consented_at: null,
} as const;
const ADMIN = { key_id: 'key_admin', role: 'admin' } as const;
const OWN = { key_id: 'key_own', role: 'tenant' } as const;

/** A consent that its tenant changes and takes back, and that an admin gives again, with another payer. */
const STORY: readonly (readonly [typeof ADMIN | typeof OWN, Wanted])[] = [
  [ADMIN, { payer: 'cus_1', payment_method: 'pm_1' }],
  [OWN, { credits: 6_000 }],
  [OWN, { credits: 6_000, active: false }],
  [ADMIN, { credits: 6_000, payer: 'cus_2', payment_method: 'pm_2' }],
];

const foundIn = (events: readonly RecordedEvent[]): readonly string[] => {
  const findings = findingsKept(100);
  const check = topUpsCheck({ findings });
  for (const event of events) check(auditedEvent(event, decodeAny(event)));
  return findings.result().findings.map(({ message }) => message);
};

describe('the audit of consents to top-ups', () => {
  let events: readonly RecordedEvent[];

  before(async () => {
    const store = memoryEventStore();
    const commands = topUpCommands(store);
    for (const [n, [actor, wanted]] of STORY.entries()) {
      const command_id = `2f1c6f0e-7a8b-4c8d-9e10-${String(n).padStart(12, '0')}`;
      const meta = { now: '2026-01-31T08:00:00.000Z', actor, correlation_id: 'r', command_id };
      const data = { ...PLAIN, ...wanted, mayNamePayer: actor.role === 'admin' };
      expect((await commands.set(data, meta)).kind).to.equal('done');
    }
    events = await eventsOf(store, topUpStream('acme'));
  });

  const changed = (nth: number, data: JsonObject): readonly RecordedEvent[] =>
    events.map((event, n) => (n === nth ? { ...event, data: { ...event.data, ...data } } : event));
  /** The nth, as if the tenant's own key had set it. */
  const byTenant = (nth: number): readonly RecordedEvent[] =>
    changed(nth, { updated_by: OWN.key_id }).map((event, n) =>
      n === nth ? { ...event, metadata: { ...event.metadata, actor: OWN } } : event,
    );

  it('finds nothing in what the service wrote', () => {
    expect(events).to.have.length(STORY.length);
    expect(foundIn(events)).to.deep.equal([]);
  });

  const forged: Readonly<Record<string, readonly [() => readonly RecordedEvent[], RegExp]>> = {
    'a first consent that no admin gave': [() => byTenant(0), /first consent of the tenant, and no admin/],
    'a payer that the tenant names': [
      () => changed(1, { payer: 'cus_9' }),
      /names another payer, and no admin/,
    ],
    'a card that the tenant names': [() => changed(1, { payment_method: 'pm_9' }), /another way to pay/],
    'a consent that the tenant gives again once it was taken back': [
      () => [...events.slice(0, 3), { ...events[1]!, revision: 3n }],
      /gives a consent again that was taken back/,
    ],
    'a withdrawal that is left out': [
      () => [...events.slice(0, 2), { ...events[1]!, revision: 2n }],
      /says what was set already/,
    ],
    'one by another than it says': [() => changed(1, { updated_by: 'key_admin' }), /Another set it/],
    'one above its own maximum': [() => changed(1, { credits: 20_001 }), /more at a time than in a month/],
  };
  for (const [name, [make, sentence]] of Object.entries(forged))
    it(`finds ${name}`, () => {
      const found = foundIn(make());
      expect(
        found.some((one) => sentence.test(one)),
        JSON.stringify(found),
      ).to.equal(true);
    });
});
