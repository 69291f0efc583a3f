import { expect } from 'chai';
import type { Json } from '../../engine/kernel/json.ts';
import { Draft } from './draft.ts';
import { generated, KINDS, type GeneratedDocument } from './generated.ts';
import { Random } from './random.ts';
import { table, totals } from './tables.ts';
import { labelsOf } from './words.ts';

const SEEDS = 20;

const letters = (text: string): string =>
  text
    .normalize('NFC')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/** All words of a document, one line after the other, and its blocks, where a value may go over lines. */
function wordsOf({ document }: GeneratedDocument): string {
  const lines = document.pages.flatMap((page) => page.lines.map(({ text }) => text));
  const blocks = document.pages.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.kind === 'table' ? block.cells.map(({ text }) => text) : [block.text])),
  );
  return letters([...lines, ...blocks].join(' '));
}

interface Leaf {
  readonly pointer: string;
  readonly value: Json;
}

function leavesOf(value: Json, pointer = ''): readonly Leaf[] {
  if (value === null || typeof value !== 'object') return [{ pointer, value }];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, `${pointer}/${key}`));
}

/** The texts by which a value may stand on a page: a date and a number stand there in many ways. */
function stands({ value }: Leaf, words: string, tokens: ReadonlySet<string>): boolean {
  if (typeof value === 'number') {
    const plain = String(Math.abs(value));
    const cents = Math.abs(value).toFixed(2);
    const tenth = Math.abs(value).toFixed(1);
    return [plain, cents, tenth].some((text) => words.includes(letters(text)));
  }
  if (typeof value !== 'string') return false;
  if (words.includes(letters(value))) return true;
  const [, year = '', , day = ''] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(value) ?? [];
  if (year !== '') return words.includes(year.slice(2)) && words.includes(String(Number(day)));
  return value.split(/\s+/).every((word) => letters(word) === '' || tokens.has(letters(word)));
}

const tokensOf = ({ document }: GeneratedDocument): ReadonlySet<string> =>
  new Set(
    document.pages.flatMap(({ lines }) =>
      lines.flatMap((line) => line.words.map(({ text }) => letters(text))),
    ),
  );

const missingIn = (one: GeneratedDocument): readonly string[] => {
  const [words, tokens] = [wordsOf(one), tokensOf(one)];
  return leavesOf(one.truth)
    .filter(({ pointer, value }) => value !== null && !one.derived.includes(pointer))
    .filter((leaf) => !stands(leaf, words, tokens))
    .map(({ pointer, value }) => `${pointer} = ${JSON.stringify(value)}`);
};

describe('generated documents', () => {
  it('are of many kinds', () => {
    expect(KINDS.length).to.be.greaterThan(24);
  });

  it('have sums that agree with their rows', () => {
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const draft = new Draft(new Random(`sums ${seed}`), 'en');
      const said = (id: string): number => Number(draft.facts.get(id)?.json);
      const rows = table(draft, { names: ['spots'], columns: ['spots', 'unit_price'], groups: [], most: 6 });
      totals(draft, ['spots', 'gross_amount', 'commission', 'net_amount'], rows);
      const worth = rows.reduce(
        (sum, row) => sum + Number(row.get('spots')?.json) * Number(row.get('unit_price')?.json),
        0,
      );
      expect(said('gross_amount')).to.be.closeTo(worth, 0.01);
      expect(said('net_amount')).to.be.closeTo(said('gross_amount') - said('commission'), 0.02);
      expect(said('spots')).to.equal(rows.reduce((sum, row) => sum + Number(row.get('spots')?.json), 0));
    }
  });

  it('call nobody a company who is a person', () => {
    expect(labelsOf('physician.name', 'en')).to.include('Full name').and.not.include('Company');
    expect(labelsOf('bank.name', 'en')).to.include('Company').and.not.include('Full name');
  });

  for (const kind of KINDS)
    it(`of the kind ${kind}: the same for a seed, and every answer stands on the pages`, () => {
      const missing: string[] = [];
      for (let seed = 0; seed < SEEDS; seed += 1) {
        const one = generated(kind, seed);
        if (seed < 3) expect(generated(kind, seed)).to.deep.equal(one);
        missing.push(...missingIn(one).map((text) => `${seed}${text}`));
      }
      expect(missing).to.deep.equal([]);
    });
});
