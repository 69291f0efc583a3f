import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { plainPdf } from '../../../engine/test/support/pdfs.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';
import { tempFolder, type TempFolder } from '../../../engine/test/support/tempFolder.ts';
import { until } from '../../../engine/test/support/until.ts';
import { type Browser, signedInBy } from '../sessions/browser.ts';
import { CLIENT, startProvider, type TestProvider } from '../sessions/provider.ts';
import { runCommand } from '../../support/quireCommand.ts';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';
import { client, formOf, type CallOptions, type Client } from '../support/client.ts';
import { startReceiver, type Receiver } from '../webhooks/receiver.ts';
import { WEBHOOK_ENV } from '../webhooks/toldTenant.ts';
import { namedIn, words } from './planted.ts';
import { foundIn, foundInTables } from './searched.ts';
import { presigned, put } from './uploads.suite.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_127);
const KILLS = Number(process.env['KILLS'] ?? 10);
/** Uploads that each erasing finds anew: it is never over before it is killed. */
const FRESH = 4;
const KILLED_WITHIN_MS = 900;
const PLANTED = 42;
const PUBLIC_URL = 'http://quire.test';
const TENANT = 'leaves';
const OTHER = 'stays';
const ENV = { ...WEBHOOK_ENV, LOG_LEVEL: 'debug', SEAL_EVERY_MINUTES: '1' };

type Planting = ReturnType<typeof words>;

/** Lines of what was, in the place of which there are others now. */
const changedIn = (was: unknown, is: unknown): readonly string[] => {
  const [before, after] = [was, is].map((value) => JSON.stringify(value, undefined, 1).split('\n'));
  return (before ?? []).flatMap((line, at) =>
    line === after?.[at] ? [] : [`${line} -> ${after?.[at] ?? ''}`],
  );
};

const paged = ({ body }: { readonly body: Readonly<Record<string, unknown>> }) =>
  body['items'] as readonly Readonly<Record<string, unknown>>[];

