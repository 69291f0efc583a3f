import type { AnyEvent } from '../catalogue.ts';
import type { RecordedEvent } from '../ports/eventStore.ts';
import { PAYLOAD_VERSION, type PayloadOf, type WebhookEventType } from './payloads.ts';

/** One thing to tell receivers. `tenant_id` null: it is about the whole service. */
export type Message = {
  [Type in WebhookEventType]: { readonly type: Type; readonly data: PayloadOf<Type> };
}[WebhookEventType];

/** An event, as far as messages are made of it. */
export type Told<Event extends AnyEvent = AnyEvent> = Event extends AnyEvent
  ? Event & Pick<RecordedEvent, 'stream' | 'metadata'>
  : never;

type Mapped = {
  readonly [Type in AnyEvent['type']]?: (
    data: Extract<AnyEvent, { readonly type: Type }>['data'],
  ) => Message | undefined;
};

/** What each event tells by itself: a type that is to be told is one line here, and its payload. */
const MESSAGES = {
  OperationSucceeded: ({ operation_id, duration_ms, outcome }) => ({
    type: outcome === 'partial' ? 'operation.partial' : 'operation.succeeded',
    data: { operation_id, duration_ms },
  }),
  OperationFailed: ({ operation_id, code }) => ({ type: 'operation.failed', data: { operation_id, code } }),
  OperationCancelled: ({ operation_id, abandoned }) =>
    abandoned === true ? undefined : { type: 'operation.cancelled', data: { operation_id } },
  BatchEnded: ({ batch_id, succeeded, partial, failed, cancelled, pages, credits_charged }) => ({
    type: 'batch.ended',
    data: { batch_id, succeeded, partial, failed, cancelled, pages, credits_charged },
  }),
  TrainingJobSucceeded: ({ job_id, artifact_id, baseline_score, best_score }) => ({
    type: 'training.succeeded',
    data: { job_id, artifact_id, baseline_score, best_score },
  }),
  TrainingJobFailed: ({ job_id, code }) => ({ type: 'training.failed', data: { job_id, code } }),
  TrainingJobCancelled: ({ job_id, abandoned }) =>
    abandoned === true ? undefined : { type: 'training.cancelled', data: { job_id } },
  CreditsGranted: ({ grant_id, credits, currency, gross_amount_minor, occurred_at, balance_after }) => ({
    type: 'credits.granted',
    data: { grant_id, credits, currency, gross_amount_minor, occurred_at, balance_credits: balance_after },
  }),
  CreditsRefunded: ({ refund_id, grant_id, credits, balance_after: balance_credits, ...money }) => ({
    type: 'credits.refunded',
    data: {
      ...{ refund_id, grant_id, credits, balance_credits, currency: money.currency },
      ...{ gross_amount_minor: money.gross_amount_minor, occurred_at: money.occurred_at },
    },
  }),
  CreditsAdjusted: ({ adjustment_id, credits, balance_after: balance_credits }) => ({
    type: 'credits.adjusted',
    data: { adjustment_id, credits, balance_credits },
  }),
  ApiKeyIssued: ({ key_id, role, expires_at }) => ({
    type: 'key.created',
    data: { key_id, role, expires_at },
  }),
  ApiKeyRevoked: ({ key_id }) => ({ type: 'key.revoked', data: { key_id } }),
  DriftFound: ({ tenants_checked, tenants_drifting, drifting }) => ({
    type: 'reconciliation.drift',
    data: { tenants_checked, tenants_drifting, drifting },
  }),
  AuditFound: ({ findings, checks }) => ({ type: 'audit.finding', data: { findings, checks } }),
} as const satisfies Mapped;

/** The events that tell something by themselves. */
export const TOLD_EVENTS = Object.keys(MESSAGES) as readonly (keyof typeof MESSAGES)[];

/** What an event tells by itself, if anything. */
export const messageOf = ({ type, data }: AnyEvent): Message | undefined =>
  (MESSAGES as Mapped as Readonly<Record<string, ((data: unknown) => Message | undefined) | undefined>>)[
    type
  ]?.(data);

/** How a balance moved by an event; undefined: it did not. */
export const balanceMoveOf = (
  event: AnyEvent,
): { readonly before: number; readonly after: number } | undefined => {
  switch (event.type) {
    case 'CreditsGranted':
    case 'CreditsAdjusted':
      return { before: event.data.balance_after - event.data.credits, after: event.data.balance_after };
    case 'CreditsRefunded':
    case 'CreditsBurned':
      return { before: event.data.balance_after + event.data.credits, after: event.data.balance_after };
    default:
      return undefined;
  }
};

/** What a balance tells that comes down: once for each time that it passes the threshold, or nothing. */
export const balanceMessages = (event: AnyEvent, lowBalance: number | null): readonly Message[] => {
  const move = balanceMoveOf(event);
  if (move === undefined || move.after >= move.before) return [];
  const { before, after: balance_credits } = move;
  const messages: Message[] = [];
  if (lowBalance !== null && before >= lowBalance && balance_credits < lowBalance)
    messages.push({ type: 'balance.low', data: { balance_credits, low_balance_credits: lowBalance } });
  if (before > 0 && balance_credits <= 0)
    messages.push({ type: 'balance.exhausted', data: { balance_credits } });
  return messages;
};

const ACCOUNT_PREFIX = 'account-';

/** The tenant that an event is about; null: none. */
export const tenantToldOf = ({
  stream,
  metadata,
}: Pick<RecordedEvent, 'stream' | 'metadata'>): string | null => {
  if (stream.startsWith(ACCOUNT_PREFIX)) return stream.slice(ACCOUNT_PREFIX.length);
  const tenant = metadata['tenant_id'];
  return typeof tenant === 'string' ? tenant : null;
};

/** The body of a request, byte for byte the same however often it is made. */
export const bodyOf = (
  { type, data }: Message,
  { at, tenant_id }: { readonly at: string; readonly tenant_id: string | null },
): string => JSON.stringify({ type, version: PAYLOAD_VERSION, timestamp: at, tenant_id, data });
