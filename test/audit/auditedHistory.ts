import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { recorder } from '../../domain/kernel/decider.ts';
import { openParts, type Parts } from '../../src/parts/parts.ts';
import { startQuire } from '../../src/service/quire.ts';
import { extractionEvent, extractionStream, type ExtractionEvent } from '../../domain/workEvents.ts';
import { accountWriter, type AccountWriter } from '../../src/writer/accountWriter.ts';
import { commandHandler } from '../../src/writer/commandHandler.ts';
import { referenceData } from '../../src/commands/reference.ts';
import { configFrom } from '../../src/config.ts';
import { review, reviewEvent, reviewIdOf, reviewStream } from '../../domain/review.ts';
import { operations, workToBill } from '../../src/commands/operations.ts';
import { usageLog } from '../../src/commands/usageLog.ts';
import { usageIdOfOperation } from '../../domain/operation.ts';
import { payment, paymentCodec } from '../../domain/payment.ts';
import { paymentStream } from '../../domain/account/messages.ts';
import { client, formOf, INVOICE, INVOICE_SCHEMA, type Client } from '../http/support/client.ts';
import { hold, settle } from '../support/money/accountCommands.ts';
import type { Trainer } from '../../domain/ports/trainer.ts';
import { artifactIdOfJob } from '../../domain/trainingJob.ts';
import { workerOn } from '../support/apiWorker.ts';
import { plainTrainer } from '../support/pipelineBench.ts';
import { systemClock } from '../../adapters/local/local.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import { disputes, done, metaNow, sending, transfers } from './moneyHistory.ts';
import { told } from './webhookHistory.ts';
import { untilProcessEnds } from '../support/processEnd.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';

/** A tenant with one of everything, and one that is poor. */
export const RICH = 'acme';
export const POOR = 'poor';
/** Of the first billing config. */
const FREE_PAGES = 50;

const ENTRY = { tax_basis: 'exclusive' } as const;
const IMPOSSIBLE = JSON.stringify({
  type: 'object',
  properties: { passport_number: { type: 'string' } },
  required: ['passport_number'],
});

const publications = async (api: Client, { log }: Parts): Promise<void> => {
  const data = { base: 'EUR', rates: { USD: '1.0842', JPY: '161.8' }, source: 'ecb' };
  const reference = referenceData({ store: log });
  for (const date of ['2026-01-02', '2026-01-05'])
    await reference.publishFxRates({ type: 'PublishFxRates', data: { ...data, date }, meta: metaNow() });
  const entries = [
    { ...ENTRY, currency: 'USD', price_per_1000_credits: '1.00' },
    { ...ENTRY, currency: 'EUR', price_per_1000_credits: '0.92' },
    { ...ENTRY, currency: 'JPY', price_per_1000_credits: '150', tax_basis: 'inclusive' },
  ];
  await done(api, '/v1/admin/credit-prices', { entries });
  await done(api, '/v1/admin/billing-config', { free_pages: 3, note: 'fewer free pages' });
  const config = { tenant_id: RICH, schema: JSON.parse(INVOICE_SCHEMA) as object };
  const { body } = await done(api, '/v1/configs', config);
  await done(api, '/v1/configs', { ...config, config_id: body['config_id'], name: 'invoices' });
  const { body: ended } = await done(api, '/v1/configs', config);
  await api.call('delete', `/v1/configs/${String(ended['config_id'])}`);
  const rate = { operation: 'extract', extraction_mode: 'fast', billing_type: 'full_service' };
  await done(api, '/v1/billing/rates', { ...rate, credits_per_page: 11 });
};

