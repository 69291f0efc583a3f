import type { LanguageModel, FilePart, ImagePart, ModelMessage, FinishReason, LanguageModelUsage } from 'ai';
import { LRUCache } from 'lru-cache';
import type {
  ModelAccess,
  ModelAttachment,
  ModelTurn,
  ProviderName,
  ModelAnswer,
  ModelRequest,
  ModelUsage,
} from '../ports/modelProvider.ts';
import type { JsonObject } from '../kernel/json.ts';
import { canonicalJson, sha256 } from '../kernel/canonicalJson.ts';
import type { Http, Fault } from './exchange.ts';
import { structuredSchema, type SchemaDialect } from './structuredSchema.ts';
import type { Attempt } from './attempts.ts';

type SdkFetch = typeof globalThis.fetch;

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
async function languageModel({ access, baseURL, fetch }: ModelAt): Promise<LanguageModel> {
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

/** What a model is shown comes before the words about it. */
const messagesOf = (turns: readonly ModelTurn[]): ModelMessage[] =>
  turns.map(({ role, text, attachments = [] }) =>
    role === 'assistant'
      ? { role, content: text }
      : { role, content: [...attachments.map(partOf), { type: 'text', text }] },
  );

const partOf = ({ mimeType, bytes, fileName }: ModelAttachment): FilePart | ImagePart =>
  mimeType.startsWith('image/')
    ? { type: 'image', image: bytes, mediaType: mimeType }
    : { type: 'file', data: bytes, mediaType: mimeType, filename: fileName ?? 'document.pdf' };

/** For models that cannot be held to a schema: they are told it. */
const withSchema = (system: string, schema: JsonObject): string =>
  `${system}\n\nAnswer with one JSON object that is valid by this JSON Schema, and with ` +
  `nothing else:\n${JSON.stringify(schema)}`;

/** Schemas that servers refused to hold a model to: one refusal says nothing of other schemas. */
export interface RefusedSchemas {
  readonly has: (model: string, schema: JsonObject) => boolean;
  readonly add: (model: string, schema: JsonObject) => void;
}

/** A server may have learned more by then. */
const KEPT_MS = 60 * 60 * 1000;
const MODELS_MAX = 1_000;
const SCHEMAS_MAX = 100;

/** Remembered for an hour, by model and schema; the least used make room. */
export const refusedSchemas = (nowMs: () => number): RefusedSchemas => {
  const models = new LRUCache<string, LRUCache<string, number>>({ max: MODELS_MAX });
  const digestOf = (schema: JsonObject): string => sha256(canonicalJson(schema));
  return {
    has: (model, schema) => {
      const until = models.get(model)?.get(digestOf(schema));
      return until !== undefined && until > nowMs();
    },
    add: (model, schema) => {
      const refused = models.get(model) ?? new LRUCache<string, number>({ max: SCHEMAS_MAX });
      models.set(model, refused);
      refused.set(digestOf(schema), nowMs() + KEPT_MS);
    },
  };
};

interface WatchedFetch {
  readonly fetch: SdkFetch;
  /** Why the SDK threw: what went wrong on the wire, or an answer that it could not read. */
  readonly faultSeen: () => Fault;
}

const NOT_SENT: Fault = { kind: 'unsuitable', detail: 'cannot be asked this with this model' };

/** A `fetch` for the AI SDK that remembers the fault, so that no error of the SDK needs to be looked into. */
const fetchOver = (http: Http): WatchedFetch => {
  let seen: Fault = NOT_SENT;
  const fetch: SdkFetch = async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString();
    const headers = Object.fromEntries(new Headers(init?.headers));
    const body = typeof init?.body === 'string' ? init.body : undefined;
    const exchange = await http({ method: 'POST', url, headers, body });
    if (exchange.kind === 'fault') {
      seen = exchange.fault;
      throw new Error('the provider gave no answer');
    }
    const { status, text } = exchange.answer;
    seen = { kind: 'malformed', status };
    return new Response(text, { status: 200, headers: { 'content-type': 'application/json' } });
  };
  return { fetch, faultSeen: () => seen };
};

type Answered = Extract<ModelAnswer, { kind: 'answered' }>;

interface LanguageCall {
  readonly request: ModelRequest;
  readonly base: URL;
  readonly http: Http;
  readonly signal: AbortSignal;
  readonly refused: RefusedSchemas;
}

