import { expect } from 'chai';
import type { DocumentPage, Line } from '../../document/document.ts';
import { classify } from '../../sorting/classify.ts';
import { pageMarkOf } from '../../sorting/pageMarks.ts';
import { split } from '../../sorting/split.ts';

const SIZE = { width: 595, height: 842 };

/** A line at its height of the page, its words one after the other. */
const lineAt = (text: string, y: number): Line => {
  let x = 50;
  const words = text.split(' ').map((word) => {
    const box = [x, y, x + word.length * 6, y + 11] as const;
    x += word.length * 6 + 4;
    return { text: word, box, confidence: 1, fontSize: 11, bold: false };
  });
  return { text, box: [50, y, x, y + 11], words };
};

/** A page of lines from its top, and one at its foot. */
const page = (lines: readonly string[], foot?: string): Omit<DocumentPage, 'page'> => ({
  status: lines.length === 0 ? 'empty' : 'ok',
  source: 'text_layer',
  detail: null,
  ...SIZE,
  blocks: [],
  lines: [
    ...lines.map((text, at) => lineAt(text, 50 + at * 18)),
    ...(foot === undefined ? [] : [lineAt(foot, 800)]),
  ],
});

const stack = (pages: readonly Omit<DocumentPage, 'page'>[]): readonly DocumentPage[] =>
  pages.map((one, at) => ({ ...one, page: at + 1 }));

const ROWS = Array.from({ length: 24 }, (_, n) => `Article ${n + 1} steel bracket 4 pieces 12.50 50.00`);
const invoiceOf = (number: string, name: string) => [
  page([`${name} Ltd`, 'INVOICE', `Invoice number ${number}`, 'Date 2026-03-01', ...ROWS], 'Page 1 of 2'),
  page([`${name} Ltd`, ...ROWS.slice(0, 6), 'Subtotal 300.00', 'Total due 357.00'], 'Page 2 of 2'),
];
const LETTER = [
  page([
    'Harbour Insurance',
    '4 Quay Road, Bristol',
    '12 April 2026',
    'Dear Ms Miller,',
    'thank you for your letter about the damage to your roof after the storm.',
    'Our surveyor will visit you next week and write a report for us.',
    'Yours sincerely,',
    'Paul Hughes',
  ]),
];
const LEASE = [
  page(
    [
      'LEASE AGREEMENT',
      'between the landlord and the tenant of the flat in Elm Street.',
      '1. The landlord lets the flat to the tenant from 1 May 2026.',
      ...Array.from(
        { length: 30 },
        () => 'The tenant pays the rent to the landlord in advance and keeps the flat',
      ),
    ],
    'Page 1 of 2',
  ),
  page(
    [
      'clean and in good order, and the landlord insures it.',
      ...Array.from({ length: 20 }, () => 'The landlord repairs the flat and the tenant'),
    ],
    'Page 2 of 2',
  ),
];

const pagesOf = (...parts: Parameters<typeof split>): readonly (readonly number[])[] =>
  split(...parts).map(({ pages }) => pages);

const CLASSES = [
  { name: 'Invoice', description: 'A bill for goods or services with the amount to pay.' },
  { name: 'Lease', description: 'A contract between landlord and tenant about a flat and its rent.' },
  { name: 'Letter', description: 'A letter to a customer of an insurance company.' },
];

