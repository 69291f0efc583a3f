import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { BEYOND_LIMITS, HEAVY } from '../../engine/test/support/hostile/schemas.ts';
import { HOSTILE_TEXTS, WORST_TEXTS } from '../../engine/test/support/hostile/texts.ts';

/** What attacks are sent to, and what they need there. */
export interface Target {
  readonly url: string;
  /** Of a scripted provider: the answer of its model is an object of one `name`. */
  readonly modelBase: string;
  readonly tenant_id: string;
  /** Of a small invoice that was uploaded. */
  readonly document_id: string;
}

export interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Attack {
  readonly what: string;
  readonly send: (target: Target) => Promise<Reply>;
}

const TEXT = 'Invoice number: Q-1001\nName: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\nTotal: 120.50 EUR\n';
const PLAIN = { type: 'object', properties: { name: { type: 'string' }, total: { type: 'number' } } };

const replyOf = async (answer: Response): Promise<Reply> => {
  const text = await answer.text();
  const body = text.startsWith('{') ? (JSON.parse(text) as Reply['body']) : {};
  return { status: answer.status, body };
};

const HEADERS = { 'x-api-key': ADMIN_KEY };

/** A text is sent as it is written. */
export const post = async ({ url }: Pick<Target, 'url'>, path: string, json: unknown): Promise<Reply> =>
  replyOf(
    await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...HEADERS, 'content-type': 'application/json' },
      body: typeof json === 'string' ? json : JSON.stringify(json),
    }),
  );

