import { expect } from 'chai';
import { accountEvent, accountStream } from '../../../domain/account/messages.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { PriceListState, PublishPriceList } from '../../../domain/priceList.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import { claimantOf } from '../../../src/commands/money/paymentClaims.ts';
import { payments } from '../../../src/commands/money/payments.ts';
import { referenceData } from '../../../src/commands/reference.ts';
import { sellCredits } from '../../../src/commands/sales.ts';
import { addCreditsRequest } from '../../../src/api/money/credits.ts';
import { metaOf, NOW } from '../../support/money/accountCommands.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';

const SEED = 20_261_122;
const SALES = 1_000;
const TENANTS = 7;
const PUBLISH_EVERY = 90;
const STEP_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
const PRICES = ['1.00', '2.00', '0.50', '1.25', '4.00'];

const codec = eventCodec(accountEvent);

/** The versions that may price a sale asked for and granted then: active in that time or the day before. */
const versionsAt = ({ versions }: PriceListState, askedAt: string, grantedAt: string): readonly number[] => {
  return versions
    .filter((list, n) => {
      const next = versions[n + 1];
      const ended = next === undefined ? Infinity : Date.parse(next.published_at) + DAY_MS;
      return list.published_at <= grantedAt && Date.parse(askedAt) <= ended;
    })
    .map(({ version }) => version);
};

const publication = (price: string, now: string): PublishPriceList => ({
  type: 'PublishPriceList',
  data: {
    entries: [
      { currency: 'USD', price_per_1000_credits: price, tax_basis: 'exclusive', minor_unit_digits: 2 },
    ],
    expected_version: null,
    note: null,
  },
  meta: { ...metaOf(), now },
});

/** Two processes over one log, and a time that every request moves on. */
const shop = () => {
  const store = memoryEventStore();
  let ms = Date.parse(NOW);
  let id = 0;
  const pass = () => new Date((ms += STEP_MS)).toISOString();
  const tills = [1, 2].map(() => {
    const reference = referenceData({ store, maxAgeMs: 0 });
    const clock = { now: pass, newId: (prefix: string) => `${prefix}_${(id += 1)}`, uuid: () => String(id) };
    const accounts = accountWriter({ store });
    const sale = sellCredits({
      reference,
      clock,
      accounts,
      store,
      payments: payments({ store, writer: accounts }),
      claimantOf: claimantOf(store),
    });
    const sell = (body: Readonly<Record<string, unknown>>) =>
      sale(addCreditsRequest.parse(body), { ...metaOf(), now: pass() });
    return { reference, sell };
  });
  return { store, tills, pass };
};

describe(`prices that change while credits are sold, seed ${SEED}`, () => {
  it(`price each of ${SALES} sales by one list that was active or in grace at its time`, async () => {
    const random = seededRandom(SEED);
    const { store, tills, pass } = shop();
    await tills[0]!.reference.ensureDefaults(NOW);
    const grantedAt = new Map<string, string>();
    let refused = 0;
    const sellOne = async (n: number) => {
      const till = tills[n % 2]!;
      const { versions } = await till.reference.priceLists();
      const named = random.next() < 0.4 ? random.between(1, versions.length) : null;
      const body = {
        tenant_id: `t${n % TENANTS}`,
        provider_txn_id: `p${n}`,
        price_list_version: named,
        gross_amount_minor: random.between(1, 500),
      };
      const sold = await till.sell(body);
      if (sold.kind === 'done') expect(sold.credited).to.equal(true);
      else refused += 1;
      grantedAt.set(body.provider_txn_id, pass());
    };
    const publish = (n: number) =>
      tills[0]!.reference.publishPriceList(publication(PRICES[n % PRICES.length]!, pass()));
    for (let n = 0; n < SALES; n += PUBLISH_EVERY) {
      const size = Math.min(PUBLISH_EVERY, SALES - n);
      const sales = Array.from({ length: size }, (_, i) => sellOne(n + i));
      const published = publish(n / PUBLISH_EVERY);
      await Promise.all([...sales, published]);
    }

    const lists = await tills[0]!.reference.priceLists();
    const used = new Set<number>();
    let grants = 0;
    for (let t = 0; t < TENANTS; t += 1)
      for (const recorded of await eventsOf(store, accountStream(`t${t}`))) {
        const event = codec.decode(recorded);
        if (event.type !== 'CreditsGranted') continue;
        const { data } = event;
        expect(versionsAt(lists, data.occurred_at, grantedAt.get(data.provider_txn_id)!)).to.include(
          data.price_list_version,
        );
        const [entry] = lists.versions[data.price_list_version - 1]!.entries;
        expect(data.price_per_1000_credits).to.equal(entry!.price_per_1000_credits);
        const cents = Math.round(Number(entry!.price_per_1000_credits) * 100);
        expect(data.credits).to.equal(
          Math.max(1, Math.floor(((data.gross_amount_minor ?? 0) * 1000) / cents)),
        );
        used.add(data.price_list_version);
        grants += 1;
      }
    expect(grants + refused).to.equal(SALES);
    expect(refused).to.be.within(1, SALES / 2);
    expect(used.size).to.be.greaterThan(5);
  });
});
