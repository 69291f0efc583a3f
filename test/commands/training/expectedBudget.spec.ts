import { expect } from 'chai';
import { faultInExample, faultInExpected } from '../../../src/commands/trainingExamples.ts';

const nested = (levels: number): object =>
  JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as object;
const wide = (members: number): object =>
  Object.fromEntries(Array.from({ length: members }, (_, at) => [at, 1]));

describe('what training may be told to expect of a document', () => {
  it('has at most 64 levels, however deep it is', () => {
    expect(faultInExpected(nested(64))).to.equal(undefined);
    for (const levels of [65, 1_000_000])
      expect(
        faultInExpected(JSON.parse(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`) as object),
      ).to.equal('is nested deeper than 64 levels');
  });

  it('has at most 20,000 values, wherever they are', () => {
    expect(faultInExpected(wide(20_000))).to.equal(undefined);
    const rows = Array.from({ length: 5_001 }, () => ({ a: [1], b: 2 }));
    for (const beyond of [wide(20_001), { rows }, { list: Array.from({ length: 20_000 }, () => 1) }])
      expect(faultInExpected(beyond)).to.equal('has more than 20000 values');
  });

  it('is told from the text of an example, too, before it is parsed', () => {
    const example = (expected: object): string => JSON.stringify({ document_id: 'doc_1', expected });
    const lists = (count: number) => ({ list: Array.from({ length: count }, () => []) });
    for (const fine of [nested(64), wide(20_000), lists(19_999)])
      expect(faultInExample(example(fine))).to.equal(undefined);
    expect(faultInExample(example(nested(65)))).to.equal('is nested deeper than 64 levels');
    expect(faultInExample('['.repeat(2_000_000))).to.equal('is nested deeper than 64 levels');
    expect(faultInExample(example(wide(40_010)))).to.equal('has more than 20000 values');
  });
});
