import { expect } from 'chai';
import { serialize } from 'node:v8';
import type { Document } from '../../document/document.ts';
import { aboveFloor, seenWarnings } from '../../extraction/confidenceFloor.ts';
import { extract } from '../../extraction/extract.ts';
import { groundAnswer } from '../../extraction/grounding/groundAnswer.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { LocalCitation } from '../../ports/extractionEngine.ts';
import { laidOut, type Placed } from '../support/laidOut.ts';

const cited = (path: string, confidence: number): LocalCitation => ({
  path,
  text: path,
  page: 1,
  bbox: null,
  confidence,
  by: 'labels',
});

const floored = (value: JsonObject, places: Readonly<Record<string, number>>, min_confidence = 0.5) =>
  aboveFloor(
    { value, citations: Object.entries(places).map(([at, sure]) => cited(at, sure)) },
    { min_confidence },
  );

/** The same page, its words recognised with so much confidence. */
const recognised = ({ pages, ...document }: Document, confidence: number): Document => ({
  ...document,
  pages: pages.map((page) => ({
    ...page,
    lines: page.lines.map((line) => ({
      ...line,
      words: line.words.map((word) => ({ ...word, confidence })),
    })),
  })),
});

const INVOICE: readonly Placed[] = [
  [40, 40, 'Invoice number: LF-4711'],
  [40, 70, 'Total: 120.50 EUR'],
];
const SCHEMA: JsonObject = {
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
};

describe('values below the floor of confidence', () => {
  it('are left out and told; what is exactly at the floor stays', () => {
    const { value, citations, seen } = floored({ a: 1, b: 2, c: 3 }, { '/a': 0.5, '/b': 0.499, '/c': 0.9 });
    expect(value).to.deep.equal({ a: 1, c: 3 });
    expect(citations.map(({ path }) => path)).to.deep.equal(['/a', '/c']);
    const { by, ...place } = cited('/b', 0.499);
    expect(by).to.equal('labels');
    expect(seen).to.deep.equal([{ ...place, value: 2 }]);
  });

  it('leave their row, and the row goes with its last leaf; places of the others follow', () => {
    const { value, citations, seen } = floored(
      { rows: [{ x: 1 }, { x: 2, y: 3 }, { x: 4 }] },
      { '/rows/0/x': 0.1, '/rows/1/x': 0.9, '/rows/1/y': 0.2, '/rows/2/x': 0.8 },
    );
    expect(value).to.deep.equal({ rows: [{ x: 2 }, { x: 4 }] });
    expect(citations.map(({ path }) => path)).to.deep.equal(['/rows/0/x', '/rows/1/x']);
    expect(seen.map(({ path, value: was }) => [path, was])).to.deep.equal([
      ['/rows', 1],
      ['/rows/0/y', 3],
    ]);
  });

  it('leave their list, which goes with its last item', () => {
    expect(floored({ tags: ['a', 'b'] }, { '/tags/0': 0.1, '/tags/1': 0.9 }).value).to.deep.equal({
      tags: ['b'],
    });
    expect(floored({ tags: ['a'], of: { it: 'b' } }, { '/tags/0': 0.1, '/of/it': 0.2 }).value).to.deep.equal(
      {},
    );
  });

  it('are found by names that pointers escape', () => {
    expect(floored({ 'a/b~c': 1 }, { '/a~1b~0c': 0.1 }).value).to.deep.equal({});
  });

  it('are told in a bounded number of warnings', () => {
    const seen = Array.from({ length: 130 }, (_, i) => ({ ...cited(`/rows/${i}/x`, 0.1), value: i }));
    const warnings = seenWarnings(seen, { min_confidence: 0.5 });
    expect(warnings).to.have.lengthOf(101);
    expect(warnings.at(-1)).to.deep.equal({
      code: 'low_confidence',
      message: '30 more values below 0.5 were left out.',
    });
  });

  it('are left out by the local engine, by its default too', () => {
    const sure = laidOut([INVOICE]);
    expect(extract(sure, SCHEMA).value).to.deep.equal({ invoice_number: 'LF-4711', total: 120.5 });
    const strict = extract(sure, SCHEMA, { min_confidence: 1 });
    expect(strict.value).to.deep.equal({});
    expect(strict.seen.map(({ path, value }) => [path, value])).to.deep.equal([
      ['/invoice_number', 'LF-4711'],
      ['/total', 120.5],
    ]);
    const unsure = recognised(sure, 0.05);
    expect(extract(unsure, SCHEMA).value).to.deep.equal({});
    expect(extract(unsure, SCHEMA, { min_confidence: 0 }).value).to.have.property('total', 120.5);
  });

  it('are left out of a model’s answer; what stands nowhere has no confidence, and stays', () => {
    const packed = serialize(recognised(laidOut([INVOICE]), 0.3));
    const schema = { ...SCHEMA, required: ['total'] };
    const answer = JSON.stringify({ total: 120.5, invoice_number: 'ZZ-9' });
    const grounded = groundAnswer({ packed, schema, answer, settings: { citations: true } });
    expect(grounded).to.deep.include({ value: { invoice_number: 'ZZ-9' } });
    expect(grounded).to.have.nested.property('citations[0].grounding', 'none');
    expect(grounded).to.have.nested.property('validationErrors[0].keyword', 'required');
    expect(grounded).to.have.nested.property('warnings[0].path', '/total');
    const settings = { citations: true, min_confidence: 0.1 };
    const lenient = groundAnswer({ packed, schema, answer, settings });
    expect(lenient).to.deep.include({ value: { total: 120.5, invoice_number: 'ZZ-9' }, warnings: [] });
    const strict = groundAnswer({
      packed,
      schema,
      answer,
      settings: { ...settings, require_grounding: true },
    });
    expect(strict).to.deep.include({
      value: { total: 120.5 },
      warnings: [
        {
          code: 'not_grounded',
          message: 'Left out: it was not found in the text of the document.',
          path: '/invoice_number',
          value: 'ZZ-9',
        },
      ],
    });
  });
});
