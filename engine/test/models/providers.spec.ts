import { expect } from 'chai';
import type { JsonObject } from '../../kernel/json.ts';
import { modelNamed, type ModelProviders } from '../../ports/modelProvider.ts';
import { abilitiesOf } from '../../models/abilities.ts';
import { startScriptedProvider, type ScriptedProvider } from '../support/scriptedProvider.ts';
import { answers, reads, status } from '../support/scriptedProvider/steps.ts';
import { accessTo, asking, openProviders, PDF, PNG, SCHEMA } from './asking.ts';

/** Model, the base below the server, and where its requests arrive. */
const MODELS = [
  ['openai/gpt-4o', '/v1', '/v1/chat/completions'],
  ['azure/my-gpt', '', '/openai/v1/chat/completions'],
  ['anthropic/claude-sonnet-4-5', '', '/v1/messages'],
  ['anthropic/claude-3-haiku-20240307', '/v1', '/v1/messages'],
  ['google/gemini-2.5-flash', '', '/v1beta/models/gemini-2.5-flash:generateContent'],
  ['mistral/mistral-large-latest', '/v1/', '/v1/chat/completions'],
  ['groq/llama-4-scout', '', '/openai/v1/chat/completions'],
  ['openrouter/meta/llama', '', '/api/v1/chat/completions'],
  ['together_ai/qwen', '', '/v1/chat/completions'],
  ['deepseek/deepseek-chat', '', '/v1/chat/completions'],
  ['xai/grok-4', '', '/v1/chat/completions'],
  ['ollama/llama3.2', '', '/v1/chat/completions'],
  ['hosted_vllm/qwen2', '', '/v1/chat/completions'],
  ['openai_compatible/mine', '/proxy', '/proxy/chat/completions'],
] as const;

