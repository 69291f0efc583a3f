import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

type Value = {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly boolValue?: boolean;
};

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
  readonly status: { readonly code?: number };
}

/** A span as a collector receives it. */
export interface SeenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
}

interface WireBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: WireSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

const valueOf = ({ stringValue, intValue, boolValue }: Value): unknown =>
  stringValue ?? (intValue === undefined ? boolValue : Number(intValue));

const factsOf = (attributes: WireSpan['attributes']) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));

const seen = (span: WireSpan): SeenSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentId: span.parentSpanId === '' ? undefined : span.parentSpanId,
  name: span.name,
  facts: factsOf(span.attributes),
  failed: span.status.code === 2,
});

/** A collector of traces: OTLP over HTTP, JSON. It can be silent, as one that hangs is. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: SeenSpan[];
  readonly resources: Readonly<Record<string, unknown>>[];
  /** All that was received, as it was sent. */
  readonly text: () => string;
  silent: boolean;
  /** Resolves with the first span that fits, once it has arrived. */
  readonly until: (fits: (span: SeenSpan) => boolean) => Promise<SeenSpan>;
  readonly close: () => Promise<void>;
}

const WAIT_MS = 60_000;

export const otlpReceiver = async (): Promise<OtlpReceiver> => {
  const spans: SeenSpan[] = [];
  const resources: Record<string, unknown>[] = [];
  const bodies: string[] = [];
  const waiting = new Set<() => void>();
  const state = { silent: false };
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      if (state.silent) return;
      const text = Buffer.concat(chunks).toString();
      bodies.push(text);
      for (const { resource, scopeSpans } of (JSON.parse(text) as WireBody).resourceSpans) {
        resources.push(factsOf(resource.attributes));
        spans.push(...scopeSpans.flatMap((scope) => scope.spans.map(seen)));
      }
      res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      for (const look of waiting) look();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    spans,
    resources,
    text: () => bodies.join('\n'),
    get silent() {
      return state.silent;
    },
    set silent(value) {
      state.silent = value;
    },
    until: (fits) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`no such span among ${spans.map(({ name }) => name).join(', ')}`));
        }, WAIT_MS);
        const look = () => {
          const found = spans.find(fits);
          if (found === undefined) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
