import { expect } from 'chai';
import { topUpStream } from '../../domain/topUp.ts';
import { erasureCodec, erasures, ERASURES_STREAM } from '../../domain/erasure.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import {
  scopeNameOf,
  tenantNameOf,
  tokenOf,
  withoutTexts,
  withWritten,
} from '../../domain/eventLog/writtenText.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { auditedEvent } from '../../src/audit/auditedEvent.ts';
import { findingsKept } from '../../src/audit/findings.ts';
import { topUpsCheck } from '../../src/audit/topUps.ts';
import { type TopUpCommand, topUpCommands } from '../../src/commands/apiKeys.ts';
import { commandHandler } from '../../src/writer/commandHandler.ts';
import { eventsOf } from '../support/logs/eventLogs.ts';
import { memoryEventStore } from '../support/logs/memoryEventStore.ts';

type Wanted = Partial<TopUpCommand>;
type Told = Parameters<ReturnType<typeof topUpCommands>['tell']>[0];

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

/** The only payment of a sale. */
const SOLD = 'stripe pi_sold';

const TRIED = {
  tenant_id: 'acme',
  outcome: 'needs_a_person',
  provider: null,
  provider_txn_id: null,
  reason: 'resource_missing',
  attempted_at: '2026-01-31T08:00:00.000Z',
  next_attempt_at: null,
} as const;
const PAID = {
  ...TRIED,
  outcome: 'charged',
  provider: 'stripe',
  provider_txn_id: 'pi_sold',
  reason: null,
} as const;

const foundIn = (events: readonly RecordedEvent[]): readonly string[] => {
  const findings = findingsKept(100);
  const check = topUpsCheck({ findings }, ({ provider, provider_txn_id }) =>
    `${provider} ${provider_txn_id}` === SOLD ? 'acme' : undefined,
  );
  for (const event of events) check(auditedEvent(event, decodeAny(event)));
  return findings.result().findings.map(({ message }) => message);
};

/** Puts into the place of a text what the vault of the tenant would. */
const tokenFor =
  ({ stream }: RecordedEvent) =>
  (text: string): string =>
    tokenOf({ tenant: tenantNameOf('acme'), scope: scopeNameOf(stream), text: sha256(text).slice(0, 32) });

describe('the audit of consents to top-ups', () => {
  /** With texts, and with tokens in their place. */
  let events: readonly RecordedEvent[];
  let sealed: readonly RecordedEvent[];

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
    sealed = events.map((event) => ({
      ...event,
      data: withWritten(event.type, event.data, tokenFor(event)),
    }));
  });

  const changed = (nth: number, data: JsonObject, from = events): readonly RecordedEvent[] =>
    from.map((event, n) => (n === nth ? { ...event, data: { ...event.data, ...data } } : event));
  /** The first events as an earlier release wrote them: with texts. */
  const plain = (count: number): readonly RecordedEvent[] => [
    ...events.slice(0, count),
    ...sealed.slice(count),
  ];
  /** The nth, as if the tenant's own key had set it. */
  const byTenant = (nth: number): readonly RecordedEvent[] =>
    changed(nth, { updated_by: OWN.key_id }).map((event, n) =>
      n === nth ? { ...event, metadata: { ...event.metadata, actor: OWN } } : event,
    );

  it('finds nothing in what the service wrote', () => {
    expect(events).to.have.length(STORY.length);
    expect(foundIn(events)).to.deep.equal([]);
    expect(foundIn(sealed)).to.deep.equal([]);
  });

  it('finds nothing where an earlier release wrote who pays as text, moved into the vault or not', () => {
    for (const count of [1, 2, 3, 4]) {
      const old = plain(count);
      const moved = old.map((event) => ({ ...event, ...withoutTexts(event) }));
      expect(foundIn(old)).to.deep.equal([]);
      expect(foundIn(moved)).to.deep.equal([]);
    }
  });

  describe('and of what was tried', () => {
    const meta = (n: number, actor: typeof ADMIN | typeof OWN = ADMIN) => ({
      now: '2026-01-31T08:00:00.000Z',
      actor,
      correlation_id: 'r',
      command_id: `3f1c6f0e-7a8b-4c8d-9e10-${String(n).padStart(12, '0')}`,
    });
    /** What is in the log after a consent, these attempts and consents, and an erasure between where it is. */
    const story = async (steps: readonly (Told | Wanted | 'erased')[]) => {
      const store = memoryEventStore();
      const commands = topUpCommands(store);
      const erase = commandHandler({
        decider: erasures,
        codec: erasureCodec,
        store,
        tenantOf: ({ data }) => data.tenant_id,
      });
      const wanted = { ...PLAIN, payer: 'cus_1', payment_method: 'pm_1', mayNamePayer: true };
      await commands.set(wanted, meta(0));
      for (const [n, step] of steps.entries())
        if (step === 'erased')
          await erase(ERASURES_STREAM, {
            type: 'EraseTenant',
            data: { tenant_id: 'acme' },
            meta: meta(n + 1),
          });
        else if ('outcome' in step) expect((await commands.tell(step, meta(n + 1))).kind).to.equal('done');
        else expect((await commands.set({ ...wanted, ...step }, meta(n + 1))).kind).to.equal('done');
      return [...store.streams.values()].flat().sort((a, b) => Number(a.position - b.position));
    };

    it('finds nothing in what the service wrote', async () => {
      const events = await story([
        TRIED,
        { ...TRIED, reason: 'amount_too_small' },
        { ...PAID, attempted_at: '2026-01-31T07:56:00.000Z' },
        { credits: 6_000 },
        TRIED,
        'erased',
        TRIED,
      ]);
      expect(events.filter(({ type }) => type === 'TopUpTried')).to.have.length(5);
      expect(foundIn(events)).to.deep.equal([]);
    });
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
    'another payer, as text after a token': [
      () => changed(1, { payer: 'cus_9' }, sealed),
      /names another payer/,
    ],
    'one that does not say who set it': [
      () => events.map((event) => ({ ...event, metadata: { ...event.metadata, actor: null } })),
      /no admin set it/,
    ],
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
