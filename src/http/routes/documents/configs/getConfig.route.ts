import { configHistory } from '../../../../queries/log/configs.ts';
import { get } from '../../../defineRoute.ts';
import { configAnswer } from '../../../documents/configAnswer.ts';
import { sightOf } from '../../../pipelines/trainingJobs.ts';
import { problem } from '../../../problems.ts';
import { configParams, configVersions } from '../../../wire/configs.ts';

export const getConfig = get('/v1/configs/{config_id}', {
  summary: 'A saved config with all its versions, newest first',
  description: 'The first is the one that is used, unless `revoked_at` is set. Never a key.',
  access: 'any',
  params: configParams,
  reply: { status: 200, schema: configVersions },
  problems: ['config_not_found'],
  handle: async (request, { log }) => {
    const { config_id } = request.params;
    const found = await configHistory(log, config_id);
    const versions = (found?.versions ?? []).map(configAnswer).reverse();
    const [latest] = versions;
    const sight = sightOf(request);
    if (found === undefined || latest === undefined || (sight !== null && sight !== latest.tenant_id))
      throw problem('config_not_found', 'There is no such saved config.');
    return { config_id, tenant_id: latest.tenant_id, revoked_at: found.revoked_at, versions };
  },
});
