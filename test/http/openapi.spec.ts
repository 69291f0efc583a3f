import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { CANONICAL_OPERATIONS } from '../../src/api/canonical.ts';
import { apiRoutes } from '../../src/api/routes.ts';
import { webhookMessages } from '../../src/api/schemas/webhookMessages.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import members from '../../src/server/members.json' with { type: 'json' };
import { servedOpenapi } from './support/client.ts';
import { testApi, type TestApi } from './support/testApi.ts';

type Json = Readonly<Record<string, unknown>>;

interface ObjectSchema {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
}

const schemaAt = (openapi: Json, pointer: string): ObjectSchema =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((at, name) => (at as Json)[name], openapi) as ObjectSchema;

/** Every member of every schema, with the names on the way; what is a reference says it elsewhere. */
function* membersIn(schema: unknown, at: string): Generator<readonly [string, Json]> {
  if (Array.isArray(schema)) for (const one of schema) yield* membersIn(one, at);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return;
  const {
    properties,
    example: _,
    ...rest
  } = schema as {
    readonly example?: unknown;
    readonly properties?: Readonly<Record<string, Json>>;
  };
  for (const [name, member] of Object.entries(properties ?? {})) {
    yield [`${at}.${name}`, member];
    yield* membersIn(member, `${at}.${name}`);
  }
  for (const value of Object.values(rest)) yield* membersIn(value, at);
}

