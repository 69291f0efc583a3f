import { z } from 'zod';
import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { doneOr } from '../../doneOrProblem.ts';
import { plainText } from '../../wire/basics.ts';

export const revokeConfig = (deps: ApiDeps) =>
  defineRoute({
    method: 'delete',
    path: '/v1/configs/{config_id}',
    operationId: 'revokeConfig',
    summary: 'Revoke a saved config with all its versions',
    description: 'For good: its keys are removed, and requests that name it get 404.',
    tag: 'Saved configs',
    access: 'admin',
    bucket: 'general',
    params: z.object({ config_id: plainText(1, 200) }),
    reply: { status: 204 },
    problems: ['config_not_found', 'storage_error', 'busy'],
    handle: async ({ params, meta }) => {
      const outcome = await deps.savedConfigs.revoke(params.config_id, meta);
      doneOr(outcome, { config_not_found: 'There is no such saved config.' });
      return undefined;
    },
  });
