import { checkSchemaRules } from '@quire/engine/extraction/schema/schemaRules';
import type { ChannelSettings, ConfigVersion } from '../../../domain/savedConfig/events.ts';
import { checkChannel, type ChannelName, type ModelChannel } from '../../commands/models/models.ts';
import type { ConfigDraft } from '../../commands/reference/savedConfigs.ts';
import { workProblem } from '../../commands/work/workProblem.ts';
import type { ApiDeps } from '../apiDeps.ts';
import { workFailure } from '../doneOrProblem.ts';
import { problem } from '../problems.ts';
import type { ConfigUpsertRequest } from '../wire/configs.ts';

const schemaOf = (schema: unknown): ConfigVersion['schema'] => {
  if (schema === undefined || schema === null) return null;
  const verdict = checkSchemaRules(schema);
  if (verdict.kind !== 'ok') throw problem(verdict.kind, verdict.detail);
  return verdict.schema as ConfigVersion['schema'];
};

/** A channel that names nothing says nothing: the version before counts. */
const isEmpty = (channel: ModelChannel): boolean =>
  Object.values(channel).every((value) => value === undefined);

const channelIn = async (
  { checkBase }: ApiDeps,
  name: ChannelName,
  channel: ModelChannel | null | undefined,
): Promise<ConfigDraft['llm']> => {
  if (channel === null) return null;
  if (channel === undefined || isEmpty(channel)) return undefined;
  const wrong = checkChannel(channel, name, (_, member) => ['body', name, member]);
  if (wrong !== undefined) throw workFailure(wrong);
  if (channel.api_base === undefined) return channel;
  const checked = await checkBase(channel.api_base);
  if (checked.kind !== 'ok') throw workFailure(workProblem('unsafe_api_base', checked.detail));
  return channel;
};

/** An artifact that a config names must be there when it is published, for every request would miss it. */
const artifactIn = async (deps: ApiDeps, body: ConfigUpsertRequest): Promise<string | null> => {
  const artifact_id = body.artifact_id ?? null;
  if (artifact_id === null) return null;
  if ((await deps.pipelines.artifacts.find(body.tenant_id, artifact_id)) === undefined)
    throw problem('artifact_not_found', 'There is no such artifact of this tenant.');
  return artifact_id;
};

/** A version to publish, checked as far as it can be before it is used. */
export const configDraft = async (deps: ApiDeps, body: ConfigUpsertRequest): Promise<ConfigDraft> => ({
  config_id: body.config_id ?? deps.clock.newId('cfg').replace('_', '-'),
  update: body.config_id !== undefined,
  tenant_id: body.tenant_id,
  name: body.name ?? null,
  schema: schemaOf(body.schema),
  mode: body.mode === 'balanced' ? 'standard' : (body.mode ?? null),
  artifact_id: await artifactIn(deps, body),
  llm: await channelIn(deps, 'llm', body.llm),
  ocr: await channelIn(deps, 'ocr', body.ocr),
});

const channelAnswer = (settings: ChannelSettings | null) => {
  if (settings === null) return null;
  const { secret_id, ...shown } = settings;
  return { ...shown, has_api_key: secret_id !== null };
};

/** `ConfigResponse`: never a key. */
export const configAnswer = ({ llm, ocr, ...version }: ConfigVersion) => ({
  ...version,
  llm: channelAnswer(llm),
  ocr: channelAnswer(ocr),
});
