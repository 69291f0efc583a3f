import type { z } from 'zod';
import { deploymentFor } from '../../../domain/deployment/decider.ts';
import type { DeploymentScope } from '../../../domain/deployment/events.ts';
import { schemaHash } from '@quire/engine/learning/artifact';
import { readArtifactFile, type ArtifactFile } from '@quire/engine/learning/artifactFile';
import { checkSchemaRules } from '@quire/engine/extraction/schema/schemaRules';
import { overriddenBy, type MergedChannel } from '../../../domain/savedConfig/overrides.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { ExtractRequest } from '../../commands/work/extractDocument.ts';
import {
  formPaths,
  type ChannelName,
  type ChannelPaths,
  type ModelChannel,
} from '../../commands/work/models.ts';
import type { WorkRequest } from '../../commands/work/work.ts';
import type { ApiDeps } from '../apiDeps.ts';
import { workFailure } from '../doneOrProblem.ts';
import { problem } from '../problems.ts';
import type { extractResponse } from '../wire/documents.ts';

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
  readonly llm: ModelChannel;
  readonly ocr: ModelChannel;
  readonly channelPaths?: ChannelPaths;
  /** Where `config_id` stands in the request; left out: in the form. */
  readonly configPath?: readonly string[];
  /** Whose active deployment counts where nothing else says what to extract. */
  readonly deployed?: Pick<DeploymentScope, 'project_id' | 'task_id' | 'environment'>;
}

const checkedSchema = (schema: unknown): JsonObject => {
  if (schema === undefined) throw problem('missing_schema', 'Send the field schema: a JSON Schema.');
  const verdict = checkSchemaRules(schema);
  if (verdict.kind !== 'ok') throw problem(verdict.kind, verdict.detail);
  return verdict.schema;
};

/** A request with what its saved config says beneath it, field by field. */
interface Completed {
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

const completed = async (deps: ApiDeps, fields: ExtractFields, tenantId: string): Promise<Completed> => {
  const { config_id, llm, ocr } = fields;
  if (config_id === undefined) return { fields, config: null };
  const own = { llm: llm.api_key !== undefined, ocr: ocr.api_key !== undefined };
  const saved = await deps.savedConfigs.resolve(config_id, tenantId, own);
  if (saved.kind === 'problem') throw workFailure(saved);
  const { version } = saved;
  const merged = overriddenBy<Mode>({ ...version, llm: saved.llm, ocr: saved.ocr }, fields);
  const channels = {
    llm: mergedChannel('llm', merged.llm, fields),
    ocr: mergedChannel('ocr', merged.ocr, fields),
  };
  return { fields: { ...fields, ...merged, ...channels }, config: { config_id, version: version.version } };
};

/** The artifact of the scope's active deployment, where a request says nothing of what to extract. */
const deployedArtifact = async (
  deps: ApiDeps,
  { schema, config_id, deployed }: ExtractFields,
  { tenant_id, file }: WorkRequest,
): Promise<string | undefined> => {
  if (deployed === undefined || schema !== undefined || config_id !== undefined) return undefined;
  const state = await deps.pipelines.deployments.stateOf({ tenant_id, ...deployed });
  return deploymentFor(state, file.sha256)?.artifact_id;
};

interface Trained {
  readonly artifact_id: string;
  readonly file: ArtifactFile;
}

const trainedBy = async (deps: ApiDeps, tenantId: string, artifact_id: string): Promise<Trained> => {
  const found = await deps.pipelines.artifacts.find(tenantId, artifact_id);
  if (found === undefined) throw problem('artifact_not_found', 'There is no such artifact of this tenant.');
  return { artifact_id, file: readArtifactFile(await deps.pipelines.artifacts.load(found)) };
};

/** Worked examples of another schema would teach a model another answer: they are left out. */
const learnedFor = (schema: JsonObject, trained: Trained | undefined) => {
  const learned = trained?.file.learned;
  const fits = learned?.kind !== 'llm' || learned.schema_hash === schemaHash(schema);
  return { artifact_id: trained?.artifact_id ?? null, learned: fits ? learned : undefined };
};

/** Field by field: what the request says, then its config, then its artifact, then the defaults. */
const requestOf = async (deps: ApiDeps, asked: ExtractFields, work: WorkRequest): Promise<ExtractRequest> => {
  const { fields, config } = await completed(deps, asked, work.tenant_id);
  const artifactId = fields.artifact_id ?? (await deployedArtifact(deps, fields, work));
  const trained = artifactId === undefined ? undefined : await trainedBy(deps, work.tenant_id, artifactId);
  const mode = fields.mode ?? trained?.file.mode ?? 'standard';
  const { allow_partial, citations, llm, ocr, channelPaths } = fields;
  const schema = checkedSchema(fields.schema ?? trained?.file.schema);
  return {
    ...work,
    schema,
    mode: mode === 'balanced' ? 'standard' : mode,
    allow_partial,
    citations,
    config,
    ...learnedFor(schema, trained),
    llm,
    ocr,
    channelPaths,
  };
};

/** Extracts, and gives the answer's body. Throws the problem that answers why there is none. */
export const runExtraction = async (
  deps: ApiDeps,
  fields: ExtractFields,
  work: WorkRequest,
): Promise<z.input<typeof extractResponse>> => {
  const answer = await deps.extract(await requestOf(deps, fields, work));
  if (answer.kind === 'problem') throw workFailure(answer);
  // The work is billed by now: its shape is held by specs, never by a refusal here.
  return answer.body as unknown as z.input<typeof extractResponse>;
};
