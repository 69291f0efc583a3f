import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import type { Span, SpanOptions, Tracer } from '../domain/ports/log.ts';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** The context of a W3C `traceparent`; an invalid one if it is malformed. */
const spanContextOf = (traceparent: string): SpanContext => {
  const [, traceId = '', spanId = '', flags = '00'] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === '') return INVALID_SPAN_CONTEXT;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
};

/** Where a span with this parent begins; a malformed parent counts as none, as W3C asks. */
export const contextOf = (traceparent: string): Context => {
  const parent = spanContextOf(traceparent);
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
};

/** W3C trace context of a span that is recorded; undefined of any other. */
export const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string | undefined =>
  (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : `00-${traceId}-${spanId}-01`;

export interface OtlpTracerOptions {
  /** Where spans are sent: OTLP over HTTP, as JSON. */
  readonly url: string;
  readonly serviceName: string;
  readonly version: string;
  /** Which share of the traces that begin here is recorded, 0 to 1; those begun elsewhere as they say. */
  readonly sampleRatio: number;
  /** Told when spans could not be sent, at most once a minute. */
  readonly onError: (error: unknown) => void;
}

const EXPORT_TIMEOUT_MS = 5_000;
/** How long the end of the process waits for the last spans. */
const CLOSE_MS = 3_000;
const TELL_EVERY_MS = 60_000;
/** Spans that wait to be sent; more are dropped, for memory is bounded while a collector is away. */
const QUEUE_MAX = 4_096;

const KINDS: Readonly<Record<NonNullable<SpanOptions['kind']>, SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/** An exporter whose failures are told, now and then. */
const toldOf = (exporter: SpanExporter, onError: OtlpTracerOptions['onError']): SpanExporter => {
  let toldAt = -Infinity;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined && performance.now() - toldAt >= TELL_EVERY_MS) {
          toldAt = performance.now();
          onError(result.error);
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
};

const providerOf = (options: OtlpTracerOptions): NodeTracerProvider => {
  const { url, serviceName, version, sampleRatio, onError } = options;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS });
  const processor = new BatchSpanProcessor(toldOf(exporter, onError), {
    maxQueueSize: QUEUE_MAX,
    scheduledDelayMillis: 1_000,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
  });
  return new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [processor],
  });
};

const within = (ms: number, work: Promise<unknown>): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([work.catch(() => undefined), late]).finally(() => clearTimeout(timer));
};

const spanOver = (span: OtelSpan): Span => ({
  traceparent: traceparentOf(span.spanContext()),
  end: (facts, outcome = 'ok') => {
    if (facts !== undefined) span.setAttributes(facts);
    if (outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  },
});

/**
 * Records spans with OpenTelemetry and sends them beside the work. What cannot be sent is dropped.
 * Nothing global is set: each tracer knows its own spans.
 */
export const openOtlpTracer = (options: OtlpTracerOptions): Tracer => {
  const provider = providerOf(options);
  const tracer = provider.getTracer('quire', options.version);
  const running = new AsyncLocalStorage<Context>();
  const contexts = new WeakMap<Span, Context>();
  return {
    begin: (name, { parent, kind = 'internal', facts = {}, beganAtMs } = {}) => {
      const from = parent === undefined ? (running.getStore() ?? ROOT_CONTEXT) : contextOf(parent);
      const startTime = beganAtMs === undefined ? {} : { startTime: beganAtMs };
      const began = tracer.startSpan(name, { kind: KINDS[kind], attributes: facts, ...startTime }, from);
      const span = spanOver(began);
      contexts.set(span, trace.setSpan(ROOT_CONTEXT, began));
      return span;
    },
    within: (span, work) => {
      const context = contexts.get(span);
      return context === undefined ? work() : running.run(context, work);
    },
    close: async () => {
      await within(CLOSE_MS, provider.shutdown());
    },
  };
};
