import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { statusName } from '../src/texts/shell.ts';

const TEXTS = fileURLToPath(new URL('../../../console/src/texts/', import.meta.url));

/** Words that people did not understand, and those that stand in their place; `^` and `$`: the whole text. */
const WORDS: readonly (readonly [old: RegExp, plain: RegExp])[] = [
  [/how it goes|needs somebody/i, /^Activity, balance and open tasks\.$/],
  [/^used up in\b|used up \/ in/i, /^Runs out$/],
  [/^what waits$/i, /^Queue$/],
  [/^what went wrong last$/i, /^Recent failures$/],
  [/95 of 100|took no longer/i, /^p95 /],
  [/read again so/i, /^Run with these settings$/],
  [/^its own labels/i, /^Use the document’s labels/],
  [/^give your schema$/i, /^Use my schema$/],
  [/^read by it$/i, /^Run$/],
  [/^other document$/i, /^Replace document$/],
  [/^nothing$/, /^Not in document$/],
  [/^write$/i, /^Edit$/],
  [/^open again$/i, /^Reopen$/],
  [/say what the document says|what you decide is the result/i, /^Correct the values, then submit\.$/],
  [/make a set of reviews/i, /^New set from reviews$/],
  [/with that day/i, /^Decided until \(inclusive\)$/],
  [/^saved config \(its ID\)$/i, /^Config$/],
  [/^least confidence$/i, /^Minimum confidence$/],
  [/^begun$/i, /^Started$/],
  [/^took$/i, /^Duration$/],
  [/^learn from it$|^run it$/i, /^Train$/],
  [/^kept by the provider$/i, /^Provider fee$/],
  [/^both, exactly$|^money alone$/i, /^Money only$/],
  [/^at once$/i, /^Burst$/],
  [/^it stands on$/i, /^Based on$/],
  [/^operation \(page\)$/i, /^System status$/],
  [/review leased/i, /^Review taken$/],
];

/** The texts of a source: what stands between quotes outside of comments. */
const textsIn = (source: string): readonly string[] => {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...code.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|"((?:[^"\\\n]|\\.)*)"/g)].map(
    ([, single, template, double]) => single ?? template ?? double ?? '',
  );
};

describe('the words of the console', () => {
  const all = readdirSync(TEXTS).flatMap((name) =>
    textsIn(readFileSync(TEXTS + name, 'utf8')).map((text) => ({ name, text })),
  );

  it('are read from every file of texts', () => {
    expect(all.length).to.be.greaterThan(1_000);
    expect(textsIn("/** 'Took' */ a: 'Read again so', b: `${x} 95 of 100`")).to.deep.equal([
      'Read again so',
      '${x} 95 of 100',
    ]);
  });

  it('name each status once, for all pages', () => {
    const own = readdirSync(TEXTS).filter(
      (name) =>
        name !== 'shell.ts' && /\b(?:queued|running|succeeded): '/.test(readFileSync(TEXTS + name, 'utf8')),
    );
    expect(own).to.deep.equal([]);
    expect(statusName('succeeded')).to.equal('Succeeded');
    expect(statusName('toString'), 'one that is not known').to.equal('toString');
  });

  for (const [old, plain] of WORDS)
    it(`say ${plain.source}, and nowhere ${old.source}`, () => {
      expect(all.filter(({ text }) => old.test(text))).to.deep.equal([]);
      expect(all.some(({ text }) => plain.test(text))).to.equal(true);
    });
});
