import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ConfigError, configFrom } from '../../src/config.ts';
import { eventStoreAddress } from '../../src/eventStoreUrl.ts';

describe('the configuration', () => {
  it('needs nothing: every part is embedded by default', () => {
    const config = configFrom({});
    expect(config).to.include({ port: 8080, host: '127.0.0.1', eventStoreUrl: undefined, logLevel: 'info' });
    expect(config.roles).to.deep.equal(['api', 'projector', 'worker']);
  });

  it('takes either name of the event store, and hands the client the one that it knows', () => {
    const url = (name: string) =>
      configFrom({ EVENTSTORE_URL: `${name}://admin:a@b:2113?tls=false` }).eventStoreUrl;
    expect(url('kurrentdb')).to.equal('esdb://admin:a@b:2113?tls=false');
    expect(url('kurrentdb+discover')).to.equal('esdb+discover://admin:a@b:2113?tls=false');
    expect(url('esdb')).to.equal('esdb://admin:a@b:2113?tls=false');
  });

  it('takes several nodes of an event store, and one name for all', () => {
    const nodes = 'esdb://admin:hunter44@a:2114,b?tls=false';
    expect(configFrom({ EVENTSTORE_URL: nodes }).eventStoreUrl).to.equal(nodes);
    expect(eventStoreAddress(nodes)).to.deep.equal({
      hosts: ['a:2114', 'b:2113'],
      name: 'a:2114, b:2113',
      firstUrl: 'http://a:2114',
      isCluster: true,
    });
    const one = { name: 'cluster.example:2113', firstUrl: 'https://cluster.example:2113', isCluster: true };
    expect(eventStoreAddress('esdb+discover://cluster.example')).to.include(one);
    expect(eventStoreAddress('esdb://a:1/?tls=true')).to.include({
      firstUrl: 'https://a:1',
      isCluster: false,
    });
  });

  it('says what is wrong with the URL of an event store without its password', () => {
    const wrong: readonly (readonly [string, string])[] = [
      ['esdb://', 'host:port'],
      ['esdb://u:hunter44@a,,b', 'host:port'],
      ['esdb://a:2113;b:2113', 'host:port'],
      ['esdb://a:0', 'host:port'],
      ['esdb://[::1]:2113', 'host:port'],
      ['esdb://u:hunter44@x@a', 'starts with esdb://'],
      ['esdb://u:hunter44:x@a', 'user:password'],
      ['esdb://u:hunter44%@a', 'user:password'],
      ['esdb://user@a', 'user:password'],
      ['esdb://u:hunter44@a?tls=no', 'option tls'],
      ['esdb://u:hunter44@a?tsl=false', 'option "tsl"'],
      ['esdb://a,b?nodePreference=follower', 'leave nodePreference out'],
    ];
    for (const [url, said] of wrong) {
      const refusal = () => configFrom({ EVENTSTORE_URL: url });
      expect(refusal, url).to.throw(ConfigError, said);
      expect(refusal, url).to.throw(/^EVENTSTORE_URL: (must|has) /);
      expect(refusal, url).not.to.throw(/hunter44/);
    }
  });

  it('keeps things for as long as the table in docs/how-to/forget.md says', () => {
    const table = readFileSync(new URL('../../../docs/how-to/forget.md', import.meta.url), 'utf8');
    const rows = [...table.matchAll(/^\| [^|]+ \| `((\w+)_RETENTION_DAYS)` +\| (\d+) +\|/gm)];
    const { retention } = configFrom({});
    const said: readonly (readonly [string, number])[] = rows.map(([, , name = '', days]) => [
      `${name.toLowerCase().replace(/y$/, 'ie')}s`,
      Number(days),
    ]);
    expect(new Map(said)).to.deep.equal(new Map(Object.entries(retention)));
    for (const [, variable = '', name = ''] of rows) {
      const kept = configFrom({ [variable]: '7' }).retention;
      expect(
        Object.values(kept).filter((days) => days === 7),
        name,
      ).to.have.lengthOf(1);
    }
    expect(() => configFrom({ RESULT_RETENTION_DAYS: '0' })).to.throw(ConfigError, 'RESULT_RETENTION_DAYS');
    expect(() => configFrom({ RESULTS_RETENTION_DAYS: '2' })).to.throw(ConfigError, 'RESULTS_RETENTION_DAYS');
  });

  it('takes accounts of the journal as JSON, and names what is wrong with them', () => {
    const JOURNAL = '{"accounts": {"revenue": {"code": "8400", "name": "Sales"}}}';
    const { accounts } = configFrom({ JOURNAL }).journal;
    expect([accounts.revenue.code, accounts.vat.code]).to.deep.equal(['8400', '3806']);
    expect(configFrom({}).journal.accounts.revenue.code).to.equal('4400');
    expect(() => configFrom({ JOURNAL: '{accounts}' })).to.throw(ConfigError, 'JOURNAL: must be JSON');
    expect(() => configFrom({ JOURNAL: '{"accounts": {"cash": 1}}' })).to.throw(ConfigError, 'JOURNAL');
    expect(() => configFrom({ JOURNALS: '{}' })).to.throw(ConfigError, 'JOURNALS');
  });

  it('takes an empty value as unset', () => {
    expect(configFrom({ DATABASE_URL: '', ADMIN_API_KEY: '' }).databaseUrl).to.equal(undefined);
  });

  it('takes old encryption keys beside the one that seals now', () => {
    const [a, b] = [1, 2].map((n) => Buffer.alloc(32, n).toString('base64'));
    const env = { FIELD_ENCRYPTION_KEY: a, FIELD_ENCRYPTION_KEYS_OLD: `${b!}, ${a!}` };
    expect(configFrom(env).secretKeys).to.deep.equal({ current: a, old: [b, a] });
    expect(configFrom({}).secretKeys).to.equal(undefined);
  });

  it('recognises with both engines by default, and with those that are named', () => {
    expect(configFrom({}).ocrEngines).to.deep.equal(['tesseract', 'ppocr']);
    expect(configFrom({ OCR_ENGINES: ' ppocr, tesseract' }).ocrEngines).to.deep.equal(['ppocr', 'tesseract']);
    expect(configFrom({ OCR_ENGINES: 'tesseract' }).ocrEngines).to.deep.equal(['tesseract']);
  });

  it('traces nowhere by default, and to the path of OTLP where an endpoint is named', () => {
    expect(configFrom({ OTEL_SERVICE_NAME: 'x' }).tracing).to.equal(undefined);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
    expect(configFrom(env).tracing).to.deep.equal({
      url: 'http://collector:4318/v1/traces',
      serviceName: 'quire',
      sampleRatio: 1,
    });
    const own = {
      ...env,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/x',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    };
    expect(configFrom(own).tracing).to.include({ url: 'https://traces/x', sampleRatio: 0.25 });
  });

  const refused = (env: Record<string, string>, ...words: readonly string[]) => {
    it(`refuses ${JSON.stringify(env)} and names the variable`, () => {
      expect(() => configFrom(env)).to.throw(ConfigError);
      for (const word of words) expect(() => configFrom(env)).to.throw(word);
    });
  };
  refused({ OCR_ENGINES: 'tesseract,abbyy' }, 'OCR_ENGINES', 'tesseract, ppocr');
  refused({ PORT: 'http' }, 'PORT', 'whole number');
  refused({ PORT: '70000' }, 'PORT', 'at most 65535');
  refused({ ADMIN_API_KEY: 'short' }, 'ADMIN_API_KEY', '24 characters');
  refused({ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL', 'postgres://');
  refused({ EVENTSTORE_URL: 'http://x' }, 'EVENTSTORE_URL', 'esdb://');
  refused({ FIELD_ENCRYPTION_KEY: 'c2hvcnQ=' }, 'FIELD_ENCRYPTION_KEY', '32 bytes');
  const KEY = Buffer.alloc(32, 1).toString('base64');
  refused({ FIELD_ENCRYPTION_KEY: KEY, FIELD_ENCRYPTION_KEYS_OLD: `${KEY},eA==` }, 'KEYS_OLD', '32 bytes');
  refused({ FIELD_ENCRYPTION_KEYS_OLD: KEY }, 'FIELD_ENCRYPTION_KEYS_OLD', 'needs FIELD_ENCRYPTION_KEY');
  refused({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, 'OTEL_EXPORTER_OTLP_ENDPOINT', 'http://');
  refused({ OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG', 'from 0 to 1');
  refused({ SEAL_EVERY_MINUTES: '0' }, 'SEAL_EVERY_MINUTES', 'at least 1');
  refused({ SEAL_RETENTION_DAYS: '9' }, 'SEAL_RETENTION_DAYS', 'needs SEAL_EVERY_MINUTES');
  refused({ ROLES: 'api,cook' }, 'ROLES', 'projector');
  refused({ LLM_ALLOW_PRIVATE_NETWORK: 'yes' }, 'LLM_ALLOW_PRIVATE_NETWORK', 'true or false');
  refused({ S3_ENDPOINT: 'http://s3' }, 'S3_BUCKET', 'S3_SECRET_KEY');
  refused({ REDIS_URI: 'redis://x', S3_BUKET: 'b' }, 'S3_BUKET', 'spelling');
  refused({ EVENTSTORE_URI: 'esdb://x' }, 'EVENTSTORE_URI', 'spelling');
});
