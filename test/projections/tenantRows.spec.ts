import { expect } from 'chai';
import { decodeAny } from '../../domain/catalogue.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { Arrival } from '../../projections/engine/arrivals.ts';
import { isByTenant, ownerOf, replaceRows } from '../../projections/engine/owners.ts';
import { dumpReadModel } from '../../projections/engine/building.ts';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf, type Projector } from '../../projections/engine/table.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { seededPlan } from '../sim/explore.ts';
import { runWorld } from '../sim/run.ts';
import { randomWorld } from '../sim/worlds.ts';
import { emptySql } from '../support/emptySql.ts';

/** Logs of worlds with transfers, batches, sales, trainings and webhooks. */
const SEEDS = [1, 2, 3, 4];

/** Read models that mix tenants in one row, or whose rows lack the tenant: they stop as a whole. */
const MIXED = ['margin'];

const arrivalOf = (recorded: RecordedEvent): Arrival => {
  const event = { ...recorded, ...decodeAny(recorded) } as ProjectedEvent;
  return { position: recorded.position, recorded, delivered: recorded, event };
};

describe('the rows of one tenant', () => {
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
  });
  after(() => sql.close());

  const fold = async (projector: Projector, schema: string, arrivals: readonly Arrival[]): Promise<void> => {
    await sql.script(
      `drop schema if exists ${schema} cascade; create schema ${schema}; ${ddlOf(projector.tables, schema)}`,
    );
    const events = arrivals.flatMap(({ event }) => (event === undefined ? [] : [event]));
    await sql.transaction((tx) => projector.apply(tx, { schema, events }));
  };

  it('can be told apart in every read model but those that mix tenants', () => {
    const mixed = READ_MODELS.filter((one) => !isByTenant(one)).map(({ name }) => name);
    expect(mixed).to.deep.equal(MIXED);
  });

  it('follow from its own events and those that all share, and can be put in place of others', async () => {
    let compared = 0;
    for (const seed of SEEDS) {
      const world = { ...randomWorld(seed), healMs: 3_600_000 };
      const asked = { isWanted: () => false, audits: false };
      const { events: log } = await runWorld({ world, plan: seededPlan(seed), seed, ...asked });
      const all = log.map(arrivalOf);
      for (const projector of READ_MODELS.filter(isByTenant)) {
        const wanted = all.filter(({ recorded }) =>
          (projector.eventTypes as readonly string[]).includes(recorded?.type ?? ''),
        );
        const owners = new Set(wanted.map((one) => ownerOf(projector, one)));
        const tenants = [...owners].filter((owner) => owner !== null).slice(0, 4);
        await fold(projector, 'whole', wanted);
        const whole = await dumpReadModel(sql, projector, 'whole');
        for (const tenant of tenants) {
          const isTheirs = (one: Arrival) => [tenant, null].includes(ownerOf(projector, one));
          await fold(projector, 'one', wanted.filter(isTheirs));
          // Of the others the rows of a fold without the tenant, of the tenant those of a fold without the others.
          await fold(
            projector,
            'others',
            wanted.filter((one) => ownerOf(projector, one) !== tenant),
          );
          await sql.transaction((tx) => replaceRows(tx, projector, { from: 'one', to: 'others', tenant }));
          const which = `seed ${String(seed)}, ${projector.name} of ${tenant}`;
          expect(await dumpReadModel(sql, projector, 'others'), which).to.deep.equal(whole);
          // Rows that are there already give way.
          await sql.transaction((tx) => replaceRows(tx, projector, { from: 'one', to: 'whole', tenant }));
          expect(await dumpReadModel(sql, projector, 'whole'), which).to.deep.equal(whole);
          compared += 1;
        }
      }
    }
    expect(compared).to.be.greaterThan(60);
  });
});
