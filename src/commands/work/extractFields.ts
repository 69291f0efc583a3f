import { deploymentFor, type DeploymentScope } from '../../../domain/deployment.ts';
import { schemaHash } from '@quire/engine/learning/artifact';
import { readArtifactFile, type ArtifactFile } from '@quire/engine/learning/artifactFile';
import { checkSchemaRules } from '@quire/engine/extraction/schema/schemaRules';
import { overriddenBy, type MergedChannel } from '../../../domain/savedConfig.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { Artifacts } from '../training/artifacts.ts';
import type { Deployments } from '../training/deployments.ts';
import type { ExtractRequest } from './extractDocument.ts';
import { formPaths, type ChannelName, type ChannelPaths, type ModelChannel } from '../models/models.ts';
import type { SavedConfigs } from '../reference/savedConfigs.ts';
import type { Delivered, HandedOver, WorkRequest } from './work.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

/** Where saved configs, artifacts and deployments are found, and what does the work. */
interface ExtractFieldsDeps {
  readonly savedConfigs: Pick<SavedConfigs, 'resolve'>;
  readonly artifacts: Pick<Artifacts, 'find' | 'load'>;
  readonly deployments: Pick<Deployments, 'stateOf'>;
  readonly extract: (request: ExtractRequest) => Promise<Delivered | HandedOver | WorkProblem>;
}

type Mode = 'fast' | 'standard' | 'balanced' | 'robust';

/** What a request for an extraction says itself; what it leaves out comes from its config, then the defaults. */
export interface ExtractFields {
  /** As it came: not checked yet. */
  readonly schema: unknown;
  readonly mode: Mode | undefined;
  readonly artifact_id: string | undefined;
  readonly config_id: string | undefined;
  readonly allow_partial: boolean;
  readonly citations: boolean;
  /** 0..1. */
  readonly min_confidence: number | undefined;
  readonly llm: ModelChannel;
  readonly ocr: ModelChannel;
  readonly channelPaths?: ChannelPaths;
  /** Where `config_id` stands in the request; left out: in the form. */
  readonly configPath?: readonly string[];
  /** Whose active deployment counts where nothing else says what to extract. */
  readonly deployed?: Pick<DeploymentScope, 'project_id' | 'task_id' | 'environment'>;
}

type Checked = Extract<ReturnType<typeof checkSchemaRules>, { readonly kind: 'ok' }>;

const checkedSchema = (schema: unknown): Checked | WorkProblem => {
  if (schema === undefined) return workProblem('missing_schema', 'Send the field schema: a JSON Schema.');
  const verdict = checkSchemaRules(schema);
  return verdict.kind === 'ok' ? verdict : workProblem(verdict.kind, verdict.detail);
};

/** A request with what its saved config says beneath it, field by field. */
interface Completed {
  readonly kind: 'completed';
  readonly fields: ExtractFields;
  readonly config: ExtractRequest['config'];
}

/** A channel of the config and of the request together. */
const mergedChannel = (
  name: ChannelName,
  { misplaced, ...merged }: MergedChannel,
  asked: ExtractFields,
): ModelChannel => {
  const { channelPaths = formPaths, configPath = ['body', 'config_id'] } = asked;
  const { issues } = asked[name];
  if (misplaced.length === 0) return { ...merged, issues };
  const type = 'own_key_conflict';
  const msg = `The config's own key is not for this: send a key with it (${name}_api_key), or leave it out.`;
  const conflict = misplaced.map((member) => ({ loc: channelPaths(name, member), msg, type }));
  const key = { loc: [...configPath, name, 'api_key'], msg: 'This key is for another place.', type };
  return { ...merged, issues, conflict: [...conflict, key] };
};

