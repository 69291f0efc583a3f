import { expect } from 'chai';
import { agentFor, httpOver } from '../../models/exchange.ts';
import { askModel, refusedSchemas } from '../../models/askModel.ts';
import { startScriptedProvider } from '../support/scriptedProvider.ts';
import { answers } from '../support/scriptedProvider/steps.ts';
import { accessTo, asking, PDF, PNG, SCHEMA } from './asking.ts';

/** At its own address OpenAI is spoken to otherwise than at any other; here that address is ours. */
describe("OpenAI's responses", () => {
  it('hold to a schema, show a PDF and a picture, are not stored, and say what was used', async () => {
    const server = await startScriptedProvider();
    const dispatcher = await agentFor();
    const { signal } = new AbortController();
    const base = new URL(`${server.url}/v1`);
    const http = httpOver({ dispatcher, origin: base.origin, bytesMax: 100_000, signal, nowMs: Date.now });
    server.script('*', answers({ total: 1, note: null }));
    const access = { ...accessTo('openai/gpt-4o', server.url), apiBase: undefined };
    const request = asking(access, {
      output: { kind: 'json', schema: SCHEMA },
      turns: [{ role: 'user', text: 'Read', attachments: [PDF, PNG] }],
    });
    const attempt = await askModel({ request, base, http, signal, refused: refusedSchemas(Date.now) });
    expect(attempt).to.deep.equal({
      kind: 'ok',
      value: {
        kind: 'answered',
        text: '{"total":1,"note":null}',
        usage: { input_tokens: 120, output_tokens: 30, cached_input_tokens: 20, pages: null },
        finish: 'stop',
      },
    });
    const [sent] = server.requests;
    expect(sent).to.include({ path: '/v1/responses', wire: 'responses' });
    expect(sent?.body).to.include({ store: false });
    expect(sent?.body).to.have.nested.property('text.format.strict', true);
    const text = JSON.stringify(sent?.body);
    for (const part of [
      'input_file',
      'input_image',
      PDF.bytes.toString('base64'),
      PNG.bytes.toString('base64'),
    ])
      expect(text).to.include(part);
    await dispatcher.destroy();
    await server.stop();
  });
});
