import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EVENT_TYPES } from '../../../domain/catalogue.ts';
import { EVENT_NAMES, sentenceOf, type EventData } from '../../src/texts/audit.ts';

const GOLDEN = 'test/golden/';

describe('the sentences of the audit', () => {
  it('are there for each type of event, and for no other', () => {
    expect([...EVENT_NAMES.keys()]).to.have.members([...EVENT_TYPES]);
  });

  for (const file of readdirSync(GOLDEN).filter((name) => name.endsWith('.json')))
    it(`say ${file} from members that it has`, () => {
      const { type, data } = JSON.parse(readFileSync(`${GOLDEN}${file}`, 'utf8')) as {
        readonly type: string;
        readonly data: EventData;
      };
      const sentence = sentenceOf(type, data);
      expect(sentence)
        .to.match(/^\S/)
        .and.not.match(/undefined|–|[{}]/);
      expect(sentence).not.to.equal(type);
    });
});
