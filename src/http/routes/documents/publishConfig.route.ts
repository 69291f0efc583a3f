import type { ApiDeps } from '../../apiDeps.ts';
import { configAnswer, configDraft } from '../../documents/configFields.ts';
import { defineRoute } from '../../defineRoute.ts';
import { doneOr, workFailure } from '../../doneOrProblem.ts';
import { configResponse, configUpsertRequest } from '../../wire/configs.ts';

export const publishConfig = (deps: ApiDeps) =>
  defineRoute({
    method: 'post',
    path: '/v1/configs',
    operationId: 'publishConfig',
    summary: 'Publish a saved config, or a new version of one',
    description:
      'A version is complete, not a patch, but for its models: a channel that is left out ' +
      'stays as it is and `null` ends it; one without `api_key` keeps the key that it has, as ' +
      'long as its `provider_model` and `api_base` stay the same. Keys are stored encrypted ' +
      'and never shown.',
    tag: 'Saved configs',
    access: 'admin',
    tenant: 'body',
    bucket: 'general',
    body: configUpsertRequest,
    reply: { status: 200, schema: configResponse },
    problems: [
      'config_not_found',
      'artifact_not_found',
      'invalid_schema',
      'schema_beyond_limits',
      'unknown_model_provider',
      'unsafe_api_base',
      'field_encryption_not_configured',
      'storage_error',
      'busy',
    ],
    handle: async ({ body, meta }) => {
      const outcome = await deps.savedConfigs.publish(await configDraft(deps, body), meta);
      if (outcome.kind === 'problem') throw workFailure(outcome);
      const { state } = doneOr(outcome, {
        config_not_found: 'There is no such saved config of this tenant.',
      });
      if (state.latest === null) throw new Error('a config that was published has no version');
      return configAnswer(state.latest);
    },
  });
