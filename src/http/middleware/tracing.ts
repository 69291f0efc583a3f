import type { Span, Tracer } from '../../../domain/ports/log.ts';
import type { NamedRoute } from '../defineRoute.ts';
import type { Exchange } from '../server/routeRequest.ts';

/** `traceId`: undefined where nobody records the request. */
interface TracedRequest {
  readonly span: Span;
  readonly traceId: string | undefined;
}

/** Begins the span of a request; it ends with the answer. It goes on with a caller's `traceparent`. */
export const beginRequest = (
  tracer: Tracer,
  { operationId, method, path }: NamedRoute,
  { req, res, requestId }: Exchange,
): TracedRequest => {
  const span = tracer.begin(operationId, {
    parent: req.get('traceparent'),
    kind: 'server',
    facts: {
      'http.request.method': method.toUpperCase(),
      'http.route': path,
      'quire.request_id': requestId,
    },
  });
  res.once('close', () => {
    const status = res.writableFinished ? res.statusCode : 499;
    span.end({ 'http.response.status_code': status }, status >= 500 ? 'failed' : 'ok');
  });
  return { span, traceId: span.traceparent?.slice(3, 35) };
};
