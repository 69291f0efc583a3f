import { expect } from 'chai';
import type { Sql } from '../../projections/engine/ports.ts';
import { reconciliation } from '../../projections/reconciliation.ts';
import { billingHistory } from '../support/money/billingHistory.ts';
import { memoryLog } from '../support/logs/memoryLog.ts';
import { runnerOn } from '../support/projecting.ts';
import { emptySql } from '../support/emptySql.ts';

/** What a defect or a hand could do to each of the compared tables. */
const DRIFTS = {
  'a balance': `update balances set balance_credits = balance_credits + 7, purchased_credits = purchased_credits + 7
    where tenant_id = $1`,
  'a burn in the ledger': `update ledger set credits_delta = credits_delta - 1 where (tenant_id, ordinal) = (
    select tenant_id, ordinal from ledger where tenant_id = $1 and kind = 'usage' limit 1)`,
  'a sale in the ledger': `update ledger set credits_delta = credits_delta + 1 where (tenant_id, ordinal) = (
    select tenant_id, ordinal from ledger where tenant_id = $1 and kind = 'sale' limit 1)`,
  'a missing ledger row': `delete from ledger where (tenant_id, ordinal) = (
    select tenant_id, ordinal from ledger where tenant_id = $1 and credits_delta <> 0 limit 1)`,
  'a grant': `update grants set credits = credits + 5 where (tenant_id, position) = (
    select tenant_id, position from grants where tenant_id = $1 limit 1)`,
  'a missing balance': 'delete from balances where tenant_id = $1',
} as const;

describe('reconciliation', () => {
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
    const log = memoryLog();
    billingHistory(log, 20261121, 700);
    const runner = runnerOn(sql, log, {});
    runner.start();
    expect(await runner.waitFor((await log.head()) ?? 0n, { timeoutMs: 300_000 })).to.equal(true);
    await runner.stop();
  });
  after(() => sql.close());

  const found = async (includeOk = false) => {
    const result = await reconciliation(sql)(includeOk);
    if (!('rows' in result)) throw new Error(`${result.behind} is behind`);
    return result;
  };

  it('finds nothing where nothing is wrong', async () => {
    const { rows, tenants_checked, position } = await found();
    expect(rows).to.deep.equal([]);
    expect(tenants_checked).to.be.greaterThan(2);
    expect(position).not.to.equal(null);
    const all = (await found(true)).rows;
    expect(all).to.have.length(tenants_checked);
    for (const row of all) {
      const { grants_credits, adjustments_credits, burns_credits, balance_credits } = row;
      expect(grants_credits + adjustments_credits - burns_credits).to.equal(balance_credits);
    }
  });

  for (const [what, statement] of Object.entries(DRIFTS))
    it(`finds ${what} that was changed, and no other tenant`, async () => {
      const rows = await sql.query(
        `select l.tenant_id from read.ledger l join read.balances b using (tenant_id)
         where l.kind = 'sale' and b.balance_credits <> 0 and b.used_credits > 0 limit 1`,
      );
      const tenant = String(rows[0]?.['tenant_id']);
      const schemas = await sql.query('select schema_name from projections.registry where serves');
      const path = schemas.map((row) => String(row['schema_name'])).join(', ');
      const undo = new Error('undo');
      try {
        await sql.transaction(async (tx) => {
          await tx.query(`set local search_path to ${path}`);
          await tx.query(statement, [tenant]);
          const result = await reconciliation(tx)(false);
          if (!('rows' in result)) throw new Error('not comparable');
          expect(result.rows.map(({ tenant_id }) => tenant_id)).to.deep.equal([tenant]);
          expect(result.rows[0]?.drift_credits).not.to.equal(0);
          throw undo;
        });
      } catch (error) {
        if (error !== undo) throw error;
      }
    });

  it('compares nothing while one of them is not there', async () => {
    await sql.query(`update projections.registry set serves = false where name = 'ledger' and serves`);
    expect(await reconciliation(sql)(false)).not.to.have.property('rows');
    await sql.query(`update projections.registry set serves = true where name = 'ledger' and state = 'live'`);
    expect((await found()).rows).to.deep.equal([]);
  });

  it('says which read model is behind instead of comparing different moments', async () => {
    await sql.query(
      `update projections.registry set position = position - 1 where name = 'grants' and serves`,
    );
    expect(await reconciliation(sql)(false)).to.include({ behind: 'grants' });
    await sql.query(
      `update projections.registry set position = position + 1 where name = 'grants' and serves`,
    );
    expect((await found()).rows).to.deep.equal([]);
  });
});