const completed = async (
  deps: ExtractFieldsDeps,
  fields: ExtractFields,
  tenantId: string,
): Promise<Completed | WorkProblem> => {
  const { config_id, llm, ocr } = fields;
  if (config_id === undefined) return { kind: 'completed', fields, config: null };
  const own = { llm: llm.api_key !== undefined, ocr: ocr.api_key !== undefined };
  const saved = await deps.savedConfigs.resolve(config_id, tenantId, own);
  if (saved.kind === 'problem') return saved;
  const { version } = saved;
  const merged = overriddenBy<Mode>({ ...version, llm: saved.llm, ocr: saved.ocr }, fields);
  const channels = {
    llm: mergedChannel('llm', merged.llm, fields),
    ocr: mergedChannel('ocr', merged.ocr, fields),
  };
  const config = { config_id, version: version.version };
  return { kind: 'completed', fields: { ...fields, ...merged, ...channels }, config };
};

/** The artifact of the scope's active deployment, where a request says nothing of what to extract. */
const deployedArtifact = async (
  deps: ExtractFieldsDeps,
  { schema, config_id, deployed }: ExtractFields,
  { tenant_id, file }: WorkRequest,
): Promise<string | undefined> => {
  if (deployed === undefined || schema !== undefined || config_id !== undefined) return undefined;
  const state = await deps.deployments.stateOf({ tenant_id, ...deployed });
  return deploymentFor(state, file.sha256)?.artifact_id;
};

interface Trained {
  readonly kind: 'trained';
  readonly artifact_id: string;
  readonly file: ArtifactFile;
}

/** An artifact of the tenant, and what is in it. */
export const trainedBy = async (
  { artifacts }: Pick<ExtractFieldsDeps, 'artifacts'>,
  tenantId: string,
  artifact_id: string,
): Promise<Trained | WorkProblem> => {
  const found = await artifacts.find(tenantId, artifact_id);
  if (found === undefined)
    return workProblem('artifact_not_found', 'There is no such artifact of this tenant.');
  return { kind: 'trained', artifact_id, file: readArtifactFile(await artifacts.load(found)) };
};

/** Worked examples of another schema would teach a model another answer: they are left out. */
export const learnedFor = (schema: JsonObject, trained: Trained | undefined) => {
  const learned = trained?.file.learned;
  const fits = learned?.kind !== 'llm' || learned.schema_hash === schemaHash(schema);
  return { artifact_id: trained?.artifact_id ?? null, learned: fits ? learned : undefined };
};

/** What the request names was found. */
interface Found extends Completed {
  readonly trained: Trained | undefined;
}

const foundFor = async (
  deps: ExtractFieldsDeps,
  asked: ExtractFields,
  work: WorkRequest,
): Promise<Found | WorkProblem> => {
  const whole = await completed(deps, asked, work.tenant_id);
  if (whole.kind === 'problem') return whole;
  const { fields } = whole;
  const artifactId = fields.artifact_id ?? (await deployedArtifact(deps, fields, work));
  const trained = artifactId === undefined ? undefined : await trainedBy(deps, work.tenant_id, artifactId);
  return trained?.kind === 'problem' ? trained : { ...whole, trained };
};

/** Field by field: what the request says, then its config, then its artifact, then the defaults. */
const requestOf = (
  { fields, config, trained }: Found,
  work: WorkRequest,
): { readonly kind: 'asked'; readonly request: ExtractRequest } | WorkProblem => {
  const checked = checkedSchema(fields.schema ?? trained?.file.schema);
  if (checked.kind === 'problem') return checked;
  const { schema } = checked;
  const mode = fields.mode ?? trained?.file.mode ?? 'standard';
  const { allow_partial, citations, min_confidence, llm, ocr, channelPaths } = fields;
  return {
    kind: 'asked',
    request: {
      ...work,
      schema,
      mode: mode === 'balanced' ? 'standard' : mode,
      allow_partial,
      citations,
      min_confidence,
      config,
      ...learnedFor(schema, trained),
      llm,
      ocr,
      channelPaths,
    },
  };
};

/** Extracts by what a request says itself and what it names. */
export const extractByFields =
  (deps: ExtractFieldsDeps) =>
  async (fields: ExtractFields, work: WorkRequest): Promise<Delivered | HandedOver | WorkProblem> => {
    const found = await foundFor(deps, fields, work);
    if (found.kind === 'problem') return found;
    const asked = requestOf(found, work);
    return asked.kind === 'problem' ? asked : deps.extract(asked.request);
  };
