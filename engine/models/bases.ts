import { withoutEnd } from '../kernel/text.ts';
import type { ProviderName } from './modelName.ts';
import type { ModelAccess } from '../ports/modelProvider.ts';

/** Where providers with an address of their own are reached. */
const PUBLIC_BASES: Partial<Record<ProviderName, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  mistral: 'https://api.mistral.ai/v1',
  groq: 'https://api.groq.com/openai/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  together_ai: 'https://api.together.xyz/v1',
  deepseek: 'https://api.deepseek.com/v1',
  xai: 'https://api.x.ai/v1',
};

/** What a base has behind its host when it was given without a path. */
const pathOf = (provider: ProviderName): string => {
  if (provider === 'azure') return '/openai/v1';
  if (provider === 'azure_di') return '';
  const base = PUBLIC_BASES[provider];
  return base === undefined ? '/v1' : new URL(base).pathname;
};

/**
 * The base that requests go to, without a slash at its end: the given one before the provider's public one.
 * A base that is only a host gets the provider's usual path; of Azure's, what names a deployment is cut off,
 * for the deployment is the model's name. undefined: none is given, and the provider has none of its own.
 */
export const baseOf = ({ ref: { provider }, apiBase }: ModelAccess): URL | undefined => {
  const given = apiBase ?? PUBLIC_BASES[provider];
  if (given === undefined || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  const path = withoutEnd(url.pathname, /\//);
  const ofAzure = provider === 'azure' && /^\/openai(?:\/|$)/u.test(path);
  url.pathname = path === '' || ofAzure ? pathOf(provider) : path;
  return url;
};
