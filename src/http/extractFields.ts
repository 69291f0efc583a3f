import type { z } from 'zod';
import { checkSchemaRules } from '../../domain/extraction/schemaRules.ts';
import { overriddenBy } from '../../domain/savedConfig/overrides.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { ExtractRequest } from '../commands/extractDocument.ts';
import type { ChannelPaths, ModelChannel } from '../commands/models.ts';
import type { WorkRequest } from '../commands/work.ts';
import type { ApiDeps } from './apiDeps.ts';
import { workFailure } from './doneOrProblem.ts';
import { problem } from './problems.ts';
import type { extractResponse } from './wire/documents.ts';

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
}

const checkedSchema = (schema: unknown): JsonObject => {
  if (schema === undefined) throw problem('missing_schema', 'Send the field schema: a JSON Schema.');
  const verdict = checkSchemaRules(schema);
  if (verdict.kind === 'invalid_schema') throw problem('invalid_schema', verdict.detail);
  return verdict.schema;
};

/** A request with what its saved config says beneath it, field by field. */
interface Completed {
  readonly fields: ExtractFields;
  readonly config: ExtractRequest['config'];
}

const completed = async (deps: ApiDeps, fields: ExtractFields, tenantId: string): Promise<Completed> => {
  const { config_id, llm, ocr } = fields;
  if (config_id === undefined) return { fields, config: null };
  const own = { llm: llm.api_key !== undefined, ocr: ocr.api_key !== undefined };
  const saved = await deps.savedConfigs.resolve(config_id, tenantId, own);
  if (saved.kind === 'problem') throw workFailure(saved);
  const { version } = saved;
  const merged = overriddenBy<Mode>({ ...version, llm: saved.llm, ocr: saved.ocr }, fields);
  return { fields: { ...fields, ...merged }, config: { config_id, version: version.version } };
};

/** No artifact exists in this version of the service, so none is found. */
const checkArtifact = ({ artifact_id }: ExtractFields): void => {
  if (artifact_id !== undefined) throw problem('artifact_not_found', 'There is no such artifact.');
};

const requestOf = async (deps: ApiDeps, asked: ExtractFields, work: WorkRequest): Promise<ExtractRequest> => {
  const { fields, config } = await completed(deps, asked, work.tenant_id);
  checkArtifact(fields);
  const { allow_partial, citations, llm, ocr, channelPaths, mode = 'standard' } = fields;
  return {
    ...work,
    schema: checkedSchema(fields.schema),
    mode: mode === 'balanced' ? 'standard' : mode,
    allow_partial,
    citations,
    config,
    artifact_id: null,
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
