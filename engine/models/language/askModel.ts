import type { FinishReason, LanguageModel, LanguageModelUsage } from 'ai';
import type { SchemaDialect } from './schemaDialects.ts';
import { structuredSchema } from './structuredSchema.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { ProviderName } from '../modelName.ts';
import type { ModelAnswer, ModelRequest, ModelUsage } from '../../ports/modelProvider.ts';
import type { Attempt } from '../attempts.ts';
import type { Http } from '../exchange.ts';
import type { Fault } from '../faults.ts';
import { languageModel } from './languageModel.ts';
import { messagesOf, withSchema } from './messages.ts';
import type { RefusedSchemas } from './refusedSchemas.ts';
import { fetchOver } from './sdkFetch.ts';

export type Answered = Extract<ModelAnswer, { kind: 'answered' }>;

export interface LanguageCall {
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
