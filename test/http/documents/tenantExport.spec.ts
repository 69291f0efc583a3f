import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import inventory from '../../../src/reference/personalData.json' with { type: 'json' };
import { EXPORTED_FOLDERS, type ExportManifest, exportTenant } from '../../../src/operator/tenantExport.ts';
import { OperatorError } from '../../../src/operator/socket.ts';
import { workerOver } from '../../support/apiWorker.ts';
import { formOf } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from './uploads.suite.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };
const { signal } = new AbortController();

/** All files below a folder, by their path in it. */
const filesIn = (folder: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name))]),
  );

describe('the export of a tenant', () => {
  const folder = tempFolder();
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(async () => {
    await api.stop();
    folder.remove();
  });

  const ok = async (...request: Parameters<TestApi['call']>) => {
    const reply = await api.call(...request);
    expect(reply.status, reply.text).to.be.below(300);
    return reply;
  };

  /** What a person was asked, and has decided with a note. */
  const reviewed = async ({ tenant_id, key, word }: Record<'tenant_id' | 'key' | 'word', string>) => {
    const review = JSON.stringify({ sample: 1 });
    const form = formOf({ tenant_id, schema: JSON.stringify(SCHEMA), review }, new Blob(['Total: 14.50']));
    const headers = { Prefer: 'respond-async' };
    const { operation_id } = (await ok('post', '/v1/extract', { key, form, headers })).body;
    await api.deps.reads.settleAll();
    await api.operations.drain();
    const { review_id, status } = (await ok('get', `/v1/operations/${String(operation_id)}`, { key })).body;
    expect(status).to.equal('needs_review');
    const json = { result: { total: 14.5 }, note: `${word} decided` };
    await ok('post', `/v1/reviews/${String(review_id)}/decision`, { key, json });
  };

  /** A tenant with one of everything that has words; `word` is in all of them. */
  const planted = async (word: string) => {
    const tenant_id = `${word}-${randomUUID()}`;
    await api.sell(tenant_id, 50_000);
    const key = await api.newKey(tenant_id);
    const upload = async (text: string) => {
      const json = { tenant_id, file_name: `${word}.txt`, content_type: 'text/plain' };
      const made = presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
      expect((await put(made.url, text, made.headers)).status).to.equal(200);
      return made;
    };
    const documents = [await upload(`${word} Total: 12.50`), await upload(`${word} Total: 13.50`)];
    for (const { file_uri } of documents) {
      const json = { tenant_id, file_uri };
      const converted = await api.call('post', '/v1/ocr/to-markdown', {
        key,
        json,
        headers: { 'Idempotency-Key': randomUUID() },
      });
      expect(converted.status, converted.text).to.equal(200);
    }
    const examples = documents.map(({ document_id }) => ({ document_id, expected: { total: 1 } }));
    const json = { tenant_id, name: word, schema: SCHEMA, examples };
    const job = await api.call('post', '/v1/training/jobs', { key, json });
    expect(job.status, job.text).to.equal(202);
    await reviewed({ tenant_id, key, word });
    const config = { tenant_id, name: word, schema: SCHEMA, mode: 'standard' };
    const { config_id } = (await ok('post', '/v1/configs', { json: config })).body;
    const expected = { total: 1, of: `${word} expected` };
    const set = { tenant_id, name: word, examples: [{ document_id: documents[0]!.document_id, expected }] };
    const { set_id } = (await ok('post', '/v1/evaluations/sets', { key, json: set })).body;
    await ok('post', '/v1/evaluations/runs', { key, json: { tenant_id, set_id, config_id } });
    return { tenant_id, key, documents };
  };

  const exported = async (tenant_id: string) => {
    const to = join(folder.path, randomUUID());
    const now = () => '2026-01-31T08:00:00.000Z';
    const deps = { log: api.log, objects: api.objects, vault: api.log.vault, now };
    return { to, manifest: await exportTenant(deps, { tenant_id, folder: to, signal }) };
  };

  it("has everything of the tenant, with what each file is, and nothing of another's", async () => {
    const [mine, other] = [await planted('quokka'), await planted('numbat')];
    await workerOver(api).drain();
    // Whoever reports costs may name any document.
    const cost = {
      tenant_id: mine.tenant_id,
      job_id: 'job_1',
      operation: 'extraction',
      provider: 'openai',
      model_name: 'gpt-5-mini',
      input_tokens: 1,
      output_tokens: 1,
      document_id: other.documents[0]!.document_id,
    };
    const logged = await api.call('post', '/v1/internal/llm-cost', { json: cost });
    expect(logged.status, logged.text).to.be.lessThan(300);
    const { to, manifest } = await exported(mine.tenant_id);
    const files = filesIn(to);
    expect(JSON.parse(files.get('manifest.json')!.toString())).to.deep.equal(manifest);
    const told = new Map(manifest.files.map((file) => [file.path, file]));
    expect([...told.keys(), 'manifest.json'].sort()).to.deep.equal([...files.keys()].sort());
    for (const { path, bytes, sha256, what } of manifest.files) {
      const found = files.get(path)!;
      expect([found.length, what !== ''], path).to.deep.equal([bytes, true]);
      expect(createHash('sha256').update(found).digest('hex'), path).to.equal(sha256);
    }
    const kinds = new Set([...told.keys()].map((path) => path.split('/')[0]));
    expect([...kinds]).to.include.members([
      'events',
      'uploads',
      'results',
      'training',
      'reviews',
      'evaluations',
      'artifacts',
      'ledger.csv',
    ]);
    const all = [...files.values()].map((bytes) => bytes.toString()).join('\n');
    expect(all).to.include('quokka Total: 12.50');
    expect(all).to.include('"file_name":"quokka.txt"');
    expect(all).to.include('quokka decided').and.to.include('quokka expected');
    expect(all).not.to.include('numbat');
    expect(all).not.to.include(mine.key);
    expect(all).not.to.match(/key_hash|secret_id/);
    const hash = createHash('sha256').update(mine.key).digest('hex');
    expect(all).not.to.include(hash);
    const balance = (await api.call('get', `/v1/billing/balance/${mine.tenant_id}`)).body['balance_credits'];
    const ledger = files.get('ledger.csv')!.toString().trimEnd().split('\n').slice(1);
    expect(Number(ledger.at(-1)?.split(',').at(-1))).to.equal(balance);
    const sum = ledger.reduce((total, line) => total + Number(line.split(',')[4]), 0);
    expect(sum).to.equal(balance);
  });

  it('has every folder of objects with contents of documents', () => {
    const contents = Object.entries(inventory.objects).filter(([, [kind]]) => kind === 'content');
    expect(contents.map(([folder]) => folder).sort()).to.deep.equal([...EXPORTED_FOLDERS].sort());
  });

  const refusal = (work: Promise<{ readonly manifest: ExportManifest }>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('is refused for a folder that is not empty, and for a tenant that nobody knows', async () => {
    const { to } = await exported((await planted('bilby')).tenant_id);
    const before = filesIn(to);
    const deps = { log: api.log, objects: api.objects, vault: api.log.vault, now: () => '' };
    const again = exportTenant(deps, { tenant_id: 'bilby', folder: to, signal });
    expect(await refusal(again.then((manifest) => ({ manifest })))).to.be.instanceOf(OperatorError);
    expect(filesIn(to)).to.deep.equal(before);
    expect(await refusal(exported('nobody'))).to.be.instanceOf(OperatorError);
  });
});
