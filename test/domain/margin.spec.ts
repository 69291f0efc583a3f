import { expect } from 'chai';
import fc from 'fast-check';
import {
  addLot,
  burnLots,
  clawBack,
  consume,
  disputeLots,
  givenLot,
  leftIn,
  type Lot,
  NOTHING,
  plusValues,
  receiveLots,
  refundLot,
  refundLots,
  revalueLot,
  restoreLots,
  sendLots,
  soldLot,
  type TenantLots,
  valueLeft,
  type Values,
  valuesOf,
} from '../../domain/margin.ts';
import { marginFigures } from '../../domain/marginReport.ts';

const EUR = { currency: 'EUR', fx_rate: '1.10', price: '0.92' };
const worked = soldLot({
  lot_id: 'sale',
  position: 1n,
  credits: 10_870,
  currency: 'EUR',
  booking: EUR,
  money: { gross: 1190, vat: 190, fee: 45 },
});

const figuresOf = ({ net, amount, implied, fee, vat }: Values, credits: number) =>
  marginFigures(
    {
      net,
      amount,
      implied,
      fee,
      vat,
      true_up: 0n,
      dispute_fee: 0n,
      priced_credits: BigInt(credits),
      given_credits: 0n,
      unpriced_credits: 0n,
    },
    0n,
  );

describe('the worked example of the margin report', () => {
  it('comes to the micro-dollar', () => {
    expect(worked.values.net).to.equal(10_505_000n);
    const { unit, realized, fx_effect, gap } = figuresOf(consume(worked, 10_870).released, 10_870);
    expect(unit.revenue).to.equal(10_870_000n);
    expect(realized.margin).to.equal(10_505_000n);
    expect(gap).to.deep.equal({
      fx_rate: 130_435n,
      price_variance: -435n,
      provider_fee: -495_000n,
      promo: 0n,
      unpriced: 0n,
      refund_true_up: 0n,
      dispute_fee: 0n,
      rounding: 0n,
    });
    expect(fx_effect).to.equal(-365_000n);
  });
});

const decimal = fc
  .tuple(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: 0, max: 6 }))
  .map(([units, scale]) => (units / 10 ** scale).toFixed(6));
const booking = fc.record({
  currency: fc.constantFrom('USD', 'EUR', 'JPY', 'KWD'),
  fx_rate: decimal.filter((text) => Number(text) > 0),
  price: decimal.filter((text) => Number(text) > 0),
});
const money = fc
  .tuple(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([gross, share]) => {
    const vat = Math.floor(gross * share * 0.5);
    return { gross, vat, fee: Math.floor((gross - vat) * share * 0.3) };
  });
const sale = fc
  .record({ credits: fc.integer({ min: 1, max: 1_000_000_000 }), booking, money })
  .map((of): Lot => soldLot({ ...of, lot_id: 'sale', position: 1n, currency: of.booking.currency }));

describe('a lot', () => {
  it('recognises its whole value, however it is split', () => {
    fc.assert(
      fc.property(sale, fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (lot, cuts) => {
        let rest = lot;
        let recognised = NOTHING;
        for (const cut of [...cuts, 1]) {
          const step = consume(rest, Math.floor(leftIn(rest) * cut));
          rest = step.lot;
          recognised = plusValues(recognised, step.released);
        }
        expect(recognised).to.deep.equal(lot.values);
      }),
    );
  });

  it('comes to exactly nothing when all of it is refunded, after any consumption, in any pieces', () => {
    fc.assert(
      fc.property(
        sale,
        money,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }),
        (...drawn) => {
          const [lot, , cuts] = drawn;
          if (lot.booking === null) return;
          const original = { gross: 1_000_003, vat: 190_001, fee: 45_007 };
          let rest: Lot = { ...lot, money: original, values: valuesOf(original, lot.booking) };
          let net = 0n;
          let [gross, vat, fee] = [original.gross, original.vat, original.fee];
          for (const [at, cut] of [...cuts, 1].entries()) {
            const burned = consume(rest, Math.floor((leftIn(rest) * cut) / 3));
            const part = {
              gross: Math.floor(gross * cut),
              vat: Math.floor(vat * cut),
              fee: Math.floor(fee * cut),
            };
            const isLast = at === cuts.length;
            const taken = isLast ? leftIn(burned.lot) : Math.floor((leftIn(burned.lot) * cut) / 2);
            const refund = refundLot(burned.lot, taken, isLast ? { gross, vat, fee } : part);
            net += burned.released.net + refund.released.net;
            rest = refund.lot;
            [gross, vat, fee] = [gross - part.gross, vat - part.vat, fee - part.fee];
          }
          expect(net).to.equal(0n);
        },
      ),
    );
  });
});