/** How JSON is asked for: held to a schema by the provider, or told the schema by us. */
type Asking =
  | { readonly kind: 'text' }
  | { readonly kind: 'held'; readonly schema: JsonObject }
  | { readonly kind: 'told'; readonly schema: JsonObject };

/**
 * One attempt at a request. A provider that does not accept the schema is asked once more, with the schema
 * in the prompt; servers that speak OpenAI's language are asked so at once for a while, for this schema.
 */
export async function askModel(call: LanguageCall): Promise<Attempt<Answered>> {
  const asking = askingFor(call);
  const first = await askOnce(call, asking);
  if (asking.kind !== 'held' || first.kind === 'ok' || !refusesRequest(first.fault)) return first;
  const { output, access } = call.request;
  const schema = output.kind === 'json' ? output.schema : asking.schema;
  const second = await askOnce(call, { kind: 'told', schema });
  if (second.kind === 'ok' && DIALECTS[access.ref.provider] === undefined)
    call.refused.add(nameOf(call), schema);
  return second;
}

const refusesRequest = (fault: Fault): boolean =>
  fault.kind === 'status' && (fault.status === 400 || fault.status === 422);

/** What each provider understands of schemas; others are servers that speak OpenAI's language, more or less. */
const DIALECTS: Partial<Record<ProviderName, SchemaDialect>> = {
  openai: 'openai',
  azure: 'openai_like',
  mistral: 'openai_like',
  anthropic: 'anthropic',
  google: 'google',
};

const nameOf = ({ base, request }: LanguageCall): string => `${base.href} ${request.access.ref.model}`;

function askingFor(call: LanguageCall): Asking {
  const { output, access } = call.request;
  if (output.kind === 'text') return output;
  const told = { kind: 'told', schema: output.schema } as const;
  if (call.refused.has(nameOf(call), output.schema)) return told;
  const schema = structuredSchema(output.schema, DIALECTS[access.ref.provider] ?? 'openai_like');
  return schema === undefined ? told : { kind: 'held', schema };
}

async function askOnce(call: LanguageCall, asking: Asking): Promise<Attempt<Answered>> {
  const { access } = call.request;
  const { fetch, faultSeen } = fetchOver(call.http);
  try {
    const baseURL = call.base.href.replace(/\/$/u, '');
    const model = await languageModel({ access, baseURL, fetch });
    return { kind: 'ok', value: await generate(call, asking, model) };
  } catch {
    // what the SDK says of an error may hold the key or the provider's words
    return { kind: 'fault', fault: call.signal.aborted ? { kind: 'interrupted' } : faultSeen() };
  }
}

async function generate(call: LanguageCall, asking: Asking, model: LanguageModel): Promise<Answered> {
  const { generateText, jsonSchema, Output } = await import('ai');
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { access, system, turns } = call.request;
  const form = asking.kind === 'held' ? Output.object({ schema: jsonSchema(asking.schema) }) : Output.json();
  // the text is the answer: whoever asked parses it, and has it repaired
  const asIs = {
    ...form,
    parseCompleteOutput: ({ text }: { readonly text: string }) => Promise.resolve(text),
  };
  const { text, usage, finishReason } = await generateText({
    model,
    system: asking.kind === 'told' ? withSchema(system, asking.schema) : system,
    messages: messagesOf(turns),
    ...(asking.kind !== 'text' && { output: asIs as ReturnType<typeof Output.json> }),
    maxRetries: 0,
    abortSignal: call.signal,
    providerOptions: { openai: { store: false }, mistral: { strictJsonSchema: true } },
    ...(access.maxTokens !== undefined && { maxOutputTokens: access.maxTokens }),
    ...(access.temperature !== undefined && { temperature: access.temperature }),
  });
  return { kind: 'answered', text, usage: usageOf(usage), finish: finishOf(finishReason) };
}

const usageOf = ({ inputTokens, outputTokens, inputTokenDetails }: LanguageModelUsage): ModelUsage => ({
  input_tokens: inputTokens ?? 0,
  output_tokens: outputTokens ?? 0,
  cached_input_tokens: inputTokenDetails.cacheReadTokens ?? 0,
  pages: null,
});

const finishOf = (reason: FinishReason): Answered['finish'] => {
  if (reason === 'stop' || reason === 'length') return reason;
  return reason === 'content-filter' ? 'refused' : 'other';
};
