import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Random } from '../../engine/test/support/random.ts';
import type { Draft, FormPart } from './drafts.ts';

/** A request as it goes on the wire. */
export interface Wire {
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body: Buffer | undefined;
  /** After so many bytes of the body the connection is cut. */
  cutAt?: number;
  /** Without a length, in chunks. */
  isChunked?: boolean;
  readonly changes: string[];
}

const BOUNDARY = 'fuzz-boundary-7d1f';

const partText = ({ name, fileName, value }: FormPart): string => {
  const named = `Content-Disposition: form-data; name="${name}"`;
  const file = fileName === undefined ? '' : `; filename="${fileName}"\r\nContent-Type: text/plain`;
  return `--${BOUNDARY}\r\n${named}${file}\r\n\r\n${value}\r\n`;
};

const bodyOf = ({ content }: Draft): { readonly type?: string; readonly body?: Buffer } => {
  switch (content.kind) {
    case 'none':
      return {};
    case 'json': {
      const text = content.value === undefined ? '' : JSON.stringify(content.value);
      return { type: 'application/json', body: Buffer.from(text) };
    }
    case 'form': {
      const text = `${content.parts.map(partText).join('')}--${BOUNDARY}--\r\n`;
      return { type: `multipart/form-data; boundary=${BOUNDARY}`, body: Buffer.from(text) };
    }
    case 'bytes':
      return { type: 'text/plain', body: content.bytes };
  }
};

const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

/** A draft as bytes. */
export const written = (draft: Draft): Wire => {
  const { operation, params, query, headers, method, changes } = draft;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(params[name] ?? ''));
  const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
  const { type, body } = bodyOf(draft);
  return {
    method,
    body,
    changes,
    path: search === '' ? path : `${path}?${search}`,
    headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
  };
};

const textIn = ({ body }: Wire): string => body?.toString('utf8') ?? '';
const setBody = (wire: Wire, text: string | Buffer): void => {
  wire.body = Buffer.from(text);
};

type Change = (wire: Wire, random: Random) => void;

const JSON_TEXTS: readonly string[] = [
  '',
  ' ',
  '{',
  '[]',
  'null',
  '"text"',
  '0',
  '{}{}',
  '{"a":1,}',
  "{'a':1}",
  '{"a":01}',
  '\ufeff{}',
  '[1e400]',
  '{"a":"\\ud800"}',
  '{"a":"\\u0000"}',
  '{"a":"\u0007"}',
  '// {}',
  'NaN',
  '[,]',
  '['.repeat(200),
  '['.repeat(100_000),
  '{"a":'.repeat(50_000),
  `${'['.repeat(127)}1${']'.repeat(127)}`,
  `{"a":"${'x'.repeat(1_100_000)}"}`,
  `[${'{"a":[]},'.repeat(20_000)}0]`,
  `{${Array.from({ length: 20_000 }, (_, at) => `"m${String(at)}":1`).join(',')}}`,
];

