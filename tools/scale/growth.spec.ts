import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { readCoefficients } from './simulation/coefficients.ts';
import { ASSUMED_PRICES } from './costs.ts';
import { DOCUMENT_PATH, withBlocks } from './document.ts';
import { coldLoadMs, historyAt, tenantsAt } from './growth.ts';
import { ringFigures, ringOf } from './simulation/ring.ts';
import { line, quantiles } from './measure/probes.ts';
import { costTable, eventTable, historyTable, priceTable, readModelTable, tenantTable } from './tables.ts';

const coefficients = readCoefficients();

describe('what grows', () => {
  it('is in proportion to the events', () => {
    const [one, ten] = [historyAt(coefficients, 1e6), historyAt(coefficients, 1e7)];
    expect(one.logBytes).to.equal(1e6 * coefficients.log.bytes_per_event);
    for (const name of ['logBytes', 'tableBytes', 'indexBytes', 'rebuildSeconds', 'auditSeconds'] as const)
      expect(ten[name] / one[name]).to.be.closeTo(10, 1e-6);
  });

  it('stops at what a replica keeps in memory', () => {
    const [few, many] = [tenantsAt(coefficients, 1_000), tenantsAt(coefficients, 1e6)];
    expect(few.warmAccounts).to.equal(1_000);
    expect(many.warmAccounts).to.equal(10_000);
    expect(many.replicasToKeepAll).to.equal(100);
    expect(many.warmBytes).to.equal(10 * few.warmBytes);
    expect(coldLoadMs(coefficients, 2_000)).to.equal(2 * coldLoadMs(coefficients, 1_000));
  });
});

describe('a ring of replicas', () => {
  it('sends a tenant always to the same replica, and to the one that is there', () => {
    const names = ['a', 'b', 'c'];
    const ring = ringOf(names, 64);
    const again = ringOf(['c', 'b', 'a'], 64);
    const more = ringOf([...names, 'd'], 64);
    const without = new Map(
      names.map((gone) => [
        gone,
        ringOf(
          names.filter((name) => name !== gone),
          64,
        ),
      ]),
    );
    for (let n = 0; n < 200; n += 1) {
      const replica = ring.replicaOf(`t${n}`);
      expect(again.replicaOf(`t${n}`)).to.equal(replica);
      for (const [gone, left] of without)
        if (gone === replica) expect(left.replicaOf(`t${n}`)).not.to.equal(replica);
        else expect(left.replicaOf(`t${n}`)).to.equal(replica);
      expect([replica, 'd']).to.include(more.replicaOf(`t${n}`));
    }
  });

  it('is evener with more places, and moves about as few tenants as it must', () => {
    const [few, many] = [ringFigures(4, 2, 4_000), ringFigures(4, 128, 4_000)];
    expect(many.fullest).to.be.lessThan(few.fullest);
    expect(many.fullest).to.be.lessThan(1.3);
    expect(many.moved).to.be.within(0.1, 0.3);
  });
});

describe('probes', () => {
  it('find the line through points, and even shares of values', () => {
    const { fixed, each } = line([
      [1, 5],
      [2, 7],
      [4, 11],
    ]);
    expect(fixed).to.be.closeTo(3, 1e-9);
    expect(each).to.be.closeTo(2, 1e-9);
    expect(quantiles([4, 1, 3, 2], 4)).to.deep.equal([1, 2, 3, 4]);
  });
});

describe('the page about scale', () => {
  const flat = (text: string) => text.replaceAll(/-{3,}/g, '---').replaceAll(/\s+/g, ' ');
  const page = readFileSync(DOCUMENT_PATH, 'utf8');

  for (const [name, block] of Object.entries({
    costs: costTable(coefficients, ASSUMED_PRICES),
    prices: priceTable(ASSUMED_PRICES),
    history: historyTable(coefficients),
    tenants: tenantTable(coefficients),
    events: eventTable(coefficients),
    tables: readModelTable(coefficients),
  }))
    it(`shows the ${name} that the coefficients come to`, () => {
      expect(flat(page)).to.include(flat(block));
    });

  it('keeps what stands around its blocks', () => {
    const text = 'a\n<!-- begin: x -->\nold\n<!-- end: x -->\nb';
    expect(withBlocks(text, { x: 'new $1' })).to.equal(
      'a\n<!-- begin: x -->\n\nnew $1\n\n<!-- end: x -->\nb',
    );
    expect(() => withBlocks(text, { y: '' })).to.throw('has no block y');
  });
});
