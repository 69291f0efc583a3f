import express from 'express';
import pg from 'pg';
import { ONE_STATEMENT } from './contestants.ts';

/** Express and hand-written SQL on the same tables, without keys, limits, checks or totals by counters. */
const pool = new pg.Pool({ connectionString: process.env['BENCH_DATABASE_URL'], max: 10 });
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const app = express();
app.get('/balance/:tenant', async (req, res) => {
  const { rows } = await pool.query('select * from read.balances where tenant_id = $1', [req.params.tenant]);
  res.json(rows[0]);
});
app.get('/ledger/:tenant', async (req, res) => {
  const page = [req.params.tenant, Number(req.query['limit'] ?? 100), Number(req.query['offset'] ?? 0)];
  const { rows } = await pool.query(
    'select * from read.ledger where tenant_id = $1 order by ordinal desc limit $2 offset $3',
    page,
  );
  const total =
    req.query['total'] === undefined
      ? null
      : await pool.query('select count(*) as n from read.ledger where tenant_id = $1', [req.params.tenant]);
  res.json({ items: rows, total: total === null ? null : (total.rows[0] as { n: number }).n });
});
app.get('/sums', async (_req, res) => {
  const { rows } = await pool.query(
    'select tenant_id, sum(credits_delta) from read.ledger group by tenant_id',
  );
  res.json({ tenants: rows.length });
});
interface Burn {
  readonly tenant_id: string;
  readonly idempotency_key: string;
  readonly credits: number;
}
app.post('/burn', express.json(), async (req, res) => {
  const { tenant_id, idempotency_key, credits } = req.body as Burn;
  const values = [tenant_id, idempotency_key, credits];
  const { rows } = await pool.query<{ id: number; balance_after: number }>({
    name: 'burn',
    text: ONE_STATEMENT,
    values,
  });
  const [row] = rows;
  if (row === undefined) res.status(409).json({ code: 'refused' });
  else res.json({ charge_id: row.id, tenant_id, idempotency_key, balance_credits: row.balance_after });
});
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null)
    console.log(`listens on http://127.0.0.1:${String(address.port)}`);
});