describe('model providers', () => {
  let server: ScriptedProvider;
  let providers: ModelProviders;
  beforeEach(async () => {
    server = await startScriptedProvider();
    providers = openProviders();
  });
  afterEach(async () => {
    await providers.close();
    await server.stop();
  });

  const last = () => {
    const request = server.requests.at(-1);
    if (request === undefined) throw new Error('nothing was asked');
    return { ...request, text: JSON.stringify(request.body) };
  };

  for (const [name, base, path] of MODELS) {
    describe(name, () => {
      const access = () => accessTo(name, `${server.url}${base}`);

      it('answers with text, and says what it used', async () => {
        server.script('*', answers('12.50'));
        const answer = await providers.ask(asking(access()));
        const usage = { input_tokens: 120, output_tokens: 30, cached_input_tokens: 20, pages: null };
        expect(answer).to.deep.equal({ kind: 'answered', text: '12.50', usage, finish: 'stop' });
        expect(last()).to.include({ path, key: 'sk-planted-7f3e' });
        expect(last().text).to.include('Be exact.').and.include('What is the total?');
      });

      it('answers with JSON by a schema', async () => {
        server.script('*', answers({ total: 12.5 }));
        const answer = await providers.ask(asking(access(), { output: { kind: 'json', schema: SCHEMA } }));
        expect(answer).to.include({ kind: 'answered', text: '{"total":12.5}' });
        expect(server.requests).to.have.length(1);
        expect(last().text).to.match(/"total":\{/u);
      });

      it('is shown what it can see, and nothing else', async () => {
        server.script('*', answers('seen'));
        const ref = modelNamed(name);
        const { images, pdf } = abilitiesOf(ref ?? { provider: 'local', model: '' });
        for (const [file, able] of [
          [PNG, images],
          [PDF, pdf],
        ] as const) {
          const turns = [{ role: 'user', text: 'Look', attachments: [file] }] as const;
          const before = server.requests.length;
          const answer = await providers.ask(asking(access(), { turns }));
          expect(answer.kind, file.mimeType).to.equal(able ? 'answered' : 'failed');
          expect(server.requests.length - before).to.equal(able ? 1 : 0);
          if (able) expect(last().text).to.include(file.bytes.toString('base64'));
        }
      });

      it('tells that it was cut off, and that it refused', async () => {
        server.script('*', { ...answers('12'), finish: 'length' }, { ...answers('no'), finish: 'refused' });
        expect(await providers.ask(asking(access()))).to.include({ finish: 'length' });
        // Mistral has no word for it
        const refused = name.startsWith('mistral') ? 'other' : 'refused';
        expect(await providers.ask(asking(access()))).to.include({ finish: refused });
      });
    });
  }

  it('OpenAI is held to the schema in strict mode', async () => {
    server.script('*', answers({ total: 1, note: null }));
    await providers.ask(
      asking(accessTo('openai/gpt-4o', server.url), { output: { kind: 'json', schema: SCHEMA } }),
    );
    expect(last().body['response_format']).to.deep.equal({
      type: 'json_schema',
      json_schema: {
        name: 'response',
        strict: true,
        schema: {
          type: 'object',
          properties: {
            total: { type: 'number', description: '(minimum: 0)' },
            note: { type: ['string', 'null'] },
          },
          required: ['total', 'note'],
          additionalProperties: false,
        },
      },
    });
  });

  it('a server that knows no schemas is told it, and asked so from then on', async () => {
    const access = accessTo('hosted_vllm/old', server.url);
    const request = asking(access, { output: { kind: 'json', schema: SCHEMA } });
    server.script('*', status(400), answers({ total: 1 }));
    expect(await providers.ask(request)).to.include({ kind: 'answered' });
    await providers.ask(request);
    const forms = server.requests.map(({ body }) => (body['response_format'] as { type: string }).type);
    expect(forms).to.deep.equal(['json_schema', 'json_object', 'json_object']);
    expect(last().text).to.include('JSON Schema').and.include('minimum');
  });

  it('that refuses one schema is asked by the others, and by that one again after an hour', async () => {
    let now = 0;
    const own = openProviders({ nowMs: () => now });
    const access = accessTo('hosted_vllm/picky', server.url);
    const by = (schema: JsonObject) => own.ask(asking(access, { output: { kind: 'json', schema } }));
    const other = { type: 'object', properties: { other: { type: 'string' } } };
    server.script('*', status(400), answers({ total: 1 }));
    await by(SCHEMA);
    await by(other);
    await by(SCHEMA);
    now = 61 * 60 * 1000;
    await by(SCHEMA);
    const forms = server.requests.map(({ body }) => (body['response_format'] as { type: string }).type);
    expect(forms).to.deep.equal(['json_schema', 'json_object', 'json_schema', 'json_object', 'json_schema']);
    await own.close();
  });

  it('keeps to the most tokens and the temperature of the caller', async () => {
    server.script('*', answers('x'));
    await providers.ask(asking(accessTo('ollama/m', server.url, { maxTokens: 77, temperature: 0.5 })));
    expect(last().body).to.include({ max_tokens: 77, temperature: 0.5 });
  });

  it('Mistral reads pages', async () => {
    server.script('*', reads({ markdown: '# One', size: [72, 144] }, { markdown: 'two' }));
    const access = accessTo('mistral/mistral-ocr-latest', server.url);
    const answer = await providers.readPages({ access, file: PDF, deadlineMs: 60_000 });
    expect(answer).to.deep.include({ kind: 'read', usage: { ...NO_TOKENS, pages: 2 } });
    const pages = answer.kind === 'read' ? answer.pages : [];
    expect(pages[0]).to.deep.equal({
      page: 1,
      markdown: '# One',
      width: 72,
      height: 144,
      words: [],
      blocks: [],
    });
    expect(pages[1]).to.include({ page: 2, markdown: 'two' });
    expect(last().text).to.include('document_url').and.include(PDF.bytes.toString('base64'));
    await providers.readPages({ access, file: PNG, deadlineMs: 60_000 });
    expect(last().text).to.include('image_url');
  });

  it('Azure reads pages, with the places of words in points', async () => {
    const word = { text: 'One', box: [10, 20, 30, 40], confidence: 0.9 } as const;
    server.script('*', {
      ...reads({ markdown: '# One', words: [word] }, { markdown: 'two' }),
      running: 2,
    });
    const access = accessTo('azure_di/prebuilt-layout', server.url);
    const answer = await providers.readPages({ access, file: PDF, deadlineMs: 60_000 });
    expect(answer).to.deep.include({ kind: 'read', usage: { ...NO_TOKENS, pages: 2 } });
    const [one, two] = answer.kind === 'read' ? answer.pages : [];
    expect([one?.markdown, two?.markdown]).to.deep.equal(['# One', 'two']);
    expect([one?.width, one?.height].map((size) => Math.round(size ?? 0))).to.deep.equal([595, 842]);
    expect(one?.words[0]?.box?.map((at) => Math.round(at * 100) / 100)).to.deep.equal([10, 20, 30, 40]);
    expect(server.requests.map(({ method }) => method)).to.deep.equal(['POST', 'GET', 'GET', 'GET']);
    expect(new Set(server.requests.map(({ key }) => key)).size).to.equal(1);
  });

  it('Azure says that it cannot read a file', async () => {
    server.script('*', { do: 'read_failed' });
    const access = accessTo('azure_di/prebuilt-layout', server.url);
    const answer = await providers.readPages({ access, file: PDF, deadlineMs: 60_000 });
    expect(answer).to.have.nested.property('failure.detail', 'azure_di could not read the document.');
  });
});

const NO_TOKENS = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };
