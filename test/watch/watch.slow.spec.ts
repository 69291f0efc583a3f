import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { client as httpClient } from '../http/support/client.ts';
import { runCommand, startCommand } from '../support/quireCommand.ts';
import { startS3 } from '../support/s3Server.ts';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';
import {
  answered,
  invoice,
  type Moment,
  numberOf,
  type Result,
  resultAt,
  SCHEMA,
  seeded,
  startBetween,
} from './killed.ts';

/** In each of as many runs as `WATCH_RUNS` says. */
const KILLS = 10;
const DOCUMENTS = 12;
const RUNS = Array.from({ length: Number(process.env['WATCH_RUNS'] ?? 1) }, (_, n) => 48 + n);

/** A document that nobody writes to any more. */
const put = (path: string, text: string, age = 60): void => {
  writeFileSync(path, text);
  const at = Date.now() / 1_000 - age;
  utimesSync(path, at, at);
};

const resultsIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.json'));

describe('quire watch', () => {
  let temp: TempFolder;
  let service: ServiceProcess;
  let schema: string;
  let env: Readonly<Record<string, string>>;
  before(async () => {
    temp = tempFolder();
    schema = temp.file('schema.json', JSON.stringify(SCHEMA));
    service = await startService(join(temp.path, 'data'));
  });
  after(async () => {
    await service.stop('SIGKILL');
    temp.remove();
  });

  const tenant = async (tenant_id: string) => {
    const api = httpClient(service.url);
    // The connection of before may have been given up meanwhile; a key more changes nothing.
    const QUIRE_API_KEY = await answered(() => api.newKey(tenant_id));
    env = { QUIRE_URL: service.url, QUIRE_API_KEY };
    return async () => {
      const { body } = await answered(() => api.call('get', `/v1/billing/balance/${tenant_id}`));
      return { used: 50 - Number(body['free_pages_remaining']), held: Number(body['held_credits']) };
    };
  };
  const inbox = (name: string): string => {
    const folder = join(temp.path, name);
    mkdirSync(folder);
    return folder;
  };
  const args = (...rest: readonly string[]) => [
    'watch',
    ...rest,
    '--schema',
    schema,
    '--mode',
    'fast',
    '--once',
    '--every',
    '1',
  ];

  for (const seed of RUNS)
    it(`loses nothing and pays for nothing twice, however often it is killed (${String(seed)})`, async () => {
      const billed = await tenant(`killed-${String(seed)}`);
      const folder = inbox(`killed-${String(seed)}`);
      for (let n = 0; n < DOCUMENTS; n += 1) put(join(folder, `invoice-${String(n)}.txt`), invoice(n));
      const random = seeded(seed);
      let moment: Moment = 'before';
      let left = Infinity;
      let kill = (): void => undefined;
      const between = await startBetween(service.url, (now) => {
        if (now === moment && (left -= 1) === 0) kill();
      });
      const url = `http://127.0.0.1:${String((between.address() as AddressInfo).port)}`;
      let kills = 0;
      while (kills < KILLS) {
        moment = random() < 0.5 ? 'before' : 'after';
        left = 1 + Math.floor(random() * 8);
        const running = startCommand({ ...env, QUIRE_URL: url }, args(folder));
        kill = () => void running.child.kill('SIGKILL');
        const { code, err } = await running.done;
        if (code === 0) break;
        expect(code, err).to.equal(null);
        kills += 1;
      }
      left = Infinity;
      const last = await runCommand({ ...env, QUIRE_URL: url }, ...args(folder));
      expect(last.code, last.err).to.equal(0);
      between.close();
      expect(kills).to.be.at.least(3);
      const results = resultsIn(folder);
      expect(results).to.have.length(DOCUMENTS);
      for (let n = 0; n < DOCUMENTS; n += 1) {
        const { status, result } = resultAt(join(folder, `invoice-${String(n)}.txt.json`));
        expect(status).to.equal('succeeded');
        expect(result?.result.invoice_number).to.equal(numberOf(n));
      }
      expect(await billed()).to.deep.equal({ used: DOCUMENTS, held: 0 });
    });

  it('says of a bad document what is wrong with it, once, and does the others', async () => {
    const billed = await tenant('mixed');
    const folder = inbox('mixed');
    put(join(folder, 'good.txt'), invoice(1));
    put(join(folder, 'empty.txt'), '');
    put(join(folder, 'bad.pdf'), '%PDF-1.7 nothing');
    put(join(folder, '.hidden'), invoice(2));
    put(join(folder, 'growing.txt'), invoice(3), -86_400);
    mkdirSync(join(folder, 'below'));
    put(join(folder, 'below', 'good.txt'), invoice(4));
    const { code, err } = await runCommand(env, ...args(folder));
    expect(code, err).to.equal(0);
    expect(resultsIn(folder).sort()).to.deep.equal(['bad.pdf.json', 'empty.txt.json', 'good.txt.json']);
    expect(resultAt(join(folder, 'bad.pdf.json')).error?.code).to.equal('unreadable_file');
    expect(resultAt(join(folder, 'empty.txt.json')).error?.code).to.equal('empty_file');
    expect(resultAt(join(folder, 'below/good.txt.json')).result?.result.invoice_number).to.equal(numberOf(4));
    expect((await runCommand(env, ...args(folder))).err).to.not.include('succeeded');
    expect(await billed()).to.deep.equal({ used: 2, held: 0 });
  });

  it('does a document again when it has changed', async () => {
    const billed = await tenant('changed');
    const [folder, out] = [inbox('changed'), inbox('out')];
    put(join(folder, 'a.txt'), invoice(1));
    expect((await runCommand(env, ...args(folder, '--out', out))).code).to.equal(0);
    expect(resultsIn(folder)).to.deep.equal([]);
    expect(resultAt(join(out, 'a.txt.json')).result?.result.invoice_number).to.equal(numberOf(1));
    const before = Date.now() / 1_000 - 3_600;
    utimesSync(join(out, 'a.txt.json'), before, before);
    put(join(folder, 'a.txt'), invoice(2));
    expect((await runCommand(env, ...args(folder, '--out', out))).code).to.equal(0);
    expect(resultAt(join(out, 'a.txt.json')).result?.result.invoice_number).to.equal(numberOf(2));
    expect(await billed()).to.deep.equal({ used: 2, held: 0 });
  });

  it('says what it lacks, and stops where nothing can be done', async () => {
    await tenant('lacking');
    const folder = inbox('lacking');
    put(join(folder, 'a.txt'), invoice(1));
    const ends = async (given: Readonly<Record<string, string>>, ...rest: readonly string[]) => {
      const { code, err } = await runCommand(given, ...rest);
      expect(code, err).to.be.above(0);
      return err;
    };
    const { QUIRE_API_KEY: _, ...keyless } = env;
    expect(await ends(keyless, ...args(folder))).to.include('QUIRE_API_KEY');
    expect(await ends(env, ...args(join(folder, 'nowhere')))).to.include('no such folder');
    expect(await ends(env, 'watch', folder)).to.include('--config');
    expect(await ends(env, 'watch', folder, '--config', 'cfg-none', '--once')).to.include(
      'no such saved config',
    );
    expect(await ends(env, ...args('s3://bucket/in'))).to.include('WATCH_S3_ACCESS_KEY');
    expect(await ends({ ...env, QUIRE_API_KEY: 'wrong' }, ...args(folder))).to.include('API key');
    expect(resultsIn(folder)).to.deep.equal([]);
  });

  it('watches a bucket, and puts results beside what lies there', async () => {
    const billed = await tenant('bucket');
    const { Client } = await import('minio');
    const s3 = await startS3();
    const { bucket, accessKey, secretKey, endpoint, region } = s3.options;
    const port = Number(new URL(endpoint).port);
    const files = new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey, region });
    await files.makeBucket(bucket);
    await files.putObject(bucket, 'in/a.txt', invoice(1));
    await files.putObject(bucket, 'elsewhere/b.txt', invoice(2));
    const given = {
      ...env,
      WATCH_S3_ENDPOINT: endpoint,
      WATCH_S3_ACCESS_KEY: accessKey,
      WATCH_S3_SECRET_KEY: secretKey,
      WATCH_S3_REGION: region,
    };
    const read = async (name: string) =>
      JSON.parse((await buffer(await files.getObject(bucket, name))).toString()) as Result;
    let found: Result | undefined;
    // What was just put there is not taken yet, so a run with nothing to do ends: the next one finds it.
    for (let runs = 0; runs < 10 && found === undefined; runs += 1) {
      const { code, err } = await runCommand(given, ...args(`s3://${bucket}/in`));
      expect(code, err).to.equal(0);
      found = await read('in/a.txt.json').catch(() => undefined);
    }
    expect(found?.result?.result.invoice_number).to.equal(numberOf(1));
    expect(found?.file).to.equal('a.txt');
    expect(await billed()).to.deep.equal({ used: 1, held: 0 });
    await s3.close();
  });
});