const TEN = { gross: 1000, vat: 0, fee: 0 };
const USD = { currency: 'USD', fx_rate: '1', price: '1.00' };
const soldForTen = soldLot({
  lot_id: 'ten',
  position: 1n,
  credits: 10_000,
  currency: 'USD',
  booking: USD,
  money: TEN,
});

describe('a lot whose money is refunded while its credits stay', () => {
  it('is worth what remains paid: what was recognised above that is corrected at once', () => {
    const half = consume(soldForTen, 5_000);
    const { lot, released } = refundLot(half.lot, 0, { gross: 800, vat: 0, fee: 0 });
    expect(half.released.net + released.net).to.equal(1_000_000n);
    expect(valueLeft(lot).net).to.equal(1_000_000n);
    expect(consume(lot, 5_000).released.net).to.equal(1_000_000n);
  });

  it('recognises nothing more when all of its money is gone, and shows a fee that was kept as a loss', () => {
    const paid = soldLot({ ...soldForTen, booking: USD, money: { gross: 1000, vat: 0, fee: 59 } });
    const half = consume(paid, 5_000);
    const { lot, released } = refundLot(half.lot, 0, TEN);
    expect(half.released.net + released.net).to.equal(-590_000n);
    expect(valueLeft(lot)).to.deep.equal(NOTHING);
  });

  it('counts the credits that earlier refunds took with their money', () => {
    const half = refundLot(soldForTen, 5_000, { gross: 500, vat: 0, fee: 0 });
    const used = consume(half.lot, 2_500);
    const { lot, released } = refundLot(used.lot, 0, { gross: 400, vat: 0, fee: 0 });
    expect(used.released.net + released.net).to.equal(500_000n);
    expect(valueLeft(lot).net).to.equal(500_000n);
  });

  it('is corrected too when a refund takes credits, but more money than they and the rest are worth', () => {
    const used = consume(soldForTen, 8_000);
    const { lot, released } = refundLot(used.lot, 1_000, { gross: 500, vat: 0, fee: 0 });
    expect(used.released.net + released.net).to.equal(4_444_444n);
    expect(valueLeft(lot).net).to.equal(555_556n);
  });
});

