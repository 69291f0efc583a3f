import type { z } from 'zod';
import { accountEvent } from './account/messages.ts';
import { apiKeyEvent } from './apiKey.ts';
import { artifactEvent, deploymentEvent } from './deployment.ts';
import { batchEvent } from './batch.ts';
import { billingConfigEvent } from './billingConfig.ts';
import { billingDetailsEvent } from './billingDetails.ts';
import { booksEvent } from './books.ts';
import { classificationEvent, conversionEvent, extractionEvent, splitEvent } from './workEvents.ts';
import { documentEvent } from './document.ts';
import { erasureEvent } from './erasure.ts';
import { evaluationEvent, evaluationSetEvent } from './evaluation.ts';
import { eventLogEvent } from './eventLog/eventLog.ts';
import { movedTextsEvent } from './eventLog/movedTexts.ts';
import { findingEvent, sealEvent } from './finding.ts';
import { fxRatesEvent } from './fxRates.ts';
import { eventCodec, UndecodableEvent, type Upcasters } from './kernel/codec.ts';
import { llmCostEvent } from './llmCost.ts';
import { masterTableEvent } from './rules/masterTable.ts';
import { operationEvent } from './operation.ts';
import { pageRangesEvent } from './pageRanges.ts';
import { placesEvent } from './places.ts';
import { paymentEvent, paymentUpcasters } from './payment.ts';
import type { RecordedEvent } from './kernel/recorded.ts';
import { priceListEvent } from './priceList.ts';
import { reviewEvent } from './review.ts';
import { providerPricingEvent } from './modelPrices.ts';
import { rateLimitsEvent } from './rateLimits.ts';
import { SEALS_STREAM } from './kernel/json.ts';
import { sightingEvent } from './rules/sighting.ts';
import { savedConfigEvent } from './savedConfig.ts';
import { examplesEvent, trainingJobEvent } from './trainingJob.ts';
import { tenantRetentionEvent } from './retention.ts';
import { topUpEvent } from './topUp.ts';
import { retentionEvent, webhookDeliveryEvent, webhookEvent } from './webhook.ts';

/** Every kind of stream, by category, with the events that it may hold. */
export const EVENT_CATALOGUE = {
  account: accountEvent,
  payment: paymentEvent,
  priceList: priceListEvent,
  billingConfig: billingConfigEvent,
  billingDetails: billingDetailsEvent,
  providerPricing: providerPricingEvent,
  fxRates: fxRatesEvent,
  books: booksEvent,
  llmCost: llmCostEvent,
  rateLimits: rateLimitsEvent,
  apiKey: apiKeyEvent,
  config: savedConfigEvent,
  table: masterTableEvent,
  document: documentEvent,
  erasures: erasureEvent,
  texts: movedTextsEvent,
  extraction: extractionEvent,
  conversion: conversionEvent,
  classification: classificationEvent,
  split: splitEvent,
  operation: operationEvent,
  pageRanges: pageRangesEvent,
  batch: batchEvent,
  trainingJob: trainingJobEvent,
  examples: examplesEvent,
  set: evaluationSetEvent,
  evaluation: evaluationEvent,
  artifact: artifactEvent,
  deployment: deploymentEvent,
  review: reviewEvent,
  sighting: sightingEvent,
  webhook: webhookEvent,
  webhookDelivery: webhookDeliveryEvent,
  retention: retentionEvent,
  tenantRetention: tenantRetentionEvent,
  topUp: topUpEvent,
  places: placesEvent,
  finding: findingEvent,
  $quire: eventLogEvent,
  [SEALS_STREAM]: sealEvent,
} as const;

type Category = keyof typeof EVENT_CATALOGUE;
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
