import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { propertyRuns, prove } from '../../../engine/test/support/properties.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A row of the ledger. */
interface Posted {
  readonly kind: string;
  readonly credits_delta: number;
  readonly balance_after: number;
  readonly created_at: string;
}

interface Day {
  readonly day: string;
  readonly used_credits: number;
  readonly granted_credits: number;
  readonly adjusted_credits: number;
  readonly balance_credits: number | null;
  readonly categories: readonly {
    readonly category: string;
    readonly credits: number;
    readonly operations: number;
  }[];
}

describe('the usage of each day', () => {
  let api: TestApi;
  let tenant: string;
  let first: string;
  before(async () => {
    api = await startApi();
    tenant = `days-${randomUUID()}`;
    first = api.deps.clock.now().slice(0, 10);
    await api.sell(tenant, 20_000);
    await charge('a');
    api.wait(2 * DAY_MS);
    await charge('b');
    await adjust(300);
    api.wait(DAY_MS);
    await adjust(-50);
  });
  after(() => api.stop());

  const chargeOf = (tenant_id: string, idempotency_key: string) =>
    api.call('post', '/v1/billing/dspy-examples-charge', { json: { tenant_id, idempotency_key } });
  const send = (from: string, to_tenant_id: string, credits: number) =>
    api.call('post', `/v1/admin/tenants/${from}/transfer-credits`, {
      json: { to_tenant_id, credits, reason: 'merged' },
      headers: { 'idempotency-key': randomUUID() },
    });
  const charge = (idempotency_key: string) => chargeOf(tenant, idempotency_key);
  const adjust = (credits: number) =>
    api.call('post', `/v1/admin/tenants/${tenant}/adjust-credits`, { json: { credits, reason: 'gift' } });
  const dayAfter = (days: number) => new Date(Date.parse(first) + days * DAY_MS).toISOString().slice(0, 10);
  const read = (query = '') => api.call('get', `/v1/billing/usage-days/${tenant}${query}`);
  const daysOf = async (query = ''): Promise<readonly Day[]> => {
    const { status, body, text } = await read(query);
    expect(status, text).to.equal(200);
    return body['items'] as readonly Day[];
  };

  it('is told by category, with the balance that each day ended on', async () => {
    const days = await daysOf(`?start=${dayAfter(-1)}&end=${dayAfter(3)}`);
    const none = { used_credits: 0, granted_credits: 0, adjusted_credits: 0, categories: [] };
    const training = [{ category: 'training', operations: 1, pages: 0, free_pages: 0, credits: 5_000 }];
    expect(days).to.deep.equal([
      { ...none, day: dayAfter(-1), balance_credits: 0 },
      {
        ...none,
        day: first,
        used_credits: 5_000,
        granted_credits: 20_000,
        balance_credits: 15_000,
        categories: training,
      },
      { ...none, day: dayAfter(1), balance_credits: 15_000 },
      {
        ...none,
        day: dayAfter(2),
        used_credits: 5_000,
        adjusted_credits: 300,
        balance_credits: 10_300,
        categories: training,
      },
      { ...none, day: dayAfter(3), adjusted_credits: -50, balance_credits: 10_250 },
    ]);
  });

  it('ends on the balance, and is of the last thirty days where none are named', async () => {
    const days = await daysOf();
    expect(days).to.have.length(30);
    expect(days.at(-1)?.day).to.equal(dayAfter(3));
    const { body } = await api.call('get', `/v1/billing/balance/${tenant}`);
    expect(days.at(-1)?.balance_credits).to.equal(body['balance_credits']);
  });

  it('says the same of a day that has gone, whatever came after it', async () => {
    const [alone] = await daysOf(`?start=${first}&end=${first}`);
    expect(alone?.balance_credits).to.equal(15_000);
    expect((await daysOf(`?end=${dayAfter(1)}`)).at(-1)?.balance_credits).to.equal(15_000);
  });

  it('keeps every balance equal to that of the day before and what moved', async () => {
    const days = await daysOf(`?start=${dayAfter(-5)}`);
    for (const [index, day] of days.entries()) {
      const before = days[index - 1]?.balance_credits;
      if (before === undefined || before === null) continue;
      const moved = day.granted_credits + day.adjusted_credits - day.used_credits;
      expect(day.balance_credits, day.day).to.equal(before + moved);
      expect(day.categories.reduce((sum, { credits }) => sum + credits, 0)).to.equal(day.used_credits);
    }
  });

  it('tells no balance while the read models stand at different positions', async () => {
    await api.deps.reads.settleAll();
    const [row] = await api.sql.query(
      `select position from projections.registry where serves and name = 'grants'`,
      [],
    );
    const place = (position: unknown) =>
      api.sql.query(`update projections.registry set position = $1 where serves and name = 'grants'`, [
        position as bigint,
      ]);
    await place(1n);
    try {
      const [day] = await daysOf(`?start=${first}&end=${first}`);
      expect(day).to.include({ used_credits: 5_000, balance_credits: null });
    } finally {
      await place(row?.['position']);
    }
  });

  it('is by the days of a zone, as Intl has them and as the ledger has the movements', async () => {
    const mover = `zoned-${randomUUID()}`;
    await api.sell(mover, 900_000);
    await api.sell(`${mover}-b`, 100);
    for (let n = 0; n < 24; n += 1) {
      api.wait(5 * HOUR_MS + n * 60_000);
      if (n % 4 === 0) await api.sell(mover, 500 + n);
      else if (n % 4 === 1) await send(mover, `${mover}-b`, 40 + n);
      else await chargeOf(mover, `n${String(n)}`);
    }
    const { body } = await api.call('get', `/v1/admin/tenants/${mover}/ledger?limit=1000`);
    const rows = body['items'] as readonly Posted[];
    const today = api.deps.clock.now().slice(0, 10);
    const zones = fc.constantFrom('Europe/Berlin', 'Asia/Kolkata', ...Intl.supportedValuesOf('timeZone'));
    await prove(
      'the days of a zone',
      fc.asyncProperty(zones, fc.integer({ min: 0, max: 5 }), async (time_zone, back) => {
        const end = new Date(Date.parse(today) - back * DAY_MS).toISOString().slice(0, 10);
        const path = `/v1/billing/usage-days/${mover}?end=${end}&time_zone=${time_zone}`;
        const days = (await api.call('get', path)).body['items'] as readonly Day[];
        const clock = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone, dateStyle: 'short' });
        const dayOf = ({ created_at }: Posted) => clock.format(new Date(created_at));
        for (const { day, ...found } of days) {
          const within = rows.filter((row) => dayOf(row) === day);
          const sum = (...kinds: string[]) =>
            within.reduce((credits, row) => credits + (kinds.includes(row.kind) ? row.credits_delta : 0), 0);
          expect(found, `${time_zone} ${day}`).to.deep.include({
            used_credits: 0 - sum('usage'),
            granted_credits: sum('sale'),
            adjusted_credits: sum('transfer_out'),
            balance_credits: rows.find((row) => dayOf(row) <= day)?.balance_after ?? 0,
          });
          const charges = within.filter(({ kind }) => kind === 'usage').length;
          expect(found.categories.map(({ operations }) => operations)).to.deep.equal(
            charges > 0 ? [charges] : [],
          );
        }
      }),
      propertyRuns(0.2),
    );
    expect((await read('?time_zone=Berlin/Europe')).code).to.equal('validation_error');
  });

  it('is until today as the zone has it where no end is named', async () => {
    for (const time_zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      const clock = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone, dateStyle: 'short' });
      const days = await daysOf(`?time_zone=${time_zone}`);
      expect(days.at(-1)?.day).to.equal(clock.format(new Date(api.deps.clock.now())));
    }
  });

  it('refuses days that are none, that go backwards, and more than a year of them', async () => {
    for (const query of [
      '?start=yesterday',
      '?start=2026-02-30',
      `?start=${dayAfter(1)}&end=${first}`,
      '?start=2024-01-01&end=2025-01-01',
    ])
      expect((await read(query)).code, query).to.equal('validation_error');
    expect(await daysOf('?start=2024-01-01&end=2024-12-31')).to.have.length(366);
  });

  it('is read by its tenant and by admins alone', async () => {
    const path = `/v1/billing/usage-days/${tenant}`;
    expect((await api.call('get', path, { key: await api.newKey(tenant) })).status).to.equal(200);
    const other = await api.newKey(`other-${randomUUID()}`);
    expect((await api.call('get', path, { key: other })).code).to.equal('tenant_mismatch');
  });
});