describe('a lot whose fee, VAT or rate is known later', () => {
  const facts = fc.record({ vat: fc.integer({ min: 0, max: 400 }), fee: fc.integer({ min: 0, max: 400 }) });
  const portion = fc.double({ min: 0, max: 1, noNaN: true });

  const late = fc.record({
    credits: fc.integer({ min: 1, max: 1_000_000 }),
    of: booking,
    more: facts,
    part: portion,
  });

  it('has recognised what it would have, had they been known from the beginning, and brings in no less', () => {
    fc.assert(
      fc.property(late, ({ credits, of, more, part }) => {
        const bare = { gross: 1_000, vat: 0, fee: 0 };
        const known = { gross: 1_000, vat: more.vat, fee: more.fee };
        const sold = { lot_id: 'sale', position: 1n, credits, currency: of.currency };
        const used = Math.floor(credits * part);
        const told = consume(soldLot({ ...sold, booking: of, money: bare }), used);
        const early = consume(soldLot({ ...sold, booking: of, money: known }), used);
        const { lot, released, booked } = revalueLot(told.lot, { money: known });
        expect(plusValues(told.released, released)).to.deep.equal(early.released);
        expect(valueLeft(lot)).to.deep.equal(valueLeft(early.lot));
        expect(plusValues(valuesOf(bare, of), booked)).to.deep.equal(valuesOf(known, of));
        const unpriced = consume(soldLot({ ...sold, booking: null, money: known }), used);
        const priced = revalueLot(unpriced.lot, { booking: of });
        expect(priced.released).to.deep.equal(early.released);
        expect(valueLeft(priced.lot)).to.deep.equal(valueLeft(early.lot));
      }),
    );
  });

  it('carries its refunds over to the new rate, so that a sale and its full refund stay nothing', () => {
    const money = { gross: 1_190, vat: 190, fee: 45 };
    const { lot: half } = consume(worked, 5_000);
    const back = refundLot(half, 2_000, { gross: 595, vat: 95, fee: 0 });
    const { lot, released, booked, refunded } = revalueLot(back.lot, {
      booking: { ...EUR, fx_rate: '2.20' },
    });
    expect(booked).to.deep.equal({ ...valuesOf(money, EUR), implied: 0n });
    expect(refunded.net).to.equal(valuesOf({ gross: 595, vat: 95, fee: 0 }, EUR).net);
    const rest = refundLot(lot, leftIn(lot), { gross: 595, vat: 95, fee: 45 });
    const recognised = [consume(worked, 5_000).released, back.released, released, rest.released];
    expect(recognised.reduce(plusValues, NOTHING)).to.deep.equal(NOTHING);
  });
});

const heldBy = (lots: readonly Lot[]) => lots.reduce((sum, lot) => sum + valueLeft(lot).net, 0n);

describe('a refund that is undone', () => {
  it('leaves the lot as if nothing had happened, after any consumption', () => {
    for (const used of [0, 5_000, 9_999]) {
      const half = { lots: [consume(soldForTen, used).lot], deficit: 0 };
      const refund = { lot_id: 'ten', credits: 10_000 - used, money: TEN };
      const gone = refundLots(half, refund);
      expect(heldBy(gone.next.lots)).to.equal(0n);
      const back = restoreLots(gone.next, refund);
      expect(heldBy(back.next.lots)).to.equal(BigInt(10_000 - used) * 1_000n);
      expect(gone.refunded.net + back.refunded.net).to.equal(0n);
      const trueUps = [...gone.trueUps, ...back.trueUps].map(({ net }) => net);
      expect(trueUps.reduce((a, b) => a + b, 0n)).to.equal(0n);
    }
  });

  it('fills what is missing first', () => {
    const gone = refundLots(
      { lots: [soldForTen], deficit: 0 },
      { lot_id: 'ten', credits: 10_000, money: TEN },
    );
    const missing = clawBack(gone.next, 4_000);
    expect(missing.next.deficit).to.equal(4_000);
    const { next, trueUps } = restoreLots(missing.next, { lot_id: 'ten', credits: 10_000, money: TEN });
    expect([next.deficit, next.lots.map(leftIn)]).to.deep.equal([0, [6_000]]);
    expect(trueUps).to.deep.equal([{ currency: 'USD', net: 4_000_000n }]);
  });

  it('of a lot that is not there is refused', () => {
    const refund = { lot_id: 'no', credits: 1, money: TEN };
    expect(() => restoreLots({ lots: [], deficit: 0 }, refund)).to.throw(/not there/);
  });
});

