import { expect } from 'chai';
import {
  checkedConcept,
  checkedRing,
  checkedWords,
  conceptEntries,
  lexicon,
  rings,
} from '../../extraction/words/lexicon.ts';

describe('the lexicon', () => {
  it('has no word that its own check refuses', () => {
    const counts = Object.values(lexicon).flatMap((theme) =>
      Object.values(theme).map(({ words }) => words.length),
    );
    expect(Math.min(...counts)).to.be.greaterThan(0);
    expect(conceptEntries().map(([id]) => id)).to.include.members(['invoice_date', 'due_date']);
    expect(rings().some((ring) => ring.includes('tenant') && ring.includes('mieter'))).to.equal(true);
  });

  it('finds a word that is written with capitals and accents in a text without them', () => {
    const words = checkedWords('labels.units', { about: 'Units.', as: 'word', es: ['Año'] });
    expect(words).to.deep.equal(['ano']);
  });

  const list = (change: object): (() => unknown) => {
    const entry = { about: 'Units.', as: 'word', en: ['day'], ...change };
    return () => checkedWords('labels.units', entry);
  };

  it('says which word of which list is there already, and in which language', () => {
    expect(list({ de: ['tag', 'Day'] })).to.throw(
      'engine/extraction/words/lists.json, labels.units.de: "Day" is there already (en)',
    );
  });

  it('names the languages that it knows when a list has another', () => {
    expect(list({ german: ['tag'] })).to.throw(
      'lists.json, labels.units: "german" is unknown; known are "any", "en"',
    );
  });

  it('refuses an entry that is no word', () => {
    for (const entry of ['', ' day', 7, null])
      expect(list({ de: ['tag', entry] })).to.throw('labels.units.de: entry 1');
    expect(list({ de: 'tag' })).to.throw('labels.units.de: a list of words is wanted');
  });

  it('refuses a list that does not say what it is for, or how it is compared', () => {
    expect(list({ about: undefined })).to.throw('"about" is missing');
    expect(list({ as: 'regex' })).to.throw(
      'labels.units.as: "regex" is unknown; known are "word", "pattern"',
    );
  });

  it('refuses a pattern that cannot be read, or that fits nothing at all', () => {
    expect(list({ as: 'pattern', de: ['tag('] })).to.throw('labels.units.de: "tag(" is no pattern');
    expect(list({ as: 'pattern', de: ['tage|'] })).to.throw('labels.units.de: "tage|" fits an empty text');
  });

  it('refuses a concept with an unknown kind, language or stand-in, or a phrase twice', () => {
    const concept = (change: object): (() => unknown) => {
      const entry = { kind: 'date', en: ['due date'], ...change };
      return () => checkedConcept('due_date', entry);
    };
    expect(concept({})).not.to.throw();
    expect(concept({ kind: 'day' })).to.throw(
      'concepts.json, due_date.kind: "day" is unknown; known are "date"',
    );
    expect(concept({ ger: ['frist'] })).to.throw('concepts.json, due_date: "ger" is unknown');
    expect(concept({ in: 'columns' })).to.throw('due_date.in: "columns" is unknown');
    expect(concept({ stand_in: 'due' })).to.throw('due_date.stand_in: "due" is unknown');
    expect(concept({ de: ['frist', 'frist'] })).to.throw('due_date.de: "frist" is there twice');
  });

  it('refuses a ring of one word, or with a word that no label can have', () => {
    expect(() => checkedRing(3, 'tenant')).to.throw('synonyms.json, ring 3: "tenant" has no second word');
    expect(() => checkedRing(3, 'tenant Mieter')).to.throw('synonyms.json, ring 3: "Mieter"');
  });
});