describe('sorting', () => {
  describe('the number of a page', () => {
    const mark = (text: string) => {
      const found = pageMarkOf([lineAt(text, 800)]);
      return found === undefined ? undefined : [found.number, found.of];
    };
    for (const [text, number, of] of [
      ['Page 2 of 7', 2, 7],
      ['Seite 1 von 3', 1, 3],
      ['página 3 de 4', 3, 4],
      ['Pagina: 5/6', 5, 6],
      ['strona 2 z 2', 2, 2],
      ['2 / 9', 2, 9],
      ['- 4 -', 4, null],
      ['p. 12', 12, null],
    ] as const)
      it(`is read in "${text}"`, () => expect(mark(text)).to.deep.equal([number, of]));
    for (const text of ['Total 12 of goods', 'Page 9 of 3', 'Pages', '2026-01-01', 'Invoice 4711', 'page 0'])
      it(`is not read in "${text}"`, () => expect(mark(text)).to.equal(undefined));
    it('is read over gaps of any length, and looked for in them in linear time', () => {
      const gap = ' '.repeat(200_000);
      expect(mark(`Page${gap}2${gap}of${gap}7`)).to.deep.equal([2, 7]);
      for (const text of [`page${gap}x`, `page${gap}:${gap}x`, `page 1${gap}of${gap}x`, `1${gap}of${gap}x`])
        expect(mark(text)?.[1] ?? null).to.equal(null);
    });
  });

  describe('a stack', () => {
    const all = stack([
      ...invoiceOf('A-10042', 'Northwind'),
      ...LETTER,
      ...LEASE,
      ...invoiceOf('77-318', 'Zephyr'),
    ]);

    it('is parted where documents begin, and each part has its class', () => {
      const parts = split(all, CLASSES);
      expect(parts.map(({ pages }) => pages)).to.deep.equal([[1, 2], [3], [4, 5], [6, 7]]);
      expect(parts.map((part) => part.class)).to.deep.equal(['Invoice', 'Letter', 'Lease', 'Invoice']);
      for (const { confidence } of parts) expect(confidence).to.be.within(0, 1);
    });

    it('says why a document begins, with the place', () => {
      const [, letter] = split(all, []);
      expect(letter?.class).to.equal(null);
      expect(letter?.reasons.length).to.be.above(0);
      expect(letter?.reasons.some(({ bbox }) => bbox !== null)).to.equal(true);
    });

    it('parts two documents of one kind and sender by their numbers', () =>
      expect(pagesOf(stack([...invoiceOf('1001', 'Acme'), ...invoiceOf('1002', 'Acme')]), [])).to.deep.equal([
        [1, 2],
        [3, 4],
      ]));

    it('is not parted by a number that is printed on every page', () => {
      const form = LEASE.map((one) => ({
        ...one,
        lines: [...one.lines.slice(0, -1), lineAt('Page 1 of 2', 800)],
      }));
      expect(pagesOf(stack(form), [])).to.deep.equal([[1, 2]]);
      expect(pagesOf(stack([...form, page([])]), [])).to.deep.equal([[1, 2, 3]]);
    });

    it('is parted where each page is a document of one page', () => {
      const single = [...LETTER, ...LEASE.slice(0, 1)].map((one, at) => ({
        ...one,
        lines: [...(at === 0 ? one.lines : one.lines.slice(0, -1)), lineAt('Page 1 of 1', 800)],
      }));
      expect(pagesOf(stack(single), [])).to.deep.equal([[1], [2]]);
    });

    it('leaves one document whole', () => expect(pagesOf(stack(LEASE), [])).to.deep.equal([[1, 2]]));

    it('gives blank pages to the document before them, and those at the start to the first', () =>
      expect(
        pagesOf(stack([page([]), ...invoiceOf('1001', 'Acme'), page([]), ...LETTER, page([])]), []),
      ).to.deep.equal([
        [1, 2, 3, 4],
        [5, 6],
      ]));

    it('of nothing but blank pages is one document', () =>
      expect(pagesOf(stack(Array.from({ length: 2_000 }, () => page([]))), CLASSES)).to.have.length(1));

    it('is parted the same each time', () =>
      expect(JSON.stringify(split(all, CLASSES))).to.equal(JSON.stringify(split(all, CLASSES))));

    it('without pages has no documents', () => expect(split([], CLASSES)).to.deep.equal([]));
  });

  describe('a document', () => {
    it('has the class that its title names, in another language too', () => {
      const german = stack([page(['Nordwind GmbH', 'RECHNUNG', 'Rechnungsnummer 4711', 'Betrag 119,00'])]);
      const told = classify(
        german,
        CLASSES.map(({ name }) => ({ name })),
      );
      expect(told.class).to.equal('Invoice');
      expect(told.reasons[0]).to.deep.include({ text: 'RECHNUNG', page: 1 });
      expect(told.reasons[0]?.bbox).to.deep.equal([50, 68, 98, 79]);
      expect(told.ranked[0]).to.deep.equal({ class: 'Invoice', confidence: told.confidence });
    });

    it('has its reasons found without reading its lines for each word of a class', () => {
      let read = 0;
      const wordAt = (at: number) => `q${String.fromCodePoint(97 + Math.floor(at / 26), 97 + (at % 26))}um`;
      const lines = Array.from({ length: 200 }, (_, at): Line => {
        const line = lineAt(wordAt(at), 50 + at * 3);
        return {
          ...line,
          get text() {
            read += 1;
            return line.text;
          },
        };
      });
      const examples = [lines.map(({ text }) => text).join(' ')];
      const one = stack([{ ...page([]), status: 'ok', lines }]);
      read = 0;
      const told = classify(one, [{ name: 'Lease', examples }]);
      expect(told.reasons).to.have.length(5);
      expect(read).to.be.below(20 * lines.length);
    });

    it('has none where none fits', () => {
      const told = classify(
        stack([page(['Take two eggs and a cup of milk', 'Stir and bake for an hour'])]),
        CLASSES,
      );
      expect(told).to.deep.include({ class: null, reasons: [] });
      expect(told.confidence).to.be.above(0.5);
    });

    it('has none where nothing is on it, and where there are no classes', () => {
      expect(classify(stack([page([])]), CLASSES).class).to.equal(null);
      expect(classify(stack(LETTER), []).class).to.equal(null);
    });

    it('is told by examples alone', () => {
      const examples = {
        recipes: ['Take three eggs and flour, stir the dough and bake it in the oven until it is golden'],
        weather: ['Clouds in the west, rain at noon, wind from the sea and frost at night'],
      };
      const told = classify(
        stack([page(['Apple cake', 'Stir eggs and flour to a dough, add apples and bake in the oven'])]),
        Object.entries(examples).map(([name, own]) => ({
          name: `class ${name.length}${name[0]}`,
          examples: own,
        })),
      );
      expect(told.class).to.equal('class 7r');
    });

    it('is told by the fields of a schema', () => {
      const schema = (...names: readonly string[]) => ({
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      });
      const told = classify(stack(LEASE), [
        { name: 'x', schema: schema('gross_weight', 'vessel', 'port_of_loading') },
        { name: 'y', schema: schema('landlord', 'tenant', 'flat', 'rent') },
      ]);
      expect(told.class).to.equal('y');
    });

    it('is found among a thousand classes with any names', () => {
      const odd = [
        '__proto__',
        'constructor',
        '“”',
        '😀',
        '\u202e',
        ' ',
        '名前',
        '-'.repeat(200),
        'invoices (paid)',
      ];
      const many = Array.from({ length: 990 }, (_, n) => ({
        name: `Kind ${n}`,
        description: 'word '.repeat(800),
      }));
      const told = classify(stack(LEASE), [...odd.map((name) => ({ name })), ...many, CLASSES[1]!]);
      expect(told.class).to.equal('Lease');
      expect(told.ranked.length).to.be.at.most(20);
    });
  });
});