describe('lots that go to another tenant', () => {
  const used = { lots: [consume(soldForTen, 4_000).lot], deficit: 0 };
  const NONE: TenantLots = { lots: [], deficit: 0 };

  it('take their price along: nothing is recognised, and what is used there is revenue there', () => {
    const { next, parcels } = sendLots(used, { credits: 6_000, origin: undefined });
    expect(heldBy(next.lots)).to.equal(0n);
    const there = receiveLots(NONE, { parcels, transfer_id: 'trf', position: 2n });
    expect([heldBy(there.next.lots), there.trueUps]).to.deep.equal([6_000_000n, []]);
    const { parts } = burnLots(there.next, 1_500);
    expect(parts).to.have.length(1);
    expect(parts[0]).to.deep.include({ currency: 'USD', priced: 1_500, given: 0, unpriced: 0 });
    expect(parts[0]?.recognised.net).to.equal(1_500_000n);
  });

  it('come back into their own lot, as if they had never left', () => {
    const sent = sendLots(used, { credits: 6_000, origin: undefined });
    const there = receiveLots(NONE, { parcels: sent.parcels, transfer_id: 'trf', position: 2n });
    const back = sendLots(there.next, { credits: 6_000, origin: 'ten' });
    const home = receiveLots(sent.next, { parcels: back.parcels, transfer_id: 'trf_2', position: 3n });
    const refund = { lot_id: 'ten', credits: 6_000, money: TEN };
    const [moved, stayed] = [refundLots(home.next, refund), refundLots(used, refund)];
    expect(moved.trueUps).to.deep.equal(stayed.trueUps);
    expect(heldBy(moved.next.lots)).to.equal(heldBy(stayed.next.lots));
    const undone = restoreLots(moved.next, refund);
    expect(heldBy(undone.next.lots)).to.equal(heldBy(used.lots));
  });

  it('leave oldest first, or those of one sale first', () => {
    const lots = [givenLot('gift', 0n, 100), soldForTen];
    const oldest = sendLots({ lots, deficit: 0 }, { credits: 150, origin: undefined });
    expect(oldest.parcels.map(({ origin, credits }) => [origin, credits])).to.deep.equal([
      ['gift', 100],
      ['ten', 50],
    ]);
    const named = sendLots({ lots, deficit: 0 }, { credits: 150, origin: 'ten' });
    expect(named.parcels.map(({ origin, credits }) => [origin, credits])).to.deep.equal([['ten', 150]]);
  });

  it('fill what is missing first, and that is recognised', () => {
    const { parcels } = sendLots(used, { credits: 6_000, origin: undefined });
    const { next, trueUps } = receiveLots(
      { lots: [], deficit: 2_000 },
      { parcels, transfer_id: 'trf', position: 2n },
    );
    expect([next.deficit, heldBy(next.lots)]).to.deep.equal([0, 4_000_000n]);
    expect(trueUps).to.deep.equal([{ currency: 'USD', net: 2_000_000n }]);
  });
});

describe('the fee of a dispute', () => {
  it('is a cost at the rate of its sale, beside what was paid, and follows a corrected rate', () => {
    const { next, cost } = disputeLots({ lots: [worked], deficit: 0 }, 'sale', 1_500);
    expect(cost).to.equal(16_500_000n);
    expect(heldBy(next.lots)).to.equal(heldBy([worked]));
    const more = disputeLots(next, 'sale', 1);
    expect(more.cost).to.equal(11_000n);
    const [lot] = more.next.lots;
    expect(revalueLot(lot ?? worked, { booking: { ...EUR, fx_rate: '1.20' } }).cost).to.equal(1_501_000n);
  });

  it('is nothing while its sale has no rate, and that of a lot that is not there is refused', () => {
    const unrated = soldLot({ ...worked, booking: null, credits: 10 });
    const { next, cost } = disputeLots({ lots: [unrated], deficit: 0 }, 'sale', 1_500);
    expect(cost).to.equal(0n);
    expect(revalueLot(next.lots[0] ?? unrated, { booking: EUR }).cost).to.equal(16_500_000n);
    expect(() => disputeLots({ lots: [], deficit: 0 }, 'no', 1)).to.throw(/not there/);
  });
});

