import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
import type { Document } from '../../../document/document.ts';
import type { Json } from '../../../kernel/json.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';

const text = { type: 'string' };
const date = { type: 'string', format: 'date' };
const said = (document: Document, properties: Record<string, Json>): Json =>
  extract(document, { type: 'object', properties }).value;

const SMALL = 6;

/** A page on which the texts that end in a mark are set in small letters, without the mark. */
function boxes(placed: readonly Placed[]): Document {
  const marked = new Set(placed.filter(([, , words]) => words.endsWith('°')).map(([x, y]) => `${x} ${y}`));
  const document = laidOut([placed.map(([x, y, words]): Placed => [x, y, words.replace('°', '')])]);
  const [page] = document.pages;
  if (page === undefined) return document;
  const small = [...marked].map((place) => place.split(' ').map(Number));
  const lines = page.lines.map((line) => ({
    ...line,
    words: line.words.map((word) => {
      const [x, y] = [word.box?.[0] ?? 0, word.box?.[1] ?? 0];
      const isSmall = small.some(([left = 0, top]) => top === y && x >= left - 1 && x < left + 140);
      const box = word.box === null ? null : ([x, y, word.box[2], y + 7] as const);
      return isSmall ? { ...word, fontSize: SMALL, box } : word;
    }),
  }));
  return { ...document, pages: [{ ...page, lines }] };
}

describe('small labels at the top of boxes', () => {
  const form = boxes([
    [50, 40, '1. Surname°'],
    [50, 48, 'NAVARRO'],
    [50, 70, '2. Surname at birth (Former family name)°'],
    [50, 96, '3. Date of loss (day-°'],
    [200, 96, '4. Place of birth°'],
    [350, 96, '5. Nationality°'],
    [50, 103, 'month)°'],
    [200, 106, 'Lindau'],
    [350, 106, 'Irish'],
    [50, 112, '07-12-1995'],
  ]);

  it('are no headings of the boxes below them: an empty box stays empty', () => {
    expect(said(form, { surname_at_birth: text })).to.deep.equal({});
  });

  it('go on in a second line', () => {
    expect(said(form, { date_of_loss: date })).to.deep.equal({ date_of_loss: '1995-12-07' });
  });

  it('keep their values from fields that another place speaks for', () => {
    expect(said(form, { issue_date: date })).to.deep.equal({});
  });
});

describe('a label that says the same twice', () => {
  it('is said by either side of its slash', () => {
    const document = laidOut([[[50, 40, 'Cargo notes / Remarques posées sur tout cargo embarqué: Anchor']]]);
    expect(said(document, { cargo_notes: text })).to.deep.equal({ cargo_notes: 'Anchor' });
  });

  it('is said by what stands in its brackets', () => {
    const document = laidOut([[[50, 40, 'Kennung (Permit code): QX-7714']]]);
    expect(said(document, { permit_code: text })).to.deep.equal({ permit_code: 'QX-7714' });
  });
});

describe('labels that a letter or a number tells apart', () => {
  const document = laidOut([
    [
      [50, 40, 'Insurer A: Old Meridian Casualty Co'],
      [50, 64, 'Insurer C: Lower Weald Mutual'],
    ],
  ]);

  it('serve the field of their own letter', () => {
    expect(said(document, { insurer_a: text, insurer_b: text })).to.deep.equal({
      insurer_a: 'Old Meridian Casualty Co',
    });
  });

  it('end the text above them', () => {
    const lines = laidOut([
      [
        [50, 40, 'Cover granted: fire and storm in all barns'],
        [50, 52, 'Excess:'],
      ],
    ]);
    expect(said(lines, { cover_granted: text })).to.deep.equal({
      cover_granted: 'fire and storm in all barns',
    });
  });
});
