import { expect } from 'chai';
import { extract, fieldsOf } from '../../extraction/extract.ts';
import { schemaTree } from '../../extraction/fields/fields.ts';
import { sourceOf } from '../../extraction/source.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { askedOf } from '../../reader/asked.ts';
import { FEATURES } from '../../reader/features.ts';
import { placesOf } from '../../reader/places.ts';
import { scorerOf, weighed } from '../../reader/scorer.ts';
import { spansOf, type Span } from '../../reader/spans.ts';
import { scoring } from '../../reader/trees.ts';
import { wordLikeness, wordsOf } from '../../reader/words.ts';
import { laidOut, type Placed } from '../support/laidOut.ts';

/** A form of a kind that no rule was written for: what a keeper of bees notes of a hive. */
const HIVE: readonly Placed[] = [
  [60, 60, 'Hive Visit Card'],
  [60, 100, 'Colony Code'],
  [200, 100, 'Visited On'],
  [340, 100, 'Apiary Keeper'],
  [60, 116, 'BX-4471'],
  [200, 116, '14 May 2031'],
  [340, 116, 'Ilse Brandauer'],
  [60, 150, 'Queen Marking:'],
  [160, 150, 'blue dot'],
  [60, 170, 'Honey Frames:'],
  [160, 170, '17'],
  [60, 190, 'Next Visit:'],
  [160, 190, '2 June 2031'],
  [60, 210, 'Smoker Fuel:'],
  [160, 210, 'dried lavender'],
];
const HIVE_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    colony_code: { type: 'string' },
    visit_date: { type: 'string', format: 'date', description: 'Day on which the hive was visited' },
    keeper: { type: 'string', description: 'Name of the keeper of the apiary' },
    honey_frames: { type: 'integer' },
    next_visit: { type: 'string', format: 'date' },
    insurance_policy: { type: 'string', description: 'Number of the insurance policy' },
  },
};

const textsOf = (text: string): readonly Span[] => {
  const source = sourceOf(textDocument(text));
  return spansOf(source, placesOf(source));
};

describe('a form of a kind that no rule knows', () => {
  const document = laidOut([HIVE]);
  const read = extract(document, HIVE_SCHEMA);

  it('is read by its schema alone', () => {
    expect(read.value).to.deep.equal({
      colony_code: 'BX-4471',
      visit_date: '2031-05-14',
      keeper: 'Ilse Brandauer',
      honey_frames: 17,
      next_visit: '2031-06-02',
    });
  });

  it('says of each value where it stands, and how sure it is', () => {
    const keeper = read.citations.find(({ path }) => path === '/keeper');
    expect(keeper?.text).to.equal('Ilse Brandauer');
    expect(keeper?.bbox?.slice(0, 2)).to.deep.equal([340, 116]);
    for (const { confidence } of read.citations) expect(confidence).to.be.within(0.5, 1);
  });

  it('is read alike each time', () => {
    expect(extract(document, HIVE_SCHEMA)).to.deep.equal(read);
  });

  it('leaves out what is less sure than asked for', () => {
    expect(extract(document, HIVE_SCHEMA, { min_confidence: 1 }).value).to.deep.equal({});
  });
});

describe('a date that no label says', () => {
  const document = laidOut([
    [
      [60, 30, 'Received by HIVES Registration Unit 05/14/2031 2:54:19 PM'],
      [60, 80, 'Declaration of Colonies'],
      [60, 100, 'INSTRUCTIONS. Each keeper files this form once a year with the registry.'],
      [60, 130, '1. Name of Keeper'],
      [60, 146, 'Ilse Brandauer'],
      [300, 130, '2. Colonies'],
      [300, 146, '17'],
    ],
  ]);
  const askedFor = (name: string, description: string): unknown =>
    extract(document, {
      type: 'object',
      properties: {
        keeper_name: { type: 'string', description: 'name of the keeper' },
        [name]: { type: 'string', format: 'date', description },
      },
    }).value;

  it('is given by its chance for a field that the rules do not know', () => {
    expect(askedFor('filing_day', 'day on which it was filed')).to.deep.equal({
      keeper_name: 'Ilse Brandauer',
      filing_day: '2031-05-14',
    });
  });

  it('is held back for a field that the rules know', () => {
    expect(askedFor('effective_date', 'date from which the agreement is in force')).to.deep.equal({
      keeper_name: 'Ilse Brandauer',
    });
  });
});

