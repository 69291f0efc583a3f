import { expect } from 'chai';
import {
  erasureCodec,
  erasures,
  ERASURES_STREAM,
  type ErasuresKind,
  openErasures,
} from '../../../domain/erasure.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import { artifacts } from '../../../src/commands/deployments.ts';
import { commandHandler } from '../../../src/writer/commandHandler.ts';
import { LOGS } from '../../support/logs/eventLogs.ts';
import { metaOf } from '../../support/money/accountCommands.ts';

const TENANTS = 100;

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();

/** Counts the events that are read of a log. */
const counted = (store: EventStore) => {
  let events = 0;
  const counting: EventStore = {
    ...store,
    read: async function* (...args) {
      for await (const event of store.read(...args)) {
        events += 1;
        yield event;
      }
    },
  };
  const taken = (): number => {
    const before = events;
    events = 0;
    return before;
  };
  return { store: counting, taken };
};

describe('erased tenants, of whom there are many', () => {
  it('are known by what came since the last question, not by all of their erasures', async () => {
    const log = await LOGS[0]!.open();
    const rules = { decider: erasures, codec: erasureCodec, store: log.store };
    const handle = commandHandler<ErasuresKind>({ ...rules, tenantOf: ({ data }) => data.tenant_id });
    const erase = async (tenant_id: string, second: number): Promise<void> => {
      const own = { ...metaOf(), now: at(second) };
      await handle(ERASURES_STREAM, { type: 'EraseTenant', data: { tenant_id }, meta: own });
    };
    const end = async (tenant_id: string, second: number): Promise<void> => {
      const own = { ...metaOf(), now: at(TENANTS + second) };
      const data = { tenant_id, erased_at: at(second) };
      await handle(ERASURES_STREAM, { type: 'EndErasure', data, meta: own });
    };
    for (let n = 0; n < TENANTS; n += 1) await erase(`t${String(n)}`, n);
    const { store, taken } = counted(log.store);
    const nothing = () => Promise.reject(new Error('no job is asked for'));
    const { isErased } = artifacts({ store, objects: {} as never, jobs: { stateOf: nothing } });
    const of = (tenant_id: string, published_at: string) => isErased({ tenant_id, published_at } as never);
    expect(await of('t7', at(6))).to.equal(true);
    expect(await of('t7', at(8))).to.equal(false);
    taken();
    expect(await of('nobody', at(0))).to.equal(false);
    expect(taken()).to.be.at.most(1);
    await erase('t7', TENANTS);
    expect(await of('t7', at(8))).to.equal(true);
    expect(taken()).to.be.at.most(2);

    for (let n = 0; n < TENANTS - 1; n += 1) if (n !== 7) await end(`t${String(n)}`, n);
    const last = new Map([['t7', at(TENANTS)]]);
    taken();
    const [open] = await openErasures(store, last);
    expect(open).to.include({ tenant_id: 't7', erased_at: at(TENANTS) });
    expect(taken()).to.be.at.most(TENANTS + 1);
    expect(await openErasures(store, new Map())).to.have.length(0);
    expect(taken()).to.equal(0);
    await log.dispose();
  });
});
