import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { plainPdf } from '../../../../engine/test/support/pdfs.ts';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../../engine/test/support/scriptedProvider.ts';
import { answers, type ScriptedRequest } from '../../../../engine/test/support/scriptedProvider/steps.ts';
import { tempFolder } from '../../../../engine/test/support/tempFolder.ts';
import { until } from '../../../../engine/test/support/until.ts';
import { startService, type ServiceProcess } from '../../../support/serviceProcess.ts';
import { client, formOf } from '../../support/client.ts';

const PAGES = 120;
/** Kept answers after which the process is killed, more being asked for. A third loss would end the work. */
const KILLED_AFTER = [1, 3];
/** So much text on a page that the document is shown in five parts. */
const LINE = 'Several words of a long filing that has nothing else to say. '.repeat(2);
const LINES = Array.from({ length: 14 }, () => `0 -6 Td (${LINE}`).join(') Tj ');
const NUMBERS = Array.from({ length: PAGES }, (_, at) => at + 1);
const FILE = new Blob([
  new Uint8Array(plainPdf(NUMBERS.map((number) => `Number ${String(number)}) Tj /F1 5 Tf ${LINES}`))),
]);
const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { numbers: { type: 'array', items: { type: 'integer' } } },
});

const numbersIn = ({ body }: ScriptedRequest): number[] =>
  [...JSON.stringify(body).matchAll(/Number (\d+)/gu)].map(([, number]) => Number(number));

describe('an operation with a model, whose process is killed', function () {
  this.timeout(480_000);
  const folder = tempFolder();
  let provider: ScriptedProvider;
  let service: ServiceProcess;
  const start = async () => {
    service = await startService(folder.path, {
      LLM_ALLOW_PRIVATE_NETWORK: 'true',
      EXTRACTION_MODEL: 'ollama/m',
      EXTRACTION_API_BASE: provider.url,
    });
    return client(service.url);
  };
  /** Names of the answers that are kept for whoever takes the operation over. */
  const kept = async (): Promise<readonly string[]> =>
    (await readdir(folder.path, { recursive: true })).filter((name) => name.includes('asked-'));
  before(async () => {
    provider = await startScriptedProvider();
  });
  after(async () => {
    await service.stop('SIGKILL');
    await provider.stop();
    folder.remove();
  });

  it('goes on where it was, asks for nothing that was answered, and is paid once', async () => {
    let api = await start();
    const key = await api.newKey('acme');
    await api.sell('acme', 100_000);
    const answered: string[] = [];
    let answersMax = 0;
    provider.script('*', (request) => {
      if (answered.length >= answersMax) return { do: 'hang' };
      answered.push(JSON.stringify(request.body));
      return answers({ numbers: numbersIn(request) }, { input: 100, output: 10, cached: 0 });
    });
    const fields = { schema: SCHEMA, shown_pages: 'all', mode: 'standard' };
    const later = { key, form: formOf(fields, FILE, 'filing.pdf'), headers: { prefer: 'respond-async' } };
    const sent = await api.call('post', '/v1/extract', later);
    expect(sent.status, sent.text).to.equal(202);
    const path = `/v1/operations/${String(sent.body['operation_id'])}`;
    const operation = async () => (await api.call('get', path, { key })).body;

    for (const count of KILLED_AFTER) {
      const asked = provider.requests.length;
      answersMax = count;
      await until(
        async () => {
          const { status, error } = await operation();
          expect(status, JSON.stringify(error)).to.be.oneOf(['queued', 'running']);
          return provider.requests.length > asked && (await kept()).length >= count;
        },
        50,
        150_000,
      );
      await service.stop('SIGKILL');
      api = await start();
    }
    answersMax = Infinity;
    const ended = await until(
      async () => {
        const body = await operation();
        return ['succeeded', 'failed'].includes(String(body['status'])) && body;
      },
      100,
      240_000,
    );
    expect(ended['status'], JSON.stringify(ended['error'])).to.equal('succeeded');
    expect(ended).to.have.nested.property('result.result.numbers').that.deep.equals(NUMBERS);
    expect(ended).to.nested.include({ 'result.status': 'success' });
    expect(new Set(answered).size, 'answers asked for again').to.equal(answered.length);
    // They are removed once the end is written.
    await until(async () => (await kept()).length === 0, 50);
    const { credits_used } = ended['cost'] as { credits_used: number };
    const balance = (await api.call('get', '/v1/billing/balance/acme', { key })).body;
    expect(balance).to.include({ held_credits: 0, total_credits_used: credits_used });
    const [costs] = (await api.call('get', '/v1/admin/llm-costs?tenant_id=acme')).body['items'] as unknown[];
    const calls = answered.length;
    expect(costs).to.include({ calls, input_tokens: 100 * calls, output_tokens: 10 * calls });
  });
});
