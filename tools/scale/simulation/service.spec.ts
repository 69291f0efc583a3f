import { RUNNER_TUNING } from '../../../projections/engine/arrivals.ts';
import { expect } from 'chai';
import fc from 'fast-check';
import { propertyRuns } from '../../../engine/test/support/properties.ts';
import type { Coefficients } from './coefficients.ts';
import { shardOf } from './simProjection.ts';
import { simulate, type ServiceLoad, type ServiceSetup } from './simService.ts';

const COEFFICIENTS = {
  writer: {
    turn_ms: 0.05,
    command_ms: 0.08,
    group_ms: 0.05,
    gc_every_ms: 200,
    gc_pauses_ms: [1, 2, 4],
    read_ms: 0.1,
    fold_event_ms: 0.02,
  },
  commit: { single_ms: [0.2, 0.3, 0.8], append_ms: 0.01, event_ms: 0.01, handoff_ms: 0.1 },
  projector: { batch_ms: 1, event_ms: 0.02, database_batch_ms: 2, database_event_ms: 0.02 },
} as unknown as Coefficients;

const CLUSTER = {
  kind: 'cluster',
  quorumMs: 3,
  sigma: 0.4,
  leaderAppendMs: 0.1,
  leaderEventMs: 0.01,
} as const;

const PROJECTION = { shards: 1, databaseCores: 2, ...RUNNER_TUNING, syncMs: 0.5 };

const setup = (over: Partial<ServiceSetup> = {}): ServiceSetup => ({
  coefficients: COEFFICIENTS,
  replicas: 2,
  sticky: true,
  log: CLUSTER,
  projection: PROJECTION,
  httpMs: 0.3,
  ...over,
});

const load = (over: Partial<ServiceLoad> = {}): ServiceLoad => ({
  arrivals: { perSecond: 1_000, swing: 0, dayMs: 86_400_000 },
  tenancy: { tenants: 500, whaleShare: 0.2, skew: 1 },
  warmUpMs: 500,
  runMs: 1_500,
  seed: 7,
  ...over,
});

describe('the simulated service', () => {
  it('is the same for the same seed, and another for another', () => {
    const first = simulate(setup(), load());
    expect(simulate(setup(), load())).to.deep.equal(first);
    expect(simulate(setup(), load({ seed: 8 })).answered).not.to.equal(first.answered);
  });

  it('answers what arrived, or still has it, whatever the setup', () => {
    const property = fc.property(
      fc.record({
        replicas: fc.integer({ min: 1, max: 4 }),
        sticky: fc.boolean(),
        log: fc.constantFrom({ kind: 'embedded' as const }, CLUSTER),
        httpMs: fc.constantFrom(0, 0.3),
      }),
      fc.record({
        arrivals: fc.oneof(
          fc.record({ inFlight: fc.integer({ min: 1, max: 64 }) }),
          fc.record({
            perSecond: fc.integer({ min: 10, max: 8_000 }),
            swing: fc.constantFrom(0, 0.7),
            dayMs: fc.constant(150),
          }),
        ),
        seed: fc.integer(),
      }),
      (parts, asked) => {
        const pages = { workers: 2, share: 0.1, msPerPage: 5 };
        const { arrived, answered, inside, insideAtStart, stations } = simulate(
          setup({ ...parts, pages }),
          load({ ...asked, warmUpMs: 50, runMs: 150 }),
        );
        expect(arrived + insideAtStart).to.equal(answered + inside);
        for (const { utilisation } of Object.values(stations)) expect(utilisation).to.be.within(0, 1 + 1e-9);
      },
    );
    const seed = Math.floor(Math.random() * 0x7fffffff);
    console.log(`        seed ${seed}`);
    fc.assert(property, { seed, numRuns: Math.min(25, propertyRuns(0.02)) });
  });

  it("obeys Little's law: inside = arrivals a ms × mean latency", () => {
    const { meanInside, meanMs, perSecond } = simulate(setup(), load({ runMs: 4_000 }));
    expect(meanInside / ((perSecond / 1000) * meanMs)).to.be.closeTo(1, 0.02);
  });

  it('batches more on a hot account, so that one append carries many commands', () => {
    const hot = { tenants: 1, whaleShare: 1, skew: 0 };
    const few = simulate(setup({ httpMs: 0 }), load({ arrivals: { inFlight: 2 }, tenancy: hot }));
    const many = simulate(setup({ httpMs: 0 }), load({ arrivals: { inFlight: 100 }, tenancy: hot }));
    expect(few.commandsPerAppend).to.be.within(1, 2);
    expect(many.commandsPerAppend).to.be.greaterThan(20);
    expect(many.perSecond).to.be.greaterThan(8 * few.perSecond);
  });

  it('has no conflict where tenants stick, and many where a whale does not', () => {
    const whale = load({ tenancy: { tenants: 500, whaleShare: 0.5, skew: 1 } });
    expect(simulate(setup({ sticky: true }), whale).conflictShare).to.equal(0);
    const loose = simulate(setup({ sticky: false }), whale);
    expect(loose.conflictShare).to.be.greaterThan(0.1);
    expect(loose.p99Ms).to.be.greaterThan(2 * simulate(setup({ sticky: true }), whale).p99Ms);
  });

  it('lags more as the load nears what the projector can do, and less in shards', () => {
    const costs = { ...COEFFICIENTS.projector, event_ms: 0.4, database_event_ms: 0.1 };
    const coefficients = { ...COEFFICIENTS, projector: costs };
    const lagAt = (perSecond: number, shards: number) =>
      simulate(
        setup({ coefficients, replicas: 8, projection: { ...PROJECTION, shards, databaseCores: 4 } }),
        load({
          arrivals: { perSecond, swing: 0, dayMs: 1 },
          tenancy: { tenants: 5_000, whaleShare: 0, skew: 0 },
        }),
      ).lagP99Ms;
    const [quiet, full, sharded] = [lagAt(200, 1), lagAt(2_600, 1), lagAt(2_600, 4)];
    expect(full).to.be.greaterThan(4 * quiet);
    expect(sharded).to.be.lessThan(full / 4);
  });

  it('loads accounts anew that do not fit into memory, fewer where tenants stick', () => {
    const limits = { warmMax: 100, coldMs: 0.5 };
    const tenancy = { tenants: 400, whaleShare: 0, skew: 0 };
    const sticky = simulate(setup({ replicas: 4, limits }), load({ tenancy, warmUpMs: 2_000 }));
    const loose = simulate(setup({ replicas: 4, limits, sticky: false }), load({ tenancy, warmUpMs: 2_000 }));
    expect(sticky.coldLoads).to.be.lessThan(0.3 * sticky.arrived);
    expect(loose.coldLoads).to.be.greaterThan(0.6 * loose.arrived);
  });

  it('puts tenants into shards of about one size', () => {
    const sizes = new Array<number>(8).fill(0);
    for (let tenant = 0; tenant < 80_000; tenant += 1) sizes[shardOf(tenant, 8)]! += 1;
    for (const size of sizes) expect(size).to.be.within(9_500, 10_500);
  });
});
