import { expect } from 'chai';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { parseNumber } from '../../extraction/values/numbers.ts';
import { groundedIn } from '../../extraction/grounding/grounding.ts';
import { fitted } from '../../extraction/grounding/groundingFuzzy.ts';
import { compact } from '../../extraction/grounding/groundingText.ts';
import { withAbsence } from '../../extraction/grounding/absence.ts';
import { laidOut, type Placed } from '../support/laidOut.ts';
import { parted } from '../support/parted.ts';
import { holds } from '../support/properties.ts';

const ANY: JsonObject = { type: 'object', properties: {} };
const ground = (placed: readonly Placed[], value: JsonObject, schema = ANY) =>
  parted(groundedIn(laidOut([placed]), { schema, value }));
/** Lines of text, one below the other. */
const text = (...lines: readonly string[]): readonly Placed[] =>
  lines.map((line, i): Placed => [40, 40 + 30 * i, line]);

describe('grounding of any answer', () => {
  it('finds 200 of 300 values on 100 pages, in a time that mocha waits for', () => {
    const pages = Array.from({ length: 100 }, (_, page) =>
      Array.from({ length: 50 }, (__, line): Placed => [
        40,
        40 + 14 * line,
        `Item ${page * 50 + line} of the order costs ${page},${line + 10} EUR on 17.03.2031`,
      ]),
    );
    const rows = Array.from({ length: 100 }, (_, i) => ({
      item: `Item ${i * 49} of the order`,
      price: i,
      lost: `Items of an order that was lost ${i}`,
    }));
    const document = laidOut(pages);
    const { ungrounded } = parted(groundedIn(document, { schema: ANY, value: { rows } }));
    expect(ungrounded).to.include.members(rows.map((_, i) => `/rows/${i}/lost`));
    expect(ungrounded.filter((path) => path.endsWith('/item'))).to.deep.equal([]);
  });

  it('stands huge texts, many leaves and deep values', () => {
    let deep: Json = 'x';
    for (let i = 0; i < 190; i += 1) deep = { deep };
    const many = Array.from({ length: 10_000 }, (_, i) => `1 1 1 ${i} 1`);
    const page = text(
      '1 '.repeat(5_000),
      'a'.repeat(50_000),
      '!'.repeat(50_000),
      '17.03.2031 '.repeat(2_000),
    );
    const value = {
      deep,
      many,
      long: 'ab '.repeat(300_000),
      marks: '!('.repeat(200_000),
      nul: '\u0000\ud800',
    };
    expect(ground(page, value).ungrounded).to.include('/long');
  });

  it('finds the best fit of a text', () => {
    expect(fitted('abcdefgh', 'xxabcxefghyy', 2)).to.deep.equal({ amiss: 1, from: 2, to: 10 });
    expect(fitted('abcdefgh', 'zzzzzzzzzzzz', 2)).to.equal(undefined);
  });

  const squeezed = (written: string): string => written.replace(/\s/g, '');
  const words = fc.constantFrom(
    'Total',
    'Lens',
    'cap',
    '12',
    '1.234,50',
    '17.03.2031',
    'EUR',
    '(5)',
    'Ö-x',
    '12kg',
    '7%',
    '::',
  );
  const pageOfWords = fc
    .array(fc.array(words, { minLength: 1, maxLength: 6 }), { maxLength: 8 })
    .map((lines) => lines.map((line, i): Placed => [40, 40 + 14 * i, line.join(' ')]));
  const answer = fc.dictionary(
    fc.string({ maxLength: 8 }),
    fc.oneof(
      words,
      fc.array(words, { maxLength: 4 }).map((all) => all.join(' ')),
      fc.constantFrom(12, 5, -5, 1234.5, 0.07, 7, 2031, 99),
    ),
  );

  holds(
    'every citation’s text is on its page or runs on to the next, every number cited reads as the value, ' +
      'and nothing is both cited and flagged',
    fc.property(fc.array(pageOfWords, { minLength: 1, maxLength: 3 }), answer, (pages, value) => {
      const { citations, ungrounded } = parted(groundedIn(laidOut(pages), { schema: ANY, value }));
      for (const { path, text: said, page } of citations) {
        const runsOn = compact(said).length >= 16;
        const wordsThere = pages
          .slice(page - 1, runsOn ? page + 1 : page)
          .flatMap((lines) => lines.map(([, , line]) => line))
          .join(' ');
        for (const part of said.split(' ')) expect(squeezed(wordsThere)).to.include(squeezed(part));
        const known = value[path.slice(1).replace(/~1/g, '/').replace(/~0/g, '~')];
        if (typeof known === 'number')
          expect(
            [',', '.'].flatMap((mark) => [
              parseNumber(said, mark as ',' | '.'),
              (parseNumber(said, mark as ',' | '.') ?? 0) / 100,
            ]),
          ).to.include(known);
        expect(ungrounded).to.not.include(path);
      }
    }),
    0.2,
  );

  holds(
    'never throws, on any JSON and any schema',
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (value, schema) => {
        const page = text('Some text 12,50 of 17.03.2031');
        const left = withAbsence(schema as JsonObject, value as JsonObject);
        const { citations } = ground(page, left, schema as JsonObject);
        for (const { confidence } of citations) expect(confidence).to.be.within(0, 1);
      },
    ),
    0.2,
  );
});
