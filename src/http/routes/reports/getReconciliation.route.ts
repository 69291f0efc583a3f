import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Reconciliation } from '../../../../projections/reconciliation.ts';
import type { ApiDeps } from '../../apiDeps.ts';
import { get } from '../../defineRoute.ts';
import { retryLater } from '../../problems.ts';
import { booleanText } from '../../wire/basics.ts';
import { reconciliationResponse } from '../../wire/books.ts';

const ATTEMPTS = 20;
const RETRY_MS = 50;

/** A read model that is being replaced is at another position for a moment; a stopped one stays there. */
const compared = async ({ queries }: ApiDeps, includeOk: boolean): Promise<Reconciliation> => {
  for (let attempt = 1; ; attempt += 1) {
    const found = await queries.reconciliation(includeOk);
    if ('rows' in found) return found;
    if (attempt === ATTEMPTS)
      throw retryLater(
        'not_ready',
        `The read model ${found.behind} (${found.state}) is behind the others. See /health and ` +
          `\`quire projections status\`.`,
      );
    await pause(RETRY_MS);
  }
};

export const getReconciliation = get('/v1/admin/reconciliation', {
  summary: 'Compare grants, ledger and balances of every tenant',
  description:
    'Anything in `drifted` is an alert. `drift_credits` is what the balance has too much; ' +
    'where the balance is right, what the ledger has.',
  access: 'admin',
  query: z.object({ include_ok: booleanText.default(false) }),
  reply: { status: 200, schema: reconciliationResponse },
  problems: ['not_ready'],
  reads: 'all',
  handle: async (request, deps) => {
    const { include_ok } = request.query;
    const { position, tenants_checked, rows } = await compared(deps, include_ok);
    return {
      checked_at: request.meta.now,
      log_id: deps.logId(),
      position: position === null ? null : String(position),
      tenants_checked,
      drifted: rows.filter(({ drift_credits }) => drift_credits !== 0),
      ...(include_ok && { ok: rows.filter(({ drift_credits }) => drift_credits === 0) }),
    };
  },
});
