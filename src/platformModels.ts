import {
  isKeyless,
  isOcrOnly,
  modelNamed,
  needsBase,
  type ProviderName,
} from '@quire/engine/ports/modelProvider';
import type { ModelAccess } from '@quire/engine/ports/modelProvider';
import { ConfigError } from './clientConfig.ts';

/** A model that the platform works with where a caller names none. `access` null: the local engine. */
interface PlatformModel {
  readonly name: string;
  readonly access: ModelAccess | null;
}

export interface PlatformModels {
  readonly extraction: PlatformModel;
  readonly ocr: PlatformModel;
}

type ModelPurpose = 'EXTRACTION' | 'OCR';
type ProviderKeyVariable = 'OPENAI_API_KEY' | 'ANTHROPIC_API_KEY' | 'GOOGLE_API_KEY' | 'MISTRAL_API_KEY';

/** The variables that say which models the platform works with, each checked by itself. */
type ModelVariables = { readonly [Name in `${ModelPurpose}_MODEL`]: string } & {
  readonly [Name in `${ModelPurpose}_API_${'BASE' | 'KEY'}` | ProviderKeyVariable]?: string | undefined;
};

/** Attempts after the first, of calls with the platform's own models. */
const PLATFORM_RETRIES = 2;

/** Where a provider's key is, when the model has none of its own. */
const PROVIDER_KEYS: Partial<Record<ProviderName, ProviderKeyVariable>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_API_KEY',
  mistral: 'MISTRAL_API_KEY',
};

const keyFor = (env: ModelVariables, purpose: ModelPurpose, provider: ProviderName): string | undefined => {
  const shared = PROVIDER_KEYS[provider];
  return env[`${purpose}_API_KEY`] ?? (shared === undefined ? undefined : env[shared]);
};

/** The platform's own access to the model that it works with; null: the local engine. */
const accessFrom = (env: ModelVariables, purpose: ModelPurpose): ModelAccess | null => {
  const name = env[`${purpose}_MODEL`];
  const ref = modelNamed(name);
  if (ref === undefined || ref.provider === 'local') return null;
  const complain = (text: string) => new ConfigError(`${purpose}_MODEL: ${text}`);
  if (purpose === 'EXTRACTION' && isOcrOnly(ref))
    throw complain(`${name} only reads pages. Set it as OCR_MODEL, and name a language model here.`);
  const [apiBase, apiKey] = [env[`${purpose}_API_BASE`], keyFor(env, purpose, ref.provider)];
  if (apiBase === undefined && needsBase(ref.provider))
    throw complain(`${name} needs the address of its server. Set ${purpose}_API_BASE.`);
  if (apiKey === undefined && !isKeyless(ref.provider)) {
    const shared = PROVIDER_KEYS[ref.provider];
    throw complain(
      `${name} needs a key. Set ${purpose}_API_KEY${shared === undefined ? '' : ` or ${shared}`}.`,
    );
  }
  return { ref, apiKey, apiBase, owner: 'platform', retries: PLATFORM_RETRIES };
};

/** The models that work when a caller names none. Throws ConfigError where one of them cannot. */
export const platformModelsFrom = (env: ModelVariables): PlatformModels => ({
  extraction: { name: env.EXTRACTION_MODEL, access: accessFrom(env, 'EXTRACTION') },
  ocr: { name: env.OCR_MODEL, access: accessFrom(env, 'OCR') },
});