const money = async (api: Client, tenant_id: string): Promise<void> => {
  const sell = (more: object) =>
    done(api, '/v1/billing/credits', {
      tenant_id,
      provider: 'stripe',
      provider_txn_id: randomUUID(),
      ...more,
    });
  const original = randomUUID();
  await sell({ provider_txn_id: original, credits: 20_000, gross_amount_minor: 2_000 });
  const euros = { provider_txn_id: randomUUID(), currency: 'EUR', credits: 10_870 };
  const paid = { gross_amount_minor: 1_190, vat_amount_minor: 190 };
  await sell({ ...euros, ...paid });
  await sell({ currency: 'JPY', credits: 10_000, gross_amount_minor: 1_500, vat_amount_minor: 136 });
  await sell({ credits: 500 });
  for (const part of [
    { credits: 1_000, gross_amount_minor: 100 },
    { credits: 0, gross_amount_minor: 7 },
  ]) {
    const { body } = await done(api, '/v1/billing/refunds', {
      tenant_id,
      provider: 'stripe',
      provider_txn_id: randomUUID(),
      original_provider_txn_id: original,
      ...part,
    });
    if (part.credits > 0)
      await done(api, `/v1/billing/refunds/${String(body['refund_id'])}/reversal`, {
        provider_txn_id: randomUUID(),
        gross_amount_minor: 50,
      });
  }
  await disputes(api, original);
  for (const credits of [700, -200])
    await done(api, `/v1/admin/tenants/${tenant_id}/adjust-credits`, { credits, reason: 'goodwill' });
  const hole = { credits: -100, reason: 'charged back', allow_negative: true };
  for (const tenant of ['overdrawn', 'merged'])
    await done(api, `/v1/admin/tenants/${tenant}/adjust-credits`, hole);
  await transfers(api, { tenant_id, original });
  await done(api, '/v1/billing/dspy-examples-charge', { tenant_id, idempotency_key: 'export-1' });
  // Part of a sale is refunded, its fee becomes known, and then its rate turns out to be wrong.
  await done(api, '/v1/billing/refunds', {
    tenant_id,
    provider: 'stripe',
    provider_txn_id: randomUUID(),
    original_provider_txn_id: euros.provider_txn_id,
    gross_amount_minor: 119,
  });
  await sell({ ...euros, ...paid, provider_fee_minor: 45, invoice_ref: 'INV-9' });
  const wrong = { currency: 'EUR', rate_date: '2026-01-05', fx_rate_to_usd: '1.09', reason: 'mistyped' };
  const corrected = await done(api, '/v1/admin/fx-corrections', wrong);
  expect(corrected.body['corrected']).to.have.length(1);
};

/** A month that is closed, and one that was opened again: first of all, for a closing binds the positions before it. */
const closings = async (api: Client): Promise<void> => {
  const months = '/v1/admin/books/months';
  for (const month of ['2026-01', '2026-02'])
    expect((await api.call('post', `${months}/${month}/close`)).status).to.equal(200);
  await done(api, `${months}/2026-02/reopen`, { reason: 'a rate was missing' });
};

const work = async (api: Client, tenant: string): Promise<void> => {
  const key = await api.newKey(tenant);
  const extract = (schema: string, mode: string) =>
    api.call('post', '/v1/extract', { key, form: formOf({ schema, mode, tags: '{"team":"a"}' }, INVOICE) });
  for (const mode of ['standard', 'fast', 'standard', 'robust'])
    expect((await extract(INVOICE_SCHEMA, mode)).status).to.equal(200);
  expect((await extract(IMPOSSIBLE, 'standard')).status).to.be.greaterThan(399);
  expect((await api.call('post', '/v1/to-markdown', { key, form: formOf({}, INVOICE) })).status).to.equal(
    200,
  );
  const free = await api.call('post', '/v1/extract', {
    form: formOf({ schema: INVOICE_SCHEMA }, INVOICE),
  });
  expect(free.status, free.text).to.equal(200);
};

const costs = async (api: Client, tenant_id: string): Promise<void> => {
  const model = { provider: 'openai', model_name: 'gpt-4o-mini' };
  const prices = { input_usd_per_million_tokens: '0.15', output_usd_per_million_tokens: '0.60' };
  const call = {
    ...model,
    tenant_id,
    job_id: 'job_1',
    operation: 'extract',
    input_tokens: 900,
    output_tokens: 90,
  };
  await done(api, '/v1/internal/llm-cost', call);
  await done(api, '/v1/admin/provider-pricing', { ...model, ...prices });
  for (const more of [{}, { cost_usd: '0.0123' }])
    await done(api, '/v1/internal/llm-cost', { ...call, ...more });
};

const keysAndLimits = async (api: Client, tenant_id: string): Promise<void> => {
  const [rotated, revoked] = [await api.newKey(tenant_id), await api.newKey(tenant_id)];
  await done(api, '/v1/api-keys/rotate', { key: rotated });
  expect((await api.call('delete', `/v1/api-keys/${revoked}`)).status).to.be.lessThan(300);
  const tenant = `/v1/admin/tenants/${tenant_id}`;
  const money = { threshold_credits: 100, credits: 1_000, monthly_credits_max: 5_000, currency: 'USD' };
  for (const [path, json] of [
    [`${tenant}/rate-limits`, { heavy: { rate_per_second: 5, burst: 9 } }],
    [`${tenant}/retention`, { days: { uploads: 7 } }],
    [`/v1/billing/top-up/${tenant_id}`, { ...money, active: true, payer: 'cus_1', payment_method: 'pm_1' }],
  ] as const)
    expect((await api.call('put', path, { json })).status).to.be.lessThan(300);
};

