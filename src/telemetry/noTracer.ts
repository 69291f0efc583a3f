import type { Span, Tracer } from '../../domain/ports/log.ts';

const NO_SPAN: Span = { traceparent: undefined, end: () => undefined };

/** Records nothing: what a service without an exporter has. */
export const NO_TRACER: Tracer = {
  begin: () => NO_SPAN,
  within: (_, work) => work(),
  close: () => Promise.resolve(),
};
