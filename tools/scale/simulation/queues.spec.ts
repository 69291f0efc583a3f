import { expect } from 'chai';
import { newAgenda } from './agenda.ts';
import { dayShape, drawsOf, gapMs, tenantPicker } from './draws.ts';
import { newLatencies } from './latencies.ts';
import { newStation, type StationReport } from './station.ts';

/** Poisson arrivals at one station with exponential service, for so many arrivals on average. */
const queue = (servers: number, load: number, seed: number): StationReport & { readonly ms: number } => {
  const agenda = newAgenda();
  const draws = drawsOf(seed);
  const station = newStation(agenda, servers);
  const arrive = () => {
    station.visit(draws.exponential(1), () => undefined);
    agenda.after(draws.exponential(1 / (load * servers)), arrive);
  };
  arrive();
  agenda.runUntil(5_000);
  station.reset();
  agenda.runUntil(105_000);
  return { ...station.report(), ms: 100_000 };
};

describe('queues of the scale simulation', () => {
  it('do what is due in order of time, and of asking where times are equal', () => {
    const agenda = newAgenda();
    const done: string[] = [];
    for (const [name, ms] of [
      ['c', 3],
      ['a', 1],
      ['b1', 2],
      ['b2', 2],
      ['late', 9],
    ] as const)
      agenda.after(ms, () => done.push(`${name}@${agenda.now()}`));
    agenda.runUntil(5);
    expect(done).to.deep.equal(['a@1', 'b1@2', 'b2@2', 'c@3']);
    expect(agenda.now()).to.equal(5);
  });

  for (const load of [0.5, 0.8])
    it(`M/M/1 at load ${load} has the mean stay and the crowd of the closed formula`, () => {
      const { meanStayMs, meanPresent, utilisation } = queue(1, load, 41);
      expect(utilisation).to.be.closeTo(load, 0.02 * load);
      expect(meanStayMs).to.be.closeTo(1 / (1 - load), 0.06 / (1 - load));
      expect(meanPresent).to.be.closeTo(load / (1 - load), (0.06 * load) / (1 - load));
    });

  it('M/M/2 has the mean stay of the closed formula', () => {
    const load = 0.7;
    const { meanStayMs } = queue(2, load, 42);
    expect(meanStayMs).to.be.closeTo(1 / (1 - load ** 2), 0.06 / (1 - load ** 2));
  });

  it("obey Little's law: present = arrivals a ms × stay", () => {
    const { meanPresent, meanStayMs, served, ms } = queue(3, 0.9, 43);
    expect(meanPresent / ((served / ms) * meanStayMs)).to.be.closeTo(1, 0.01);
  });

  it('lose nobody: arrived and present before = served and present after', () => {
    const agenda = newAgenda();
    const draws = drawsOf(44);
    const station = newStation(agenda, 2);
    let left = 0;
    for (let n = 0; n < 5_000; n += 1)
      agenda.after(draws.exponential(4_000), () => station.visit(draws.exponential(2), () => (left += 1)));
    for (let at = 1_000; at <= 60_000; at += 1_000) {
      agenda.runUntil(at);
      const { arrived, served, present } = station.report();
      expect(arrived).to.equal(served + present);
      expect(served).to.equal(left);
    }
    expect(left).to.equal(5_000);
  });

  it('ask for the length of service when it begins, not before', () => {
    const agenda = newAgenda();
    const station = newStation(agenda, 1);
    const asked: number[] = [];
    const visit = () => {
      asked.push(agenda.now());
      return 10;
    };
    station.visit(visit, () => undefined);
    station.visit(visit, () => undefined);
    agenda.runUntil(100);
    expect(asked).to.deep.equal([0, 10]);
  });
});

describe('draws of the scale simulation', () => {
  it('give the whale its share and the others a heavy tail', () => {
    const pick = tenantPicker({ tenants: 1_000, whaleShare: 0.4, skew: 1 }, drawsOf(5));
    const asked = new Map<number, number>();
    for (let n = 0; n < 50_000; n += 1) {
      const tenant = pick();
      asked.set(tenant, (asked.get(tenant) ?? 0) + 1);
    }
    expect(Math.max(...asked.keys())).to.be.within(900, 999);
    expect((asked.get(0) ?? 0) / 50_000).to.be.closeTo(0.4, 0.01);
    const harmonic = Array.from({ length: 999 }, (_, n) => 1 / (n + 1)).reduce((sum, x) => sum + x);
    expect((asked.get(1) ?? 0) / 50_000).to.be.closeTo(0.6 / harmonic, 0.01);
  });

  it('keep the day: as many arrivals as without its shape, twice as many by day as at night', () => {
    const shape = { perSecond: 50, swing: 0.5, dayMs: 24_000 };
    const draws = drawsOf(6);
    const byHour = new Array<number>(24).fill(0);
    let [at, count] = [0, 0];
    for (; at < 24 * 24_000; count += 1) {
      at += gapMs(shape, at, draws);
      byHour[Math.floor((at % 24_000) / 1_000)]! += 1;
    }
    expect(count / ((50 * at) / 1000)).to.be.closeTo(1, 0.02);
    const of = (hours: readonly number[]) => hours.reduce((sum, hour) => sum + byHour[hour]!, 0);
    expect(of([13, 14, 15, 16]) / of([1, 2, 3, 4])).to.be.closeTo(1.47 / 0.53, 0.35);
    expect(dayShape(3, 0.5)).to.equal(0.5);
    expect(dayShape(15, 0.5)).to.equal(1.5);
  });

  it('find percentiles to a percent', () => {
    const latencies = newLatencies();
    for (let ms = 1; ms <= 1_000; ms += 1) latencies.add(ms);
    expect(latencies.at(0.5)).to.be.closeTo(500, 6);
    expect(latencies.at(0.99)).to.be.closeTo(990, 11);
    expect(latencies.mean()).to.equal(500.5);
    latencies.reset();
    expect(latencies.at(0.5)).to.equal(0);
  });
});