describe('erasing a tenant, the process being killed', function () {
  this.timeout(2_400_000);
  let folder: TempFolder;
  let receiver: Receiver;
  let provider: TestProvider;
  let service: ServiceProcess;
  let api: Client;
  let said = '';
  before(async () => {
    folder = tempFolder();
    receiver = await startReceiver();
    provider = await startProvider(`${PUBLIC_URL}/v1/session/oidc/callback`);
    await start();
  });
  after(async () => {
    await stopped('SIGKILL');
    await receiver.stop();
    await provider.stop();
    folder.remove();
  });

  const at = (name: string) => join(folder.path, name);
  const signIn = () => ({
    PUBLIC_URL,
    TRUST_PROXY: '1',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT.client_id,
    OIDC_CLIENT_SECRET: CLIENT.client_secret,
  });
  const start = async (): Promise<void> => {
    service = await startService(at('data'), { ...ENV, ...signIn() });
    api = client(service.url);
  };
  const stopped = async (signal: NodeJS.Signals): Promise<void> => {
    await service.stop(signal);
    said += service.output();
  };
  const quire = (...args: readonly string[]) => runCommand({ DATA_DIR: at('data'), ...ENV }, ...args);
  const done = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await quire(...args);
    expect(code, `${args.join(' ')}: ${out}${err}`).to.equal(0);
    return out;
  };
  const ok = async (method: string, path: string, options: CallOptions = {}) => {
    const reply = await api.call(method, path, options);
    expect(reply.status, `${method} ${path}: ${reply.text}`).to.be.below(300);
    return reply;
  };
  const uploaded = async (tenant_id: string, file_name: string, content: string | Uint8Array) => {
    const content_type = file_name.endsWith('.pdf') ? 'application/pdf' : 'text/plain';
    const json = { tenant_id, file_name, content_type };
    const made = presigned(await ok('post', '/v1/uploads/presign', { json }));
    expect((await put(made.url.replace(PUBLIC_URL, service.url), content, made.headers)).status).to.equal(
      200,
    );
    return made;
  };

  const signedIn = (sub: string, tenant: string): Promise<Browser> =>
    signedInBy(api, { provider, publicUrl: PUBLIC_URL }, { sub, tenant, role: 'member' });
  const by = async (browser: Browser, path: string, json?: object): Promise<void> => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const reply = await browser.call('post', path, { headers, ...(json && { json }) });
    expect(reply.status, `${path}: ${reply.text}`).to.be.below(300);
  };

  /** Money, and all that its people write of it. */
  const plantMoney = async (tenant_id: string, { word }: Planting) => {
    const sold = { tenant_id, provider: 'stripe', provider_txn_id: randomUUID() };
    const [invoice_ref, note] = [word('invoice_ref'), word('note of a sale')];
    await ok('post', '/v1/billing/credits', {
      json: { ...sold, credits: 90_000, gross_amount_minor: 9_000, invoice_ref, note },
    });
    const original = {
      original_provider: 'stripe',
      original_provider_txn_id: sold.provider_txn_id,
      provider: 'stripe',
    };
    const refund = { tenant_id, provider_txn_id: randomUUID(), credits: 10, reason: word('refund') };
    await ok('post', '/v1/billing/refunds', { json: { ...refund, ...original } });
    const account = `/v1/admin/tenants/${tenant_id}`;
    await ok('post', `${account}/adjust-credits`, { json: { credits: 50, reason: word('adjustment') } });
    await ok('post', `${account}/set-plan`, { json: { plan: 'paid', reason: word('plan') } });
  };

  /** Documents of three kinds, and work on them that has ended, whose caller waited or did not. */
  const plantWork = async (tenant_id: string, key: string, { word }: Planting) => {
    const schema = {
      type: 'object',
      description: word('schema'),
      properties: {
        total: { type: 'number', description: word('field') },
        payer: { type: 'string' },
        [word('name of a field')]: { type: 'string' },
      },
    };
    const text = (where: string) => `Payer: ${word(`${where}: text`)}\nTotal: 12.50 EUR`;
    const named = (where: string, kind: string) => `${word(`${where}: name`)}.${kind}`;
    const send = async (
      [where, kind]: readonly [string, string],
      fields: object,
      headers: Record<string, string> = {},
    ) => {
      const content = kind === 'pdf' ? new Uint8Array(plainPdf([text(where)])) : text(where);
      const type = kind === 'pdf' ? 'application/pdf' : 'text/plain';
      const all = { tenant_id, schema: JSON.stringify(schema), mode: 'fast', ...fields };
      const form = formOf(all, new Blob([content], { type }), named(where, kind));
      return ok('post', '/v1/extract', { key, form, headers });
    };
    await send(['extract', 'txt'], {}, { 'Idempotency-Key': randomUUID() });
    await send(['operation', 'pdf'], {}, { Prefer: 'respond-async', 'Idempotency-Key': randomUUID() });
    const broken = new Blob([`%PDF-1.7 ${word('broken: text')}`], { type: 'application/pdf' });
    const form = formOf({ tenant_id, schema: JSON.stringify(schema) }, broken, named('broken', 'pdf'));
    expect((await api.call('post', '/v1/extract', { key, form })).code).to.equal('unreadable_file');
    const review = JSON.stringify({ missing_required: true });
    const asked = { type: 'object', properties: { iban: { type: 'string' } }, required: ['iban'] };
    const held = await send(['review', 'csv'], { review, schema: JSON.stringify(asked) });
    const review_id = String(held.body['review_id']);
    const member = await signedIn(word('who decides'), tenant_id);
    await by(member, `/v1/reviews/${review_id}/lease`);
    await by(member, `/v1/reviews/${review_id}/decision`, {
      result: { iban: word('decision') },
      note: word('note of a decision'),
    });
    const used = await uploaded(tenant_id, named('upload', 'txt'), text('upload'));
    const headers = { 'Idempotency-Key': randomUUID() };
    await ok('post', '/v1/ocr/to-markdown', { key, json: { tenant_id, file_uri: used.file_uri }, headers });
    await uploaded(tenant_id, named('unused upload', 'txt'), text('unused upload'));
    const file_uris: string[] = [];
    for (const where of ['first of a batch', 'second of a batch'])
      file_uris.push((await uploaded(tenant_id, named(where, 'txt'), text(where))).file_uri);
    await ok('post', '/v1/batches', { key, json: { tenant_id, schema, file_uris }, headers });
    return { review_id };
  };

  /** What is learned and measured: a job with its artifact and deployment, and a set with a run. */
  const plantLearning = async (tenant_id: string, key: string, { word }: Planting) => {
    const schema = {
      type: 'object',
      description: word('schema of a config'),
      properties: { total: { type: 'number' }, payer: { type: 'string' } },
    };
    const json = { tenant_id, name: word('config'), schema, mode: 'standard' };
    const config_id = String((await ok('post', '/v1/configs', { json })).body['config_id']);
    const examples: object[] = [];
    for (const where of ['first example', 'second example']) {
      const payer = word(`${where}: text`);
      const name = `${word(`${where}: name`)}.txt`;
      const { document_id } = await uploaded(tenant_id, name, `Payer: ${payer}\nTotal: 12.50 EUR`);
      examples.push({ document_id, expected: { total: 12.5, payer: word(`${where}: expected`) } });
    }
    const job = { tenant_id, name: word('job'), schema, examples };
    const job_id = String((await ok('post', '/v1/training/jobs', { key, json: job })).body['job_id']);
    const artifact_id = await until(
      async () => {
        const { body } = await ok('get', `/v1/training/jobs/${job_id}`, { key });
        return body['status'] === 'succeeded' && String(body['artifact_id']);
      },
      100,
      120_000,
    );
    const artifact_uri = `quire://artifacts/${artifact_id}`;
    const deployment = { tenant_id, project_id: 'p', artifact_id, artifact_uri };
    await by(await signedIn(word('who activates'), tenant_id), '/v1/inference/deployments', deployment);
    const [example] = examples;
    const wrong = { ...example, expected: { payer: word('what a run reads wrong') } };
    const set = { tenant_id, name: word('set'), examples: [wrong, ...examples.slice(1)] };
    const set_id = String((await ok('post', '/v1/evaluations/sets', { key, json: set })).body['set_id']);
    await ok('post', '/v1/evaluations/runs', { key, json: { tenant_id, set_id, config_id } });
  };

  /** Everything that a tenant can have, with words in all that its people write and send. */
  const plantIn = async (tenant_id: string) => {
    const plants = words();
    const made = await ok('post', '/v1/api-keys', { json: { tenant_id, name: plants.word('key') } });
    const key = String(made.body['key']);
    const url = `${receiver.url}/${plants.word('webhook url')}`;
    const description = plants.word('webhook');
    const events = ['operation.succeeded', 'batch.ended', 'credits.adjusted', 'review.needed'];
    await ok('post', '/v1/webhooks', { key, json: { tenant_id, url, description, events } });
    await plantMoney(tenant_id, plants);
    const { review_id } = await plantWork(tenant_id, key, plants);
    await plantLearning(tenant_id, key, plants);
    const ended = ['succeeded', 'partial', 'failed', 'ended'];
    for (const list of ['operations', 'batches', 'evaluations/runs'])
      await until(
        async () =>
          paged(await ok('get', `/v1/${list}?tenant_id=${tenant_id}`, { key })).every(({ status }) =>
            ended.includes(String(status)),
          ),
        200,
        120_000,
      );
    return { ...plants, key, review_id };
  };

  const moneyOf = async (tenant: string) => ({
    balance: { ...(await ok('get', `/v1/billing/balance/${tenant}`)).body, as_of: null },
    usage: paged(await ok('get', `/v1/billing/usage/${tenant}?limit=100`)),
    ledger: paged(await ok('get', `/v1/admin/tenants/${tenant}/ledger?limit=100`)).map(
      ({ reason: _, invoice_ref: __, ...entry }) => entry,
    ),
  });
  /** All that is shown of a tenant, and the files that it has. */
  const shownOf = async (tenant: string, review_id: string) => {
    const lists = [
      `api-keys/${tenant}`,
      `billing/grants/${tenant}`,
      `admin/tenants/${tenant}/ledger`,
      ...[
        'documents',
        'configs',
        'webhooks',
        'training/jobs',
        'operations',
        'batches',
        'reviews',
        'inference/deployments',
      ].map((list) => `${list}?tenant_id=${tenant}`),
      `evaluations/sets?tenant_id=${tenant}`,
      `evaluations/runs?tenant_id=${tenant}`,
    ];
    const shown: string[] = [];
    for (const list of lists) shown.push((await ok('get', `/v1/${list}`)).text);
    shown.push((await api.call('get', `/v1/reviews/${review_id}`)).text);
    return shown.map((text) => text.replaceAll(/"(?:as_of|last_used_at)":(?:"[^"]*"|null)/g, ''));
  };

  /** Erases, with something new to erase each time, and is killed at any moment of it. False: it was done by then. */
  const killedErasing = async (word: string, afterMs: number): Promise<boolean> => {
    for (let one = 0; one < FRESH; one += 1) await uploaded(TENANT, `${word}.txt`, `Payer: ${word}`);
    const asked = api.call('delete', `/v1/admin/tenants/${TENANT}/data`).catch(() => undefined);
    const askedAt = performance.now();
    await until(() => performance.now() - askedAt >= afterMs);
    await stopped('SIGKILL');
    await asked;
    const left = await foundIn(at('data/objects'), new Map([[word, 'upload']]));
    await start();
    return left.length > 0;
  };
  const erased = () =>
    until(
      async () => (await ok('delete', `/v1/admin/tenants/${TENANT}/data`)).body['status'] === 'erased',
      1_000,
      300_000,
    );

  it(`leaves none of ${PLANTED} words anywhere, and all money (SEED=${SEED})`, async () => {
    const leaves = await plantIn(TENANT);
    const stays = await plantIn(OTHER);
    expect(leaves.planted.size).to.equal(PLANTED);
    const told = { leaves: await moneyOf(TENANT), stays: await moneyOf(OTHER) };
    const shown = await shownOf(OTHER, stays.review_id);
    expect(namedIn(leaves.planted, await shownOf(TENANT, leaves.review_id)).length).to.be.greaterThan(15);
    await done('backup', at('backups/monday'));
    await done('seal', '--file', at('seals.ndjson'));
    expect((await foundIn(at('data'), leaves.planted)).length).to.be.greaterThan(15);

    const random = seededRandom(SEED);
    const [word = ''] = leaves.planted.keys();
    let wasCut = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const afterMs = random.between(0, KILLED_WITHIN_MS);
      if (await killedErasing(word, afterMs)) wasCut += 1;
    }
    await erased();
    const answer = JSON.parse(
      await done('tenants', 'erase', TENANT, '--yes', '--backups', at('backups'), '--json'),
    ) as { backups: readonly { path: string }[] };
    expect(answer.backups.map(({ path }) => path)).to.deep.equal([at('backups/monday')]);
    console.log(`        ${String(wasCut)} of ${String(KILLS)} kills left something to the next start`);

    expect(namedIn(leaves.planted, await shownOf(TENANT, leaves.review_id))).to.deep.equal([]);
    expect((await api.call('get', `/v1/billing/balance/${TENANT}`, { key: leaves.key })).status).to.equal(
      401,
    );
    expect(changedIn(told.leaves, await moneyOf(TENANT))).to.deep.equal([]);
    expect(changedIn(told.stays, await moneyOf(OTHER))).to.deep.equal([]);
    expect(changedIn(shown, await shownOf(OTHER, stays.review_id))).to.deep.equal([]);
    const exported = await done('events', 'export');
    await done('tenants', 'export', TENANT, '--to', at('export'));
    await done('tenants', 'export', OTHER, '--to', at('export-of-other'));
    expect((await foundIn(at('export-of-other'), stays.planted)).length).to.be.greaterThan(20);
    const running = await foundIn(at('data'), leaves.planted);
    await stopped('SIGTERM');

    expect(running, 'beside the running service').to.deep.equal([]);
    expect(await foundIn(at('data'), leaves.planted), 'files').to.deep.equal([]);
    expect(await foundIn(at('export'), leaves.planted), 'export').to.deep.equal([]);
    expect(namedIn(leaves.planted, [exported, said]), 'log and lines').to.deep.equal([]);
    expect(await foundInTables(at('data'), leaves.planted), 'tables').to.deep.equal([]);
    expect((await foundIn(at('backups/monday'), leaves.planted)).length).to.be.greaterThan(15);

    await done('audit', '--check-seal', at('seals.ndjson'));
    await done('doctor', '--deep');
    await done('projections', 'rebuild');
    await done('audit');
    await start();
    expect(changedIn(told.leaves, await moneyOf(TENANT))).to.deep.equal([]);
    expect(changedIn(shown, await shownOf(OTHER, stays.review_id))).to.deep.equal([]);
  });
});
