import { expect } from 'chai';
import { areSynonyms } from '../../../extraction/matching/synonyms.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { date, integer, said, text, valueOf } from '../parts/asked.ts';

describe('other words for the same thing', () => {
  it('stand for each other, in one language and across languages, in singular and plural', () => {
    expect(areSynonyms('tenant', 'occupant')).to.equal(true);
    expect(areSynonyms('tenants', 'mieter')).to.equal(true);
    expect(areSynonyms('tenant', 'rent')).to.equal(false);
    expect(areSynonyms('sheep', 'sheep')).to.equal(false);
  });

  it('stand for each other in the cases of Slavic languages', () => {
    expect(areSynonyms('microchip', 'mikrochipu')).to.equal(true);
    expect(areSynonyms('engine', 'silnika')).to.equal(true);
    expect(areSynonyms('chip', 'pucea')).to.equal(false);
  });

  it('are told apart from the number before a label and from what explains it in brackets', () => {
    const form = 'Harbour form\n\nI.5. Berth (place, number, side of the quay): Q-7';
    expect(said(form, { berth: text })).to.deep.equal({ berth: 'Q-7' });
  });

  it('make a label say a field', () => {
    const form = 'Harbour form\n\nOdometer: 14,220\nInception: 4 May 2031\nLast service: 3 March 2030';
    expect(said(form, { mileage: integer, valid_from: date })).to.deep.equal({
      mileage: 14220,
      valid_from: '2031-05-04',
    });
  });

  it('name nothing in a sentence: there they stand for too much else', () => {
    const prose =
      'Anyone who has taken the ferry knows that the fee of 7 coins is charged at the lower quay only.';
    expect(said(prose, { premium: integer })).to.deep.equal({});
  });
});

describe('a text whose name stands left of it', () => {
  it('may be a number', () => {
    const rows: readonly (readonly [string, string])[] = [
      ['Version', '3.2'],
      ['Kept by', 'Ada Low'],
      ['Agreed by', 'Bo Renn'],
      ['Place', 'Lower Quay'],
    ];
    const form = laidOut([
      rows.flatMap(([label, value], i): Placed[] => [
        [60, 40 + 16 * i, label],
        [200, 40 + 16 * i, value],
      ]),
    ]);
    expect(valueOf(form, { version: text })).to.deep.equal({ version: '3.2' });
  });
});
