import { expect } from 'chai';
import { textDocument } from '../../formats/text/textDocument.ts';
import type { Json } from '../../kernel/json.ts';
import { extract } from '../../extraction/extract.ts';
import { CASES, date, names, text } from './proseCases.ts';

const answer = (lines: readonly string[], properties: Record<string, Json>) =>
  extract(textDocument(lines.join('\n')), { type: 'object', properties });

describe('extraction from running prose', () => {
  for (const { title, lines, properties, expected } of CASES)
    it(`reads ${title}`, () => {
      expect(answer(lines, properties).value).to.deep.equal(expected);
    });

  const lines = CASES[0]?.lines ?? [];

  it('cites words that stand in the document', () => {
    const { citations } = answer(lines, { parties: names, term: text });
    expect(citations.map(({ path }) => path)).to.deep.equal(['/parties/0', '/parties/1', '/term']);
    for (const citation of citations) expect(lines.join(' ')).to.include(citation.text);
  });

  it('leaves out what the document does not say', () => {
    const prose = [
      'The committee met on a rainy afternoon and talked for a long time about the state of the garden behind the',
      'old library, which had been neglected since the gardener left and nobody had been found to replace him.',
    ];
    const asked = { parties: names, governing_law: text, effective_date: date, term: text, landlord: text };
    expect(answer(prose, asked)).to.deep.equal({ value: {}, citations: [], seen: [], left: [] });
  });

  it('ends on hostile text', () => {
    const asked = { parties: names, governing_law: text, effective_date: date, term: text };
    const bombs = [
      'agreement between ',
      'A and ',
      '(((("',
      'between A, ',
      'laws of The ',
      'one (1 ',
      'Ab-\n',
    ];
    for (const bomb of bombs) {
      const filler = 'this agreement is made between the people who have come here and want to say a word. ';
      expect(answer([filler.repeat(4) + bomb.repeat(300)], asked).value, bomb).to.be.an('object');
    }
  });
});
