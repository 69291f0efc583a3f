import type { ModelAbilities, ModelRef, ProviderName } from '../ports/modelProvider.ts';

type Senses = Pick<ModelAbilities, 'pdf' | 'images'>;

const BOTH: Senses = { pdf: true, images: true };
const IMAGES: Senses = { pdf: false, images: true };
const TEXT_ONLY: Senses = { pdf: false, images: false };

/** Of the models that providers offer today; where a provider's models mostly do not see, names tell. */
const BY_PROVIDER: Record<ProviderName, Senses> = {
  openai: BOTH,
  azure: IMAGES,
  azure_di: BOTH,
  docling: BOTH,
  anthropic: BOTH,
  google: BOTH,
  mistral: BOTH,
  groq: TEXT_ONLY,
  openrouter: IMAGES,
  together_ai: IMAGES,
  deepseek: TEXT_ONLY,
  xai: IMAGES,
  ollama: IMAGES,
  hosted_vllm: IMAGES,
  openai_compatible: IMAGES,
  local: TEXT_ONLY,
};

/** Names of models that see, of providers whose models mostly do not. */
const SEEING = /vision|-vl\b|llama-4|scout|maverick|pixtral|llava/iu;

/** Models of seeing providers that are known not to see. */
const BLIND =
  /^(?:gpt-3\.5|gpt-4(?:-\d{4})?$|o1-mini|o3-mini|claude-2|claude-instant|codestral|open-mi[sx]tral)/iu;

const sensesOf = ({ provider, model }: ModelRef): Senses => {
  if (BLIND.test(model)) return TEXT_ONLY;
  const senses = BY_PROVIDER[provider];
  return !senses.images && provider !== 'local' && SEEING.test(model) ? IMAGES : senses;
};

/**
 * Tokens that the models of a provider take in at least, question and answer together. Servers of one's own
 * take what they were started with, and those that get more may cut it off without a word.
 */
const CONTEXT_TOKENS: Record<ProviderName, number> = {
  openai: 128_000,
  azure: 128_000,
  azure_di: 128_000,
  docling: 128_000,
  anthropic: 200_000,
  google: 1_000_000,
  mistral: 128_000,
  groq: 128_000,
  openrouter: 128_000,
  together_ai: 32_000,
  deepseek: 64_000,
  xai: 128_000,
  ollama: 16_000,
  hosted_vllm: 32_000,
  openai_compatible: 32_000,
  local: 32_000,
};

/** Models that take in less, or more, than their provider's others; wherever they are served. */
const CONTEXT_BY_NAME: readonly (readonly [RegExp, number])[] = [
  [/gpt-3\.5|gpt-4-32k/iu, 16_000],
  [/gpt-4(?:-\d{4})?$|claude-instant/iu, 8_000],
  [/gpt-4\.1|gemini/iu, 1_000_000],
  [/mixtral|mistral-7b|open-mistral/iu, 32_000],
];

/** The rest is for the schema, the rules, worked examples, what was found before, and the answer. */
const DOCUMENT_SHARE = 0.5;

const contextOf = ({ provider, model }: ModelRef): number =>
  CONTEXT_BY_NAME.find(([name]) => name.test(model))?.[1] ?? CONTEXT_TOKENS[provider];

/** What a model may be shown, as far as its name tells. A model that is shown less still reads the text. */
export const abilitiesOf = (ref: ModelRef): ModelAbilities => ({
  ...sensesOf(ref),
  documentTokens: Math.floor(contextOf(ref) * DOCUMENT_SHARE),
});
