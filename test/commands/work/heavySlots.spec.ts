import { expect } from 'chai';
import fc from 'fast-check';
import { heavySlots, reserveOf, type SlotRefusal } from '../../../src/commands/slots.ts';
import { holds } from '../../../engine/test/support/properties.ts';

const TENANTS = ['acme', 'bolt', 'crux', 'dune'];

describe('heavy slots', () => {
  it('gives a tenant alone all but the reserve, and again what was freed', () => {
    const slots = heavySlots(3);
    const first = slots.take('acme');
    expect(slots.take('acme')).to.be.a('function');
    expect(slots.take('acme')).to.equal(undefined);
    expect(slots.inUse()).to.equal(2);
    first?.();
    expect(slots.inUse()).to.equal(1);
    expect(slots.take('acme')).to.be.a('function');
    expect(slots.take('acme')).to.equal(undefined);
  });

  it('says who holds how many, those that hold most first', () => {
    const slots = heavySlots(16);
    for (const tenant of ['bolt', 'acme', 'crux', 'acme']) expect(slots.take(tenant)).to.be.a('function');
    expect(slots.holders()).to.deep.equal([
      { tenant_id: 'acme', in_use: 2 },
      { tenant_id: 'bolt', in_use: 1 },
      { tenant_id: 'crux', in_use: 1 },
    ]);
  });

  it('keeps the last slot for a tenant that has none', () => {
    const slots = heavySlots(2);
    expect(slots.take('acme')).to.be.a('function');
    expect(slots.take('acme')).to.equal(undefined);
    expect(slots.take('bolt')).to.be.a('function');
    expect(slots.take('crux')).to.equal(undefined);
  });

  it('comes to equal shares as slots are freed', () => {
    const slots = heavySlots(16);
    const busy = Array.from({ length: 14 }, () => slots.take('acme')!);
    for (let own = 1; own <= 2; own += 1) expect(slots.take('bolt') !== undefined).to.equal(own === 1);
    // 14 slots outside of the reserve, two tenants: seven each.
    for (let freed = 0; freed < 7; freed += 1) {
      busy.pop()!();
      expect(slots.take('acme')).to.equal(undefined);
      if (freed > 0) expect(slots.take('bolt'), String(freed)).to.be.a('function');
    }
    expect(slots.inUse()).to.equal(14);
    expect(slots.take('bolt')).to.equal(undefined);
    busy.pop()!();
    expect(slots.take('bolt')).to.equal(undefined);
    expect(slots.take('acme')).to.be.a('function');
  });

  it('frees a slot once, however often it is told', () => {
    const slots = heavySlots(4);
    const first = slots.take('acme');
    slots.take('acme');
    first?.();
    first?.();
    expect(slots.inUse()).to.equal(1);
  });

  it('admits nothing once closed, and lets what runs end', () => {
    const slots = heavySlots(2);
    const running = slots.take('acme');
    slots.close();
    expect(slots.take('bolt')).to.equal(undefined);
    expect(slots.inUse()).to.equal(1);
    running?.();
    expect(slots.inUse()).to.equal(0);
    expect(slots.take('acme')).to.equal(undefined);
  });

  it('gives none where there are none, and the only one to anybody', () => {
    expect(heavySlots(0).take('acme')).to.equal(undefined);
    const one = heavySlots(1);
    const taken = one.take('acme');
    expect(one.take('bolt')).to.equal(undefined);
    taken?.();
    expect(one.take('acme')).to.be.a('function');
  });

  it('says why', () => {
    const reasons: SlotRefusal[] = [];
    const slots = heavySlots(4, (reason) => reasons.push(reason));
    for (let n = 0; n < 4; n += 1) slots.take('acme');
    slots.take('bolt');
    slots.take('crux');
    slots.close();
    slots.take('crux');
    expect(reasons).to.deep.equal(['share', 'full', 'closing']);
  });

  const step = fc.record({ tenant: fc.constantFrom(...TENANTS), frees: fc.boolean(), which: fc.nat() });

  holds(
    'are never more than there are, and never closed to who has none while one is free',
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 120 }), (max, steps) => {
      const slots = heavySlots(max);
      const held = new Map<string, (() => void)[]>(TENANTS.map((tenant) => [tenant, []]));
      const total = () => [...held.values()].reduce((sum, { length }) => sum + length, 0);
      for (const { tenant, frees, which } of steps) {
        const own = held.get(tenant)!;
        const before = total();
        if (frees) own.splice(which % Math.max(1, own.length), 1)[0]?.();
        else {
          const taken = slots.take(tenant);
          if (own.length === 0) expect(taken !== undefined).to.equal(before < max);
          else if (taken !== undefined) expect(before).to.be.below(max - reserveOf(max));
          if (taken !== undefined) own.push(taken);
        }
        expect(slots.inUse()).to.equal(total()).and.to.be.at.most(max);
      }
    }),
  );

  holds(
    'are all of use: tenants at work fill what is outside the reserve, each to within one of the others',
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 8 }), (max, count) => {
      const slots = heavySlots(max);
      const open = max - reserveOf(max);
      const held = new Map<string, number>();
      const names = Array.from({ length: Math.min(count, open) }, (_, n) => `t${String(n)}`);
      const ask = (name: string) => {
        if (slots.take(name) !== undefined) held.set(name, (held.get(name) ?? 0) + 1);
      };
      for (let round = 0; round < max; round += 1) names.forEach(ask);
      expect(slots.inUse()).to.equal(open);
      const shares = [...held.values()];
      expect(Math.max(...shares) - Math.min(...shares)).to.be.at.most(1);
      if (open < max) expect(slots.take('newcomer')).to.be.a('function');
    }),
  );
});
