import { expect } from 'chai';
import { mergedAnswers, relaxedSchema } from '../../models/byModel/answers.ts';
import { sectionsOf, tokensOf } from '../../models/byModel/shownDocument.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Citation, ValueCitation } from '../../ports/extractionEngine.ts';

const words = (count: number, word = 'word'): string => Array.from({ length: count }, () => word).join(' ');

describe('a document in sections', () => {
  const pages = Array.from(
    { length: 9 },
    (_, at) => `<!-- page ${at + 1} -->\n\n${words(100, `w${at + 1}`)}`,
  );

  it('is shown whole, each section within its tokens and with a little of the one before', () => {
    const text = pages.map((page) => `${page}\n\nline ${page.length}\n\nend`).join('\n\n');
    const sections = sectionsOf(text, 450);
    expect(sections.length).to.be.greaterThan(2);
    for (const [at, { text: shown }] of sections.entries()) {
      expect(tokensOf(shown)).to.be.at.most(450);
      const before = sections[at - 1];
      if (before !== undefined) expect(shown).to.contain('end');
    }
    for (const page of pages) expect(sections.some(({ text: shown }) => shown.includes(page))).to.equal(true);
  });

  it('is cut at pages and headings, and each section names its pages and the headings above', () => {
    const parts = ['# Terms', '## Delivery', words(120), words(120), '## Payment', words(120), words(120)];
    const [first, second] = sectionsOf(parts.join('\n\n'), 420);
    expect(first?.text).to.contain('## Delivery').and.not.to.contain('## Payment');
    expect(second?.text.startsWith('<!-- page 1 -->\n\n# Terms\n\n')).to.equal(true);
    const [begin, next] = sectionsOf(pages.join('\n\n'), 260);
    expect([begin?.firstPage, begin?.lastPage, next?.firstPage]).to.deep.equal([1, 2, 3]);
  });

  it('has the header of a table in each part of it', () => {
    const rows = Array.from({ length: 100 }, (_, at) => `| item ${at} | ${at}.00 |`);
    const table = ['| item | price |', '| --- | --- |', ...rows].join('\n');
    const sections = sectionsOf(table, 200);
    expect(sections.length).to.be.greaterThan(2);
    for (const { text } of sections) expect(text).to.contain('| item | price |\n| --- | --- |\n| item ');
    for (const row of rows) expect(sections.filter(({ text }) => text.includes(row))).not.to.have.length(0);
  });

  it('costs only so many requests, however long it is', () => {
    expect(sectionsOf(`${words(9)}\n\n`.repeat(20_000), 10).length).to.be.at.most(32);
    expect(sectionsOf('x'.repeat(500_000), 10).length).to.be.at.most(32);
  });
});

describe('the schema of a part', () => {
  it('requires nothing, and is open to every way', () => {
    const schema: JsonObject = {
      type: 'object',
      required: ['required'],
      properties: {
        required: { type: 'string', enum: ['required'] },
        rows: { type: 'array', minItems: 1, items: { type: 'object', required: ['a'], properties: {} } },
      },
      oneOf: [{ required: ['rows'] }, { required: ['required'] }],
    };
    expect(relaxedSchema(schema)).to.deep.equal({
      type: 'object',
      properties: {
        required: { type: 'string', enum: ['required'] },
        rows: { type: 'array', items: { type: 'object', properties: {} } },
      },
      anyOf: [{}, {}],
    });
  });
});

describe('one answer from those to the parts', () => {
  const cited = (path: string, confidence: number, [y, page = 1]: readonly [number, number?]): Citation => ({
    path,
    text: '',
    page,
    bbox: [0, y, 10, y + 10],
    confidence,
  });
  const none = (path: string): ValueCitation => ({
    path,
    text: '',
    page: null,
    bbox: null,
    confidence: 0,
    grounding: 'none',
  });

  it('takes what stands on the pages, of that the surest, never nothing for something, and tells the rest', () => {
    const { value, warnings } = mergedAnswers([
      {
        value: { number: 'made up', total: 5, date: null, note: '', place: ' Bonn' },
        citations: [cited('/total', 0.7, [10]), none('/number')],
      },
      {
        value: { number: 'Q-1', total: 7, date: '2026-02-03', place: 'BONN' },
        citations: [cited('/number', 0.9, [0]), cited('/total', 0.9, [50])],
      },
    ]);
    expect(value).to.deep.equal({ number: 'Q-1', total: 7, date: '2026-02-03', note: '', place: ' Bonn' });
    expect(
      warnings.map(({ code, ...one }) => [code, 'path' in one && one.path, 'value' in one && one.value]),
    ).to.deep.equal([
      ['contradicted', '/number', 'made up'],
      ['contradicted', '/total', 5],
    ]);
  });

  const row = (item: string, price: number | null = 1) => ({ item, price });
  const rowAt = (index: number, place: readonly [number, number?]): readonly Citation[] => [
    cited(`/rows/${index}/item`, 0.9, place),
    cited(`/rows/${index}/price`, 0.9, place),
  ];

  it('joins lists in order, with a row once that two parts read at one place', () => {
    const { value, warnings } = mergedAnswers([
      { value: { rows: [row('a'), row('b')] }, citations: [...rowAt(0, [0]), ...rowAt(1, [20])] },
      {
        value: { rows: [row('b'), row('a'), row('a')] },
        citations: [...rowAt(0, [20]), ...rowAt(1, [0, 2]), ...rowAt(2, [19, 2])],
      },
    ]);
    expect(value).to.deep.equal({ rows: [row('a'), row('b'), row('a'), row('a')] });
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.deep.include({ code: 'merged', path: '/rows', value: [row('b')] });
  });

  it('has a row whole that one part read only the beginning of', () => {
    const { value } = mergedAnswers([
      { value: { rows: [row('a', null)] }, citations: [cited('/rows/0/item', 0.9, [0])] },
      {
        value: { rows: [row('a', 7), row('a', 8)] },
        citations: [cited('/rows/0/item', 0.9, [0]), ...rowAt(1, [50])],
      },
    ]);
    expect(value).to.deep.equal({ rows: [row('a', 7), row('a', 8)] });
  });

  it('keeps what stands nowhere, and texts once', () => {
    const { value } = mergedAnswers([
      { value: { rows: [{ item: 'a' }], words: ['x', 'y'] }, citations: [cited('/rows/0/item', 0.9, [0])] },
      { value: { rows: [{ item: 'b' }], words: ['y', 'z'] }, citations: [none('/rows/0/item')] },
    ]);
    expect(value).to.deep.equal({ rows: [{ item: 'a' }, { item: 'b' }], words: ['x', 'y', 'z'] });
  });
});
