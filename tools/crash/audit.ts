import { join } from 'node:path';
import { expect } from 'chai';
import { pgliteSql } from '../../adapters/pglite/sql.ts';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { systemTimers } from '../../adapters/local/local.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { CHAIN_START, followChain, type ChainLink } from '../../domain/kernel/chain.ts';
import type { EventFeed } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { rebuildReadModels } from '../../projections/engine/rebuild.ts';
import { dumpReadModel } from '../../projections/engine/building.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { READ_MODELS } from '../../projections/readModels.ts';

/** Every event of the log, in its order. */
async function* everything(feed: EventFeed): AsyncGenerator<RecordedEvent> {
  for await (const item of feed.subscribe({})) {
    if (item.kind === 'caught_up') return;
    if (item.kind === 'event') yield item.event;
  }
}

const TAKEN: ReadonlySet<string> = new Set(['CreditsRefunded', 'CreditsTransferredOut', 'CreditsBurned']);

/** Identities that may take effect once, by event. */
const identityOf = (event: ReturnType<typeof decodeAny>): string | undefined => {
  switch (event.type) {
    case 'CreditsGranted':
    case 'CreditsRefunded':
      return `payment ${event.data.provider} ${event.data.provider_txn_id}`;
    case 'CreditsTransferredOut':
      return `sent ${event.data.transfer_id}`;
    case 'CreditsTransferredIn':
      return `received ${event.data.transfer_id}`;
    case 'CreditsAdjusted':
      return event.data.idempotency_key === null ? undefined : `adjustment ${event.data.idempotency_key}`;
    case 'CreditsBurned':
    case 'HoldReleased':
      return event.data.hold_id === null ? undefined : `end of hold ${event.data.hold_id}`;
    default:
      return undefined;
  }
};

/** Chains hold, the order has no gap, nothing took effect twice, balances follow from what came before. */
export const auditLog = async (feed: EventFeed): Promise<number> => {
  const links = new Map<string, ChainLink>();
  const balances = new Map<string, number>();
  const identities = new Set<string>();
  let position = 0n;
  let events = 0;
  for await (const recorded of everything(feed)) {
    events += 1;
    expect(recorded.position > position, `position ${recorded.position.toString()} is out of order`).to.equal(
      true,
    );
    ({ position } = recorded);
    const step = followChain(links.get(recorded.stream) ?? CHAIN_START, recorded);
    if (step.kind === 'broken') throw new Error(`${recorded.stream}: ${step.at.detail}`);
    links.set(recorded.stream, step.link);

    const event = decodeAny(recorded);
    const identity = identityOf(event);
    if (identity !== undefined)
      expect(identities.has(identity), `${identity} took effect twice`).to.equal(false);
    if (identity !== undefined) identities.add(identity);
    if ('balance_after' in event.data) {
      const before = balances.get(recorded.stream) ?? 0;
      const sign = TAKEN.has(event.type) ? -1 : 1;
      const after = before + sign * event.data.credits;
      expect(
        event.data.balance_after,
        `${recorded.stream} revision ${recorded.revision.toString()}`,
      ).to.equal(after);
      balances.set(recorded.stream, after);
    }
  }
  return events;
};

const dumpsOf = async (sql: Sql): Promise<Readonly<Record<string, unknown>>> => {
  const dumps: Record<string, unknown> = {};
  for (const projector of READ_MODELS) {
    const tables = await dumpReadModel(sql, projector);
    dumps[projector.name] = tables.map(
      ({ table, rows, digest }) => `${table}: ${rows.toString()} rows, ${digest}`,
    );
  }
  return dumps;
};

/** The read models that `kill -9` left and a restart caught up equal those built from nothing. */
export const expectReadModelsEqualRebuild = async (dataDir: string): Promise<void> => {
  const log = openSqliteEventLog({ path: join(dataDir, 'events.db'), readOnly: true });
  const live = await pgliteSql(join(dataDir, 'read-models'));
  const fresh = await pgliteSql(null);
  try {
    await rebuildReadModels({
      sql: fresh.sql,
      feed: log,
      projectors: READ_MODELS,
      decode: decodeAny,
      timers: systemTimers,
    });
    expect(await dumpsOf(live.sql)).to.deep.equal(await dumpsOf(fresh.sql));
  } finally {
    await live.sql.close();
    await fresh.sql.close();
    await log.close();
  }
};