interface Sent {
  readonly fields?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly name?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const form = async (
  target: Target,
  path: string,
  { fields = {}, text = TEXT, name = 'a.txt', headers = {} }: Sent,
) => {
  const body = new FormData();
  for (const [field, value] of Object.entries({ tenant_id: target.tenant_id, ...fields }))
    body.set(field, value);
  body.set('file', new Blob([text]), name);
  return replyOf(
    await fetch(`${target.url}${path}`, { method: 'POST', headers: { ...HEADERS, ...headers }, body }),
  );
};

/** Asks for an operation, and cancels it: nobody works on it here. */
const later = async (target: Target, path: string, sent: Sent): Promise<Reply> => {
  const accepted = await form(target, path, { ...sent, headers: { prefer: 'respond-async' } });
  if (accepted.status !== 202) return accepted;
  const operation = `/v1/operations/${String(accepted.body['operation_id'])}`;
  await (await fetch(`${target.url}${operation}`, { headers: HEADERS })).arrayBuffer();
  return post(target, `${operation}/cancel`, {});
};

const MODEL = (target: Target, llm_api_key = 'sk-hostile') => ({
  llm_provider_model: 'openai_compatible/large',
  llm_api_key,
  llm_api_base: target.modelBase,
});

/** Presigns and uploads, as a client does. */
export const upload = async (
  target: Pick<Target, 'url' | 'tenant_id'>,
  text: string = TEXT,
  file_name = 'a.txt',
): Promise<{ readonly document_id: string; readonly file_uri: string }> => {
  const { tenant_id } = target;
  const kind = file_name.endsWith('.ndjson') ? 'dataset' : 'document';
  const { body } = await post(target, '/v1/uploads/presign', { tenant_id, file_name, kind });
  const headers = body['headers'] as Record<string, string>;
  const sent = await fetch(String(body['upload_url']), { method: 'PUT', headers, body: text });
  await sent.arrayBuffer();
  return { document_id: String(body['document_id']), file_uri: String(body['file_uri']) };
};

const canonical = ({ url, tenant_id }: Target, operation: string, rest: object): Promise<Reply> =>
  post({ url }, '/v1/canonical', { schema_version: '1.0', operation, scope: { tenant_id }, ...rest });

type BySchema = (target: Target, schema: unknown) => Promise<Reply>;
type ByText = (target: Target, text: string) => Promise<Reply>;

const examplesOf = ({ document_id }: Target) => [
  { document_id, expected: { name: 'a' } },
  { document_id, expected: { name: 'b' } },
];

const ROWS = { type: 'object', properties: { rows: { type: 'array', uniqueItems: true } } };

/** What the model of this key answers is the attack. */
export const attackByAnswer = (what: string, key: string): Attack => ({
  what,
  send: (target) =>
    form(target, '/v1/extract', {
      fields: { schema: JSON.stringify(ROWS), mode: 'fast', allow_partial: 'true', ...MODEL(target, key) },
    }),
});

/** Files that are sent as tables: more rows, columns and characters than one may have, and the largest one. */
export const HOSTILE_TABLES: Readonly<Record<string, () => string>> = {
  'a million rows': () => `name,number\n${'Acme GmbH,1001\n'.repeat(1_000_000)}`,
  'a cell of ten megabytes': () => `name\n"${'x'.repeat(10_000_000)}"\n`,
  'a quote that never ends': () => `name\n"${'x,y\n'.repeat(1_000_000)}`,
  'ten thousand columns': () => `${Array.from({ length: 10_000 }, (_, at) => `c${String(at)}`).join(',')}\n`,
  'as much as one may have': () => {
    const row = (at: number) => `Vendor ${String(at)} ${'y'.repeat(150)},${String(at)}`;
    return `name,number\n${Array.from({ length: 100_000 }, (_, at) => row(at)).join('\n')}\n`;
  },
};

/** A file of master data, whatever is in it. */
export const attackByTable = (what: string, text: string): Attack => ({
  what,
  send: (target) => form(target, '/v1/tables', { text, name: 'table.csv' }),
});

/** Each way a schema may enter the service. */
export const SCHEMA_ROUTES: Readonly<Record<string, BySchema>> = {
  'extract, by the embedded engine': (target, schema) =>
    form(target, '/v1/extract', { fields: { schema: JSON.stringify(schema), mode: 'fast' } }),
  'extract, by a model': (target, schema) =>
    form(target, '/v1/extract', {
      fields: { schema: JSON.stringify(schema), mode: 'fast', ...MODEL(target) },
    }),
  'extract, later': (target, schema) =>
    later(target, '/v1/extract', { fields: { schema: JSON.stringify(schema), mode: 'fast' } }),
  'canonical inference.extract': (target, schema) =>
    canonical(target, 'inference.extract', {
      resource: { document_id: target.document_id },
      payload: { schema, mode: 'fast' },
    }),
  configs: ({ url, tenant_id }, schema) => post({ url }, '/v1/configs', { tenant_id, schema }),
  // Each for a tenant of its own: of one tenant a few batches are open at most, and then nothing is looked at.
  batches: ({ url }, schema) =>
    post({ url }, '/v1/batches', {
      tenant_id: `hostile-${crypto.randomUUID()}`,
      file_uris: ['quire://uploads/doc_none'],
      schema,
    }),
  'training jobs': (target, schema) =>
    post(target, '/v1/training/jobs', {
      tenant_id: target.tenant_id,
      schema,
      examples: examplesOf(target),
      mode: 'fast',
    }),
  'canonical training.create': (target, schema) =>
    canonical(target, 'training.create', { payload: { schema, examples: examplesOf(target), mode: 'fast' } }),
};

/** Each way a text may enter the service. */
export const TEXT_ROUTES: Readonly<Record<string, ByText>> = {
  'extract of a text, by a model': (target, text) =>
    form(target, '/v1/extract', {
      fields: { schema: JSON.stringify(PLAIN), mode: 'fast', ...MODEL(target) },
      text,
    }),
  'extract of markdown, by a model': (target, text) =>
    form(target, '/v1/extract', {
      fields: { schema: JSON.stringify(PLAIN), mode: 'fast', ...MODEL(target) },
      text,
      name: 'a.md',
    }),
  'extract, by the embedded engine': (target, text) =>
    form(target, '/v1/extract', { fields: { schema: JSON.stringify(PLAIN), mode: 'fast' }, text }),
  'to-markdown of markdown, later': (target, text) =>
    later(target, '/v1/to-markdown', { fields: { conversion_mode: 'fast' }, text, name: 'a.md' }),
  'split of markdown': (target, text) => form(target, '/v1/split', { fields: {}, text, name: 'a.md' }),
  'to-markdown of markdown': (target, text) =>
    form(target, '/v1/to-markdown', { fields: { conversion_mode: 'fast' }, text, name: 'a.md' }),
  'uploads, then ocr/to-markdown of HTML': async (target, text) => {
    const { tenant_id } = target;
    const { document_id, file_uri } = await upload(target, text, 'a.html');
    await post(target, '/v1/documents/page-count', { documents: [{ document_id }] });
    return post(target, '/v1/ocr/to-markdown', { tenant_id, file_uri, mode: 'fast' });
  },
};

export const attacksBySchema = (route: BySchema): readonly Attack[] =>
  Object.entries({ ...BEYOND_LIMITS, ...HEAVY }).map(([what, schema]) => ({
    what,
    send: (target) => route(target, schema),
  }));

export const attacksByText = (route: ByText, all: boolean): readonly Attack[] =>
  Object.entries(all ? HOSTILE_TEXTS : WORST_TEXTS).map(([what, text]) => ({
    what,
    send: (target) => route(target, text),
  }));
