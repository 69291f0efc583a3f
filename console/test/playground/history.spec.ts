import { expect } from 'chai';
import { NO_HISTORY, turned, type Turn } from '../../src/pages/playground/history.ts';

const after = (...turns: readonly Turn[]) => turns.reduce(turned, NO_HISTORY);
const change = (from: string, place?: unknown): Turn => ({ kind: 'change', from, place });

describe('the history of a schema', () => {
  it('goes back step by step, and forth again', () => {
    const two = after(change('a'), change('b'));
    expect(two.before).to.deep.equal(['a', 'b']);
    const back = turned(two, { kind: 'undo', from: 'c' });
    expect([back.before, back.after]).to.deep.equal([['a'], ['c']]);
    const forth = turned(back, { kind: 'redo', from: 'b' });
    expect([forth.before, forth.after]).to.deep.equal([['a', 'b'], []]);
  });

  it('is one step for what is typed into one place, and forgets what was undone once something changes', () => {
    const typed = after(change('a', 'name'), change('ab', 'name'), change('abc', 'other'));
    expect(typed.before).to.deep.equal(['a', 'abc']);
    const other = after(change('a'), { kind: 'undo', from: 'b' }, change('a'));
    expect([other.before, other.after]).to.deep.equal([['a'], []]);
  });

  it('keeps the last two hundred steps', () => {
    const many = Array.from({ length: 300 }, (_, at) => change(String(at)));
    const { before } = after(...many);
    expect([before.length, before.at(-1)]).to.deep.equal([200, '299']);
  });
});
