import { expect } from 'chai';
import { durationText, progressShown, progressText } from '../../src/cli/terminal.ts';

const HALF = { eventsDone: 12_345, eventsPerSecond: 1_500.4, secondsLeft: 75, share: 0.507 };

const shownOn = (isTerminal: boolean) => {
  const written: string[] = [];
  let now = 0;
  const output = {
    out: () => Promise.resolve(),
    note: (text: string) => void written.push(text),
    isTerminal,
  };
  const { show, end } = progressShown(output, () => now);
  return { written, show, end, pass: (ms: number) => (now += ms) };
};

describe('progress', () => {
  it('says how much, how fast and how long', () => {
    expect(progressText(HALF)).to.equal('50 %, 12,345 events, 1,500/s, 1 min 15 s left');
    expect(progressText({ ...HALF, secondsLeft: null })).to.equal('50 %, 12,345 events, 1,500/s');
  });

  it('writes durations to be read', () => {
    expect([0, 0.2, 61, 3_725].map(durationText)).to.deep.equal(['0 s', '1 s', '1 min 01 s', '1 h 02 min']);
  });

  it('is a bar in place on a terminal', () => {
    const { written, show, end } = shownOn(true);
    show(HALF);
    show(HALF);
    end();
    expect(written).to.have.length(3);
    expect(written[0]).to.match(/^\r\[#{12}\.{12}\] 50 %/);
  });

  it('is a line every few seconds elsewhere', () => {
    const { written, show, pass } = shownOn(false);
    for (let second = 0; second < 12; second += 1) {
      show(HALF);
      pass(1_000);
    }
    expect(written).to.have.length(3);
    expect(written.every((text) => text.endsWith('left\n'))).to.equal(true);
  });
});
