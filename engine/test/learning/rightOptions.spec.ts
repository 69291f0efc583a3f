import { expect } from 'chai';
import type { Json } from '../../kernel/json.ts';
import type { Option } from '../../learning/options.ts';
import { asRead, rightOptions } from '../../learning/weights/rightOptions.ts';

const optionsOf = (...values: readonly Json[]): readonly Option[] =>
  values.map((value) => ({
    value,
    seen: undefined,
    byRules: false,
    surety: 0,
    labelScore: 0,
    liking: 0,
    sights: [],
  }));

describe('the options that an example means', () => {
  it('are those that say it to the letter, where there are any', () => {
    const options = optionsOf('Harbour Stores', 'HARBOUR STORES.', 'Harbour Stares');
    expect(rightOptions(options, 'Harbour Stores')).to.deep.equal([0, 1]);
  });

  it('are the nearest where recognition read a letter wrong', () => {
    const options = optionsOf('Marker Street 4', 'Harb0ur St0res', 'Harbour');
    expect(rightOptions(options, 'Harbour Stores')).to.deep.equal([1]);
    expect(asRead(options, 'Harbour Stores')).to.equal('Harb0ur St0res');
  });

  it('are none for another number, another day, or a short word', () => {
    expect(rightOptions(optionsOf('2024-05-01', 41.5), '2024-05-02')).to.deep.equal([]);
    expect(rightOptions(optionsOf(41.5, '41.5'), 41.6)).to.deep.equal([]);
    expect(rightOptions(optionsOf('KX-1043'), 'KX-1044')).to.deep.equal([]);
    expect(rightOptions(optionsOf('cat'), 'car')).to.deep.equal([]);
  });

  it('are none where nothing is expected', () => {
    for (const expected of [undefined, null, ''])
      expect(rightOptions(optionsOf('Harbour Stores'), expected)).to.deep.equal([]);
  });
});
