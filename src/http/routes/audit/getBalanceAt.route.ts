import { z } from 'zod';
import { balanceAt } from '../../../queries/log/balanceAt.ts';
import { get } from '../../defineRoute.ts';
import { invalid } from '../../problems.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { balanceAtResponse, placeIn } from '../../wire/audit.ts';
import { tenantParams, toBoundary } from '../../wire/basics.ts';

export const getBalanceAt = get('/v1/admin/tenants/{tenant_id}/balance-at', {
  summary: "A tenant's balance as of any moment",
  description:
    "From the account's own events, by the rules that decide, and not from a table: every event up to `at` " +
    '(time of recording) or `position` counts; without both, all do. `event` is the last one that counts. ' +
    'The time that it takes grows with the events of the account.',
  access: 'admin',
  tenant: 'path',
  bucket: 'heavy',
  params: tenantParams,
  query: z.object({ at: toBoundary.optional(), position: placeIn.optional() }),
  reply: { status: 200, schema: balanceAtResponse },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async ({ params, query, signal }, deps) => {
    const { at, position } = query;
    if (at !== undefined && position !== undefined)
      throw invalid({
        loc: ['query', 'position'],
        msg: 'Send at or position, not both.',
        type: 'value_error',
      });
    const found = await balanceAt(deps.log, params.tenant_id, { moment: query, signal });
    await checkKnown(deps, params.tenant_id, { isEmpty: found.event === null });
    return found;
  },
});
