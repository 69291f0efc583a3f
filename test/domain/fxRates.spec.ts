import { expect } from 'chai';
import { fxRateOn, fxRates, type PublishFxRates } from '../../domain/fxRates.ts';
import { meta } from '../support/money/moneyCommands.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(fxRates);
const publish = (date: string, rates: Record<string, string>, base = 'EUR'): PublishFxRates => ({
  type: 'PublishFxRates',
  data: { date, base, rates, source: 'ecb' },
  meta,
});

const FRIDAY = publish('2026-01-30', { USD: '1.0842', JPY: '160.00', IDR: '17500' });
const MONDAY = publish('2026-02-02', { USD: '1.1000', JPY: '161.5' });

const rate = (pair: string, on: string, ...past: readonly PublishFxRates[]) =>
  fxRateOn(given(...past).state(), { base: pair.slice(0, 3), quote: pair.slice(4) }, on);

describe('publishing exchange rates', () => {
  it('happens once for the same rates; others for the same day correct them', () => {
    given(FRIDAY).when(FRIDAY).thenNothing();
    const corrected = publish('2026-01-30', { USD: '1.09' });
    given(FRIDAY)
      .when(corrected)
      .then(['FxRatesPublished', { date: '2026-01-30', rates: { USD: '1.09' } }]);
    expect(rate('EUR/USD', '2026-01-30', FRIDAY, corrected)?.rate).to.equal('1.09');
    expect(rate('EUR/JPY', '2026-01-30', FRIDAY, corrected)).to.equal(undefined);
  });

  it('may come in any order', () => {
    const days = given(MONDAY, FRIDAY, publish('2026-02-01', { USD: '1' }))
      .state()
      .days.map(({ date }) => date);
    expect(days).to.deep.equal(['2026-01-30', '2026-02-01', '2026-02-02']);
  });
});

describe('an exchange rate', () => {
  it('is given as published from the base', () => {
    expect(rate('EUR/USD', '2026-01-30', FRIDAY, MONDAY)).to.deep.equal({
      rate: '1.0842',
      rate_date: '2026-01-30',
      source: 'ecb',
    });
  });

  it('is that of the last day before, at weekends and holidays', () => {
    for (const on of ['2026-01-31', '2026-02-01'])
      expect(rate('EUR/USD', on, FRIDAY, MONDAY)?.rate_date).to.equal('2026-01-30');
    expect(rate('EUR/USD', '2026-03-01', FRIDAY, MONDAY)?.rate_date).to.equal('2026-02-02');
  });

  it('is that of the last day that has both currencies', () => {
    expect(rate('EUR/IDR', '2026-02-02', FRIDAY, MONDAY)?.rate_date).to.equal('2026-01-30');
  });

  it('crosses through EUR, half-even at 18 decimals', () => {
    expect(rate('USD/EUR', '2026-02-02', MONDAY)?.rate).to.equal('0.909090909090909091');
    expect(rate('JPY/USD', '2026-01-30', FRIDAY)?.rate).to.equal('0.006776250000000000');
    expect(rate('IDR/USD', '2026-01-30', FRIDAY)?.rate).to.equal('0.000061954285714286');
  });

  it('is 1 for a currency and itself', () => {
    expect(rate('USD/USD', '2020-01-01')?.rate).to.equal('1');
  });

  it('is unknown before the first day, for an unknown currency, and where 0 was published', () => {
    expect(rate('EUR/USD', '2026-01-29', FRIDAY)).to.equal(undefined);
    expect(rate('EUR/XTS', '2026-01-30', FRIDAY)).to.equal(undefined);
    expect(rate('USD/EUR', '2026-01-30', publish('2026-01-30', { USD: '0' }))).to.equal(undefined);
  });

  it('comes from EUR where a day has several bases, whichever was published last', () => {
    const dollars = publish('2026-01-30', { EUR: '0.9', JPY: '150' }, 'USD');
    for (const past of [
      [FRIDAY, dollars],
      [dollars, FRIDAY],
    ]) {
      expect(rate('EUR/USD', '2026-01-30', ...past)?.rate).to.equal('1.0842');
      expect(given(...past).state().days).to.have.length(2);
    }
  });
});
