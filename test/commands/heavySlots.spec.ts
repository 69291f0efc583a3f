import { expect } from 'chai';
import { heavySlots } from '../../src/commands/heavySlots.ts';

describe('heavy slots', () => {
  it('gives as many as there are, and again what was freed', () => {
    const slots = heavySlots(2);
    const first = slots.take();
    expect(slots.take()).to.be.a('function');
    expect(slots.take()).to.equal(undefined);
    expect(slots.inUse()).to.equal(2);
    first?.();
    expect(slots.inUse()).to.equal(1);
    expect(slots.take()).to.be.a('function');
    expect(slots.take()).to.equal(undefined);
  });

  it('frees a slot once, however often it is told', () => {
    const slots = heavySlots(2);
    const first = slots.take();
    slots.take();
    first?.();
    first?.();
    expect(slots.inUse()).to.equal(1);
  });

  it('admits nothing once closed, and lets what runs end', () => {
    const slots = heavySlots(2);
    const running = slots.take();
    slots.close();
    expect(slots.take()).to.equal(undefined);
    expect(slots.inUse()).to.equal(1);
    running?.();
    expect(slots.inUse()).to.equal(0);
    expect(slots.take()).to.equal(undefined);
  });

  it('gives none where there are none', () => {
    expect(heavySlots(0).take()).to.equal(undefined);
  });
});
