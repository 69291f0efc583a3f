import { checkSchemaRules } from '@quire/engine/extraction/schema/schemaRules';
import type { ConfigVersion } from '../../../domain/savedConfig.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import { checkChannel, type ChannelName, type ModelChannel } from '../models/models.ts';
import type { ModelDeps } from '../models/ownBases.ts';
import type { Artifacts } from '../training/artifacts.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';
import type { ConfigDraft } from './savedConfigs.ts';

export interface DraftDeps extends Pick<ModelDeps, 'checkBase'> {
  readonly pipelines: { readonly artifacts: Artifacts };
  readonly clock: Pick<Clock, 'newId'>;
}

/** A config as a caller asks for it; `schema` as it came. */
export interface ConfigFields {
  readonly config_id?: string | undefined;
  readonly tenant_id: string;
  readonly name?: string | null | undefined;
  readonly schema?: unknown;
  readonly mode?: 'balanced' | NonNullable<ConfigVersion['mode']> | null | undefined;
  readonly artifact_id?: string | null | undefined;
  readonly min_confidence?: number | null | undefined;
  readonly llm?: ModelChannel | null | undefined;
  readonly ocr?: ModelChannel | null | undefined;
}

/** undefined: the channel can be kept as it is. */
const wrongChannel = async (
  { checkBase }: DraftDeps,
  name: ChannelName,
  channel: ModelChannel | null | undefined,
): Promise<WorkProblem | undefined> => {
  if (channel == null) return undefined;
  const wrong = checkChannel(channel, name, (_, member) => ['body', name, member]);
  if (wrong !== undefined || channel.api_base === undefined) return wrong;
  const checked = await checkBase(channel.api_base);
  return checked.kind === 'ok' ? undefined : workProblem('unsafe_api_base', checked.detail);
};

/** A channel that names nothing says nothing: the version before counts. */
const kept = (channel: ConfigDraft['llm']): ConfigDraft['llm'] =>
  channel && Object.values(channel).every((value) => value === undefined) ? undefined : channel;

/** An artifact that a config names must be there when it is published, for every request would miss it. */
const missingArtifact = async (
  { pipelines }: DraftDeps,
  tenantId: string,
  artifactId: string | null,
): Promise<WorkProblem | undefined> => {
  if (artifactId === null || (await pipelines.artifacts.find(tenantId, artifactId)) !== undefined)
    return undefined;
  return workProblem('artifact_not_found', 'There is no such artifact of this tenant.');
};

const firstWrong = async (
  deps: DraftDeps,
  { tenant_id, artifact_id, llm, ocr }: Pick<ConfigDraft, 'tenant_id' | 'artifact_id' | ChannelName>,
): Promise<WorkProblem | undefined> =>
  (await missingArtifact(deps, tenant_id, artifact_id)) ??
  (await wrongChannel(deps, 'llm', llm)) ??
  (await wrongChannel(deps, 'ocr', ocr));

/** What was left out is null; a channel's is what the version before has. */
const withNulls = ({ config_id, mode, ...fields }: ConfigFields) => ({
  update: config_id !== undefined,
  tenant_id: fields.tenant_id,
  name: fields.name ?? null,
  mode: mode === 'balanced' ? ('standard' as const) : (mode ?? null),
  artifact_id: fields.artifact_id ?? null,
  min_confidence: fields.min_confidence ?? null,
  llm: kept(fields.llm),
  ocr: kept(fields.ocr),
});

/** A version to publish, checked as far as it can be before it is used. */
export const configDraft = async (
  deps: DraftDeps,
  fields: ConfigFields,
): Promise<{ readonly kind: 'draft'; readonly draft: ConfigDraft } | WorkProblem> => {
  const verdict = fields.schema == null ? undefined : checkSchemaRules(fields.schema);
  if (verdict !== undefined && verdict.kind !== 'ok') return workProblem(verdict.kind, verdict.detail);
  const wanted = withNulls(fields);
  const wrong = await firstWrong(deps, wanted);
  if (wrong !== undefined) return wrong;
  const config_id = fields.config_id ?? deps.clock.newId('cfg').replace('_', '-');
  const schema = (verdict?.schema ?? null) as ConfigVersion['schema'];
  return { kind: 'draft', draft: { ...wanted, config_id, schema } };
};
