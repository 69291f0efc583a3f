import type { TablePrice } from './priceTable.ts';

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
 * million pages of a month, US dollars. What is paid differs by region and contract.
 */
export const OCR_PRICES: readonly TablePrice[] = [
  azureDocuments('prebuilt-read', '0.0015'),
  azureDocuments('prebuilt-layout', '0.01'),
];
