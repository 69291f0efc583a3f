import { expect } from 'chai';
import fc from 'fast-check';
import { serialize } from 'node:v8';
import { groundAnswer } from '../../extraction/grounding/groundAnswer.ts';
import { mergedAnswers, relaxedSchema } from '../../models/byModel/answers.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { GroundedValue } from '../../ports/documentTools.ts';
import type { ValueCitation } from '../../ports/extractionEngine.ts';
import { laidOut, type Placed } from '../support/laidOut.ts';
import { leafCount, lied, told, wordsOf } from '../support/perfectModel.ts';
import { holds } from '../support/properties.ts';
import { seededRandom, type Random } from '../support/random.ts';

/** A document of rows and prose, and what it says. */
interface Paper {
  readonly pages: readonly (readonly Placed[])[];
  readonly truth: JsonObject;
}

const NAMES = ['Ada', 'Boris', 'Chen', 'Dora', 'Emil', 'Fatima', 'Goran', 'Hana'];
const FAMILIES = ['Aldridge', 'Brandt', 'Castellano', 'Dvorak', 'Eriksson', 'Fontaine', 'Grimaldi'];
const TOPICS = [
  'signal processing',
  'marine ecology',
  'bridge maintenance',
  'crop rotation',
  'glass furnaces',
];

const ROWS_A_PAGE = 12;

function paperOf(random: Random, rows: number): Paper {
  const named = (): string => `${random.pick(NAMES)} ${random.pick(FAMILIES)}`;
  const entries = Array.from({ length: rows }, (_, at) => ({
    number: at + 1,
    name: named(),
    amount: random.between(100_000, 9_999_999) / 100,
    day: `2031-${String(random.between(1, 12)).padStart(2, '0')}-${String(random.between(10, 28))}`,
  }));
  const works = Array.from(
    { length: rows },
    (_, at) => `${named()} and ${named()}. On ${random.pick(TOPICS)}, volume ${at + 101}. Lund Press, 2029.`,
  );
  const lines = [
    ...entries.map(({ number, name, amount, day }): readonly [number, string][] => [
      [40, `${number}`],
      [80, name],
      [240, amount.toLocaleString('en-US', { minimumFractionDigits: 2 })],
      [340, day],
    ]),
    // Over two lines, with a word parted at the end of the first.
    ...works.flatMap((work): readonly (readonly [number, string][])[] => {
      const cut = work.indexOf('volume') + 3;
      return [[[40, `${work.slice(0, cut)}-`]], [[40, work.slice(cut)]]];
    }),
  ];
  const pages: Placed[][] = [[[40, 20, 'Register of the Lakeside Foundation']]];
  for (const [at, line] of lines.entries()) {
    const page = (pages[Math.floor(at / (2 * ROWS_A_PAGE))] ??= []);
    for (const [x, text] of line) page.push([x, 60 + 20 * (at % (2 * ROWS_A_PAGE)), text]);
  }
  return { pages, truth: { title: 'Register of the Lakeside Foundation', entries, works } };
}

const SCHEMA: JsonObject = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string' },
    entries: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          number: { type: 'integer' },
          name: { type: 'string' },
          amount: { type: 'number' },
          day: { type: 'string', format: 'date' },
        },
      },
    },
    works: { type: 'array', items: { type: 'string' } },
  },
};

const grounded = (paper: Paper, answer: JsonObject, pages?: readonly [number, number]): GroundedValue => {
  const packed = serialize(laidOut(paper.pages));
  const schema = pages === undefined ? SCHEMA : relaxedSchema(SCHEMA);
  const found = groundAnswer({ packed, schema, answer: JSON.stringify(answer), pages, minConfidence: 0 });
  if (found.kind !== 'ok') throw new Error(found.detail);
  return found;
};

/** The text of some pages, with words that are parted at the end of a line as the layout joins them. */
const shown = ({ pages }: Paper, [first, last]: readonly [number, number]): string =>
  pages
    .slice(first - 1, last)
    .flatMap((page) => page.map(([, , text]) => text))
    .join('\n')
    .replaceAll('-\n', '');

