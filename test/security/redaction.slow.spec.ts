import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { REDACTED, redactor, SECRET_VARIABLES, URL_VARIABLES } from '../../src/redact.ts';
import { client, formOf, INVOICE, INVOICE_SCHEMA } from '../http/support/client.ts';
import { startService } from '../support/serviceProcess.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { MAIN } from '../support/program.ts';

describe('secrets of the environment', () => {
  const PLANTED = 'pl4nted-secret-0123456789';

  it('are taken out of any text, as they are, escaped, and in a JSON line', () => {
    const awkward = 'a"b\\c/d@e f+%g';
    const url = `postgres://quire:${encodeURIComponent(awkward)}@db.example:5432/quire`;
    const redact = redactor({
      DATABASE_URL: url,
      OPENAI_API_KEY: PLANTED,
      FIELD_ENCRYPTION_KEYS_OLD: `${PLANTED}1, ${PLANTED}2`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=billing-team,authorization=Bearer%20tr4ce-t0ken',
    });
    expect(redact('sent with Bearer tr4ce-t0ken')).to.equal(`sent with ${REDACTED}`);
    expect(redact('no authorization given')).to.equal('no authorization given');
    const told = [
      url,
      awkward,
      encodeURIComponent(awkward),
      JSON.stringify({ msg: 'failed', reason: `no ${awkward}`, nested: { deep: [url] } }),
      `Incorrect API key: ${PLANTED}`,
      `${PLANTED}1 and ${PLANTED}2`,
      `connect https://u:${PLANTED}@x/ failed`,
    ];
    for (const text of told) {
      const shown = redact(text);
      expect(shown).to.include(REDACTED);
      for (const secret of [
        awkward,
        encodeURIComponent(awkward),
        JSON.stringify(awkward).slice(1, -1),
        PLANTED,
      ])
        expect(shown).to.not.include(secret);
    }
    expect(redact('{"msg":"request","status":200}')).to.equal('{"msg":"request","status":200}');
    expect(redact('a@example.com wrote')).to.equal('a@example.com wrote');
    expect(redact('at http://a/b, http://u:p@q@c/d@e')).to.equal(`at http://a/b, http://${REDACTED}@c/d@e`);
  });

  it('are looked for in a time that grows with a text, not with its square', () => {
    const long = `${'a'.repeat(200_000)}@${'://'.repeat(50_000)}`;
    expect(redactor({})(long)).to.equal(long);
  });

  it('are of variables that one list names: whatever sounds like a secret is on it', async () => {
    const text = await readFile(new URL('../../../src/environment.ts', import.meta.url), 'utf8');
    const names = [...text.matchAll(/^ {4}([A-Z][A-Z0-9_]+): /gm)].map(([, name]) => name ?? '');
    expect(names.length).to.be.greaterThan(25);
    const known: readonly string[] = [...SECRET_VARIABLES, ...URL_VARIABLES];
    // What allows something is a yes or a no.
    const settings = names.filter((name) => !name.startsWith('ALLOW_'));
    for (const name of settings.filter((one) => /KEY|SECRET|PASSWORD|TOKEN|URL|ENDPOINT|_BASE$/.test(one)))
      expect(known, name).to.include(name);
  });

  /** All that a start prints: until it fails by what it was told to use, or serves without it. */
  const printedBy = async (folder: string, env: Readonly<Record<string, string>>): Promise<string> => {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, [MAIN], {
      env: { PATH, HOME, DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'trace', START_WAIT_SECONDS: '2', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    const hear = (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('Quire listens')) child.kill('SIGTERM');
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    await once(child, 'close');
    return text;
  };

  it('are in nothing that a start prints which fails by them', async function () {
    this.timeout(180_000);
    const folder = tempFolder();
    const s3 = { S3_BUCKET: 'bucket', S3_ACCESS_KEY: `${PLANTED}a`, S3_SECRET_KEY: `${PLANTED}s` };
    const starts: readonly Readonly<Record<string, string>>[] = [
      { DATABASE_URL: `postgres://quire:${PLANTED}@db:99999999/quire` },
      { DATABASE_URL: `postgres://quire:${PLANTED}@127.0.0.1:1/quire` },
      { EVENTSTORE_URL: `esdb://quire:${PLANTED}@db:port?tls=false` },
      { EVENTSTORE_URL: `esdb://quire:${PLANTED}@127.0.0.1:1?tls=perhaps` },
      { REDIS_URL: `redis://quire:${PLANTED}@cache:99999999/0` },
      { S3_ENDPOINT: `http://quire:${PLANTED}@127.0.0.1:port`, ...s3 },
      { S3_ENDPOINT: 'http://127.0.0.1:1', ...s3 },
      { FIELD_ENCRYPTION_KEY: PLANTED },
      { EXTRACTION_MODEL: 'nowhere', OPENAI_API_KEY: PLANTED },
    ];
    const all = await Promise.all(starts.map((env, at) => printedBy(join(folder.path, String(at)), env)));
    for (const [at, env] of starts.entries()) {
      const printed = all[at] ?? '';
      const what = JSON.stringify(Object.keys(env));
      expect(printed, what).to.not.equal('');
      expect(printed, what).to.not.include(PLANTED);
    }
    folder.remove();
  });

  it('are gone from what Linux shows of it to other processes, and the service has them', async () => {
    const folder = tempFolder();
    const key = `${PLANTED}-admin-key-of-the-start`;
    const service = await startService(folder.path, { ADMIN_API_KEY: key, PGPASSWORD: PLANTED });
    try {
      const shown = await readFile(`/proc/${String(service.pid)}/environ`, 'latin1').catch(() => undefined);
      if (process.platform === 'linux')
        expect(shown).to.include('ADMIN_API_KEY=').and.to.include(folder.path);
      expect(shown ?? '').to.not.include(PLANTED);
      const tenants = await fetch(`${service.url}/v1/admin/tenants`, { headers: { 'x-api-key': key } });
      expect(tenants.status).to.equal(200);
    } finally {
      await service.stop('SIGTERM');
      folder.remove();
    }
  });
});

describe('secrets of callers', () => {
  const MARK = 'pl4nted-by-a-caller';

  it('are in no log line and no metric, wherever a request carries them', async () => {
    const folder = tempFolder();
    const service = await startService(folder.path, { LOG_LEVEL: 'trace' });
    try {
      const api = client(service.url);
      const key = await api.newKey('planting');
      const text = new Blob([`Invoice number: ${MARK}`], { type: 'text/plain' });
      const schema = JSON.stringify({
        type: 'object',
        properties: { [MARK]: { type: 'string', description: MARK } },
      });
      const json = { tenant_id: 'planting', file_name: `${MARK}.txt`, [MARK]: MARK };
      const headers = {
        authorization: `Bearer ${MARK}`,
        cookie: MARK,
        'user-agent': MARK,
        referer: `http://${MARK}/`,
      };
      const statuses = [
        (await api.call('get', '/v1/billing/balance/planting', { key, headers })).status,
        (await api.call('get', `/v1/billing/balance/planting?${MARK}=${MARK}`, { key, headers })).status,
        (await api.call('get', `/v1/billing/balance/planting`, { key: MARK })).status,
        (await api.call('get', `/v1/${MARK}/${MARK}`, { key })).status,
        (await api.call('post', '/v1/uploads/presign', { key, json })).status,
        (
          await api.call('post', '/v1/canonical', {
            key,
            raw: `{"${MARK}": `,
            headers: { 'content-type': 'application/json' },
          })
        ).status,
        (await api.call('post', '/v1/extract', { key, form: formOf({ schema }, text, `${MARK}.txt`) }))
          .status,
        (
          await api.call('post', '/v1/extract', {
            key,
            form: formOf({ schema: INVOICE_SCHEMA, mode: MARK }, INVOICE),
          })
        ).status,
        (await api.call('post', '/v1/extract', { key, form: formOf({ schema: `{${MARK}` }, INVOICE) }))
          .status,
        (
          await api.call('post', '/v1/documents/page-count', {
            key,
            json: { documents: [{ document_id: MARK }] },
            headers: { 'idempotency-key': MARK },
          })
        ).status,
      ];
      expect(statuses).to.deep.equal([200, 422, 401, 404, 422, 400, 200, 422, 400, 200]);
      const figures = await (await fetch(`${service.url}/metrics`)).text();
      expect(figures).to.include('quire_http_requests_total').and.to.not.include(MARK);
      await service.stop('SIGTERM');
      expect(service.output()).to.include('"msg":"request"').and.to.not.include(MARK);
    } finally {
      await service.stop('SIGKILL');
      folder.remove();
    }
  });
});

describe('files of the service', () => {
  it('are its own user’s alone, also in a folder that all may enter', async () => {
    const folder = tempFolder();
    const dataDir = join(folder.path, 'shared');
    await mkdir(dataDir);
    await chmod(dataDir, 0o755);
    const service = await startService(dataDir);
    try {
      const api = client(service.url);
      const form = formOf({ schema: INVOICE_SCHEMA }, INVOICE);
      expect((await api.call('post', '/v1/extract', { form })).status).to.equal(200);
      const open: string[] = [];
      const entries = await readdir(dataDir, { withFileTypes: true, recursive: true });
      for (const entry of entries.filter(({ parentPath }) => !parentPath.includes('read-models/'))) {
        // What is in work may be gone by now.
        const mode = (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.mode ?? 0;
        if ((mode & 0o077) !== 0) open.push(`${entry.name} ${(mode & 0o777).toString(8)}`);
      }
      expect(entries.map(({ name }) => name)).to.include.members([
        'events.db',
        'operator.sock',
        'upload-secret',
      ]);
      expect(open).to.deep.equal([]);
    } finally {
      await service.stop('SIGTERM');
      folder.remove();
    }
  });
});
