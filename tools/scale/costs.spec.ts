import { expect } from 'chai';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import {
  ASSUMED_PRICES,
  costOf,
  eventNeeds,
  fixedMonth,
  modelCost,
  pageNeeds,
  pricesFrom,
  USED_SHARE,
} from './costs.ts';

describe('the cost model', () => {
  it('adds processor time at the share that is used, and storage by the month', () => {
    const prices = { ...ASSUMED_PRICES, vcpu_hour: 0.04, ssd_gb_month: 0.1, object_gb_month: 0.02 };
    const needs = { cpuMs: 3.6, ssdBytes: 2_000, objectBytes: 10_000 };
    const { cpu, ssd, objects, total } = costOf(needs, { pieces: 1e6, months: 12 }, prices);
    expect(cpu).to.be.closeTo(0.04 / USED_SHARE, 1e-9);
    expect(ssd).to.be.closeTo(2 * 12 * 0.1, 1e-9);
    expect(objects).to.be.closeTo(10 * 12 * 0.02, 1e-9);
    expect(total).to.equal(cpu + ssd + objects);
  });

  it('costs nothing for nothing', () => {
    const { total } = costOf(
      { cpuMs: 1, ssdBytes: 1, objectBytes: 1 },
      { pieces: 0, months: 12 },
      ASSUMED_PRICES,
    );
    expect(total).to.equal(0);
  });

  it('lets a page cost its reading, its request and its events', () => {
    const basis = {
      ...{ pageMs: 10, httpMs: 1, objectBytes: 500, eventsPerPage: 2 },
      ...{ eventMs: 0.5, logBytes: 1_000, readModelBytes: 300 },
    };
    expect(eventNeeds(basis)).to.deep.equal({ cpuMs: 0.5, ssdBytes: 3_600, objectBytes: 0 });
    expect(pageNeeds(basis)).to.deep.equal({ cpuMs: 12, ssdBytes: 7_200, objectBytes: 500 });
  });

  it("counts a model's tokens by themselves", () => {
    const prices = { ...ASSUMED_PRICES, model_input_mtok: 1, model_output_mtok: 10 };
    expect(modelCost(1e6, prices)).to.equal(1_500 + 3_000);
  });

  it('has replicas cost more while nothing happens than one machine', () => {
    expect(fixedMonth('replicas', ASSUMED_PRICES)).to.be.greaterThan(fixedMonth('embedded', ASSUMED_PRICES));
    expect(fixedMonth('embedded', { ...ASSUMED_PRICES, vcpu_hour: 1 })).to.equal(1_460);
  });

  describe('with prices of a file', () => {
    const folder = tempFolder();
    after(() => folder.remove());
    const fileOf = (text: string) => folder.file('prices.json', text);

    it('takes those, and the assumed ones for the rest', () => {
      expect(pricesFrom(fileOf('{"vcpu_hour": 0.5}'))).to.deep.equal({ ...ASSUMED_PRICES, vcpu_hour: 0.5 });
      expect(pricesFrom(undefined)).to.equal(ASSUMED_PRICES);
    });

    it('refuses what is no price, by its name', () => {
      expect(() => pricesFrom(fileOf('{"cpu": 1}'))).to.throw('there is no price cpu; use vcpu_hour');
      expect(() => pricesFrom(fileOf('{"vcpu_hour": -1}'))).to.throw(
        'vcpu_hour must be a number of USD from 0',
      );
      expect(() => pricesFrom(fileOf('{"vcpu_hour": "1"}'))).to.throw('vcpu_hour must be a number');
    });
  });
});