const uploadedText = async (api: Client, tenant_id: string, text: string): Promise<string> => {
  const json = { tenant_id, file_name: 'a.txt' };
  const { body } = await api.call('post', '/v1/uploads/presign', { json });
  expect((await fetch(String(body['upload_url']), { method: 'PUT', body: text })).status).to.equal(200);
  return String(body['document_id']);
};

/** Erased: uploads that were used, removed before and not used, and a document that came with its request. */
const erasures = async (
  api: Client,
  { key, tenant_id }: { readonly key: string; readonly tenant_id: string },
): Promise<void> => {
  const sent = await api.call('post', '/v1/extract', {
    key,
    form: formOf({ schema: INVOICE_SCHEMA }, INVOICE),
  });
  expect(sent.status, sent.text).to.equal(200);
  const newest = await api.call('get', `/v1/documents?tenant_id=${tenant_id}&limit=1`);
  const [{ document_id = '' } = {}] = newest.body['items'] as { document_id?: string }[];
  const used = [await uploadedText(api, tenant_id, 'E'), await uploadedText(api, tenant_id, 'F')];
  for (const one of used) await done(api, '/v1/documents/page-count', { documents: [{ document_id: one }] });
  expect((await api.call('delete', `/v1/uploads/${used[0] ?? ''}`)).status).to.equal(204);
  for (const one of [document_id, ...used, await uploadedText(api, tenant_id, 'G')])
    expect((await api.call('delete', `/v1/documents/${one}`)).status).to.equal(204);
};

/** Jobs that succeed, are cancelled, fail and wait; artifacts, and deployments of them. */
const pipelines = async (api: Client, { log, objects }: Parts, tenant_id: string): Promise<void> => {
  const [key, schema] = [await api.newKey(tenant_id), JSON.parse(INVOICE_SCHEMA) as object];
  const documents = [await uploadedText(api, tenant_id, 'A'), await uploadedText(api, tenant_id, 'B')];
  const examples = documents.map((document_id) => ({ document_id, expected: {} }));
  const json = { tenant_id, schema, examples, tags: { team: 'a' } };
  const created = async () =>
    String((await api.call('post', '/v1/training/jobs', { key, json })).body['job_id']);
  const jobs = [await created(), await created(), await created(), await created()];
  await done(api, `/v1/training/jobs/${jobs[2] ?? ''}/cancel`, {});
  const accounts = accountWriter({ store: log });
  const run = (ids: readonly string[], trainer: Trainer) =>
    workerOn({ log, objects, accounts, trainer }, { tenant_id, jobs: ids }).drain();
  await run(jobs.slice(0, 2), plainTrainer);
  const failure = { kind: 'failed', code: 'provider_timeout', detail: 'It did not answer.' } as const;
  await run([await created()], { run: () => Promise.resolve({ ...failure, lasting: true }) });
  await run([await created()], { run: () => Promise.resolve({ ...failure, lasting: false }) });
  await accounts.close();
  const unused = await uploadedText(api, tenant_id, 'C');
  const counted = await uploadedText(api, tenant_id, 'D');
  await done(api, '/v1/documents/page-count', { documents: [{ document_id: counted }] });
  for (const document_id of [unused, counted])
    expect((await api.call('delete', `/v1/uploads/${document_id}`)).status).to.equal(204);
  await erasures(api, { key, tenant_id });
  const artifacts = jobs.slice(0, 2).map(artifactIdOfJob);
  for (const [at, rollout] of [undefined, { strategy: 'canary', percent: 20 }, undefined].entries())
    await done(api, '/v1/inference/deployments', {
      tenant_id,
      project_id: 'p',
      artifact_id: artifacts[at % 2],
      rollout,
      artifact_uri: `quire://artifacts/${artifacts[at % 2] ?? ''}`,
    });
};

