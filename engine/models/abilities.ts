import type { ModelAbilities } from '../ports/modelProvider.ts';
import type { ModelRef, ProviderName } from './modelName.ts';

const BOTH: ModelAbilities = { pdf: true, images: true };
const IMAGES: ModelAbilities = { pdf: false, images: true };
const TEXT_ONLY: ModelAbilities = { pdf: false, images: false };

/** Of the models that providers offer today; where a provider's models mostly do not see, names tell. */
const BY_PROVIDER: Record<ProviderName, ModelAbilities> = {
  openai: BOTH,
  azure: IMAGES,
  azure_di: BOTH,
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

/** What a model may be shown, as far as its name tells. A model that is shown less still reads the text. */
export const abilitiesOf = ({ provider, model }: ModelRef): ModelAbilities => {
  if (BLIND.test(model)) return TEXT_ONLY;
  const abilities = BY_PROVIDER[provider];
  return !abilities.images && provider !== 'local' && SEEING.test(model) ? IMAGES : abilities;
};
