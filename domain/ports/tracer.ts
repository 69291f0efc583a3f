/** What a span says of its work: counts, names and outcomes; never a key, a file name or content. */
type SpanFacts = Readonly<Record<string, string | number | boolean>>;

/** A piece of work in a trace. One that never ends is never exported. */
export interface Span {
  /** W3C trace context, `00-<trace>-<span>-01`; undefined when nobody records the span. */
  readonly traceparent: string | undefined;
  end(facts?: SpanFacts, outcome?: 'ok' | 'failed'): void;
}

export interface SpanOptions {
  /** Left out: the span that the caller runs within, if there is one. */
  readonly parent?: string | undefined;
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  readonly facts?: SpanFacts;
  /** Milliseconds since 1970; left out: now. */
  readonly beganAtMs?: number;
}

/** Records spans, or does nothing. It never throws, and nothing waits for what it exports. */
export interface Tracer {
  begin(name: string, options?: SpanOptions): Span;
  /** Does work inside a span: spans that begin in it, also later in its promises, are its children. */
  within<T>(span: Span, work: () => T): T;
  /** Exports what is left, for a bounded time. */
  close(): Promise<void>;
}