/** Operations that wait and that are cancelled: nobody works on them here. */
const waitingOperations = async (api: Client, tenant_id: string): Promise<void> => {
  const key = await api.newKey(tenant_id);
  const accepted = async () => {
    const form = formOf({ schema: INVOICE_SCHEMA }, INVOICE);
    const reply = await api.call('post', '/v1/extract', { key, form, headers: { prefer: 'respond-async' } });
    expect(reply.status, reply.text).to.equal(202);
    return String(reply.body['operation_id']);
  };
  await accepted();
  await done(api, `/v1/operations/${await accepted()}/cancel`, {});
};

/** The digest of the result that an operation succeeded with, and was billed for. */
export const PAID_RESULT = 'f'.repeat(64);

/** An operation that was done and billed: what its worker writes. */
const paidOperation = async (api: Client, { log }: Parts, tenant_id: string): Promise<void> => {
  const key = await api.newKey(tenant_id);
  const form = formOf({ schema: INVOICE_SCHEMA, tags: '{"team":"a"}' }, INVOICE);
  const reply = await api.call('post', '/v1/extract', { key, form, headers: { prefer: 'respond-async' } });
  expect(reply.status, reply.text).to.equal(202);
  const operation_id = String(reply.body['operation_id']);
  const [work, name] = [operations(log), { operation_id, tenant_id }];
  const { accepted } = await work.stateOf(operation_id);
  if (accepted === null) throw new Error('it was not accepted');
  const { project_id, task_id, document_id, hold_id, work_id, pages, file_sha256 = '' } = accepted;
  const lease = { lease_id: 'l', lease_until: new Date(Date.now() + 60_000).toISOString(), worker: 'w' };
  await work.handle(name, { type: 'Start', data: { ...lease, watched: null }, meta: metaNow() });
  const usage = usageLog({ store: log, clock: systemClock(), wrote: () => undefined });
  const file = { path: '', file_name: 'a.txt', bytes: 1, sha256: file_sha256 };
  const bill = workToBill(accepted);
  const plan = { operation: 'extract', task: { kind: 'extract', config: null } };
  const asked = { request: { project_id, task_id, file }, plan, bill, document_id };
  const read = { models: { model: 'local/default', ocr_model: null }, mime_type: 'text/plain' };
  await usage.requested({ ...asked, ...read, hold_id, document_pages: pages } as Parameters<
    typeof usage.requested
  >[0]);
  const ends = { usage_id: usageIdOfOperation(operation_id), duration_ms: 5 };
  const done = { outcome: 'success', billing_type: 'full_service', result_sha256: PAID_RESULT } as const;
  const success = { lease_id: 'l', hold_id, ...done, ...ends };
  await work.handle(name, { type: 'Succeed', data: success, meta: metaNow() });
  const accounts = accountWriter({ store: log });
  const { duration_ms, usage_id } = ends;
  const delivered = { status: 'success', duration_ms, result_sha256: PAID_RESULT } as const;
  const scope = { project_id, task_id, document_id, job_id: null, api_key_id: accepted.api_key_id };
  const settled = { tenant_id, hold_id: hold_id ?? '', usage_id, pages, ...scope, delivered };
  const { kind } = await accounts.execute({ type: 'SettleHold', data: settled, meta: metaNow() });
  expect(kind).to.equal('done');
  await accounts.close();
  const end = { kind: 'completed', status: 'success', free_pages: 0, duration_ms } as const;
  const { actor, correlation_id, now: ended_at } = metaNow();
  const fact = { kind: 'work_end', operation: 'extract', operation_id: work_id, tenant_id, pages } as const;
  await usage.ended({ ...fact, end, ended_at, correlation_id, actor });
};

/** An operation of a service key whose result a person has to look at. Gives its review. */
const toLookAt = async (api: Client, { log }: Parts, tenant_id: string) => {
  const key = await api.newKey('ops', 'service');
  const form = formOf({ tenant_id, schema: INVOICE_SCHEMA }, INVOICE);
  const reply = await api.call('post', '/v1/extract', { key, form, headers: { prefer: 'respond-async' } });
  expect(reply.status, reply.text).to.equal(202);
  const operation_id = String(reply.body['operation_id']);
  const work = operations(log);
  const lease = { lease_id: 'l', lease_until: new Date(Date.now() + 60_000).toISOString(), worker: 'w' };
  const name = { operation_id, tenant_id };
  await work.handle(name, { type: 'Start', data: { ...lease, watched: null }, meta: metaNow() });
  await work.handle(name, {
    type: 'Succeed',
    data: {
      lease_id: 'l',
      outcome: 'success',
      billing_type: 'full_service',
      hold_id: null,
      usage_id: 'use_l',
      duration_ms: 5,
      result_sha256: 'b'.repeat(64),
      review: { reasons: ['below', 'rules'], question_sha256: 'c'.repeat(64) },
    },
    meta: metaNow(),
  });
  return { ...name, review_id: reviewIdOf(operation_id), opened_at: metaNow().now, by: 'key_1' };
};

