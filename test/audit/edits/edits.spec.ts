import { expect } from 'chai';
import { sealOf, type GivenSeal } from '../../../src/audit/chains.ts';
import { history } from '../auditedHistory.ts';
import type { FoundBy } from './editing.ts';
import { EDITS } from './edits.ts';
import { auditAfter, nothing } from '../tampering.ts';

describe('75 kinds of edits to a log', () => {
  let seals: readonly GivenSeal[] = [];
  const outcomes: { readonly name: string; readonly by: FoundBy; readonly how: string }[] = [];

  before(async () => {
    await history();
    const { log } = await auditAfter(nothing);
    seals = [{ seal: sealOf(log, '2026-02-01T00:00:00.000Z'), from: 'a file' }];
  });

  it('are 75, each of another kind', () => {
    expect(new Set(EDITS.map(({ name }) => name)).size).to.equal(75);
  });

  for (const { name, foundBy, check, make } of EDITS)
    it(`${name}: found by ${foundBy}`, async () => {
      const { report } = await auditAfter(make, { seals });
      const checks = new Set(report.findings.map(({ check }) => check));
      const bySeal = checks.delete('seal');
      const otherwise = report.unsealed === null ? 'neither' : 'unsealed';
      const by = checks.size > 0 ? 'audit' : bySeal ? 'seal' : otherwise;
      outcomes.push({ name, by, how: [...checks].join(', ') });
      expect(by, JSON.stringify(report.findings, undefined, 1)).to.equal(foundBy);
      if (check !== undefined) expect([...checks]).to.include(check);
    });

  after(() => {
    if (process.argv.includes('--edits')) console.table(outcomes);
  });
});
