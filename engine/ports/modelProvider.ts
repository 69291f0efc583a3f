import type { Box, Word } from '../document/document.ts';
import type { JsonObject } from '../kernel/json.ts';

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
  docling: { needsBase: true, keyless: true },
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
  provider === 'azure_di' ||
  provider === 'docling' ||
  (provider === 'mistral' && model.startsWith('mistral-ocr'));

/** A model, who pays for it, and how it is asked. `apiKey` is a secret: it is passed on and kept nowhere. */
export interface ModelAccess {
  readonly ref: ModelRef;
  readonly apiKey: string | undefined;
  readonly apiBase: string | undefined;
  /** A caller's own base may not reach private networks; the operator's may. */
  readonly owner: 'caller' | 'platform';
  readonly maxTokens?: number | undefined;
  /** 0.0 to 2.0. */
  readonly temperature?: number | undefined;
  /** Attempts after the first that failed for a reason that may pass. */
  readonly retries: number;
}

/** A PDF or a picture that a model is shown. */
export interface ModelAttachment {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
  readonly fileName: string | null;
}

export interface ModelTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Of a user's turn only. */
  readonly attachments?: readonly ModelAttachment[];
}

export interface ModelRequest {
  readonly access: ModelAccess;
  readonly system: string;
  /** Ends with the user's. */
  readonly turns: readonly ModelTurn[];
  /** `json`: an object by the schema, asked for in the provider's best way; it is not validated here. */
  readonly output: { readonly kind: 'text' } | { readonly kind: 'json'; readonly schema: JsonObject };
  /** Of this request with all its retries. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What a request used, all attempts together, as the provider counts it. */
export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Part of `input_tokens`. */
  readonly cached_input_tokens: number;
  /** Of providers that bill by the page. */
  readonly pages: number | null;
}

/** `detail` is a sentence for the caller: it names neither a key nor what the provider wrote. */
export type ModelFailure =
  | {
      readonly kind: 'provider_error';
      readonly provider: string;
      /** HTTP status; null when there was no answer, or one that is none. */
      readonly provider_status: number | null;
      readonly detail: string;
    }
  | { readonly kind: 'timed_out'; readonly provider: string; readonly detail: string }
  | { readonly kind: 'unsafe_api_base'; readonly detail: string }
  | { readonly kind: 'aborted' };

export type ModelAnswer =
  | {
      readonly kind: 'answered';
      readonly text: string;
      readonly usage: ModelUsage;
      /** `length`: cut off at the most tokens. */
      readonly finish: 'stop' | 'length' | 'refused' | 'other';
    }
  | { readonly kind: 'failed'; readonly failure: ModelFailure; readonly usage: ModelUsage };

/** A block of a page as a provider placed it; its text stands in the page's markdown too. */
export interface ReadBlock {
  /** What tells more than the markdown does; `text`: anything else. */
  readonly kind: 'heading' | 'table' | 'text';
  /** Markdown or HTML. */
  readonly text: string;
  /** Points; null where the provider gives none, or one that does not lie on the page. */
  readonly box: Box | null;
  /** 0 to 1; 1 where the provider gives none. */
  readonly confidence: number;
  /** Of a table, where the provider places cells: rows and columns from 0. */
  readonly cells?: readonly { readonly row: number; readonly column: number; readonly box: Box }[];
}

/** A page as a model read it. */
export interface ReadPage {
  /** From 1, in the file. */
  readonly page: number;
  readonly markdown: string;
  /** Points; null where the provider gives no geometry. */
  readonly width: number | null;
  readonly height: number | null;
  /** Empty where the provider gives none; without boxes they stand in the order of the markdown. */
  readonly words: readonly Word[];
  /** In reading order; left out where the provider gives none. */
  readonly blocks?: readonly ReadBlock[] | undefined;
}

export interface OcrRequest {
  readonly access: ModelAccess;
  /** A PDF or a picture. */
  readonly file: ModelAttachment;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Pages of the file to read, from 1; left out: all. */
  readonly pages?: readonly number[];
}

export type OcrAnswer =
  | { readonly kind: 'read'; readonly pages: readonly ReadPage[]; readonly usage: ModelUsage }
  | { readonly kind: 'failed'; readonly failure: ModelFailure; readonly usage: ModelUsage };

/** What a model may be shown. */
export interface ModelAbilities {
  readonly pdf: boolean;
  readonly images: boolean;
  /** Of a document's text in one request; a longer one is shown in parts. */
  readonly documentTokens: number;
}

/** Model providers behind one door: how each is spoken to is their adapter's business. */
export interface ModelProviders {
  readonly abilitiesOf: (ref: ModelRef) => ModelAbilities;
  /** Whether a caller's base may be asked at all, before any work is done for it. */
  readonly checkBase: (
    apiBase: string,
  ) => Promise<{ readonly kind: 'ok' } | { readonly kind: 'unsafe_api_base'; readonly detail: string }>;
  readonly ask: (request: ModelRequest) => Promise<ModelAnswer>;
  /** Of models that only read pages (`isOcrOnly`). */
  readonly readPages: (request: OcrRequest) => Promise<OcrAnswer>;
  readonly close: () => Promise<void>;
}
