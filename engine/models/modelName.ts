/** What works without a provider. */
export const LOCAL_MODEL = 'local/default';

/** A provider's model: `google/gemini-2.5-flash` is `{ provider: 'google', model: 'gemini-2.5-flash' }`. */
export interface ModelRef {
  readonly provider: ProviderName;
  readonly model: string;
}

/** What is special about a provider, as far as rules depend on it. */
interface ProviderFacts {
  /** It has no address of its own: one must be given. */
  readonly needsBase?: true;
  /** It may be used without a key. */
  readonly keyless?: true;
}

/** Every provider by its name. `local` is the engine of this service, which asks nobody. */
export const PROVIDERS = {
  openai: {},
  azure: { needsBase: true },
  azure_di: { needsBase: true },
  anthropic: {},
  google: {},
  mistral: {},
  groq: {},
  openrouter: {},
  together_ai: {},
  deepseek: {},
  xai: {},
  ollama: { needsBase: true, keyless: true },
  hosted_vllm: { needsBase: true, keyless: true },
  openai_compatible: { needsBase: true, keyless: true },
  local: { keyless: true },
} as const satisfies Record<string, ProviderFacts>;

export type ProviderName = keyof typeof PROVIDERS;

/** Other names that callers know providers by. */
const ALIASES: Readonly<Record<string, ProviderName>> = { gemini: 'google', vertex_ai: 'google' };

const isProvider = (name: string): name is ProviderName => Object.hasOwn(PROVIDERS, name);

/** The provider's name, or what an alias of it stands for; undefined: there is no such provider. */
export const providerNamed = (name: string): ProviderName | undefined =>
  isProvider(name) ? name : Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;

/** Splits `<provider>/<model>` at the first slash. undefined: no such provider, or no model. */
export const modelNamed = (name: string): ModelRef | undefined => {
  const slash = name.indexOf('/');
  const provider = slash < 1 ? undefined : providerNamed(name.slice(0, slash));
  const model = name.slice(slash + 1);
  return provider === undefined || model === '' ? undefined : { provider, model };
};

/** The one name of a model, whatever alias it was asked for by. */
export const nameOfModel = ({ provider, model }: ModelRef): string => `${provider}/${model}`;

export const needsBase = (provider: ProviderName): boolean => 'needsBase' in PROVIDERS[provider];
export const isKeyless = (provider: ProviderName): boolean => 'keyless' in PROVIDERS[provider];

/** Models that only read pages: they take a document and give its text, and follow no instructions. */
export const isOcrOnly = ({ provider, model }: ModelRef): boolean =>
  provider === 'azure_di' || (provider === 'mistral' && model.startsWith('mistral-ocr'));
