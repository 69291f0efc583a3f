import { z } from 'zod';
import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { marginReportOf } from '../../../queries/marginReport.ts';
import { invalid } from '../../problems.ts';
import { settleAllReads } from '../../reads/settledReads.ts';
import { fromBoundary, toBoundary } from '../../wire/basics.ts';
import { marginReportResponse } from '../../wire/margin.ts';

/** The first instant of the UTC month. */
const monthOf = (now: string): string => `${now.slice(0, 7)}-01T00:00:00.000Z`;

export const getMarginReport = ({ queries, reads, logId }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/admin/margin-report',
    operationId: 'getMarginReport',
    summary: 'Unit margin, realized margin, and the gap between them',
    description:
      'Both ends are inclusive; left out, it is the current UTC month until now. How it is ' +
      'computed: docs/explanation/margin-report.md.',
    tag: 'Reports',
    access: 'admin',
    bucket: 'general',
    query: z.object({ start: fromBoundary.optional(), end: toBoundary.optional() }),
    reply: { status: 200, schema: marginReportResponse },
    problems: [],
    handle: async (request) => {
      const { start = monthOf(request.meta.now), end = request.meta.now } = request.query;
      if (start > end)
        throw invalid({ loc: ['query', 'end'], msg: 'Lies before start.', type: 'value_error' });
      await settleAllReads(reads, request);
      return { log_id: logId(), ...(await marginReportOf(queries)(start, end)) };
    },
  });
