import { expect } from 'chai';
import { extract } from '../../extraction/extract.ts';
import { calibrated, confidenceOf } from '../../extraction/finding.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { laidOut } from '../support/laidOut.ts';

describe('confidence', () => {
  const steps = Array.from({ length: 1001 }, (_, i) => i / 1000);

  it('never falls while the raw score rises', () => {
    for (const [i, raw] of steps.entries()) {
      const before = calibrated(steps[i - 1] ?? 0);
      expect(calibrated(raw), `at ${raw}`).to.be.at.least(before);
    }
  });

  it('is a share', () => {
    for (const raw of [-1, ...steps, 2]) expect(calibrated(raw)).to.be.within(0, 1);
  });

  it('rises with a better label and falls with words that OCR doubts', () => {
    const evidence = { strictness: 1, margin: 0.2, agreement: 0 };
    const word = { text: '1.50', box: null, fontSize: null, bold: false };
    const sure = confidenceOf({ ...evidence, label: 0.9 }, [{ ...word, confidence: 1 }]);
    const weak = confidenceOf({ ...evidence, label: 0.5 }, [{ ...word, confidence: 1 }]);
    const doubted = confidenceOf({ ...evidence, label: 0.9 }, [{ ...word, confidence: 0.4 }]);
    expect(weak).to.be.below(sure);
    expect(doubted).to.be.below(sure);
  });

  describe('of cells', () => {
    const header = [
      [50, 100, 'Description'],
      [300, 100, 'Quantity', 'right'],
      [400, 100, 'Price', 'right'],
      [500, 100, 'Amount', 'right'],
    ] as const;
    const rows = ['Oak shelf', 'Pine shelf', 'Ash shelf'].flatMap(
      (name, i) =>
        [
          [50, 120 + 20 * i, name],
          [300, 120 + 20 * i, '2', 'right'],
          [400, 120 + 20 * i, '3.50', 'right'],
          [500, 120 + 20 * i, '7.00', 'right'],
        ] as const,
    );
    const members = {
      description: { type: 'string' },
      quantity: { type: 'number' },
      unit_price: { type: 'number' },
      amount: { type: 'number' },
    };
    const promises = (properties: JsonObject): readonly number[] => {
      const items = { type: 'array', items: { type: 'object', properties } };
      const schema = { type: 'object', properties: { items } };
      const { citations } = extract(laidOut([[...header, ...rows]]), schema);
      return citations.map(({ confidence }) => confidence);
    };

    it('is the same for amounts and texts whose columns are named alike', () => {
      expect(promises(members)).to.have.length(12);
      expect(new Set(promises(members)).size).to.equal(1);
    });

    it('falls where the table has no column for some of the members', () => {
      const part = promises({ ...members, lot: { type: 'string' }, origin: { type: 'string' } });
      expect(Math.max(...part)).to.be.below(Math.min(...promises(members)));
    });
  });
});
