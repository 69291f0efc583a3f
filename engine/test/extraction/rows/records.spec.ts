import { expect } from 'chai';
import fc from 'fast-check';
import type { Block } from '../../../document/document.ts';
import type { PlacedWord } from '../../../layout/content.ts';
import { drawnDocument, line, markdown, pageOf } from '../../support/drawnPages.ts';
import { holds } from '../../support/properties.ts';
import { flowOf, heading, listOf, read } from './flows.ts';

type Words = readonly (readonly PlacedWord[])[];

const row = (y: number, places: readonly number[], cells: readonly string[]): Words =>
  cells.flatMap((text, i) => (text === '' ? [] : [line(text, [places[i] ?? 0, y])]));

const text = { type: 'string' };
const number = { type: 'number' };
const figure = {
  value: number,
  unit: text,
  scale: { type: 'integer' },
  period: { type: 'string', description: "Reporting period, such as 'FY2031 Q2' or 'FY2031 H1'" },
};

describe('records on pages', () => {
  it('come back all, 2,000 rows of a statement over its pages', () => {
    const places = [40, 130, 400, 500];
    const head = ['Booked', 'Text', 'Amount', 'Balance'];
    const all = Array.from({ length: 2000 }, (_, i) => ({
      booked: `2031-${String(1 + (i % 12)).padStart(2, '0')}-${String(1 + (i % 28)).padStart(2, '0')}`,
      text: `Order ${String.fromCharCode(65 + (i % 26))}${String.fromCharCode(97 + (i % 17))}row ${String(i)}`,
      amount: 1 + (i % 90) + 0.25,
      balance: 1000 + i + 0.5,
    }));
    const pages = Array.from({ length: 50 }, (_, page) =>
      pageOf([
        ...row(60, places, head),
        ...all
          .slice(40 * page, 40 * page + 40)
          .flatMap(({ booked, text: words, amount, balance }, i) =>
            row(80 + 16 * i, places, [booked, words, amount.toFixed(2), balance.toFixed(2)]),
          ),
      ]),
    );
    const schema = {
      rows: listOf({ booked: { type: 'string', format: 'date' }, text, amount: number, balance: number }),
    };
    const rows = read(drawnDocument(pages), schema).value['rows'] as Record<string, unknown>[];
    expect(rows).to.have.length(2000);
    const cells = all.flatMap((one, i) =>
      Object.entries(one).map(([key, value]) => rows[i]?.[key] === value),
    );
    expect(cells.filter(Boolean).length / cells.length).to.be.at.least(0.99);
  });

  const racePage = (group: string, boats: readonly (readonly string[])[]) =>
    pageOf([
      ...row(60, [60, 440], ['Race No. :7', 'Gusty']),
      ...row(76, [60, 440], [`Class :${group}`, 'Cold']),
      ...row(100, [30, 70, 260, 310, 436], ['Rank', 'Name', 'Nat', 'Yacht', 'Time']),
      ...row(112, [520], ['(Gap)']),
      ...boats.flatMap(([rank = '', name = '', nation = '', yacht = '', time = '', gap = ''], i) => [
        ...row(140 + 30 * i, [30, 70, 260, 310], [rank, name, nation, yacht]),
        ...row(150 + 30 * i, [435, 522], [time, gap]),
      ]),
    ]);

  it('over two lines are rows, with the columns of both, below the head of their group', () => {
    const pages = [
      racePage('B2', [
        ['1', 'Ada Low', 'NED', 'Grey Goose', '51.20', '0.0'],
        ['2', 'Bo Quill', 'DEN', 'A Very Long Name of a Yacht', '52.75', '1.55'],
        ['3', 'Cy Moor', 'NED', 'Tern', '59.90', '8.7'],
      ]),
      racePage('C1', [
        ['1', 'Dee Holm', 'SWE', 'Fulmar', '48.10', '0.0'],
        ['2', 'Eli Skerry', 'NOR', 'Gannet Two', '49.35', '1.25'],
      ]),
    ];
    expect(markdown(pages[0] ?? pageOf([]))).to.contain(
      '| 2 | Bo Quill | DEN | A Very Long Name of a Yacht | 52.75 | 1.55 |',
    );
    const boat = { rank: { type: 'integer' }, sailor: text, country: text, yacht: text, time: text };
    const schema = { classes: listOf({ class: text, boats: listOf(boat) }) };
    const [first, second] = read(drawnDocument(pages), schema).value['classes'] as {
      class: string;
      boats: unknown[];
    }[];
    expect([first?.class, first?.boats.length, second?.class, second?.boats.length]).to.deep.equal([
      'B2',
      3,
      'C1',
      2,
    ]);
    expect(first?.boats[1]).to.deep.equal({
      rank: 2,
      sailor: 'Bo Quill',
      country: 'DEN',
      yacht: 'A Very Long Name of a Yacht',
      time: '52.75',
    });
  });

  it('are none where labels stand above a table: they stay lines', () => {
    const labels = [
      ['Invoice number:', 'A-17'],
      ['Invoice date:', '3 May 2031'],
      ['Due date:', '9 June 2031'],
      ['Customer:', 'C-4'],
      ['Order:', 'PO-9'],
      ['Terms:', '30 days'],
    ];
    const items = [
      ['Item', 'Quantity', 'Price', 'Amount'],
      ['Bolt', '2', '1.50', '3.00'],
      ['Nut', '4', '0.50', '2.00'],
    ];
    const drawn = (form: readonly (readonly string[])[]) =>
      markdown(
        pageOf([
          ...form.flatMap((cells, i) => row(100 + 14 * i, [50, 200], cells)),
          ...items.flatMap((cells, i) => row(184 + 14 * i, [50, 200, 300, 400], cells)),
        ]),
      );
    const table =
      '| Item | Quantity | Price | Amount |\n| --- | --- | --- | --- |\n' +
      '| Bolt | 2 | 1.50 | 3.00 |\n| Nut | 4 | 0.50 | 2.00 |';
    expect(drawn(labels))
      .to.contain('Invoice number: A-17\nInvoice date: 3 May 2031\n')
      .and.to.contain(table);
    const bare = labels.map(([label = '', value = '']) => [label.replace(':', ''), value]);
    expect(drawn(bare)).to.contain(table);
  });

  const word = fc.constantFrom('Alder', 'Birch', 'Cedar', 'Dogwood', 'Elder', 'Fir', 'Gorse', 'Hazel');
  const record = fc.record({
    tree: fc.tuple(word, word).map((words) => words.join(' ')),
    height: fc.integer({ min: 1, max: 999 }),
    rings: fc.integer({ min: 1, max: 999 }),
    isWrapped: fc.boolean(),
  });
  const stands = fc.record({
    groups: fc.array(fc.array(record, { minLength: 3, maxLength: 12 }), { minLength: 1, maxLength: 4 }),
    hasGroups: fc.boolean(),
    isDeep: fc.boolean(),
    perPage: fc.integer({ min: 6, max: 30 }),
  });

  holds(
    'come back row for row, whatever head, groups, wraps and ends of pages their table has',
    fc.property(stands, ({ groups, hasGroups, isDeep, perPage }) => {
      const places = [50, 300, 420];
      const lines = groups.flatMap((records, g) => [
        ...(hasGroups ? [[[`Stand ${String.fromCharCode(65 + g)}`]]] : []),
        ...records.map(({ tree, height, rings, isWrapped }) => [
          [`${tree}${isWrapped ? ' that grows on slopes and' : ''}`, String(height), String(rings)],
          ...(isWrapped ? [['in the valley']] : []),
        ]),
      ]);
      const pages = Array.from({ length: Math.ceil(lines.length / perPage) }, (_, page) => {
        let y = 60;
        const words: (readonly PlacedWord[])[] = [];
        const put = (cells: readonly string[], step: number): void => {
          words.push(...row(y, places, cells));
          y += step;
        };
        put(['Tree', 'Height', 'Rings'], isDeep ? 11 : 20);
        if (isDeep) put(['', 'm', 'count'], 20);
        for (const own of lines.slice(page * perPage, (page + 1) * perPage))
          own.forEach((cells, i) => {
            put(cells, i === own.length - 1 ? 20 : 11);
          });
        return pageOf(words);
      });
      const schema = {
        rows: listOf({
          tree: text,
          height: { type: 'integer' },
          rings: { type: 'integer' },
          ...(hasGroups && { stand: text }),
        }),
      };
      const rows = (read(drawnDocument(pages), schema).value['rows'] ?? []) as Record<string, unknown>[];
      const expected = groups.flat().map(({ height, rings }) => [height, rings]);
      expect(rows.map(({ height, rings }) => [height, rings])).to.deep.equal(expected);
    }),
    0.25,
  );

  it('are entries below the title that names them, told by the time that they lasted', async () => {
    const paragraph = (words: string): Block => ({
      kind: 'paragraph',
      box: null,
      text: words,
      markdown: words,
    });
    const document = await flowOf(
      heading('Ada Low'),
      heading('Work experience'),
      paragraph('Keeper of the Light'),
      paragraph('Harbour Office Grey Holm | Norway | March 2021 - Present'),
      paragraph('Kept the lamp and its books.'),
      paragraph('Second Keeper - Long Skerry Trust\nJune 2016 - February 2021'),
      heading('Education'),
      paragraph('Harbour School, 1998-2003'),
    );
    const job = { jobTitle: text, employer: text, startDate: text, endDate: text, description: text };
    const { value } = read(document, {
      workExperience: listOf({ ...job, isCurrent: { type: 'boolean' } }),
    });
    expect(value['workExperience']).to.deep.equal([
      {
        jobTitle: 'Keeper of the Light',
        employer: 'Harbour Office Grey Holm',
        isCurrent: true,
        startDate: 'March 2021',
        description: 'Kept the lamp and its books.',
      },
      {
        jobTitle: 'Second Keeper',
        employer: 'Long Skerry Trust',
        isCurrent: false,
        startDate: 'June 2016',
        endDate: 'February 2021',
      },
    ]);
  });

  it('are the works that a paper cites, each in its parts', async () => {
    const works =
      '[1] Ada Low, Bo Quill, and Cy Moor. Lamps of the northern isles. In Proceedings of Lamps, 2021.\n' +
      '[2] Low, A., & Quill, B. (2019). Oil and wick. Harbour Press, Skerry, 2017. doi: 10.1000/lamp.7';
    const document = await flowOf(
      heading('On lamps'),
      heading('References'),
      ...works
        .split('\n')
        .map((words): Block => ({ kind: 'paragraph', box: null, text: words, markdown: words })),
    );
    const cited = { title: text, venue: text, year: { type: 'integer' }, authors: listOf({ name: text }) };
    expect(read(document, { citations: listOf({ ...cited, ids: text }) }).value['citations']).to.deep.equal([
      {
        title: 'Lamps of the northern isles',
        venue: 'Proceedings of Lamps',
        year: 2021,
        authors: [{ name: 'Ada Low' }, { name: 'Bo Quill' }, { name: 'Cy Moor' }],
      },
      {
        title: 'Oil and wick',
        venue: 'Harbour Press',
        year: 2019,
        ids: '10.1000/lamp.7',
        authors: [{ name: 'Low, A.' }, { name: 'Quill, B.' }],
      },
    ]);
  });

  const itemBlock = (words: string): Block => ({
    kind: 'list_item',
    box: null,
    text: words,
    markdown: words,
    ordered: false,
    depth: 0,
    number: null,
  });

  it('are works by their form, under whatever heading they stand', async () => {
    const document = await flowOf(
      heading('Ada Low'),
      heading('Books'),
      itemBlock('Low, A. (2023). *Lamps of the Isles*. Skerry Press, 680 pp.'),
      itemBlock('Low, A. & Quill, B. (eds.) (2016). *Oil and Wick*. Holm, 512 pp.'),
      heading('Selected articles'),
      itemBlock('Low, A. (2019). "Keeping Wicks Dry." *Harbour Review*, 75(4), 12-29.'),
    );
    const asked = { authors: text, title: text, year: text, publisher: text };
    expect(read(document, { publications: listOf(asked) }).value['publications']).to.deep.equal([
      { authors: 'Low, A.', title: 'Lamps of the Isles', year: '2023', publisher: 'Skerry Press' },
      { authors: 'Low, A. & Quill, B.', title: 'Oil and Wick', year: '2016', publisher: 'Holm' },
      { authors: 'Low, A.', title: 'Keeping Wicks Dry', year: '2019', publisher: 'Harbour Review' },
    ]);
  });

  it('are items that each tell their time, of which one may be a point', async () => {
    const document = await flowOf(
      heading('Work experience'),
      itemBlock('Harbour Office, Grey Holm (2015-2016, full year)'),
      itemBlock('Long Skerry Trust (Spring 2010)'),
    );
    const asked = { jobTitle: text, employer: text, startDate: text, endDate: text };
    expect(read(document, { workExperience: listOf(asked) }).value['workExperience']).to.deep.equal([
      { employer: 'Harbour Office, Grey Holm', startDate: '2015', endDate: '2016' },
      { employer: 'Long Skerry Trust', startDate: 'Spring 2010', endDate: 'Spring 2010' },
    ]);
  });

  it('of a statement are figures by period, with unit and scale', () => {
    const places = [40, 300, 360, 460, 520];
    const page = pageOf([
      ...row(60, [200], ['Statements of Earnings']),
      ...row(74, [200], ['(In millions, except per share amounts)']),
      ...row(90, [300, 460], ['Three Months Ended', 'Six Months Ended']),
      ...row(102, [310, 470], ['December 31,', 'December 31,']),
      ...row(114, [305, 365, 465, 525], ['2030', '2029', '2030', '2029']),
      ...row(130, places, ['Total revenues', '$ 50.4', '$ 46.0', '$ 98.1', '$ 90.2']),
      ...row(144, places, ['Net earnings', '9.6', '8.7', '19.1', '17.3']),
      ...row(158, places, ['Basic earnings per share', '$ 2.36', '$ 2.14', '$ 4.71', '$ 4.22']),
    ]);
    const { value } = read(drawnDocument([page]), {
      net_earnings: listOf(figure),
      basic_earnings_per_share: listOf(figure),
      goodwill: listOf(figure),
    });
    expect(value['net_earnings']).to.have.deep.members([
      { value: 9.6, unit: 'USD', scale: 1_000_000, period: 'FY2031 Q2' },
      { value: 8.7, unit: 'USD', scale: 1_000_000, period: 'FY2030 Q2' },
      { value: 19.1, unit: 'USD', scale: 1_000_000, period: 'FY2031 H1' },
      { value: 17.3, unit: 'USD', scale: 1_000_000, period: 'FY2030 H1' },
    ]);
    expect((value['basic_earnings_per_share'] as unknown[])[0]).to.deep.equal({
      value: 2.36,
      unit: 'USD',
      scale: 1,
      period: 'FY2031 Q2',
    });
    expect(value).not.to.have.property('goodwill');
    const all = read(drawnDocument([page]), { figures: listOf({ line: text, ...figure }) }).value[
      'figures'
    ] as object[];
    expect(all[0]).to.include.keys('line', 'value', 'period');
    expect(new Set(all.map((one) => JSON.stringify(one))).size).to.be.above(
      (value['net_earnings'] as object[]).length,
    );
  });

  it('of a statement are of a day or of a time, the total of what is asked for, and amounts of what is paid', () => {
    const places = [40, 310, 470];
    const balance = pageOf([
      ...row(60, [200], ['BALANCE SHEETS (In millions)']),
      ...row(74, [280, 450], ['December 31, 2030', 'June 30, 2030']),
      ...row(100, places, ['Inventories', '34.2', '33.4']),
      ...row(114, places, ['Other current assets', '1.1', '1.2']),
      ...row(128, places, ['Total current assets', '54.2', '45.5']),
    ]);
    const flows = pageOf([
      ...row(60, [200], ['CASH FLOWS (In millions)']),
      ...row(74, [300], ['Six Months Ended December 31,']),
      ...row(88, [310, 470], ['2030', '2029']),
      ...row(100, places, ['Inventories', '(1.1)', '4.8']),
      ...row(114, places, ['Dividends paid', '(11.4)', '(10.3)']),
    ]);
    const { value } = read(drawnDocument([balance, flows]), {
      inventories: listOf(figure),
      current_assets: listOf(figure),
      dividends_paid: listOf(figure),
    });
    const valuesOf = (name: string): unknown[] =>
      ((value[name] ?? []) as { readonly value: unknown }[]).map((one) => one.value);
    expect(valuesOf('inventories')).to.deep.equal([34.2, 33.4]);
    expect(valuesOf('current_assets')).to.deep.equal([54.2, 45.5]);
    expect(valuesOf('dividends_paid')).to.deep.equal([11.4, 10.3]);
  });
});
