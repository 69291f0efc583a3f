import { z } from 'zod';
import { providerNamed } from '@quire/engine/ports/modelProvider';
import { type ModelPrices, perMillionOfToken, perPage, type TablePrice } from './modelPrices.ts';

/** Strings, which stay as they are, and numbers, which become strings of their own digits. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const table = z.record(z.string(), z.record(z.string(), z.unknown()));

/** JSON with each number as the text it is written as. Throws SyntaxError. */
const withNumbersAsText = (json: string): unknown => {
  JSON.parse(json);
  return JSON.parse(
    json.replace(STRING_OR_NUMBER, (found) => (found.startsWith('"') ? found : `"${found}"`)),
  );
};

/** Kinds of models that read documents. */
const MODES = ['chat', 'completion', 'responses', 'ocr'];
const AZURE_DOCUMENTS = 'azure_ai/doc-intelligence/';

/** `gemini/gemini-2.5-flash` of provider `gemini` is google's `gemini-2.5-flash`. */
const namesOf = (key: string, listed: unknown): Pick<TablePrice, 'provider' | 'model_name'> | undefined => {
  if (key.startsWith(AZURE_DOCUMENTS))
    return { provider: 'azure_di', model_name: key.slice(AZURE_DOCUMENTS.length) };
  if (typeof listed !== 'string') return undefined;
  const provider = providerNamed(listed);
  if (provider === undefined) return undefined;
  return { provider, model_name: key.startsWith(`${listed}/`) ? key.slice(listed.length + 1) : key };
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const pricesIn = (entry: Readonly<Record<string, unknown>>): ModelPrices | undefined => {
  const priceOf = (member: string, convert: (number: string) => string | undefined) => {
    const number = textOf(entry[member]);
    return number === undefined ? undefined : convert(number);
  };
  const input = priceOf('input_cost_per_token', perMillionOfToken);
  const output = priceOf('output_cost_per_token', perMillionOfToken);
  const page = priceOf('ocr_cost_per_page', (number) => perPage(number));
  if (page === undefined && (input === undefined || output === undefined)) return undefined;
  return {
    input_usd_per_million_tokens: input ?? '0.00',
    output_usd_per_million_tokens: output ?? '0.00',
    cached_input_usd_per_million_tokens: priceOf('cache_read_input_token_cost', perMillionOfToken) ?? null,
    usd_per_page: page ?? null,
  };
};

const rowOf = (key: string, entry: Readonly<Record<string, unknown>>): TablePrice | undefined => {
  const names = namesOf(key, entry['litellm_provider']);
  if (names === undefined || !MODES.includes(textOf(entry['mode']) ?? '')) return undefined;
  const prices = pricesIn(entry);
  return prices && { ...names, ...prices };
};

/**
 * Rows of LiteLLM's `model_prices_and_context_window.json`, for the providers that this service knows; the
 * base tier. Prices come from the digits of the file. Throws SyntaxError, or ZodError for another JSON.
 */
export const pricesOfLiteLlm = (json: string): readonly TablePrice[] =>
  Object.entries(table.parse(withNumbersAsText(json))).flatMap(([key, entry]) => rowOf(key, entry) ?? []);

/** When the rows below were last looked at. */
export const OCR_PRICES_AS_OF = '2026-11-21';

const azureDocuments = (model_name: string, usd_per_page: string): TablePrice => ({
  provider: 'azure_di',
  model_name,
  input_usd_per_million_tokens: '0.00',
  output_usd_per_million_tokens: '0.00',
  cached_input_usd_per_million_tokens: null,
  usd_per_page,
});

/**
 * Prices by the page that packaged tables lack: Azure Document Intelligence, pay as you go (S0), the first
 * million pages of a month, US dollars. Actual prices differ by region and contract.
 */
export const OCR_PRICES: readonly TablePrice[] = [
  azureDocuments('prebuilt-read', '0.0015'),
  azureDocuments('prebuilt-layout', '0.01'),
];
