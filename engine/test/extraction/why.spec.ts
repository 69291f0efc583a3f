import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Document } from '../../document/document.ts';
import { extract } from '../../extraction/extract.ts';
import { markdownDocument } from '../../formats/text/markdownDocument.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { GENERATORS, type FieldWhy, type Outcome, type ToldOffer } from '../../ports/why.ts';
import { anySchemas, smallDocuments } from '../support/anySchemas.ts';
import { holds } from '../support/properties.ts';
import { WHY_CASES } from './whyCases.ts';

/** From the compiled spec to the sources. */
const GOLDEN = fileURLToPath(
  new URL('../../../../engine/test/extraction/offers.golden.txt', import.meta.url),
);

const schemaOf = (properties: JsonObject): JsonObject => ({ type: 'object', properties });

const whyOf = (document: Document, properties: JsonObject): ReadonlyMap<string, readonly ToldOffer[]> => {
  const { why = [] } = extract(document, schemaOf(properties), { why: true });
  return new Map(why.map(({ path, offers }) => [path, offers]));
};

const lineOf = ({ by, value, page, score, confidence, outcome, other }: ToldOffer): string => {
  const [liked, sure] = [score, confidence].map((share) => (share === null ? '-' : share.toFixed(3)));
  const place = page === null ? '' : ` p${String(page)}`;
  return `  ${by} ${JSON.stringify(value)}${place} ${liked ?? ''} ${sure ?? ''} ${outcome}${other ? ` ${other}` : ''}`;
};

const linesOf = ({ path, offers }: FieldWhy): readonly string[] => [path, ...offers.map(lineOf)];

const golden = (): string =>
  Object.entries(WHY_CASES)
    .flatMap(([name, { document, properties }]) => {
      const { why = [] } = extract(document, schemaOf(properties), { why: true });
      return [`# ${name}`, ...why.flatMap(linesOf), ''];
    })
    .join('\n');

