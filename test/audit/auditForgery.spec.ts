import { expect } from 'chai';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { topUpStream } from '../../domain/topUp.ts';
import { sealOf } from '../../src/audit/chains.ts';
import type { Check } from '../../src/audit/findings.ts';
import { history, RICH } from './auditedHistory.ts';
import { about, dataOf, expectFound } from './found.ts';
import { auditAfter, type Intruder, type StoredEvent } from './tampering.ts';

const ACCOUNT = `account-${RICH}`;
const MADE_AT = '2026-02-01T00:00:00.000Z';

describe('the audit of forged events in a chain that holds', () => {
  before(async () => {
    await history();
  });

  const forged = (type: string, change: (data: JsonObject, balance: number) => JsonObject) =>
    auditAfter(({ forge, all }) => {
      const events = all(`stream = '${ACCOUNT}' order by revision`);
      const model = events.filter((event) => event.type === type).at(-1)!;
      const balance = Number(
        dataOf(events.filter(({ data }) => data.includes('"balance_after"')).at(-1)!)['balance_after'],
      );
      forge(ACCOUNT, type, change(dataOf(model), balance));
    });
  const end = { stream: ACCOUNT };

  const cases: readonly [string, Check, string, (data: JsonObject, balance: number) => JsonObject][] = [
    [
      'a burn of a hold that was settled before',
      'hold',
      'CreditsBurned',
      (data, balance) => ({
        ...data,
        hold_id: 'hold_none',
        balance_after: balance - Number(data['credits']),
      }),
    ],
    [
      'a burn without a hold or a key',
      'hold',
      'CreditsBurned',
      (data, balance) => ({
        ...data,
        operation: 'extract',
        hold_id: null,
        idempotency_key: null,
        balance_after: balance - Number(data['credits']),
      }),
    ],
    [
      'an operation that is billed twice',
      'identity',
      'CreditsBurned',
      (data, balance) => ({ ...data, hold_id: 'hold_x', balance_after: balance - Number(data['credits']) }),
    ],
    [
      'a balance that does not follow',
      'balance',
      'CreditsAdjusted',
      (data, balance) => ({ ...data, balance_after: balance }),
    ],
    [
      'a clawback of more than there is',
      'available',
      'CreditsAdjusted',
      (data, balance) => ({ ...data, credits: -balance - 1, balance_after: -1 }),
    ],
    [
      'a hold at another rate',
      'rate',
      'CreditsHeld',
      (data) => ({
        ...data,
        hold_id: 'hold_y',
        operation_id: 'ext_y',
        credits_per_page: 1,
        credits: 1,
        pages: 1,
        free_pages: 0,
      }),
    ],
    [
      'free pages beyond the allowance',
      'available',
      'CreditsHeld',
      (data) => ({
        ...data,
        hold_id: 'hold_y',
        operation_id: 'ext_y',
        pages: 40,
        free_pages: 40,
        credits: 0,
      }),
    ],
    [
      'a sale that nobody claimed',
      'claim',
      'CreditsGranted',
      (data, balance) => ({
        ...data,
        grant_id: 'grt_x',
        provider_txn_id: 'x',
        balance_after: balance + Number(data['credits']),
      }),
    ],
    [
      'a sale that takes effect twice',
      'identity',
      'CreditsGranted',
      (data, balance) => ({ ...data, balance_after: balance + Number(data['credits']) }),
    ],
    [
      'a sale at another price',
      'price',
      'CreditsGranted',
      (data, balance) => ({
        ...data,
        credits: 9_000,
        gross_amount_minor: 1,
        balance_after: balance + 9_000,
      }),
    ],
    [
      'a sale by a price list that does not exist',
      'price',
      'CreditsGranted',
      (data, balance) => ({
        ...data,
        price_list_version: 9,
        balance_after: balance + Number(data['credits']),
      }),
    ],
    [
      'a sale at another exchange rate',
      'fx',
      'CreditsGranted',
      (data, balance) => ({
        ...data,
        fx_rate_to_usd: '2',
        balance_after: balance + Number(data['credits']),
      }),
    ],
    [
      'a sale that happened tomorrow',
      'time',
      'CreditsGranted',
      (data, balance) => ({
        ...data,
        occurred_at: '2999-01-01T00:00:00.000Z',
        balance_after: balance + Number(data['credits']),
      }),
    ],
    [
      'a refund of more money than was paid',
      'refund',
      'CreditsRefunded',
      (data, balance) => ({ ...data, credits: 0, gross_amount_minor: 5_000, balance_after: balance }),
    ],
    [
      'a refund of a sale that does not exist',
      'refund',
      'CreditsRefunded',
      (data, balance) => ({ ...data, credits: 0, grant_id: 'grt_none', balance_after: balance }),
    ],
    [
      'a reversal of more than was refunded',
      'refund',
      'RefundReversed',
      (data, balance) => ({ ...data, credits: 0, gross_amount_minor: 5_000, balance_after: balance }),
    ],
    [
      'a reversal of a refund that does not exist',
      'refund',
      'RefundReversed',
      (data, balance) => ({ ...data, credits: 0, refund_id: 'rfd_none', balance_after: balance }),
    ],
    [
      'news of a dispute that had ended',
      'refund',
      'DisputeChanged',
      (data) => ({ ...data, status: 'won', previous_status: 'lost' }),
    ],
    [
      'a second fee of a dispute',
      'refund',
      'DisputeChanged',
      (data) => ({
        ...data,
        status: 'lost',
        previous_status: 'lost',
        previous_fee_minor: 1_500,
        fee_minor: 1,
      }),
    ],
    [
      'a dispute that was never opened',
      'refund',
      'DisputeChanged',
      (data) => ({ ...data, refund_id: 'dsp_none' }),
    ],
    [
      'a dispute that is won a second time',
      'refund',
      'RefundReversed',
      (data, balance) => ({
        ...data,
        dispute: true,
        reversal_id: 'rev_2',
        credits: 0,
        balance_after: balance,
      }),
    ],
    [
      'credits that nobody sent',
      'transfer',
      'CreditsTransferredIn',
      (data, balance) => ({
        ...data,
        transfer_id: 'trf_none',
        balance_after: balance + Number(data['credits']),
      }),
    ],
    [
      'a transfer that arrives twice',
      'transfer',
      'CreditsTransferredIn',
      (data, balance) => ({ ...data, balance_after: balance + Number(data['credits']) }),
    ],
    [
      'a transfer that is sent twice',
      'transfer',
      'CreditsTransferredOut',
      (data, balance) => ({ ...data, idempotency_key: 'again', credits: 1, balance_after: balance - 1 }),
    ],
    [
      'credits that left and did not arrive',
      'transfer',
      'CreditsTransferredOut',
      (data, balance) => ({
        ...data,
        transfer_id: 'trf_lost',
        idempotency_key: 'lost',
        credits: 1,
        balance_after: balance - 1,
        created_at: MADE_AT,
      }),
    ],
    ['a plan that does not follow', 'owner', 'PlanSet', (data) => ({ ...data, previous_plan: 'enterprise' })],
  ];
  for (const [name, check, type, change] of cases)
    it(`finds ${name}`, async () => {
      const { report } = await forged(type, change);
      expect(about(report, 'chain', {})).to.be.empty;
      expectFound(report, check, end);
    });

  const toldLater = (type: string, change: (sale: JsonObject) => JsonObject) =>
    auditAfter(({ forge, all }) => {
      const [sold] = all(
        `stream = '${ACCOUNT}' and type = 'CreditsGranted' and data like '%"gross_amount_minor":1%' order by revision`,
      );
      forge(ACCOUNT, type, { created_at: MADE_AT, ...change(dataOf(sold!)) });
    });

  const rateOf = (sale: JsonObject) => ({
    grant_id: sale['grant_id'] ?? '',
    fx_rate_to_usd: '9',
    fx_rate_date: sale['fx_rate_date'] ?? null,
    previous_rate_date: sale['fx_rate_date'] ?? null,
    price_per_1000_credits: sale['price_per_1000_credits'] ?? '',
    sale_occurred_at: sale['occurred_at'] ?? '',
  });

  const facts: readonly [string, Check, string, (sale: JsonObject) => JsonObject][] = [
    [
      'facts of what was not sold',
      'agreement',
      'SaleDetailsAdded',
      () => ({ grant_id: 'grt_none', details: { payout_id: 'po_1' } }),
    ],
    [
      'a fee above what was paid',
      'agreement',
      'SaleDetailsAdded',
      ({ grant_id = '' }) => ({ grant_id, details: { provider_fee_minor: 999_999_999 } }),
    ],
    [
      'facts that say nothing',
      'agreement',
      'SaleDetailsAdded',
      ({ grant_id = '' }) => ({ grant_id, details: {} }),
    ],
    [
      'a rate that replaces another one without a reason',
      'fx',
      'SaleRateBooked',
      (sale) => ({ ...rateOf(sale), previous_rate: sale['fx_rate_to_usd'] ?? null, reason: null }),
    ],
    [
      'a correction of a rate that was not booked',
      'fx',
      'SaleRateBooked',
      (sale) => ({ ...rateOf(sale), previous_rate: '7', reason: 'mistyped' }),
    ],
  ];
  for (const [name, check, type, change] of facts)
    it(`finds ${name}`, async () => {
      const { report } = await toldLater(type, change);
      expectFound(report, check, end);
    });

  it('finds work that was delivered and not billed', async () => {
    let stream = '';
    const { report } = await auditAfter(({ all, forge, first }) => {
      const asked = all(`type = 'ExtractionRequested' order by position desc limit 1`)[0]!;
      ({ stream } = first('ExtractionFailed'));
      const done = { status: 'success', pages: 1, free_pages: 0, duration_ms: 1, completed_at: MADE_AT };
      const { tenant_id } = dataOf(asked) as { tenant_id: string };
      forge(stream, 'ExtractionCompleted', {
        extraction_id: stream.slice('extraction-'.length),
        tenant_id,
        ...done,
      });
    });
    expectFound(report, 'work', { stream });
  });

  it('finds a stream whose time of recording runs backwards, beyond what commands wait', async () => {
    const forged = (back_ms: number) =>
      auditAfter(({ last, forgeAs }) => {
        const { stream, metadata } = last(`account-${RICH}`);
        const { recorded_at } = JSON.parse(metadata) as { recorded_at: string };
        const at = new Date(Date.parse(recorded_at) - back_ms).toISOString();
        const plan = { plan: 'paid', previous_plan: 'paid', reason: null, set_at: at };
        forgeAs(stream, { type: 'PlanSet', data: plan, recorded_at: at });
      });
    const { report } = await forged(3_600_000);
    expect(about(report, 'time', { stream: `account-${RICH}` })).to.have.length(1);
    for (const back_ms of [60_000, 11 * 60_000])
      expect(about((await forged(back_ms)).report, 'time', {})).to.deep.equal([]);
  });

  describe('of what was tried by a consent to top-ups', () => {
    const stream = topUpStream(RICH);
    const declined = (told: JsonObject, said: JsonObject): JsonObject => ({
      tenant_id: RICH,
      outcome: 'declined',
      provider: 'stripe',
      provider_txn_id: 'pi_declined',
      reason: 'insufficient_funds',
      attempted_at: said['updated_at'] ?? '',
      next_attempt_at: null,
      told_at: said['updated_at'] ?? '',
      told_by: said['updated_by'] ?? '',
      ...told,
    });
    /** A decline and a charge by the consent, as the process that charges tells them; then what `tamper` does. */
    const tried = (tamper: (intruder: Intruder, events: readonly StoredEvent[]) => void, request = {}) =>
      auditAfter((intruder) => {
        const { all, last, forgeAs } = intruder;
        const consent = dataOf(last(stream));
        const [sold] = all(
          `stream = '${ACCOUNT}' and type = 'CreditsGranted' and data like '%"stripe"%' limit 1`,
        );
        const { provider_txn_id = '' } = dataOf(sold!);
        const charged = { outcome: 'charged', provider_txn_id, reason: null };
        for (const told of [{}, charged])
          forgeAs(stream, { type: 'TopUpTried', data: declined(told, consent), schema_version: 1 });
        tamper(intruder, all(`stream = '${stream}' and type = 'TopUpTried' order by revision`));
      }, request);
    const edited = (nth: 0 | 1, members: JsonObject) =>
      tried(({ run, rechain }, events) => {
        const data = JSON.stringify({ ...dataOf(events[nth]!), ...members });
        run('update events set data = ? where position = ?', data, events[nth]!.position);
        rechain(stream);
      });

    it('finds nothing where nothing was forged', async () => {
      const { report } = await tried(() => undefined);
      expect(report.findings).to.deep.equal([]);
    });

    const changes: readonly [string, () => ReturnType<typeof tried>][] = [
      ['a charge that bought nothing', () => edited(0, { outcome: 'charged' })],
      ['another payment than the one that bought', () => edited(1, { provider_txn_id: 'pi_other' })],
      ['an attempt that is older than the one before', () => edited(1, { attempted_at: MADE_AT })],
      ['one that another told', () => edited(0, { told_by: 'key_other' })],
      [
        'one that is told twice',
        () => tried(({ forge }, events) => forge(stream, 'TopUpTried', dataOf(events[1]!))),
      ],
    ];
    for (const [name, make] of changes)
      it(`finds ${name}`, async () => {
        const { report } = await make();
        expect(about(report, 'chain', {})).to.be.empty;
        expectFound(report, 'consent', { stream });
      });

    it('finds one that is taken out', async () => {
      const { report } = await tried(({ run }, events) =>
        run('delete from events where position = ?', events[0]!.position),
      );
      expectFound(report, 'chain', { stream });
    });

    it('finds an attempt in the stream of another tenant, also in its name', async () => {
      const other = topUpStream('nobody');
      const moved = (members: JsonObject) =>
        tried(({ run, rechain }, events) => {
          const { position } = events[1]!;
          const data = JSON.stringify({ ...dataOf(events[1]!), ...members });
          run(
            'update events set stream = ?, revision = 0, data = ? where position = ?',
            other,
            data,
            position,
          );
          rechain(other);
        });
      expectFound((await moved({})).report, 'owner', { stream: other });
      const { report } = await moved({ tenant_id: 'nobody' });
      expectFound(report, 'consent', { stream: other });
    });

    it('needs a seal for a decline that is taken out with the whole file written anew', async () => {
      const { log } = await tried(() => undefined);
      const seals = [{ seal: sealOf(log, MADE_AT), from: 'a file' }];
      const cut = ({ run, rechain }: Intruder, events: readonly StoredEvent[]): void => {
        const [first, second] = events;
        run('delete from events where position = ?', first!.position);
        run(
          'update events set position = ?, revision = ? where position = ?',
          first!.position,
          first!.revision,
          second!.position,
        );
        rechain(stream);
      };
      expect((await tried(cut)).report.findings).to.deep.equal([]);
      const { report } = await tried(cut, { seals });
      expect(report.findings.map(({ check }) => check)).to.include('seal');
    });
  });

  describe('of payments', () => {
    const OLD = '2026-01-01T00:00:00.000Z';
    const claims = (change: (claim: JsonObject) => JsonObject, release: boolean, which: string) =>
      auditAfter(({ all, forgeAs }) => {
        const [event] = all(`type = 'PaymentClaimed' and ${which} order by position desc limit 1`);
        const claim = dataOf(event!) as { provider: string; provider_txn_id: string };
        const { provider, provider_txn_id } = claim;
        const freed = { provider, provider_txn_id, reason: 'busy', released_at: OLD };
        if (release) forgeAs(event!.stream, { type: 'PaymentReleased', data: freed, schema_version: 1 });
        const again = change(claim);
        if (Object.keys(again).length > 0)
          forgeAs(event!.stream, { type: 'PaymentClaimed', data: again, schema_version: 2 });
      });
    const open = `data like '%under way%'`;
    const settled = `data not like '%under way%'`;

    it('finds a claim that has had no effect for long', async () => {
      const { report } = await claims((claim) => ({ ...claim, claimed_at: OLD }), true, open);
      expect(report.findings.map(({ check, message }) => [check, message.includes(OLD)])).to.deep.equal([
        ['claim', true],
      ]);
    });

    it('finds nothing in a claim that was released', async () => {
      const { report } = await claims(() => ({}), true, open);
      expect(report.findings).to.deep.equal([]);
    });

    it('finds a claim that was released although its sale took effect', async () => {
      const { report } = await claims(() => ({}), true, settled);
      expect(about(report, 'claim', {})).to.have.length(1);
    });

    it('notes what an operator released, and why', async () => {
      const { report } = await auditAfter(({ all, forgeAs }) => {
        const [event] = all(`type = 'PaymentClaimed' and ${open} order by position desc limit 1`);
        const { provider, provider_txn_id } = dataOf(event!);
        const freed = { provider, provider_txn_id, reason: 'paid back', released_at: OLD } as JsonObject;
        const data = { ...freed, released_by: 'operator' };
        forgeAs(event!.stream, { type: 'PaymentReleased', data, schema_version: 1 });
      });
      expect(report.findings).to.deep.equal([]);
      expect(report.notes.join()).to.contain('gave up payment under way of stripe').and.contain('paid back');
    });

    it('finds a payment that two tenants claim', async () => {
      const { report } = await claims((claim) => ({ ...claim, tenant_id: 'thief' }), false, settled);
      expectFound(report, 'identity', { found: 'thief' });
      expectFound(report, 'claim', {});
    });

    it('finds a claim in the stream of another payment', async () => {
      const { report } = await claims((claim) => ({ ...claim, provider_txn_id: 'other' }), true, open);
      expectFound(report, 'owner', {});
    });
  });
});