/** Through the parts and back: what the model says of each, as one answer. */
const through = (paper: Paper, parts: readonly (readonly [number, number])[], says = paper.truth) => {
  const answers = parts.map((part) =>
    grounded(paper, (told(paper.truth, wordsOf(shown(paper, part)), says) ?? {}) as JsonObject, part),
  );
  const merged = mergedAnswers(answers);
  return { ...grounded(paper, merged.value), merged };
};

describe('a model without fault', () => {
  const split = fc.record({
    seed: fc.integer(),
    rows: fc.integer({ min: 1, max: 60 }),
    cuts: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 6 }),
    overlap: fc.integer({ min: 0, max: 2 }),
  });

  holds(
    'is given back whole, whatever parts it is shown',
    fc.property(split, ({ seed, rows, cuts, overlap }) => {
      const paper = paperOf(seededRandom(seed), rows);
      const parts: (readonly [number, number])[] = [];
      for (let first = 1; first <= paper.pages.length;) {
        const last = Math.min(paper.pages.length, first + (cuts[parts.length % cuts.length] ?? 1) - 1);
        parts.push([Math.max(1, first - overlap), last]);
        first = last + 1;
      }
      // What begins on one page and ends on the next is seen by the part that has both.
      const { value, validationErrors, citations, merged } = through(paper, parts);
      expect(validationErrors).to.deep.equal([]);
      const best = told(
        paper.truth,
        parts.map((part) => wordsOf(shown(paper, part))).join(' | '),
      ) as JsonObject;
      // An item that a part knows by chance comes with that part: their order is not compared.
      expect(sorted(value)).to.deep.equal(sorted(best));
      // Held as the parts cited it, it is the same, and has its places.
      const held = groundAnswer({
        packed: new Uint8Array(),
        schema: SCHEMA,
        answer: JSON.stringify(merged.value),
        minConfidence: 0,
        cited: merged.citations,
      });
      if (held.kind !== 'ok') throw new Error(held.detail);
      expect(held.value).to.deep.equal(value);
      expect(held.citations.map(({ path }) => path)).to.deep.equal(citations.map(({ path }) => path));
      // Which of two alike is meant can be told differently by a part and by the whole.
      expect(placed(held.citations)).to.be.at.least(0.95 * placed(citations));
    }),
    0.1,
  );

  it('is believed, and where it lies is not', () => {
    const counts = { lies: 0, seen: 0, true: 0, doubted: 0 };
    for (let seed = 1; seed <= 12; seed += 1) {
      const random = seededRandom(seed);
      const paper = paperOf(random, 60);
      const says = lied(paper.truth, 0.03, random);
      const { validationErrors, citations } = grounded(paper, says);
      expect(validationErrors.every(({ path }) => path.endsWith('/day'))).to.equal(true);
      const doubts = new Set(citations.flatMap((one) => (one.grounding === 'none' ? [one.path] : [])));
      for (const { path } of citations) {
        const isLie = JSON.stringify(valueAt(says, path)) !== JSON.stringify(valueAt(paper.truth, path));
        counts[isLie ? 'lies' : 'true'] += 1;
        if (doubts.has(path)) counts[isLie ? 'seen' : 'doubted'] += 1;
      }
      expect(citations).to.have.lengthOf(leafCount(says) - validationErrors.length);
    }
    console.log(`        ${JSON.stringify(counts)}`);
    expect(counts.seen / counts.lies).to.be.at.least(0.99);
    expect(counts.doubted / counts.true).to.be.at.most(0.01);
  });
});

const placed = (citations: readonly ValueCitation[]): number =>
  citations.filter(({ page }) => page !== null).length;

/** Each list by its items' JSON. */
const sorted = (value: JsonObject): unknown =>
  Object.entries(value).map(([key, member]) => [
    key,
    Array.isArray(member) ? member.map((item) => JSON.stringify(item)).sort() : member,
  ]);

const valueAt = (value: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>>)[key], value);
