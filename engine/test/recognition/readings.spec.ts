import { expect } from 'chai';
import type { RecognitionEngine } from '../../document/document.ts';
import { type PlacedWord, recognisedWord } from '../../layout/content.ts';
import { allowanceFor, paidForLine, paidForMap } from '../../recognition/allowance.ts';
import { bestReading, withPoints } from '../../recognition/bestReading.ts';

/** Words of ten pixels a letter, on one line. */
const read = (text: string, readBy: RecognitionEngine, confidence: number): readonly PlacedWord[] => {
  let at = 0;
  return text.split(' ').map((word) => {
    const from = at;
    at += 10 * (word.length + 1);
    return recognisedWord({
      text: word,
      box: [from, 0, from + 10 * word.length, 20],
      size: 20,
      confidence,
      readBy,
    });
  });
};

const isSpelled = (letter: string): boolean => /[a-zA-Z0-9]/.test(letter);
const line = { x: 100, y: 10, width: 200, height: 28, angle: 0 };
const best = (first: string, second: string, [one, other]: readonly [number, number] = [0.7, 0.95]) =>
  bestReading(
    first === '' ? [] : read(first, 'tesseract', one),
    { line, words: second === '' ? [] : read(second, 'ppocr', other), confidence: other },
    isSpelled,
  );
const textOf = (words: readonly PlacedWord[]): string => words.map(({ text }) => text).join(' ');

describe('two readings of a line', () => {
  const cases: readonly (readonly [string, string, string, string])[] = [
    ['that agree keep the spaces of the first', 'Rye bread', 'Ryebread', 'Rye bread'],
    ['that agree but for accents keep the accents', 'Café José', 'Cafe Jose', 'Café José'],
    ['differ in letters: the second is right', 'Tota1 18,31', 'Total 18.37', 'Total 18.37'],
    ['keep accents where other letters differ', 'Müller GrnbH', 'Muller GmbH', 'Müller GmbH'],
    ['keep a letter that the second cannot write', 'Straße 17', 'StraBe 17', 'Straße 17'],
    ['have no digit amid letters', 'Full Slab', 'Ful1 Slab', 'Full Slab'],
    ['have no letter amid digits', '81100', '8I100', '81100'],
    ['have no letter for a sign amid digits', '$50', 'S50', '$50'],
    ['have no digit at the end of letters', 'AUDIO-5521', 'AUDI0-5521', 'AUDIO-5521'],
    ['take what the first has left out, with its spaces', 'Apple', 'Sour Apple 350', 'Sour Apple 350'],
    ['leave out what the second does not see', 'Total | 12', 'Total 12', 'Total 12'],
  ];
  for (const [name, first, second, expected] of cases)
    it(name, () => {
      expect(textOf(best(first, second))).to.equal(expected);
    });

  it('of small print get their decimal points, and nothing else is changed', () => {
    const points = (first: string, second: string): string =>
      textOf(
        withPoints(read(first, 'tesseract', 0.96), { line, words: read(second, 'ppocr', 1), confidence: 1 }),
      );
    expect(points('Weight 58 102', 'Weigt 5.8 102')).to.equal('Weight 5.8 102');
    expect(points('8K (15%)', 'BK (158)')).to.equal('8K (15%)');
    expect(points('www.example.com 12', 'www. example 12')).to.equal('www.example.com 12');
  });

  it('that agree are surer than each', () => {
    expect(best('Total', 'Total').map(({ confidence, readBy }) => [confidence, readBy])).to.deep.equal([
      [0.95, 'tesseract'],
    ]);
  });

  it('of which one has nothing are the other, if that is sure enough', () => {
    expect(textOf(best('', 'Total'))).to.equal('Total');
    expect(best('', 'Total', [0, 0.4])).to.deep.equal([]);
    expect(textOf(best('Total', ''))).to.equal('Total');
    expect(textOf(best('Total', 'Bill', [0.7, 0.4]))).to.equal('Total');
  });

  it('with little in common are not mixed: the surer one stands', () => {
    expect(textOf(best('3', '*', [0.86, 0.66]))).to.equal('3');
    expect(textOf(best('149, fs [Is', 'Total 12.50', [0.5, 0.9]))).to.equal('Total 12.50');
  });

  it('tell of each word who read it, and where it stands', () => {
    const words = best('Tota1 12', 'Total 12');
    expect(words.map(({ readBy }) => readBy)).to.deep.equal(['ppocr', 'tesseract']);
    expect(words.map(({ box }) => box)).to.deep.equal([
      [0, 0, 50, 20],
      [60, 0, 80, 20],
    ]);
  });

  it('are not compared letter by letter where they are endless', () => {
    const endless = 'x'.repeat(5000);
    expect(textOf(best(endless, `${endless}y`))).to.equal(`${endless}y`);
  });
});

describe('what the second engine may take', () => {
  it('is half of what the first leaves of the deadline, and nothing of what the first needs', () => {
    expect(allowanceFor(1, 120_000).leftMs).to.be.within(55_000, 60_000);
    expect(allowanceFor(30, 120_000).leftMs).to.be.within(20_000, 30_000);
    expect(allowanceFor(60, 120_000).leftMs).to.equal(0);
  });

  it('is charged by what is read, and ends', () => {
    const allowance = { leftMs: 500 };
    expect(paidForLine(allowance, 1000)).to.equal(true);
    expect(allowance.leftMs).to.equal(300);
    expect(paidForMap(allowance, 1_500_000)).to.equal(false);
    expect(paidForLine(allowance, 2000)).to.equal(false);
    expect(allowance.leftMs).to.equal(300);
  });
});
