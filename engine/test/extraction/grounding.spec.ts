import { expect } from 'chai';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { groundedIn } from '../../extraction/grounding/grounding.ts';
import { withAbsence } from '../../extraction/grounding/absence.ts';
import { laidOut, type Placed } from '../support/laidOut.ts';
import { parted } from '../support/parted.ts';

const ANY: JsonObject = { type: 'object', properties: {} };
const ground = (placed: readonly Placed[], value: JsonObject, schema = ANY) =>
  parted(groundedIn(laidOut([placed]), { schema, value }));
/** Lines of text, one below the other. */
const text = (...lines: readonly string[]): readonly Placed[] =>
  lines.map((line, i): Placed => [40, 40 + 30 * i, line]);
const cited = (lines: readonly string[], value: Json): string | undefined =>
  ground(text(...lines), { it: value }).citations[0]?.text;

describe('grounding of a model’s answer', () => {
  it('finds texts whatever case, spaces, marks and diacritics they have', () => {
    expect(cited(['Seller: ACME Söhne GmbH & Co. KG'], 'Acme Sohne GmbH Co KG')).to.equal(
      'ACME Söhne GmbH & Co. KG',
    );
    expect(cited(['IBAN GB33 BUKB 2020 1555 5555 55'], 'GB33BUKB20201555555555')).to.equal(
      'GB33 BUKB 2020 1555 5555 55',
    );
    expect(cited(['发票号码：东京株式会社です'], '东京株式会社')).to.equal('东京株式会社');
  });

  it('finds nothing inside of a longer word', () => {
    expect(cited(['Invoice LF-20310417'], '2031')).to.equal(undefined);
    expect(cited(['Cartwright'], 'Cart')).to.equal(undefined);
  });

  it('reads numbers in any way of writing them', () => {
    for (const [line, value] of [
      ['Total 1.234,50 EUR', 1234.5],
      ['Total $1,234.50', 1234.5],
      ['Total 1 234,50', 1234.5],
      ["Total CHF 1'234.50", 1234.5],
      ['Credit (12.00)', -12],
      ['VAT 19 %', 0.19],
      ['VAT 19 %', 19],
      ['Price of $1.5 million', 1_500_000],
      ['Weight 12kg', 12],
      ['المجموع ١٢٣٫٥٠', 123.5],
      ['Founded on 17.03.2031', 2031],
    ] as const)
      expect(cited([line], value), `${line} is ${value}`).to.be.a('string');
    expect(cited(['Total 1.234,50 EUR'], 50)).to.equal(undefined);
    expect(cited(['Total 1.234,50 EUR'], 1234)).to.equal(undefined);
    expect(cited(['Total 12.00'], -12)).to.equal(undefined);
    expect(cited(['Total 1.234,50 EUR'], '1234.50')).to.equal('1.234,50');
  });

  it('reads numbers that are written out', () => {
    for (const [line, value] of [
      ['a term of twenty-four months', 24],
      ['Three Hundred and Five Thousand Dollars', 305_000],
      ['within thirty days', 30],
      ['nach zweitausenddreihundertfünfundvierzig Tagen', 2345],
      ['eine Million zweihundert Tausend', 1_200_000],
      ['quatre-vingt-dix-sept euros', 97],
      ['mille neuf cent quatre-vingts', 1980],
      ['treinta y un mil quinientos', 31_500],
      ['duemilacinquecento euro', 2500],
    ] as const)
      expect(cited([line], value), `${line} is ${value}`).to.be.a('string');
    expect(cited(['within thirty days'], 30)).to.equal('thirty');
    for (const [line, value] of [
      ['one of a kind', 1],
      ['twenty-four months', 20],
      ['two three-bedroom flats', 5],
      ['la suma de una vez, once upon', 11],
      ['the undone tender', 1],
    ] as const)
      expect(cited([line], value), `${line} is not ${value}`).to.equal(undefined);
  });

  it('reads on over the end of a page, past header and footer, and cites where a value begins', () => {
    const page = (at: number, ...lines: readonly string[]): readonly Placed[] =>
      text('The agreement of the parties', ...lines, `Page ${at} of 2`);
    const pages = [
      page(1, 'one', 'two', 'three', 'four', 'The seller shall deliver all of the'),
      page(2, 'machines before the winter', 'five', 'six', 'seven'),
    ];
    const value = { term: 'shall deliver all of the machines before the winter', word: 'the machines' };
    const { citations, ungrounded } = parted(groundedIn(laidOut(pages), { schema: ANY, value }));
    expect(ungrounded).to.deep.equal(['/word']);
    expect(citations.map(({ path, page: on, text: says }) => [path, on, says])).to.deep.equal([
      ['/term', 1, 'shall deliver all of the machines before the winter'],
    ]);
    expect(citations[0]?.bbox?.[1]).to.be.greaterThan(100);
  });

  it('reads dates in any way of writing them', () => {
    for (const line of [
      '17.03.2031',
      'March 17, 2031',
      '17 mars 2031',
      '17th day of March 2031',
      '2031年3月17日',
      '2031-03-17',
    ])
      expect(cited([`Date: ${line}`], '2031-03-17'), line).to.equal(line);
    expect(cited(['Date: 17.03.2031'], '17 March 2031')).to.equal('17.03.2031');
    expect(cited(['Date: 18.03.2031'], '2031-03-17')).to.equal(undefined);
  });

  it('forgives letters that recognition was not sure of, in longer texts, never digits', () => {
    const read = (line: string, value: string, confidence: number): string | undefined => {
      const { pages, ...document } = laidOut([text(line)]);
      const unsure = pages.map((page) => ({
        ...page,
        lines: page.lines.map((one) => ({
          ...one,
          words: one.words.map((word) => ({ ...word, confidence, readBy: 'tesseract' as const })),
        })),
      }));
      return parted(groundedIn({ ...document, pages: unsure }, { schema: ANY, value: { it: value } }))
        .citations[0]?.text;
    };
    const delivery = 'Delivery and installation at Brindlemere Observatory';
    const amiss = 'Delivery amd installation at Brindlemere Observatory';
    expect(read(amiss, delivery, 0.7)).to.equal(amiss);
    expect(read(amiss, delivery, 0.97)).to.equal(undefined);
    expect(cited([amiss], delivery)).to.equal(undefined);
    expect(read('Delivery and instal1ation at Brindlemere Observatory', delivery, 0.7)).to.equal(undefined);
    expect(read('Invoice number LF-2031-0417', 'Invoice number LF-2031-0418', 0.7)).to.equal(undefined);
  });

  it('says how a place says a value', () => {
    const groundings = (lines: readonly string[], value: Json, schema = ANY) =>
      groundedIn(laidOut([text(...lines)]), { schema, value: { it: value } }).map(
        ({ grounding, text: said }) => [grounding, said],
      );
    expect(groundings(['Larkspur Ltd'], 'Larkspur Ltd')).to.deep.equal([['exact', 'Larkspur Ltd']]);
    expect(groundings(['LARKSPUR ltd.'], 'Larkspur Ltd')).to.deep.equal([['normalised', 'LARKSPUR ltd']]);
    expect(groundings(['Doe, Jane'], 'Jane Doe')).to.deep.equal([['normalised', 'Doe, Jane']]);
    expect(groundings(['Ying Zhang2, Jay Shah1'], 'Ying Zhang')[0]?.[0]).to.equal('normalised');
    expect(groundings(['trans-', 'formation of signals'], 'transformation of signals')[0]?.[0]).to.equal(
      'normalised',
    );
    expect(groundings(['Visiting Professorships:'], 'Visiting Professor')[0]?.[0]).to.equal('normalised');
    expect(groundings(['July 2031'], '2031-07')).to.deep.equal([['normalised', 'July 2031']]);
    expect(groundings(['Since July 2031'], '2031-07-01T00:00:00Z')).to.deep.equal([['derived', 'July 2031']]);
    expect(groundings(['Since July 2031'], '2031-06-30T22:00:00Z')).to.deep.equal([['derived', 'July 2031']]);
    expect(groundings(['Since July 2031'], '2031-08-01')).to.deep.equal([['none', '']]);
    expect(groundings(['Revenue (in millions) 4.5'], 4_500_000)[0]?.[0]).to.equal('derived');
    expect(groundings(['Rate 23.2 %'], '%')).to.deep.equal([['exact', '%']]);
    expect(groundings(['Paid.'], true)).to.deep.equal([['derived', '']]);
    expect(groundings(['nothing'], 'N/A')).to.deep.equal([['derived', '']]);
    expect(groundings(['nothing'], 'Nowhere')).to.deep.equal([['none', '']]);
    const parts = ['Supply of lenses to the observatory', 'Other text', 'Repair of the dome in winter'];
    const both = 'Repair of the dome in winter; Supply of lenses to the observatory';
    expect(groundings(parts, both)).to.deep.equal([['derived', parts[2]]]);
    expect(groundings(parts, both.replace('dome', 'home'))).to.deep.equal([['none', '']]);
  });

  it('makes out periods by the days on which they end, and no others', () => {
    const lines = ['Three Months Ended December 31, 2024', 'for the year ended June 30, 2024'];
    const { ungrounded } = ground(text(...lines), {
      periods: ['FY2025 Q2', 'H1 2025', 'FY2024', 'FY2024 Q2', 'FY2025 Q3', 'FY2026 Q2', 'FY2025 H2'],
    });
    expect(ungrounded).to.deep.equal(['/periods/4', '/periods/5', '/periods/6']);
  });

  it('takes counts, sums and places in a list for derived', () => {
    const lines = ['Lens 4.00', 'Cap 8.00', 'Box 9.00', 'Pin', 'Rod'];
    const rows = ['Lens', 'Cap', 'Box', 'Pin', 'Rod'].map((item, at) => ({ item, line: at + 1 }));
    const priced = [4, 8, 9].map((price) => ({ price }));
    const wrong = rows.map((row, at) => (at === 1 ? { ...row, line: 7 } : row));
    const derived = ground(text(...lines), { count: 3, sum: 21, rows, priced });
    expect(derived.ungrounded).to.deep.equal([]);
    expect(ground(text(...lines), { count: 6, sum: 22, priced }).ungrounded).to.deep.equal([
      '/count',
      '/sum',
    ]);
    expect(ground(text(...lines), { rows: wrong }).ungrounded).to.deep.equal(['/rows/1/line']);
  });

  it('reads on below, where a value runs over several lines of a column', () => {
    const page: readonly Placed[] = [
      [40, 40, 'Larkspur Ltd'],
      [300, 40, 'Brindlemere Observatory'],
      [40, 54, '7 Mill Lane'],
      [300, 54, '1 Hill Road'],
      [40, 68, 'Oxford'],
      [300, 68, 'Leeds'],
    ];
    const { citations, ungrounded } = ground(page, {
      address: 'Brindlemere Observatory, 1 Hill Road, Leeds',
    });
    expect(ungrounded).to.deep.equal([]);
    expect(citations[0]?.text).to.equal('Brindlemere Observatory 1 Hill Road Leeds');
    expect(citations[0]?.bbox?.[0]).to.equal(300);
  });

  it('chooses the place beside the name, and near the other values of a row', () => {
    const page = text(
      'Order 7 of today',
      'Net total: 100.00',
      'Amount: 100.00',
      'Lens 2 4.00 8.00',
      'Cap 3 4.00 12.00',
    );
    const { citations } = ground(page, {
      amount: 100,
      rows: [
        { item: 'Lens', price: 4 },
        { item: 'Cap', price: 4 },
      ],
    });
    const top = (path: string): number | undefined => citations.find((one) => one.path === path)?.bbox?.[1];
    expect(top('/amount')).to.equal(100);
    expect(top('/rows/0/price')).to.equal(130);
    expect(top('/rows/1/price')).to.equal(160);
  });

  it('is surer of what stands there once', () => {
    const once = ground(text('Number 4711'), { it: 4711 }).citations[0]?.confidence ?? 0;
    const twice = ground(text('4711 and', '4711 or'), { it: 4711 }).citations[0]?.confidence ?? 1;
    expect(once).to.be.greaterThan(0.95);
    expect(twice).to.be.lessThan(once);
  });

  it('flags what is made up or computed, but no judgements and nothing empty', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: { kind: { enum: ['invoice', 'receipt'] }, sort: { $ref: '#/$defs/sort' } },
      $defs: { sort: { anyOf: [{ const: 'b2b' }, { type: 'null' }] } },
    };
    const value = {
      kind: 'receipt',
      sort: 'b2b',
      paid: true,
      sum: 15,
      who: 'Nobody',
      blank: '',
      rows: [{ a: 'Zed' }],
    };
    expect(ground(text('5 and 10'), value, schema)).to.deep.equal({
      citations: [],
      ungrounded: ['/sum', '/who', '/rows/0/a'],
    });
    expect(ground(text('Invoice'), { kind: 'invoice' }, schema).citations).to.have.length(1);
  });

  it('drops nulls that the schema does not allow, and optional objects that are empty then', () => {
    const name = { type: 'object', properties: { name: { type: 'string' } } };
    const schema: JsonObject = {
      type: 'object',
      required: ['kept'],
      properties: {
        kept: name,
        gone: name,
        may: { type: ['string', 'null'] },
        ways: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        list: { type: 'array', items: { type: 'string' } },
        choice: { enum: ['a', null] },
        free: {},
      },
    };
    const nulls = {
      kept: { name: null },
      gone: { name: null },
      may: null,
      ways: null,
      list: ['a', null],
      choice: null,
      free: null,
    };
    expect(withAbsence(schema, nulls)).to.deep.equal({
      kept: {},
      may: null,
      ways: null,
      list: ['a'],
      choice: null,
    });
  });
});
