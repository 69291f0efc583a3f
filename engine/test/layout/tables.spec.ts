import { expect } from 'chai';
import type { PlacedWord, Rule } from '../../layout/content.ts';
import { line, markdown, pageOf } from '../support/drawnPages.ts';

type Cells = readonly (readonly [x: number, text: string])[];

const rowAt = (y: number, cells: Cells): readonly PlacedWord[] =>
  cells.flatMap(([x, text]) => line(text, [x, y]));

const across = (ys: readonly number[]): readonly Rule[] => ys.map((y): Rule => [50, y, 450, y]);

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const BODY: Cells[] = ['North', 'South', 'East', 'West'].map((name, i) => [
  [54, name],
  [200, `${12 + i}`],
  [300, `${3 + i}.5`],
]);

describe('tables', () => {
  it('takes rows that no rule parts as rows, for numbers do not wrap', () => {
    const down = [50, 180, 280, 450].map((x): Rule => [x, 100, x, 190]);
    const words = [
      rowAt(104, [[54, 'Region'], [200, 'Ships'], [300, 'Share']]),
      ...BODY.map((cells, i) => rowAt(124 + 16 * i, cells)),
    ]; // prettier-ignore
    expect(markdown(pageOf(words, [...across([100, 120, 190]), ...down]))).to.contain(
      [row('North', '12', '3.5'), row('South', '13', '4.5'), row('East', '14', '5.5')].join('\n'),
    );
  });

  it('splits a cell that no line down the page parts where its row has the columns of the others', () => {
    const down = [50, 180, 280, 450].flatMap((x): readonly Rule[] => [
      [x, 100, x, 120],
      [x, 160, x, 180],
    ]);
    const sides: readonly Rule[] = [
      [50, 100, 50, 180],
      [450, 100, 450, 180],
    ];
    const words = [
      rowAt(104, [[54, 'Region'], [200, 'Ships'], [300, 'Share']]),
      ...BODY.slice(0, 3).map((cells, i) => rowAt(124 + 20 * i, cells)),
    ]; // prettier-ignore
    expect(markdown(pageOf(words, [...across([100, 120, 140, 160, 180]), ...down, ...sides]))).to.contain(
      [row('North', '12', '3.5'), row('South', '13', '4.5'), row('East', '14', '5.5')].join('\n'),
    );
  });

  it('parts tables of rules across by the prose between them', () => {
    const table = (top: number): readonly (readonly PlacedWord[])[] => [
      rowAt(top + 4, [[54, 'Region'], [200, 'Ships'], [300, 'Share']]),
      ...BODY.map((cells, i) => rowAt(top + 24 + 14 * i, cells)),
    ]; // prettier-ignore
    const prose = [
      'The harbours of the west had more ships in this year than in',
      'the year before, as the table below says.',
    ];
    const words = [...table(100), ...prose.map((text, i) => line(text, [50, 200 + 12 * i])), ...table(240)];
    const read = markdown(pageOf(words, across([100, 120, 182, 240, 260, 322])));
    expect(read.split(row('Region', 'Ships', 'Share'))).to.have.length(3);
    expect(read).to.contain('\n\nThe harbours of the west had more ships in this year');
    expect(read.split(row('West', '15', '6.5'))).to.have.length(3);
  });

  describe('without rules whose texts wrap', () => {
    const HEAD: Cells = [
      [54, 'Place'],
      [150, 'Date'],
      [250, 'What was found there'],
    ];
    /** The last cell on lines of its own, each as close as within a paragraph. */
    const records: readonly (readonly [string, string, readonly string[]])[] = [
      ['North', '3 May', ['Boats of the old kind lie', 'there in the mud beneath', 'the wall']],
      ['South', '4 May', ['Nothing but a few timbers', 'of a wreck']],
      ['East', '9 May', ['The harbour was dug deeper', 'by the town in that year', 'and again later on']],
      ['West', '12 May', ['Stones of an older harbour', 'that nobody had described', 'before, and some rings']],
    ]; // prettier-ignore
    const drawn = (last: readonly string[] = []): readonly PlacedWord[] => {
      let y = 104;
      const words = [...rowAt(90, HEAD)];
      for (const [place, date, texts] of records) {
        words.push(...rowAt(y, [[54, place], [150, date]])); // prettier-ignore
        for (const text of texts) {
          words.push(...line(text, [250, y]));
          y += 11;
        }
        y += 3;
      }
      return [...words, ...last.flatMap((text, i) => line(text, [54, y + 20 + 12 * i]))];
    };
    const ROWS = records.map(([place, date, texts]) => row(place, date, texts.join(' ')));

    it('is no prose beside a table, and has the lines of each cell', () => {
      expect(markdown(pageOf([drawn()]))).to.contain(ROWS.join('\n'));
    });

    it('ends where a line below it is no cell', () => {
      const read = markdown(
        pageOf([drawn(['After this nothing was found on the shore, and the work ended.'])]),
      );
      expect(read).to.contain(`${ROWS.join('\n')}\n\nAfter this nothing was found`);
    });
  });

  it('has headings over groups of columns over all of them', () => {
    const columns: Cells = [
      [54, 'Region'],
      [200, 'Ships'],
      [260, 'Boats'],
      [340, 'Crews'],
      [400, 'Pilots'],
    ];
    const body = ['North', 'South', 'East', 'West'].map((name, i): Cells => [
      [54, name], [200, `${12 + i}`], [260, `${3 + i}`], [340, `${70 + i}`], [400, `${5 + i}`],
    ]); // prettier-ignore
    const words = [
      rowAt(100, [[224, 'Fleet'], [364, 'People']]),
      rowAt(114, columns),
      ...body.map((cells, i) => rowAt(128 + 14 * i, cells)),
    ]; // prettier-ignore
    expect(markdown(pageOf(words))).to.contain(row('', 'Fleet', 'Fleet', 'People', 'People'));
  });

  it('keeps columns apart under a header that lies over two of them', () => {
    const words = [
      rowAt(100, [[54, 'Region'], [190, 'Ships and their shares']]),
      ...BODY.map((cells, i) => rowAt(116 + 14 * i, cells)),
    ]; // prettier-ignore
    expect(markdown(pageOf(words))).to.contain(`${row('North', '12', '3.5')}\n${row('South', '13', '4.5')}`);
  });

  it('keeps the groups of a number in one cell', () => {
    const cells: Cells[] = [
      [[54, 'Cash'], [200, '2 590,7'], [320, '0,6']],
      [[54, 'Capital'], [220, '4,8'], [315, '28,4']],
      [[54, 'Debts'], [215, '10,7'], [300, '3 687,6']],
      [[54, 'Stock'], [200, '3 899,4'], [300, '2 608,5']],
    ]; // prettier-ignore
    expect(markdown(pageOf(cells.map((own, i) => rowAt(100 + 16 * i, own))))).to.contain(
      [row('Debts', '10,7', '3 687,6'), row('Stock', '3 899,4', '2 608,5')].join('\n'),
    );
  });

  it('takes the sender and the recipient of a letter, side by side, for no table', () => {
    const head = [
      ['Harbour Clinic of Elm Bay', 'Mr Cy Renn'],
      ['Department of Imaging', '17 Mill Lane'],
      ['Call 555 0147', '2681 LC Elm Bay'],
    ];
    const words = head.map(([sender = '', recipient = ''], i) =>
      rowAt(100 + 13 * i, [[54, sender], [330, recipient]]),
    ); // prettier-ignore
    const read = markdown(pageOf([...words, rowAt(190, [[54, 'Invitation to your examination']])]));
    expect(read).not.to.contain('|');
    expect(read).to.match(/Call 555 0147\s+Mr Cy Renn\s+17 Mill Lane\s+2681 LC Elm Bay\s+Invitation/);
    const register = [
      ['Ada Low', '2681 LC Elm Bay'],
      ['Ben Renn', '2682 LC Oak Hill'],
      ['Cy Fox', '2683 LC Ash Field'],
    ];
    const rows = register.map(([name = '', place = ''], i) =>
      rowAt(100 + 13 * i, [[54, name], [330, place]]),
    ); // prettier-ignore
    expect(markdown(pageOf(rows))).to.contain(row('Ben Renn', '2682 LC Oak Hill'));
  });

  it('takes lines that stand closer than rows do as one row', () => {
    const cells = (y: number, name: string, i: number): readonly (readonly PlacedWord[])[] => [
      rowAt(y, [[54, name], [150, 'a longer text on what'], [300, 'a second text of the']]),
      rowAt(y + 11, [[150, 'there was to be seen'], [300, `same row, number ${i}`]]),
    ]; // prettier-ignore
    const words = [0, 1, 2, 3].flatMap((i) => cells(100 + 40 * i, `Item ${i}`, i));
    const read = markdown(pageOf(words));
    expect(read).to.contain(
      row('Item 1', 'a longer text on what there was to be seen', 'a second text of the same row, number 1'),
    );
  });

  it('reads labels that end level with the numbers of their row', () => {
    const label = (
      y: number,
      [first, rest]: readonly [string, string],
      number: string,
    ): readonly PlacedWord[] => [
      ...line(first, [50, y]),
      ...line(rest, [50, y + 12]),
      ...line(number, [300, y + 12]),
      ...line(`${number}0`, [400, y + 12]),
    ];
    const words = [
      rowAt(88, [[50, 'Measure'], [300, '2001'], [400, '2002']]),
      label(100, ['Income of households in', 'the whole country'], '1.5'),
      label(124, ['Years of life that are lost', 'before the age of 75'], '2.5'),
      label(148, ['Inequality of income in the', 'regions of the country'], '3.5'),
    ]; // prettier-ignore
    expect(markdown(pageOf(words))).to.contain(
      row('Years of life that are lost before the age of 75', '2.5', '2.50'),
    );
  });

  it('joins the lines of a header, and lays what is centred over columns over all of them', () => {
    const words = [
      rowAt(92, [[54, 'Kind'], [190, 'Ships of all the years']]),
      rowAt(112, [[200, 'In the'], [260, 'In the']]),
      rowAt(123, [[54, 'Region'], [200, 'spring'], [260, 'autumn']]),
      ...BODY.map(([label, one], i) => rowAt(144 + 14 * i, [label!, one!, [260, `${i}.5`]])),
    ]; // prettier-ignore
    const read = markdown(pageOf(words, [[50, 108, 450, 108], ...across([138, 204])]));
    expect(read).to.contain(row('Region', 'In the spring', 'In the autumn'));
    expect(read).to.contain(row('North', '12', '0.5'));
  });

  it('keeps the name of a group of rows apart from the rows', () => {
    const words = [
      rowAt(100, [[50, 'Country and region'], [200, 'Ships'], [300, 'Share']]),
      line('East', [50, 116]),
      ...BODY.slice(0, 2).map((cells, i) => rowAt(128 + 12 * i, cells)),
      line('West', [50, 152]),
      ...BODY.slice(2).map((cells, i) => rowAt(164 + 12 * i, cells)),
    ]; // prettier-ignore
    const read = markdown(pageOf(words));
    expect(read).to.contain(
      [row('South', '13', '4.5'), row('West', '', ''), row('East', '14', '5.5')].join('\n'),
    );
  });

  it('takes neither numbered headings nor two lines that are set wide for a table', () => {
    const heading = (number: string, title: string, y: number): readonly PlacedWord[] => [
      ...line(number, [50, y], { bold: true }),
      ...line(title, [100, y], { bold: true }),
    ];
    const wide = (words: readonly string[], y: number): readonly PlacedWord[] =>
      words.flatMap((text, i) => line(text, [50 + words.slice(0, i).join('').length * 5 + 15 * i, y]));
    const words = [
      heading('4', 'Strategies and results', 60),
      heading('4.1', 'Who is affected by losses', 76),
      heading('4.1.1', 'A model of losses', 92),
      wide(['estimates', 'on', 'the', 'basis', 'of', 'accounts'], 130),
      wide(['of', 'banks', 'and', 'the', 'private', 'households'], 142),
    ];
    const read = markdown(pageOf(words));
    expect(read).not.to.contain('|');
    expect(read).to.contain('4.1 Who is affected by losses');
  });
});
