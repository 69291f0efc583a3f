import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { publishConfig } from '../../documents/publishConfig.ts';
import { billingConfigCreateRequest, billingConfigResponse } from '../../wire/prices.ts';

export const createBillingConfig = (deps: ApiDeps) =>
  defineRoute({
    method: 'post',
    path: '/v1/billing/config',
    operationId: 'createBillingConfig',
    summary: 'Publish a billing config version',
    tag: 'Billing',
    access: 'admin',
    bucket: 'general',
    body: billingConfigCreateRequest,
    reply: { status: 201, schema: billingConfigResponse },
    problems: ['busy'],
    handle: ({ body, meta }) => publishConfig(deps, body, meta),
  });
