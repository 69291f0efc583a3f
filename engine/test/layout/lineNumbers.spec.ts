import { expect } from 'chai';
import type { PlacedWord } from '../../layout/content.ts';
import { line, markdown, pageOf } from '../support/drawnPages.ts';

const TEXT = [
  'The matter came on for oral argument before the Court of the whole',
  'land at one in the afternoon, and those who spoke for either side had',
  'an hour each.',
];

const numbered = (texts: readonly string[], x = 120): readonly (readonly PlacedWord[])[] =>
  Array.from({ length: 14 }, (_, i) => [
    ...line(String(i + 1), [i < 9 ? 95 : 90, 60 + 24 * i]),
    ...line(texts[i] ?? '', [x, 60 + 24 * i]),
  ]);

describe('numbers of lines in the margin', () => {
  it('are no cells, and the lines beside them are text', () => {
    const read = markdown(pageOf(numbered(['APPEARANCES', ...TEXT])));
    for (const text of TEXT) expect(read).to.contain(text);
    expect(read).not.to.contain('|');
    expect(read).not.to.match(/\b1[0-4]\b/);
  });

  it('stay where they are cells of a table', () => {
    const words = Array.from({ length: 14 }, (_, i) => [
      ...line(String(i + 1), [i < 9 ? 95 : 90, 60 + 14 * i]),
      ...line('years', [120, 60 + 14 * i]),
      ...line(`${3_000 + i}`, [300, 60 + 14 * i]),
      ...line('men', [420, 60 + 14 * i]),
    ]);
    expect(markdown(pageOf(words))).to.contain('14');
  });
});
