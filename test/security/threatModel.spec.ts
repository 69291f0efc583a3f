import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MODEL = readFileSync(`${ROOT}docs/explanation/security.md`, 'utf8');

interface Line {
  readonly threat: string;
  readonly defence: string;
  readonly remains: string;
  readonly test: string;
}

const cellsOf = (row: string): readonly string[] =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

/** The rows of all tables that say of a threat what is done against it. */
const linesOf = (text: string): readonly Line[] =>
  text.split(/\n{2,}/).flatMap((block) => {
    const [header = '', , ...rows] = block.split('\n').filter((row) => row.startsWith('|'));
    if (cellsOf(header)[0] !== 'Threat') return [];
    return rows.map((row) => {
      const [threat = '', defence = '', remains = '', test = ''] = cellsOf(row);
      return { threat, defence, remains, test };
    });
  });

const NAMED = /^`(test\/[\w/.]+\.spec\.ts)`: (.+)$/;

describe('the threat model', () => {
  const lines = linesOf(MODEL);

  it('has a line for each threat, and says what is done and what remains', () => {
    expect(lines.length).to.be.greaterThan(40);
    for (const { threat, defence, remains } of lines)
      expect(
        [threat, defence, remains].map((cell) => cell !== ''),
        threat,
      ).to.deep.equal([true, true, true]);
    expect(new Set(lines.map(({ threat }) => threat)).size).to.equal(lines.length);
  });

  it('names for each line a test that there is', () => {
    for (const { threat, test } of lines) {
      const [, file = '', title = ''] = NAMED.exec(test) ?? [];
      expect(file, `${threat}: ${test}`).to.not.equal('');
      expect(existsSync(ROOT + file), file).to.equal(true);
      const text = readFileSync(ROOT + file, 'utf8');
      const calls = ["it('", 'it("', 'it(`'].map((call) => `${call}${title}`);
      expect(
        calls.some((call) => text.includes(call)),
        `${file} has no test “${title}”`,
      ).to.equal(true);
    }
  });

  it('has all ten of the OWASP API Security Top 10 among them', () => {
    const tests = lines.map(({ test }) => test).join('\n');
    for (let number = 1; number <= 10; number += 1)
      expect(tests).to.match(new RegExp(`: API${String(number)} `));
  });
});
