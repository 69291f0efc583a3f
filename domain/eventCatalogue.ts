import { accountCodec } from './account/events.ts';
import { apiKeyCodec } from './apiKey/events.ts';
import { billingConfigCodec } from './billingConfig/events.ts';
import { conversionCodec } from './conversion/events.ts';
import { documentCodec } from './document/events.ts';
import { extractionCodec } from './extraction/events.ts';
import { fxRatesCodec } from './fxRates/events.ts';
import { paymentCodec } from './payment/events.ts';
import { priceListCodec } from './priceList/events.ts';

/** The codec of each category of streams (the part of the name before the first hyphen). */
export const EVENT_CODECS = {
  account: accountCodec,
  apiKey: apiKeyCodec,
  billingConfig: billingConfigCodec,
  conversion: conversionCodec,
  document: documentCodec,
  extraction: extractionCodec,
  fxRates: fxRatesCodec,
  payment: paymentCodec,
  priceList: priceListCodec,
} as const;

export type StreamCategory = keyof typeof EVENT_CODECS;

/** The part of a stream's name before the first hyphen, or all of it. */
export const categoryOf = (stream: string): string => stream.split('-', 1)[0] ?? stream;

/** Whether the service has a vocabulary for a category. */
export const isStreamCategory = (category: string): category is StreamCategory =>
  Object.hasOwn(EVENT_CODECS, category);
