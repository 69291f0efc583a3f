import { expect } from 'chai';
import { changesOf, faultOf, PRICES, RATES, type Entry } from '../../src/pages/finance/entries.ts';

const words = { badCurrency: 'currency', badPrice: 'amount', twice: 'twice' };
const entry = (currency: string, amount: string, key = currency): Entry => ({
  key,
  currency,
  amount,
  basis: 'exclusive',
});

describe('the lines of prices and rates', () => {
  it('take as many digits as the API does', () => {
    const fault = (amount: string, amounts: RegExp) => faultOf(entry('JPY', amount), [], { amounts, words });
    expect(fault('0.000001', PRICES)).to.equal(undefined);
    expect(fault('0.0000001', PRICES)).to.equal('amount');
    expect(fault('0.006172839506172839', RATES)).to.equal(undefined);
    expect(fault('0.0061728395061728395', RATES)).to.equal('amount');
    for (const bad of ['', '-1', '1,5', '1e3']) expect(fault(bad, RATES), bad).to.equal('amount');
  });

  it('name a currency once, by three letters', () => {
    const [one, other] = [entry('USD', '1', 'a'), entry('USD', '2', 'b')];
    expect(faultOf(one, [one, other], { amounts: RATES, words })).to.equal('twice');
    expect(faultOf(entry('us', '1'), [], { amounts: RATES, words })).to.equal('currency');
  });

  it('tell what is new, changed, gone and as before, whatever zeros are written', () => {
    const now = [entry('USD', '1.10'), entry('JPY', '160'), entry('CHF', '0.9')];
    const next = [entry('USD', '1.1'), entry('JPY', '161'), entry('PLN', '4.3')];
    expect(changesOf(now, next).map(({ currency, state, now: was }) => [currency, state, was])).to.deep.equal(
      [
        ['USD', 'same', '1.10'],
        ['JPY', 'changed', '160'],
        ['CHF', 'removed', '0.9'],
        ['PLN', 'added', undefined],
      ],
    );
  });
});