const CHANGES: Readonly<Record<string, Change>> = {
  'another body': (wire, random) => setBody(wire, random.pick(JSON_TEXTS)),
  'cut text': (wire, random) => {
    const { body = Buffer.alloc(0) } = wire;
    wire.body = body.subarray(0, random.between(0, body.length));
  },
  'cut connection': (wire, random) => {
    const { body = Buffer.from('{"tenant_id":"fuzz-one"}') } = wire;
    wire.body = body;
    wire.cutAt = random.between(0, body.length);
  },
  'a member twice': (wire, random) => {
    const text = textIn(wire);
    const [, name] = /"([a-z_]+)":/.exec(text) ?? [];
    if (!text.startsWith('{') || name === undefined) return;
    setBody(wire, text.replace('{', `{"${name}":${random.pick(['1', '"fuzz-other"', 'null'])},`));
  },
  'numbers as text writes them': (wire, random) => {
    const number = random.pick([
      '5.0',
      '1e3',
      '-0',
      '1E400',
      '9007199254740993',
      '0.1e-9',
      '12345678901234567890',
    ]);
    setBody(wire, textIn(wire).replace(/(?<=:)-?\d+(?=[,}])/, number));
  },
  'bytes that are no UTF-8': (wire) => {
    const { body = Buffer.alloc(2) } = wire;
    wire.body = Buffer.concat([
      body.subarray(0, body.length >> 1),
      Buffer.from([0xff, 0xc0]),
      body.subarray(body.length >> 1),
    ]);
  },
  'another content type': (wire, random) => {
    wire.headers['content-type'] = random.pick([
      'text/plain',
      'application/xml',
      '',
      'application/json; charset=utf-16',
      'application/json;;',
      'json',
      'multipart/form-data',
      'multipart/form-data; boundary=',
      `multipart/form-data; boundary=${'b'.repeat(200)}`,
      'application/merge-patch+json',
      'application/x-www-form-urlencoded',
      'APPLICATION/JSON',
    ]);
  },
  'a content encoding': (wire, random) => {
    wire.headers['content-encoding'] = random.pick(['gzip', 'br', 'identity', 'gzip, gzip', 'nonsense']);
  },
  chunked: (wire) => {
    wire.isChunked = true;
  },
  'header noise': (wire, random) => {
    const noise = random.pick([
      { 'x-noise': 'n'.repeat(7_000) },
      { 'x-noise': Array.from({ length: 60 }, () => 'n') },
      { 'x-noise': 'n'.repeat(20_000) },
      { 'x-forwarded-for': '127.0.0.1, ::1', 'x-forwarded-host': 'evil', forwarded: 'for=127.0.0.1' },
      {
        'x-http-method-override': 'DELETE',
        'x-original-url': '/v1/admin/tenants',
        'x-rewrite-url': '/metrics',
      },
      { 'x-request-id': random.pick(['\u00ff', 'a b', 'x'.repeat(500), 'fine-id']) },
      { traceparent: '00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-ff', tracestate: '=,=' },
      { accept: 'text/html;q=9, */*', 'accept-language': '*-*', range: 'bytes=0-0,-1', 'if-none-match': '*' },
      { authorization: 'Bearer nothing', cookie: 'key=nothing', 'tenant-id': 'fuzz-other' },
      { upgrade: 'h2c', connection: 'upgrade, x-noise' },
      { 'content-length': ['0', '5'] },
    ] as Record<string, string | string[]>[]);
    Object.assign(wire.headers, noise);
  },
  'an identity': (wire, random) => {
    wire.headers['idempotency-key'] = random.pick([
      '',
      'a b',
      'k'.repeat(300),
      'fuzz-1',
      'fuzz-2',
      '\u00e9',
      '__proto__',
    ]);
  },
  'another path': (wire, random) => {
    const change = random.pick<(path: string) => string>([
      (path) => `${path.split('?', 1)[0] ?? ''}/`,
      (path) => `/${path}`,
      (path) => path.toUpperCase(),
      (path) => `${path.split('?', 1)[0] ?? ''}%00`,
      (path) => `${path.split('?', 1)[0] ?? ''}%zz`,
      (path) => path.replace('/v1/', '/v1/../v1/'),
      (path) => path.replace('/v1/', '/v1/%2e%2e/v1/'),
      (path) => `${path}#fragment`,
      (path) => `${path}?${'a=1&'.repeat(2_000)}`,
    ]);
    wire.path = change(wire.path);
  },
  'another method': (wire, random) => {
    wire.method = random.pick(['PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'PUT', 'POST', 'DELETE', 'PROPFIND']);
  },
};

const OF_BODIES = new Set([
  'another body',
  'cut text',
  'cut connection',
  'a member twice',
  'another content type',
  'chunked',
]);

/** Changes what no client would send so. */
export const hostile = (wire: Wire, random: Random): void => {
  const names = Object.keys(CHANGES);
  const likely = wire.body === undefined ? names : [...names, ...names.filter((name) => OF_BODIES.has(name))];
  for (let left = random.between(1, 2); left > 0; left -= 1) {
    const name = random.pick(likely);
    wire.changes.push(name);
    CHANGES[name]?.(wire, random);
  }
};

/** What came back. `cut`: we left; `closed`: the server ended the connection without an answer. */
export type Heard =
  | { readonly kind: 'answer'; readonly status: number; readonly contentType: string; readonly text: string }
  | { readonly kind: 'cut' | 'unsendable' }
  | { readonly kind: 'closed'; readonly why: string };

const agent = new Agent({ keepAlive: true, maxSockets: 16 });
const PATIENCE_MS = 120_000;

const read = (answer: IncomingMessage, tell: (heard: Heard) => void): void => {
  const chunks: Buffer[] = [];
  answer.on('data', (chunk: Buffer) => chunks.push(chunk));
  answer.on('error', (error) => tell({ kind: 'closed', why: error.message }));
  answer.on('end', () =>
    tell({
      kind: 'answer',
      status: answer.statusCode ?? 0,
      contentType: answer.headers['content-type'] ?? '',
      text: Buffer.concat(chunks).toString('utf8'),
    }),
  );
};

const opened = (url: string, { method, path, headers, body, isChunked }: Wire): ClientRequest => {
  const { hostname, port } = new URL(url);
  const isSized = body === undefined || 'content-length' in headers;
  const length = isSized ? {} : { 'content-length': String(body.length) };
  const framing = isChunked === true ? { 'transfer-encoding': 'chunked' } : length;
  return httpRequest({ hostname, port, method, path, agent, headers: { ...headers, ...framing } });
};

/** Sends as it is written; a request that Node's client refuses to write is told apart. */
export const sendWire = (url: string, wire: Wire): Promise<Heard> =>
  new Promise((tell) => {
    let sending: ClientRequest;
    try {
      sending = opened(url, wire);
    } catch {
      tell({ kind: 'unsendable' });
      return;
    }
    const isCut = wire.cutAt !== undefined;
    sending.setTimeout(PATIENCE_MS, () => sending.destroy(new Error('no answer for two minutes')));
    sending.on('response', (answer) => read(answer, tell));
    sending.on('upgrade', (_, socket) => {
      socket.destroy();
      tell({ kind: 'closed', why: 'upgraded' });
    });
    sending.on('error', (error) => tell(isCut ? { kind: 'cut' } : { kind: 'closed', why: error.message }));
    if (!isCut) {
      sending.end(wire.body);
      return;
    }
    sending.write(wire.body?.subarray(0, wire.cutAt) ?? '', () => {
      sending.destroy();
      tell({ kind: 'cut' });
    });
  });

export const stopSending = (): void => agent.destroy();
