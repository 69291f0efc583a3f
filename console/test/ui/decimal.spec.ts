import { expect } from 'chai';
import fc from 'fast-check';
import { creditsIn, decimalOf, majorText, priceOf, shortText, signedBy } from '../../src/ui/decimal.ts';

describe('credits that are typed', () => {
  it('are read with or without groups, up to the most that the API takes', () => {
    const typed = ['0', ' 50,000 ', '50 000', '1000000000000', '1000000000001', '5,00', '-1', '1.5', ''];
    expect(typed.map(creditsIn)).to.deep.equal([
      0,
      50_000,
      50_000,
      1_000_000_000_000,
      ...Array.from({ length: 5 }, () => undefined),
    ]);
  });
});

describe('money in a heading', () => {
  it('has the digits of its currency', () => {
    expect(shortText('0.000000', 'USD')).to.equal('0.00');
    expect(shortText('100', 'USD')).to.equal('100.00');
    expect(shortText('12.345678', 'USD')).to.equal('12.35');
    expect(shortText('-12.345', 'USD')).to.equal('-12.35');
    expect(shortText('1234.5', 'JPY')).to.equal('1235');
    expect(shortText('1.2345', 'KWD')).to.equal('1.235');
    expect(shortText('–', 'USD')).to.equal('–');
  });

  it('never says nothing of an amount that is small', () => {
    expect(shortText('0.000123', 'USD')).to.equal('<0.01');
    expect(shortText('-0.000123', 'USD')).to.equal('>-0.01');
    expect(shortText('0.005', 'USD')).to.equal('0.01');
  });

  it('is at most half of the smallest unit from the exact amount', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), fc.constantFrom('', '-'), (micros, sign) => {
        const digits = micros.toString().padStart(7, '0');
        const short = shortText(`${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`, 'USD');
        if (/[<>]/.test(short)) return micros !== 0n && micros < 5_000n;
        const read = decimalOf(short.replace('-', ''));
        const off = (read?.units ?? 0n) * 10_000n - micros;
        return read?.scale === 2 && off >= -5_000n && off <= 5_000n;
      }),
    );
  });
});

describe('what credits cost', () => {
  it('follows from the price of a thousand, to the last digit', () => {
    expect(priceOf({ price_per_1000_credits: '1.00' }, 10)).to.equal('0.01000');
    expect(priceOf({ price_per_1000_credits: '0.92' }, 1_250)).to.equal('1.15000');
    expect(priceOf({ price_per_1000_credits: '1' }, 0)).to.equal('0.000');
    expect(priceOf({ price_per_1000_credits: 'free' }, 1)).to.equal(undefined);
  });
});

describe('the amount of a grant', () => {
  it('is below 0 where the money was paid back, as its credits are', () => {
    const shown = (kind: string) => majorText(signedBy(kind, 238), 'USD');
    expect(['sale', 'refund', 'dispute', 'reversal'].map(shown)).to.deep.equal([
      '2.38',
      '-2.38',
      '-2.38',
      '2.38',
    ]);
    expect(Object.is(signedBy('refund', 0), 0)).to.equal(true);
  });
});
