import { checkSchemaRules, type SchemaVerdict } from '@quire/engine/extraction/schema/schemaRules';
import type { Caller } from '../work/billedWork.ts';
import type { ModelDeps } from '../models/ownBases.ts';
import type { ExamplesReference } from './trainingExamples.ts';
import type { JobSecretDeps } from './trainingInput.ts';
import { misfit, workProblem, type WorkProblem } from '../work/workProblem.ts';

export interface CheckDeps extends Pick<JobSecretDeps, 'secrets'>, Pick<ModelDeps, 'checkBase'> {}

type CheckedRequest = Extract<SchemaVerdict, { readonly kind: 'ok' }>;

export interface CreateTrainingRequest {
  readonly tenant_id: string;
  readonly caller: Caller;
  readonly correlation_id: string;
  /** null: the request cannot be told from another one. */
  readonly identity: { readonly idempotency_key: string; readonly fingerprint: string } | null;
  readonly signal: AbortSignal;
  readonly project_id: string;
  readonly task_id: string;
  readonly name: string | null;
  readonly schema: unknown;
  readonly examples: ExamplesReference;
  readonly optimizer_tier: 'light' | 'medium' | 'heavy';
  readonly max_metric_calls: number | null;
  readonly validation_split: number;
  readonly mode: 'fast' | 'standard' | 'robust';
  readonly billing_type: 'full_service' | 'byok';
  /** The caller's own model: null members are the platform's. */
  readonly llm: {
    readonly provider_model: string | null;
    readonly api_key: string | null;
    readonly api_base: string | null;
  };
  readonly seed: number;
}

const own = (member: string, detail: string): WorkProblem => misfit(['body', member], detail);

/** Whether the caller's own key can be kept, and its address reached. */
const checkOwnKey = async (
  { secrets, checkBase }: CheckDeps,
  { provider_model, api_base }: CreateTrainingRequest['llm'],
): Promise<WorkProblem | undefined> => {
  if (provider_model === null) return own('llm_provider_model', 'Name the model that your own key is for.');
  if (secrets === undefined)
    return workProblem(
      'field_encryption_not_configured',
      'This installation cannot keep provider keys. Set FIELD_ENCRYPTION_KEY, or train without llm_api_key.',
    );
  const base = api_base === null ? undefined : await checkBase(api_base);
  return base === undefined || base.kind === 'ok' ? undefined : workProblem('unsafe_api_base', base.detail);
};

/** What of a request can be wrong without looking at its examples. */
export const checkTrainingRequest = async (
  deps: CheckDeps,
  { schema, llm, billing_type }: CreateTrainingRequest,
): Promise<CheckedRequest | WorkProblem> => {
  const verdict = checkSchemaRules(schema);
  if (verdict.kind !== 'ok') return workProblem(verdict.kind, verdict.detail);
  if (llm.api_key === null && (billing_type === 'byok' || llm.api_base !== null))
    return own('llm_api_key', 'Send your own provider key with it.');
  if (llm.api_key === null) return verdict;
  return (await checkOwnKey(deps, llm)) ?? verdict;
};
