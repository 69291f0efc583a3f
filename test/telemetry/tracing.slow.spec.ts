import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runAudit } from '../../src/audit/runAudit.ts';
import { openParts, type Parts } from '../../src/parts/parts.ts';
import { prepareDataDir } from '../support/preparedData.ts';
import { startQuire, type Quire } from '../../src/service/quire.ts';
import { configFrom } from '../../src/config.ts';
import { client, type Client } from '../http/support/client.ts';
import { startEsdbDouble, type EsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { otlpReceiver, type OtlpReceiver, type SeenSpan } from './otlpReceiver.ts';

const PARENT = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const traceparent = (flags: string) => `00-${PARENT.trace}-${PARENT.span}-${flags}`;

const adjust = (tenant: string, credits: number, headers = {}) =>
  [
    'post',
    `/v1/admin/tenants/${tenant}/adjust-credits`,
    { json: { credits, reason: 'goodwill' }, headers },
  ] as const;

interface Traced {
  readonly quire: Quire;
  readonly parts: Parts;
  readonly api: Client;
}

const startTraced = async (dataDir: string, env: Readonly<Record<string, string>>): Promise<Traced> => {
  const common = { PORT: '0', ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'silent', DATA_DIR: dataDir };
  const opened: Parts[] = [];
  const quire = await startQuire(configFrom({ ...common, ...env }), async (...args) => {
    const parts = await openParts(...args);
    opened.push(parts);
    return parts;
  });
  return { quire, parts: opened[0]!, api: client(quire.url) };
};

for (const log of ['embedded log', 'EventStoreDB double'] as const)
  describe(`traces over the ${log}`, () => {
    let folder: string;
    let receiver: OtlpReceiver;
    let double: EsdbDouble | undefined;
    let service: Traced;

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'quire-traced-'));
      await prepareDataDir(folder);
      receiver = await otlpReceiver();
      double = log === 'embedded log' ? undefined : await startEsdbDouble();
      service = await startTraced(folder, {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
        OTEL_SERVICE_NAME: 'quire-spec',
        ...(double !== undefined && { EVENTSTORE_URL: double.connectionString }),
      });
      await service.api.newKey('acme');
    });
    after(async () => {
      await service.quire.stop();
      await double?.close();
      await receiver.close();
      await rm(folder, { recursive: true, force: true });
    });

    const ofRequest = (requestId: string, name = 'adjustCredits') =>
      receiver.until((span) => span.name === name && span.facts['quire.request_id'] === requestId);
    const childOf = (parent: SeenSpan, name: string) =>
      receiver.until((span) => span.name === name && span.parentId === parent.spanId);

    it('lead from a caller through request, command and append to the read models', async () => {
      const headers = { traceparent: traceparent('01'), 'x-request-id': 'traced-1' };
      expect((await service.api.call(...adjust('acme', 500, headers))).status).to.equal(200);
      const request = await ofRequest('traced-1');
      const command = await childOf(request, 'command AdjustCredits');
      const append = await childOf(command, 'append');
      const project = await childOf(append, 'project');
      expect(request.parentId).to.equal(PARENT.span);
      for (const span of [request, command, append, project]) expect(span.traceId).to.equal(PARENT.trace);
      expect(request.facts).to.include({ 'http.response.status_code': 200, 'http.request.method': 'POST' });
      expect(command.facts).to.include({ 'quire.category': 'account', 'quire.outcome': 'done' });
      expect(append.facts).to.include({ 'quire.outcome': 'appended', 'quire.events': 1 });
      expect(project.facts).to.include({ 'quire.events': 1 });
      expect(receiver.resources[0]).to.include({ 'service.name': 'quire-spec' });
    });

    it('show the work on a document, and neither its name nor its content nor a key', async () => {
      const key = await service.api.newKey('acme');
      await service.api.sell('acme', 1_000);
      const form = new FormData();
      form.set('file', new Blob(['Invoice number: TOP-SECRET-17\n'], { type: 'text/plain' }), 'hushhush.txt');
      form.set('schema', '{"type":"object","properties":{"invoice_number":{"type":"string"}}}');
      const headers = { 'x-request-id': 'traced-2', 'idempotency-key': 'hidden-key' };
      expect((await service.api.call('post', '/v1/extract', { key, form, headers })).status).to.equal(200);
      const request = await ofRequest('traced-2', 'extract');
      const settle = await childOf(request, 'command SettleHold');
      await childOf(await childOf(settle, 'append'), 'project');
      const work = await childOf(request, 'document extract');
      expect(work.facts).to.include({ 'quire.outcome': 'ok', 'quire.pages': 1, 'quire.ocr_pages': 0 });
      for (const secret of [key, ADMIN_KEY, 'TOP-SECRET', 'hushhush', 'hidden-key', 'goodwill', folder])
        expect(receiver.text()).to.not.contain(secret);
    });

    it('of requests at the same time do not mix, though one append carries them all', async () => {
      const calls = Array.from({ length: 20 }, (_, n) =>
        service.api.call(...adjust('acme', n + 1, { 'x-request-id': `beside-${String(n)}` })),
      );
      for (const { status } of await Promise.all(calls)) expect(status).to.equal(200);
      const traces = new Set<string>();
      let together = 0;
      for (const n of calls.keys()) {
        const request = await ofRequest(`beside-${String(n)}`);
        const append = await childOf(await childOf(request, 'command AdjustCredits'), 'append');
        const project = await childOf(append, 'project');
        expect(new Set([request.traceId, append.traceId, project.traceId]).size).to.equal(1);
        expect(append.facts['quire.events']).to.equal(1);
        together = Math.max(together, Number(append.facts['quire.batch.commands']));
        traces.add(request.traceId);
      }
      expect(traces.size).to.equal(calls.length);
      expect(together, 'some of them shared an append').to.be.greaterThan(1);
    });

    it('are not recorded where the caller says so, nor of probes', async () => {
      const headers = { traceparent: traceparent('00'), 'x-request-id': 'untraced' };
      await service.api.call(...adjust('acme', 1, headers));
      await fetch(`${service.quire.url}/health/ready`);
      await service.api.call(...adjust('acme', 1, { 'x-request-id': 'traced-3' }));
      const last = await ofRequest('traced-3');
      await childOf(await childOf(await childOf(last, 'command AdjustCredits'), 'append'), 'project');
      const recorded = receiver.spans.map(({ facts }) => facts['quire.request_id']);
      expect(recorded).to.not.include('untraced');
      expect(receiver.spans.map(({ name }) => name)).to.not.include('getReadiness');
    });

    it('begin anew where the caller names none that can be read', async () => {
      const headers = { traceparent: '00-zz-1-01', 'x-request-id': 'odd' };
      await service.api.call(...adjust('acme', 1, headers));
      const request = await ofRequest('odd');
      expect(request.parentId).to.equal(undefined);
      expect(request.traceId).to.match(/^[0-9a-f]{32}$/);
    });

    it('are in the chain of hashes: an audit of events with and without them finds nothing', async () => {
      const withTrace: boolean[] = [];
      for await (const { metadata } of service.parts.log.read('account-acme'))
        withTrace.push('traceparent' in metadata);
      expect(withTrace).to.include(true).and.to.include(false);
      const { report } = await runAudit({ feed: service.parts.log, dense: double === undefined });
      expect(report.findings).to.deep.equal([]);
      expect(report.facts.events).to.be.greaterThan(20);
    });

    it('cost nobody anything while the collector is silent', async () => {
      receiver.silent = true;
      for (let n = 0; n < 50; n += 1)
        expect((await service.api.call(...adjust('acme', 1))).status).to.equal(200);
      receiver.silent = false;
    });
  });

describe('a collector that is away', () => {
  it('neither fails requests, nor keeps the service from ending in time', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quire-traced-'));
    await prepareDataDir(folder);
    const gone = await otlpReceiver();
    await gone.close();
    const { quire, api } = await startTraced(folder, {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${gone.url}/v1/traces`,
    });
    await api.newKey('acme');
    for (let n = 0; n < 20; n += 1) expect((await api.call(...adjust('acme', 1))).status).to.equal(200);
    const began = performance.now();
    await quire.stop();
    expect(performance.now() - began).to.be.lessThan(25_000);
    await rm(folder, { recursive: true, force: true });
  });
});