describe('what could be a value', () => {
  it('is a part of a line, and each typed value in it', () => {
    const spans = textsOf('Ref: AB-12 (draft), signed 3 May 2030');
    expect(spans.map(({ text }) => text)).to.include.members(['AB-12', 'draft', '3 May 2030']);
    expect(spans.find(({ kind }) => kind === 'date')?.value).to.equal('2030-05-03');
  });

  it('knows the first and the last of a range', () => {
    const dates = textsOf('Stay 2030-05-03 to 2030-05-09').filter(({ kind }) => kind === 'date');
    expect(dates.map(({ value, range }) => [value, range])).to.deep.equal([
      ['2030-05-03', 1],
      ['2030-05-09', 2],
    ]);
  });

  it('has its count bounded, whatever the document', () => {
    const line = 'Alpha: Beta, Gamma (Delta) - Epsilon 12.50 3 May 2030 ';
    const spans = textsOf(Array.from({ length: 3000 }, (_, i) => `${line}${i}`).join('\n'));
    expect(spans.length).to.be.below(24_500);
  });

  it('is weighed for so many fields and so often only', () => {
    const names = Array.from({ length: 600 }, (_, i) => [`field_${i}`, { type: 'string' }] as const);
    const tree = schemaTree({ type: 'object', properties: Object.fromEntries(names) });
    if (tree === undefined) throw new Error('no tree');
    const text = Array.from({ length: 300 }, (_, i) => `Field ${i}: value ${i}`).join('\n');
    const { candidates } = weighed(fieldsOf(tree), sourceOf(textDocument(text)), () => undefined);
    expect(candidates.length).to.equal(400);
    expect(candidates.reduce((sum, { length }) => sum + length, 0)).to.be.at.most(30_400);
  });
});

describe('the words that labels and fields are compared by', () => {
  it('are folded, unified and without endings', () => {
    expect(wordsOf('ArrivalDates')).to.deep.equal(['arrival', 'date']);
    expect(wordsOf('Inspected by 17')).to.deep.equal(['inspect', 'by']);
  });

  it('are alike where one is one letter off, a part of the other, or begins alike', () => {
    expect(wordLikeness('invoice', 'invoice')).to.equal(1);
    expect(wordLikeness('advertiser', 'advertising')).to.be.within(0.5, 0.9);
    expect(wordLikeness('inv', 'invoice')).to.be.within(0.5, 0.9);
    expect(wordLikeness('colony', 'smoker')).to.equal(0);
  });

  it('tell what form a field wants', () => {
    const tree = schemaTree({ type: 'object', properties: { keeper_phone: { type: 'string' } } });
    const [field] = tree === undefined ? [] : fieldsOf(tree);
    if (field === undefined) throw new Error('no field');
    expect(askedOf(field)?.wants).to.include({ phone: 1, address: 0 });
  });
});

describe('the trees of the reader', () => {
  /** If feature 0 is up to 1 then (if feature 1 is up to 5 then 0.5 else -0.25) else 2; and a tree of one leaf. */
  const trees = {
    base: 0.125,
    roots: [0, 5],
    features: [0, 1, -1, -1, -1, -1],
    values: [1, 5, 2, 0.5, -0.25, 4],
    lefts: [1, 3, 0, 0, 0, 0],
  };
  const reference = (row: readonly number[]): number => {
    const [a = 0, b = 0] = row;
    return 0.125 + 4 + (a <= 1 ? (b <= 5 ? 0.5 : -0.25) : 2);
  };

  it('say what they say when they are read by hand', () => {
    const score = scoring(trees);
    for (const row of [
      [0, 0],
      [1, 5],
      [1, 5.5],
      [1.5, 0],
      [9, 9],
    ])
      expect(score(Float32Array.from(row))).to.equal(reference(row));
  });

  it('are not taken where they were made for other features', () => {
    const chance = { bias: 0, means: [], weights: [] };
    expect(() => scorerOf({ features: FEATURES.slice(1), trees, chance })).to.throw(/other features/);
  });
});
