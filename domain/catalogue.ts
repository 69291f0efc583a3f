import type { z } from 'zod';
import { accountEvent } from './account/events.ts';
import { apiKeyEvent } from './apiKey/events.ts';
import { artifactEvent } from './artifact/artifact.ts';
import { batchEvent } from './batch/events.ts';
import { billingConfigEvent } from './billingConfig/events.ts';
import { conversionEvent } from './conversion/events.ts';
import { deploymentEvent } from './deployment/events.ts';
import { documentEvent } from './document/events.ts';
import { eventLogEvent } from './eventLog/eventLog.ts';
import { extractionEvent } from './extraction/events.ts';
import { findingEvent } from './finding/events.ts';
import { fxRatesEvent } from './fxRates/events.ts';
import { eventCodec, UndecodableEvent, type Upcasters } from './kernel/codec.ts';
import { llmCostEvent } from './llmCost/events.ts';
import { operationEvent } from './operation/events.ts';
import { placesEvent } from './places.ts';
import { paymentEvent, paymentUpcasters } from './payment/events.ts';
import type { RecordedEvent } from './ports/eventStore.ts';
import { priceListEvent } from './priceList/events.ts';
import { providerPricingEvent } from './providerPricing/events.ts';
import { rateLimitsEvent } from './rateLimits/events.ts';
import { SEALS_STREAM } from './kernel/ownStreams.ts';
import { savedConfigEvent } from './savedConfig/events.ts';
import { sealEvent } from './seal/events.ts';
import { trainingJobEvent } from './trainingJob/events.ts';
import { webhookEvent } from './webhook/events.ts';
import { webhookDeliveryEvent } from './webhookDelivery/events.ts';

/** Every kind of stream, by category, with the events that it may hold. */
export const EVENT_CATALOGUE = {
  account: accountEvent,
  payment: paymentEvent,
  priceList: priceListEvent,
  billingConfig: billingConfigEvent,
  providerPricing: providerPricingEvent,
  fxRates: fxRatesEvent,
  llmCost: llmCostEvent,
  rateLimits: rateLimitsEvent,
  apiKey: apiKeyEvent,
  config: savedConfigEvent,
  document: documentEvent,
  extraction: extractionEvent,
  conversion: conversionEvent,
  operation: operationEvent,
  batch: batchEvent,
  trainingJob: trainingJobEvent,
  artifact: artifactEvent,
  deployment: deploymentEvent,
  webhook: webhookEvent,
  webhookDelivery: webhookDeliveryEvent,
  places: placesEvent,
  finding: findingEvent,
  $quire: eventLogEvent,
  [SEALS_STREAM]: sealEvent,
} as const;

export type Category = keyof typeof EVENT_CATALOGUE;
export type AnyEvent = z.output<(typeof EVENT_CATALOGUE)[Category]>;

/** The part of a stream's name before the first hyphen: where EventStoreDB splits. */
export const categoryOfStream = (stream: string): string => {
  const end = stream.indexOf('-');
  return end < 0 ? stream : stream.slice(0, end);
};

/** Every type of event that this release knows. */
export const EVENT_TYPES: readonly string[] = Object.values(EVENT_CATALOGUE).flatMap(({ options }) =>
  options.map(({ shape }): string => shape.type.value),
);
const TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

/** False for a type that only a newer release knows. */
export const isKnownType = (type: string): boolean => TYPES.has(type);

/** How events of older versions are lifted, by category. */
const UPCASTERS: Readonly<Record<string, Upcasters>> = { payment: paymentUpcasters };

/** The version that new events of this type are written in. */
export const currentVersionOf = (category: string, type: string): number =>
  (UPCASTERS[category]?.[type]?.length ?? 0) + 1;

const CODECS: ReadonlyMap<string, { readonly decode: (recorded: RecordedEvent) => AnyEvent }> = new Map(
  Object.entries(EVENT_CATALOGUE).map(([category, union]) => [
    category,
    eventCodec<AnyEvent>(union, UPCASTERS[category]),
  ]),
);

/** Decodes an event of any stream in its current form. Throws UndecodableEvent. */
export const decodeAny = (recorded: RecordedEvent): AnyEvent => {
  const codec = CODECS.get(categoryOfStream(recorded.stream));
  if (codec === undefined) throw new UndecodableEvent(recorded, 'this program knows no such stream');
  return codec.decode(recorded);
};
