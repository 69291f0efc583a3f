import { z } from 'zod';
import { remove } from '../../../defineRoute.ts';
import { plainText } from '../../../wire/basics.ts';

export const revokeConfig = remove('/v1/configs/{config_id}', {
  summary: 'Revoke a saved config with all its versions',
  description: 'For good: its keys are removed, and requests that name it get 404.',
  access: 'admin',
  params: z.object({ config_id: plainText(1, 200) }),
  reply: { status: 204 },
  problems: ['config_not_found', 'storage_error', 'busy'],
  handle: async ({ params, meta, doneOr }, deps) => {
    const outcome = await deps.savedConfigs.revoke(params.config_id, meta);
    const { state, position } = doneOr(outcome, { config_not_found: 'There is no such saved config.' });
    if (state.latest !== null) deps.reads.note(state.latest.tenant_id, position);
    return undefined;
  },
});
