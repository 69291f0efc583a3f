import { expect } from 'chai';
import { layoutPages } from '../../layout/pages/layoutPages.ts';
import type { PlacedWord, Rule } from '../../layout/content.ts';
import { line, markdown, pageOf } from '../support/drawnPages.ts';

const BOLD = { bold: true };
const ITALIC = { italic: true };
const PLAIN = ['All that follows here is text as it is', 'read in most of what people write down.'];

/** Words of several looks on one line, each after a space. */
const mixed = (
  [x, y]: readonly [number, number],
  parts: readonly (readonly [string, { bold?: boolean; italic?: boolean }])[],
): readonly PlacedWord[] => {
  let at = x;
  return parts.flatMap(([text, look]) => {
    const words = line(text, [at, y], look);
    at += (text.length + 1) * 5;
    return words;
  });
};
const plain = (y: number): readonly (readonly PlacedWord[])[] =>
  PLAIN.map((text, i) => line(text, [50, y + 12 * i]));

describe('emphasis of a page', () => {
  it('is marked from space to space, once for neighbours of one look', () => {
    const sum = [
      ['The', {}],
      ['whole sum,', BOLD],
    ] as const;
    const parts = [...sum, ['is', {}], ['not', ITALIC], ['due.', {}]] as const;
    const first = mixed([50, 100], parts);
    expect(markdown(pageOf([first, ...plain(140)]))).to.contain('The **whole sum,** is *not* due.\n');
  });

  it('runs on over lines and over a hyphen at the end of one', () => {
    const lines = [
      mixed(
        [50, 100],
        [
          ['We shall pay them', {}],
          ['within the agreed pe-', BOLD],
        ],
      ),
      mixed(
        [50, 112],
        [
          ['riod of thirty days,', BOLD],
          ['and not later.', {}],
        ],
      ),
    ];
    expect(markdown(pageOf([...lines, ...plain(150)]))).to.contain(
      'We shall pay them **within the agreed period of thirty days,** and not later.',
    );
  });

  it('leaves plain text without marks, for whoever reads values in it', () => {
    const first = mixed(
      [50, 100],
      [
        ['The', {}],
        ['whole', BOLD],
        ['sum is', {}],
        ['due', ITALIC],
      ],
    );
    const [[block] = []] = layoutPages([pageOf([first, ...plain(140)])]);
    expect(block).to.include({ kind: 'paragraph', text: 'The whole sum is due' });
  });

  it('says nothing in a heading, in a document that is bold throughout, nor of a cell of one look', () => {
    const heading = markdown(pageOf([line('A Heading', [50, 60], { size: 18, bold: true }), ...plain(100)]));
    expect(heading).to.match(/^# A Heading\n/);
    const loud = PLAIN.map((text, i) => line(text, [50, 100 + 12 * i], BOLD));
    expect(markdown(pageOf(loud))).to.equal(`${PLAIN.join(' ')}\n`);
    const across = [100, 120, 140].map((y): Rule => [50, y, 250, y]);
    const down = [50, 150, 250].map((x): Rule => [x, 100, x, 140]);
    const cells = [
      line('Name', [60, 104], BOLD),
      line('Sum', [160, 104], BOLD),
      line('Nails', [60, 124]),
      mixed(
        [160, 124],
        [
          ['12', BOLD],
          ['net', {}],
        ],
      ),
    ];
    expect(markdown(pageOf(cells, [...across, ...down]))).to.equal(
      '| Name | Sum |\n| --- | --- |\n| Nails | **12** net |\n',
    );
  });

  it('leaves the marker of an item alone, and signs without words', () => {
    const item = mixed(
      [50, 100],
      [
        ['• Terms:', BOLD],
        ['thirty days', {}],
        ['–', BOLD],
        ['net', {}],
      ],
    );
    expect(markdown(pageOf([item, ...plain(140)]))).to.contain('- **Terms:** thirty days – net\n');
  });

  it('never lets a sign of the text end a mark or become one', () => {
    const odd = mixed(
      [50, 100],
      [
        ['see', {}],
        ['C:\\', BOLD],
        ['and', {}],
        ['a*b', BOLD],
        ['there', {}],
      ],
    );
    expect(markdown(pageOf([odd, ...plain(140)]))).to.contain('see C:\\ and **a\\*b** there');
  });
});
