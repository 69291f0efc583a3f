import type { LanguageModel } from 'ai';
import type { ModelAccess } from '../../ports/modelProvider.ts';

export type SdkFetch = typeof globalThis.fetch;

interface ModelAt {
  readonly access: ModelAccess;
  /** Without a slash at its end. */
  readonly baseURL: string;
  readonly fetch: SdkFetch;
}

/** Never undefined: the packages would look for one in the environment. */
const keyOf = ({ apiKey }: ModelAccess): string => apiKey ?? '';

/**
 * The model as the AI SDK speaks to it. Packages of providers are loaded when they are first asked for. At
 * its own address OpenAI is spoken to by responses, at any other base by chat completions, which is what
 * proxies speak.
 */
export async function languageModel({ access, baseURL, fetch }: ModelAt): Promise<LanguageModel> {
  const { provider, model } = access.ref;
  const settings = { apiKey: keyOf(access), baseURL, fetch };
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const openai = createOpenAI(settings);
      return access.apiBase === undefined ? openai.responses(model) : openai.chat(model);
    }
    case 'azure':
      return (await import('@ai-sdk/azure')).createAzure(settings).chat(model);
    case 'anthropic':
      return (await import('@ai-sdk/anthropic')).createAnthropic(settings)(model);
    case 'google':
      return (await import('@ai-sdk/google')).createGoogleGenerativeAI(settings)(model);
    case 'mistral':
      return (await import('@ai-sdk/mistral')).createMistral(settings)(model);
    default:
      return compatible({ access, baseURL, fetch });
  }
}

async function compatible({ access, baseURL, fetch }: ModelAt): Promise<LanguageModel> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const { ref, apiKey } = access;
  const settings = { name: ref.provider, baseURL, fetch, supportsStructuredOutputs: true };
  return createOpenAICompatible({ ...settings, ...(apiKey !== undefined && { apiKey }) }).chatModel(
    ref.model,
  );
}