/** One that was decided, and one that was opened again and is held. */
const lookedAt = async (api: Client, parts: Parts, tenant_id: string): Promise<void> => {
  const codec = eventCodec(reviewEvent);
  const handle = commandHandler({ store: parts.log, tenantOf: () => tenant_id, codec, decider: review });
  const digests = {
    document_sha256: 'a'.repeat(64),
    schema_sha256: 'd'.repeat(64),
    before_sha256: 'b'.repeat(64),
  };
  const decided = { ...digests, decision_sha256: 'e'.repeat(64), read: 3, confirmed: 1, corrected: 1 };
  for (const isDoubted of [false, true]) {
    const asked = await toLookAt(api, parts, tenant_id);
    const stream = reviewStream(asked.review_id);
    const said = { ...asked, ...decided, document_id: 'doc_1', generation: 1 };
    await handle(stream, { type: 'Lease', data: asked, meta: metaNow() });
    await handle(stream, { type: 'Decide', data: said, meta: metaNow() });
    if (!isDoubted) continue;
    await handle(stream, { type: 'Reopen', data: asked, meta: metaNow() });
    await handle(stream, { type: 'Lease', data: asked, meta: metaNow() });
  }
};

/** A batch that waits and one that was cancelled: nobody works on them here. */
const waitingBatches = async (api: Client, tenant_id: string): Promise<void> => {
  const schema = JSON.parse(INVOICE_SCHEMA) as object;
  const uris = ['quire://uploads/doc_1', 'quire://uploads/doc_2'];
  const json = { tenant_id, file_uris: uris, schema, tags: { team: 'a' } };
  const accepted = async () => {
    const reply = await api.call('post', '/v1/batches', { json });
    expect(reply.status, reply.text).to.equal(202);
    return String(reply.body['batch_id']);
  };
  await accepted();
  await done(api, `/v1/batches/${await accepted()}/cancel`, {});
};

/** A set of two versions and a run that waits, one that was removed, and one that lost a document. */
const measuring = async (api: Client, tenant_id: string): Promise<void> => {
  const example = async (total: number) => {
    const json = { tenant_id, file_name: 'a.txt', content_type: 'text/plain' };
    const { body } = await done(api, '/v1/uploads/presign', json);
    const headers = { 'content-type': 'text/plain' };
    const sent = await fetch(String(body['upload_url']), {
      headers,
      method: 'PUT',
      body: `Total: ${String(total)} EUR`,
    });
    expect(sent.status).to.equal(200);
    return { document_id: String(body['document_id']), expected: { total } };
  };
  const [one, two] = [await example(10), await example(20)];
  const published = async (json: object) =>
    String((await done(api, '/v1/evaluations/sets', { tenant_id, ...json })).body['set_id']);
  const set_id = await published({ name: 'January', examples: [one] });
  await published({ set_id, examples: [one, two] });
  const schema = JSON.parse(INVOICE_SCHEMA) as object;
  await done(api, '/v1/evaluations/runs', { tenant_id, set_id, schema });
  await api.call('delete', `/v1/evaluations/sets/${await published({ examples: [two] })}`);
  const [three, four] = [await example(30), await example(40)];
  await published({ name: 'February', examples: [three, four] });
  expect((await api.call('delete', `/v1/documents/${four.document_id}`)).status).to.equal(204);
};

/** A table of two versions, and one that was removed. */
const tables = async (api: Client, tenant_id: string): Promise<void> => {
  const published = async (fields: Readonly<Record<string, string>>, rows: string): Promise<string> => {
    const form = formOf({ tenant_id, ...fields }, new Blob([`number,name\n${rows}`]), 'vendors.csv');
    const { status, body } = await api.call('post', '/v1/tables', { form });
    expect(status).to.equal(201);
    return String(body['table_id']);
  };
  const table_id = await published({}, '1001,Acme GmbH\n');
  await published({ table_id }, '1001,Acme AG\n');
  await api.call('delete', `/v1/tables/${await published({}, '7,Gone Ltd\n')}`);
};

