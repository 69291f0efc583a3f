import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { marginReportOf } from '../../../queries/marginReport.ts';
import { invalid } from '../../problems.ts';
import { fromBoundary, toBoundary } from '../../wire/basics.ts';
import { marginReportResponse } from '../../wire/prices/margin.ts';

/** The first instant of the UTC month. */
const monthOf = (now: string): string => `${now.slice(0, 7)}-01T00:00:00.000Z`;

export const getMarginReport = get('/v1/admin/margin-report', {
  summary: 'Unit margin, realized margin, and the gap between them',
  description:
    'Both ends are inclusive; left out, it is the current UTC month until now. How it is ' +
    'computed: docs/explanation/margin-report.md.',
  access: 'admin',
  query: z.object({ start: fromBoundary.optional(), end: toBoundary.optional() }),
  reply: { status: 200, schema: marginReportResponse },
  reads: 'all',
  handle: async (request, { queries, logId }) => {
    const { start = monthOf(request.meta.now), end = request.meta.now } = request.query;
    if (start > end) throw invalid({ loc: ['query', 'end'], msg: 'Lies before start.', type: 'value_error' });
    return { log_id: logId(), ...(await marginReportOf(queries)(start, end)) };
  },
});