type Step =
  | { readonly kind: 'sale'; readonly lot: Lot }
  | { readonly kind: 'gift' | 'clawback' | 'burn'; readonly share: number }
  | { readonly kind: 'reversal'; readonly pick: number; readonly share: number }
  | { readonly kind: 'refund'; readonly pick: number; readonly share: number; readonly part: number };

const share = fc.double({ min: 0, max: 1, noNaN: true });
const step: fc.Arbitrary<Step> = fc.oneof(
  sale.map((lot) => {
    const credits = (lot.credits % 100_000) + 1;
    return { kind: 'sale' as const, lot: { ...lot, credits, issued: credits } };
  }),
  fc.record({ kind: fc.constantFrom('gift' as const, 'clawback' as const, 'burn' as const), share }),
  fc.record({ kind: fc.constant('reversal' as const), pick: fc.nat(20), share }),
  fc.record({
    kind: fc.constant('refund' as const),
    pick: fc.nat(20),
    part: fc.oneof(fc.constant(1), share),
    share: fc.oneof(fc.constant(0), share),
  }),
);

/** A part of what is not refunded of each amount, all of it for 1; never more VAT or fee than money stays for. */
const partOf = ({ money: paid, refunded }: Lot, part: number): Lot['money'] => {
  const [gross, vat, fee] = [paid.gross - refunded.gross, paid.vat - refunded.vat, paid.fee - refunded.fee];
  const back = Math.floor(gross * part);
  const carried = Math.min(vat, back, Math.max(Math.floor(vat * part), vat - (gross - back)));
  return { gross: back, vat: carried, fee: part === 1 ? fee : Math.floor((fee * part) / 2) };
};

const balanceOf = ({ lots, deficit }: TenantLots): number =>
  lots.reduce((sum, lot) => sum + leftIn(lot), 0) - deficit;

/** Runs a history; a clawback or burn may go beyond the balance. Gives what moved. */
const run = (steps: readonly Step[]) => {
  let state: TenantLots = { lots: [], deficit: 0 };
  const sums = { booked: 0n, refunded: 0n, recognised: NOTHING, trueUp: 0n, balance: 0 };
  const count = { priced: 0, given: 0, unpriced: 0 };
  const refunds: { readonly lot_id: string; credits: number; money: Lot['money'] }[] = [];
  const trueUp = (ups: readonly { readonly net: bigint }[]) => {
    for (const { net } of ups) sums.trueUp += net;
  };
  steps.forEach((one, n) => {
    if (one.kind === 'sale') {
      const lot = { ...one.lot, lot_id: `sale-${n}`, position: BigInt(n) };
      const { next, trueUps } = addLot(state, lot);
      state = next;
      sums.booked += lot.values.net;
      sums.balance += lot.credits;
      trueUp(trueUps);
      return;
    }
    if (one.kind === 'reversal') {
      const made = refunds[one.pick % Math.max(refunds.length, 1)];
      if (made === undefined) return;
      const part = (of: number) => Math.floor(of * one.share);
      const { gross, vat, fee } = made.money;
      const back = { gross: part(gross), vat: Math.min(part(gross), vat), fee: part(fee) };
      const credits = part(made.credits);
      const { next, refunded, trueUps } = restoreLots(state, { lot_id: made.lot_id, credits, money: back });
      state = next;
      sums.refunded += refunded.net;
      sums.balance += credits;
      made.credits -= credits;
      made.money = { gross: gross - back.gross, vat: vat - back.vat, fee: fee - back.fee };
      trueUp(trueUps);
      return;
    }
    if (one.kind === 'refund') {
      const sales = state.lots.filter(({ booking: of }) => of !== null);
      const own = sales[one.pick % Math.max(sales.length, 1)];
      if (own === undefined) return;
      const credits = Math.floor(Math.max(balanceOf(state), 0) * one.share);
      const refund = { lot_id: own.lot_id, credits, money: partOf(own, one.part) };
      const { next, refunded, trueUps } = refundLots(state, refund);
      state = next;
      sums.refunded += refunded.net;
      refunds.push({ lot_id: own.lot_id, credits, money: refund.money });
      sums.balance -= credits;
      trueUp(trueUps);
      return;
    }
    const credits = 1 + Math.floor(one.share * 20_000);
    if (one.kind === 'gift') {
      const { next, trueUps } = addLot(state, givenLot(`gift-${n}`, BigInt(n), credits));
      state = next;
      sums.balance += credits;
      trueUp(trueUps);
    } else if (one.kind === 'clawback') {
      const { next, trueUps } = clawBack(state, credits);
      state = next;
      sums.balance -= credits;
      trueUp(trueUps);
    } else {
      const { next, parts } = burnLots(state, credits);
      state = next;
      sums.balance -= credits;
      for (const part of parts) {
        sums.recognised = plusValues(sums.recognised, part.recognised);
        count.priced += part.priced;
        count.given += part.given;
        count.unpriced += part.unpriced;
      }
      expect(parts.reduce((all, { priced, given, unpriced }) => all + priced + given + unpriced, 0)).to.equal(
        credits,
      );
    }
  });
  return { state, sums, count };
};

