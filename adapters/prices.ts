import type { MatchLogic, ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';
import { OCR_PRICES } from '../domain/priceTables.ts';
import { distinctRows, perMillion, perPage, type TablePrice } from '../domain/modelPrices.ts';

/** Providers of the package by this service's names. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: 'openai',
  azure: 'azure',
  anthropic: 'anthropic',
  google: 'google',
  mistral: 'mistral',
  groq: 'groq',
  openrouter: 'openrouter',
  together: 'together_ai',
  deepseek: 'deepseek',
  'x-ai': 'xai',
};

/** Names that are the model and no other: those it starts with or contains are of more than one. */
const equalNames = (match: MatchLogic): readonly string[] => {
  if ('equals' in match) return [match.equals];
  return 'or' in match ? match.or.flatMap(equalNames) : [];
};

/** The last that has begun by the day, never one for a time of day. */
const inForce = ({ prices }: ModelInfo, day: string): ModelPrice | undefined => {
  if (!Array.isArray(prices)) return prices;
  const begun = prices.findLast(
    ({ constraint }) =>
      constraint === undefined || ('start_date' in constraint && constraint.start_date <= day),
  );
  return begun?.prices;
};

/** The text of a price; its base tier if there are several. */
const numberOf = (price: ModelPrice, key: string): string | undefined => {
  const found = price[key];
  if (found === undefined) return undefined;
  return String(typeof found === 'number' ? found : found.base);
};

const pricesOf = (price: ModelPrice) => {
  const of = (key: string, convert: (number: string) => string | undefined) => {
    const number = numberOf(price, key);
    return number === undefined ? undefined : convert(number);
  };
  const input = of('input_mtok', perMillion);
  const output = of('output_mtok', perMillion);
  const page = of('input_document_kpages', (number) => perPage(number, 3));
  if (page === undefined && (input === undefined || output === undefined)) return undefined;
  return {
    input_usd_per_million_tokens: input ?? '0.00',
    output_usd_per_million_tokens: output ?? '0.00',
    cached_input_usd_per_million_tokens: of('cache_read_mtok', perMillion) ?? null,
    usd_per_page: page ?? null,
  };
};

const rowsOf = (provider: string, models: readonly ModelInfo[], day: string): readonly TablePrice[] => {
  const priced = models.flatMap((model) => {
    const price = inForce(model, day);
    const prices = price && pricesOf(price);
    return prices === undefined ? [] : [{ model, prices }];
  });
  // A model's own name comes before another model's further names.
  return [
    ...priced.map(({ model, prices }) => ({ provider, model_name: model.id, ...prices })),
    ...priced.flatMap(({ model, prices }) =>
      equalNames(model.match).map((model_name) => ({ provider, model_name, ...prices })),
    ),
  ];
};

/** Azure lists what it sells under other terms; the rest costs what OpenAI asks. */
const modelsOf = (provider: Provider, all: readonly Provider[]): readonly ModelInfo[] => [
  ...provider.models,
  ...(provider.fallback_model_providers ?? []).flatMap(
    (id) => all.find((other) => other.id === id)?.models ?? [],
  ),
];

/**
 * The prices that come with the service, in force on `day` (YYYY-MM-DD): those of the packaged table for the
 * providers that this service knows, base tier, and those by the page that it lacks. Asks no network.
 */
export const packagedPrices = async (day: string): Promise<readonly TablePrice[]> => {
  // most of a megabyte of prices, which no one asks a running service for
  const { waitForUpdate } = await import('@pydantic/genai-prices');
  const all = (await waitForUpdate()) ?? [];
  const rows = all.flatMap((provider) => {
    const name = PROVIDERS[provider.id];
    return name === undefined ? [] : rowsOf(name, modelsOf(provider, all), day);
  });
  return distinctRows([...OCR_PRICES, ...rows]);
};