/** An extraction whose request ended right after its burn. */
const burnedUnrecorded = async (store: Parts['log'], writer: AccountWriter): Promise<void> => {
  const handle = commandHandler({
    store,
    tenantOf: () => POOR,
    codec: eventCodec(extractionEvent),
    decider: recorder<ExtractionEvent>(() => false),
  });
  const { data } = hold(POOR, 'hold_burned', 1);
  await handle(extractionStream(data.operation_id), {
    type: 'Record',
    meta: metaNow(),
    data: {
      type: 'ExtractionRequested',
      data: {
        extraction_id: data.operation_id,
        tenant_id: POOR,
        project_id: 'p',
        task_id: 't',
        document_id: 'doc_burned',
        document_sha256: 'a'.repeat(64),
        mode: 'standard',
        billing_type: 'full_service',
        model: 'local/default',
        ocr_model: null,
        pages: 1,
        hold_id: 'hold_burned',
        api_key_id: 'key_1',
        requested_at: metaNow().now,
      },
    },
  });
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const held = { ...data, credits_per_page: asCredits(40), free_pages_allowance: FREE_PAGES, expires_at };
  await writer.execute({ type: 'HoldCredits', data: held, meta: metaNow() });
  const burn = settle(POOR, 'hold_burned', 1);
  const delivered = { status: 'success', duration_ms: 7 } as const;
  await writer.execute({ ...burn, data: { ...burn.data, delivered }, meta: metaNow() });
};

/** An open hold, a burn without its usage event, credits on their way, and a claim that its request did not act on. */
const unfinished = async ({ log }: Parts): Promise<void> => {
  const writer = accountWriter({ store: log });
  const meta = metaNow();
  // It takes all free pages, and one that is paid.
  const command = hold(POOR, 'hold_open', FREE_PAGES + 1);
  const data = {
    ...command.data,
    credits_per_page: asCredits(40),
    free_pages_allowance: FREE_PAGES,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  };
  await writer.execute({ ...command, data, meta });
  await burnedUnrecorded(log, writer);
  await writer.execute(sending(RICH, POOR, metaNow()));
  await writer.close();
  const identity = { provider: 'stripe', provider_txn_id: 'under way' };
  const tenantOf = () => POOR;
  const handle = commandHandler({ decider: payment, codec: paymentCodec, store: log, tenantOf });
  const intent = { type: 'Unreadable', stored: {} } as const;
  const claim = { ...identity, tenant_id: POOR, kind: 'sale', fingerprint: 'f', intent } as const;
  await handle(paymentStream(identity), { type: 'ClaimPayment', data: claim, meta: metaNow() });
};

/** Lets a real service trade in a data folder, and ends it: a log with every kind of event it writes. */
const writeHistory = async (dataDir: string): Promise<void> => {
  const config = configFrom({
    DATA_DIR: dataDir,
    PORT: '0',
    ADMIN_API_KEY: ADMIN_KEY,
    LOG_LEVEL: 'silent',
    ROLES: 'api,projector',
  });
  const opened: Parts[] = [];
  const quire = await startQuire(config, async (...args) => {
    const parts = await openParts(...args);
    opened.push(parts);
    return parts;
  });
  const [parts] = opened;
  const api = client(quire.url);
  if (parts === undefined) throw new Error('no parts were opened');
  await closings(api);
  await publications(api, parts);
  await told(api, parts, RICH);
  await money(api, RICH);
  await work(api, RICH);
  await costs(api, RICH);
  await keysAndLimits(api, RICH);
  await pipelines(api, parts, RICH);
  await waitingOperations(api, RICH);
  await paidOperation(api, parts, RICH);
  await waitingBatches(api, RICH);
  await measuring(api, RICH);
  await tables(api, RICH);
  await lookedAt(api, parts, RICH);
  await api.sell(POOR, 1_000);
  await unfinished(parts);
  await api.newKey('late');
  await api.call('get', '/v1/billing/balance/late');
  // The last event of its account, which moves no credits.
  const budget = { name: 'Claims', scope: {}, period: 'month', limit_credits: 12_000 };
  await done(api, '/v1/billing/budgets', { tenant_id: 'late', ...budget });
  await quire.stop();
};

let written: Promise<TempFolder> | undefined;

/** The data folder of that service: written once for all specs, who work on copies of it. */
export const history = async (): Promise<string> => {
  written ??= (async () => {
    const folder = tempFolder();
    untilProcessEnds(
      () => Promise.resolve(),
      () => {
        folder.remove();
      },
    );
    await writeHistory(folder.path);
    return folder;
  })();
  return (await written).path;
};
