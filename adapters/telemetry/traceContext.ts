import {
  INVALID_SPAN_CONTEXT,
  ROOT_CONTEXT,
  TraceFlags,
  isSpanContextValid,
  trace,
  type Context,
  type SpanContext,
} from '@opentelemetry/api';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** What a W3C `traceparent` names; an invalid context where it is malformed. */
const spanContextOf = (traceparent: string): SpanContext => {
  const [, traceId = '', spanId = '', flags = '00'] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === '') return INVALID_SPAN_CONTEXT;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
};

/** Where a span begins that has this parent; a malformed one is none, as W3C asks. */
export const contextOf = (traceparent: string): Context => {
  const parent = spanContextOf(traceparent);
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
};

/** W3C trace context of a span that is recorded; undefined of any other. */
export const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string | undefined =>
  (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : `00-${traceId}-${spanId}-01`;