describe('why a value came', () => {
  it('is told by the same offers as ever, for a document of each kind', () => {
    const now = golden();
    if (process.env['WRITE_GOLDEN'] === '1') writeFileSync(GOLDEN, now);
    expect(now.split('\n'), 'run this spec with WRITE_GOLDEN=1, and say why the lines changed').to.deep.equal(
      readFileSync(GOLDEN, 'utf8').split('\n'),
    );
  });

  for (const [name, { document, properties }] of Object.entries(WHY_CASES))
    it(`changes nothing about the answer when it is asked: ${name}`, () => {
      const { why, ...asked } = extract(document, schemaOf(properties), { why: true });
      const plain = extract(document, schemaOf(properties));
      expect(asked).to.deep.equal(plain);
      expect(plain).not.to.have.property('why');
      expect(why?.length).to.be.above(0);
    });

  for (const [name, { document, properties }] of Object.entries(WHY_CASES))
    it(`names one winner for each value, by what it is cited by: ${name}`, () => {
      const { why = [], citations, seen } = extract(document, schemaOf(properties), { why: true });
      const told = new Map(why.map(({ path, offers }) => [path, offers]));
      expect(citations.length + seen.length).to.be.above(0);
      for (const { path, by, confidence } of citations) {
        expect(GENERATORS).to.have.property(by);
        const winners = told.get(path)?.filter(({ outcome }) => outcome === 'won') ?? [];
        expect(
          winners.map((one) => [one.by, one.confidence]),
          path,
        ).to.deep.equal([[by, confidence]]);
      }
      const cited = new Set(citations.map(({ path }) => path));
      for (const [path, offers] of told)
        if (!cited.has(path))
          expect(
            offers.filter(({ outcome, page }) => outcome === 'won' && page !== null),
            path,
          ).to.deep.equal([]);
    });

  holds(
    'any schema over small documents: each citation has one winner, of the same way',
    fc.property(anySchemas({ keepable: true }), fc.constantFrom(...smallDocuments()), (schema, document) => {
      const { why = [], citations } = extract(document, schema, { why: true });
      const told = new Map(why.map(({ path, offers }) => [path, offers]));
      for (const { path, by } of citations) {
        const winners = told.get(path)?.filter(({ outcome }) => outcome === 'won');
        expect(
          winners?.map((one) => one.by),
          path,
        ).to.deep.equal([by]);
      }
    }),
    0.5,
  );

  const outcomes = (
    text: string,
    properties: JsonObject,
    path: string,
  ): readonly (readonly [unknown, Outcome, string | undefined])[] =>
    (whyOf(textDocument(text), properties).get(path) ?? []).map(({ value, outcome, other }) => [
      value,
      outcome,
      other,
    ]);

  it('says which other field has what was offered', () => {
    const told = outcomes(
      'Start date: 2031-03-14\nEnd date: 2031-04-20\n',
      { start_date: { type: 'string', format: 'date' }, end_date: { type: 'string', format: 'date' } },
      '/end_date',
    );
    expect(told[0]?.slice(0, 2)).to.deep.equal(['2031-04-20', 'won']);
    expect(told).to.deep.include(['2031-03-14', 'taken', '/start_date']);
  });

  it('names the winner that the kept one of two shapes has, though the other had no use for it', () => {
    const shapes = [{ type: 'string' }, { enum: ['bank transfer'] }].map((price) => ({
      type: 'object',
      properties: { order_number: price },
    }));
    const told = outcomes('Order number: A-4711\n', { order: { anyOf: shapes } }, '/order/order_number');
    expect(told.filter(([, outcome]) => outcome === 'won')).to.deep.equal([['A-4711', 'won', undefined]]);
  });

  it('says that a value is less sure than was asked for', () => {
    const text = 'Delivery note\n\nWarehouse Kiel North\n\nCarrier and driver: Jens Poulsen\n';
    const schema = schemaOf({ carrier: { type: 'string' } });
    const { value, why } = extract(textDocument(text), schema, { why: true, min_confidence: 1 });
    expect(value).to.deep.equal({});
    expect(why?.[0]?.offers.some(({ outcome }) => outcome === 'unsure')).to.equal(true);
    expect(why?.[0]?.offers.some(({ outcome }) => outcome === 'won')).to.equal(false);
  });

  it('names a field for which nothing is offered, with no offers', () => {
    expect(whyOf(textDocument('Hello.'), { paid: { type: 'boolean' } }).get('/paid')).to.deep.equal([]);
  });

  it('tells the ways to a list in their order: what each found, and which were not tried', () => {
    const document = markdownDocument('| Tool | Price |\n| --- | --- |\n| Saw | 12.50 |\n| Axe | 30.00 |\n');
    const item = schemaOf({ tool: { type: 'string' }, price: { type: 'number' } });
    const ways = whyOf(document, { tools: { type: 'array', items: item } }).get('/tools') ?? [];
    expect(ways.find(({ outcome }) => outcome === 'won')).to.include({ by: 'tables', value: 2 });
    expect(ways.find(({ by }) => by === 'references')?.outcome).to.equal('empty');
    expect(ways.find(({ by }) => by === 'lines')?.outcome).to.equal('too_late');
  });

  it('goes without the ways that a development script leaves out', () => {
    const text = 'Locker code: LF-4711\n';
    const schema = schemaOf({ locker_code: { type: 'string' } });
    const byOf = (without: readonly (keyof typeof GENERATORS)[]): readonly string[] =>
      extract(textDocument(text), schema, { without: new Set(without), min_confidence: 0 }).citations.map(
        ({ by }) => by,
      );
    expect(byOf([])).to.deep.equal(['labels']);
    expect(byOf(['labels', 'mentions'])).to.deep.equal(['reader']);
    expect(byOf(['labels', 'mentions', 'reader', 'concepts'])).to.deep.equal([]);
  });
});
