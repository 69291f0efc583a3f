import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { invalid } from '../../problems.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { tenantParams } from '../../wire/basics.ts';
import { usageDaysResponse } from '../../wire/reports.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const DAYS_MAX = 366;

const dayFrom = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

const wrongEnd = (msg: string) => invalid({ loc: ['query', 'end'], msg, type: 'value_error' });

export const getUsageDays = get('/v1/billing/usage-days/{tenant_id}', {
  summary: "A tenant's usage and balance, day by day",
  description:
    'Days are UTC, from `start` to `end`, both inclusive: the last 30 where both are left out, at most 366. A day ' +
    'on which nothing moved is there too. Always `balance_credits` = that of the day before + `granted_credits` + ' +
    '`adjusted_credits` − `used_credits`.',
  access: 'any',
  tenant: 'path',
  params: tenantParams,
  query: z.object({ start: z.iso.date().optional(), end: z.iso.date().optional() }),
  reply: { status: 200, schema: usageDaysResponse },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async ({ params, query, meta }, { queries }) => {
    const { tenant_id } = params;
    const end = query.end ?? meta.now.slice(0, 10);
    const start = query.start ?? dayFrom(end, 1 - DEFAULT_DAYS);
    if (start > end) throw wrongEnd('Lies before start.');
    if (dayFrom(start, DAYS_MAX) <= end) throw wrongEnd(`At most ${String(DAYS_MAX)} days from start.`);
    await checkKnown({ queries }, tenant_id, { isEmpty: true });
    const items = await queries.usageDaysOfTenant({ tenant_id, start, end });
    return {
      tenant_id,
      start,
      end,
      items: items.map((item) => ({ ...item, categories: [...item.categories] })),
    };
  },
});