describe("a tenant's lots", () => {
  const history = fc.array(step, { maxLength: 40 });

  it('hold as many credits as the balance says', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const { state, sums } = run(steps);
        expect(balanceOf(state)).to.equal(sums.balance);
        for (const lot of state.lots) expect(leftIn(lot)).to.be.at.least(0);
        if (state.deficit > 0) expect(balanceOf(state)).to.equal(-state.deficit);
      }),
    );
  });

  it('defer exactly the value of what is not consumed', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const { state, sums } = run(steps);
        const left = state.lots.reduce((sum, lot) => sum + valueLeft(lot).net, 0n);
        expect(sums.booked - sums.refunded - sums.recognised.net - sums.trueUp).to.equal(left);
      }),
    );
  });

  it('never defer less than nothing, nor recognise less than nothing of what is consumed later', () => {
    const isNegative = (values: Values) => Object.values(values).some((value: bigint) => value < 0n);
    fc.assert(
      fc.property(history, (steps) => {
        for (const lot of run(steps).state.lots) {
          expect(isNegative(valueLeft(lot))).to.equal(false);
          expect(isNegative(consume(lot, Math.ceil(leftIn(lot) / 2)).released)).to.equal(false);
        }
      }),
    );
  });

  const micro = fc.bigInt({ min: 0n, max: 10n ** 12n });

  it('give a gap that is realized − unit, and a breakdown that sums to it', () => {
    fc.assert(
      fc.property(history, micro, micro, (steps, modelCost, dispute_fee) => {
        const { sums, count } = run(steps);
        const { unit, realized, fx_effect, gap } = marginFigures(
          {
            ...sums.recognised,
            true_up: sums.trueUp,
            dispute_fee,
            priced_credits: BigInt(count.priced),
            given_credits: BigInt(count.given),
            unpriced_credits: BigInt(count.unpriced),
          },
          modelCost,
        );
        expect(unit.margin + fx_effect).to.equal(realized.margin);
        expect((Object.values(gap) as bigint[]).reduce((a, b) => a + b, 0n)).to.equal(fx_effect);
        expect(realized.gross - sums.recognised.vat - sums.recognised.fee).to.equal(realized.net_revenue);
      }),
    );
  });

  it('give given credits back first when they are clawed back', () => {
    const given = addLot(addLot({ lots: [], deficit: 0 }, worked).next, givenLot('gift', 2n, 100)).next;
    const { next, trueUps } = clawBack(given, 150);
    expect(next.lots.map(leftIn)).to.deep.equal([10_820, 0]);
    expect(trueUps).to.have.length(1);
  });

  it('refuse a refund of a lot that is not there', () => {
    const refund = { lot_id: 'no', credits: 1, money: { gross: 0, vat: 0, fee: 0 } };
    expect(() => refundLots({ lots: [], deficit: 0 }, refund)).to.throw(/not there/);
  });
});