describe('the reference', () => {
  let api: TestApi;
  let openapi: Json;
  before(async () => {
    api = await testApi();
    openapi = await servedOpenapi(api);
  });

  it('is what all answers of specs are held against', () => {
    const ofCode = openApiDocument({ routes: apiRoutes, webhooks: webhookMessages }, api.url);
    expect(openapi).to.deep.equal(JSON.parse(JSON.stringify(ofCode)));
  });

  it('is OpenAPI 3.1 with version 1.0.0 and every route', () => {
    expect(openapi['openapi']).to.equal('3.1.0');
    expect((openapi['info'] as Json)['version']).to.equal('1.0.0');
    const paths = openapi['paths'] as Readonly<Record<string, Json>>;
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(described).to.have.members(api.routes.map(({ method, path }) => `${method} ${path}`));
  });

  it('has no reference that leads nowhere', () => {
    const refs = [...JSON.stringify(openapi).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, ref]) => ref ?? '');
    expect(refs.length).to.be.above(50);
    for (const ref of new Set(refs)) {
      const found = ref.split('/').reduce<unknown>((at, name) => (at as Json | undefined)?.[name], openapi);
      expect(found, ref).to.not.equal(undefined);
    }
  });

  it('shows numbers and flags of queries and forms as what they are', () => {
    const paths = openapi['paths'] as Readonly<Record<string, Readonly<Record<string, Json>>>>;
    const parameters = paths['/v1/billing/usage/{tenant_id}']!['get']!['parameters'] as Json[];
    expect(parameters.find(({ name }) => name === 'limit')!['schema']).to.deep.include({
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 100,
    });
    const form = schemaAt(openapi, '/components/schemas/ExtractForm');
    const { properties } = form;
    expect(properties['allow_partial']).to.include({ type: 'boolean', default: false });
    expect(properties['file']).to.include({ type: 'string', format: 'binary' });
    expect(form).to.have.deep.property('anyOf', [{ required: ['file'] }, { required: ['source_url'] }]);
  });

  it('lets through what the service takes: empty texts, and members of channels that do not run', () => {
    const ajv = new Ajv2020({ strict: false, formats: { binary: true } });
    ajv.addSchema({ ...openapi, $id: 'openapi' });
    const takes = (name: string, body: object) =>
      ajv.compile({ $ref: `openapi#/components/schemas/${name}` })(body);
    const empty = { provider_model: '', api_key: '', api_base: '', max_tokens: '', temperature: '' };
    const prefixed = (name: string) =>
      Object.fromEntries(Object.keys(empty).map((member) => [`${name}_${member}`, '']));
    expect(takes('ModelChannel', empty)).to.equal(true);
    expect(takes('ModelChannel', { temperature: 3 })).to.equal(false);
    expect(takes('OcrChannel', { ...empty, num_retries: 99 })).to.equal(true);
    const channels = { ...prefixed('llm'), ...prefixed('ocr'), llm_max_tokens: '0' };
    expect(takes('ExtractForm', { file: '', ...channels })).to.equal(true);
    expect(takes('ExtractForm', channels)).to.equal(false);
    expect(takes('ToMarkdownForm', { file: '', ...prefixed('ocr') })).to.equal(true);
    const config = { tenant_id: 'acme', config_id: '', name: '', mode: '', artifact_id: '' };
    expect(takes('ConfigUpsertRequest', { ...config, llm: empty, ocr: null })).to.equal(true);
    expect(
      takes('ToMarkdownRequest', { tenant_id: 'acme', file_uri: 'x', file_name: '', ocr: empty }),
    ).to.equal(true);
  });

  it('says of every operation, parameter and member what it is, in a sentence', () => {
    const paths = openapi['paths'] as Readonly<Record<string, Readonly<Record<string, Json>>>>;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const silent = [
      ...operations
        .filter(({ description }) => description === undefined)
        .map(({ operationId }) => operationId),
      ...operations.flatMap(({ operationId, parameters }) =>
        (parameters as Json[])
          .filter(({ description }) => description === undefined)
          .map(({ name }) => `${String(operationId)}?${String(name)}`),
      ),
      ...[...membersIn(openapi, '')]
        .filter(([, member]) => !('description' in member) && !('$ref' in member))
        .map(([at]) => at),
    ];
    expect(silent).to.deep.equal([]);
  });

  it('has a sentence for nothing that is not there', () => {
    const names = new Set([...membersIn(openapi, '')].map(([at]) => at.split('.').at(-1)));
    const paths = openapi['paths'] as Readonly<Record<string, Readonly<Record<string, Json>>>>;
    for (const { parameters } of Object.values(paths).flatMap((methods) => Object.values(methods)))
      for (const { name } of parameters as Json[]) names.add(String(name));
    expect(Object.keys(members).filter((name) => !names.has(name.split('.').at(-1)))).to.deep.equal([]);
  });

  it('has a schema for each code, told apart by the code', () => {
    const { properties } = schemaAt(openapi, '/components/schemas/InsufficientCreditsProblem');
    expect(properties['code']).to.include({ const: 'insufficient_credits' });
    expect(properties).to.include.keys('required_credits', 'available_credits');
    const paths = openapi['paths'] as Readonly<Record<string, Readonly<Record<string, Json>>>>;
    const { 403: refused } = paths['/v1/extract']!['post']!['responses'] as Readonly<Record<string, Json>>;
    expect(JSON.stringify(refused)).to.include('"propertyName":"code"');
  });

  it('shows the envelope with the payload of each of its operations', () => {
    const { oneOf } = schemaAt(openapi, '/components/schemas/CanonicalEnvelope') as unknown as {
      readonly oneOf: readonly { readonly $ref: string }[];
    };
    const shown = oneOf.map(
      ({ $ref }) => schemaAt(openapi, $ref.slice(1)).properties['operation']!['const'] as string,
    );
    expect(shown).to.have.members(Object.keys(CANONICAL_OPERATIONS));
  });

  it('names the address that it was asked at', () => {
    expect(openapi['servers']).to.deep.equal([{ url: api.url, description: 'This service.' }]);
  });

  it('asks for the key, or a session, everywhere but where nobody needs one', () => {
    const paths = openapi['paths'] as Readonly<Record<string, Readonly<Record<string, Json>>>>;
    for (const { path, method, access } of api.routes)
      expect(paths[path]![method]!['security']).to.deep.equal(
        access === 'public' ? [] : [{ apiKey: [] }, { session: [] }],
      );
  });

  it('is a page that loads everything from this origin', async () => {
    const page = await api.call('get', '/docs', { key: null });
    expect(page.headers.get('content-security-policy')).to.include("default-src 'none'");
    const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '');
    expect(loaded.length).to.equal(4);
    for (const url of loaded) {
      expect(url).to.match(/^\/docs\/assets\//);
      const asset = await fetch(`${api.url}${url}`);
      expect(asset.status, url).to.equal(200);
      expect((await asset.arrayBuffer()).byteLength, url).to.be.above(100);
    }
    expect((await api.call('get', '/docs/assets/package.json', { key: null })).code).to.equal(
      'validation_error',
    );
  });

  it('has figures for Prometheus', async () => {
    const { text, headers } = await api.call('get', '/metrics', { key: null });
    expect(headers.get('content-type')).to.include('text/plain');
    expect(text).to.include('quire_http_requests_total{');
  });

  it('answers HEAD without a body', async () => {
    const head = await fetch(`${api.url}/health`, { method: 'HEAD' });
    expect(head.status).to.equal(200);
    expect(await head.text()).to.equal('');
  });
});
