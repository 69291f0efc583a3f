import { expect } from 'chai';
import { startScriptedProvider, type ScriptedProvider } from '../support/scriptedProvider.ts';
import { answers } from '../support/scriptedProvider/steps.ts';
import { accessTo, asking, openProviders } from './asking.ts';

const REFUSED = [
  'https://127.0.0.1/v1',
  'https://127.1/v1',
  'https://2130706433/v1',
  'https://017700000001/v1',
  'https://0x7f000001/v1',
  'https://0177.0.0.1/v1',
  'https://127.0.0.1./v1',
  'https://0.0.0.0/v1',
  'https://0/v1',
  'https://10.1.2.3/v1',
  'https://172.16.0.1/v1',
  'https://192.168.0.1/v1',
  'https://100.64.0.1/v1',
  'https://169.254.1.1/v1',
  'https://169.254.169.254/latest/meta-data',
  'https://168.63.129.16/v1',
  'https://100.100.100.200/v1',
  'https://192.0.0.192/v1',
  'https://198.18.0.1/v1',
  'https://224.0.0.1/v1',
  'https://240.0.0.1/v1',
  'https://255.255.255.255/v1',
  'https://[::]/v1',
  'https://[::1]/v1',
  'https://[::127.0.0.1]/v1',
  'https://[::ffff:127.0.0.1]/v1',
  'https://[::ffff:8.8.8.8]/v1',
  'https://[64:ff9b::7f00:1]/v1',
  'https://[64:ff9b:1::1]/v1',
  'https://[2002:7f00:1::]/v1',
  'https://[2001:0:1::1]/v1',
  'https://[fc00::1]/v1',
  'https://[fd00:ec2::254]/v1',
  'https://[fe80::1]/v1',
  'https://[fec0::1]/v1',
  'https://[ff02::1]/v1',
  'https://localhost/v1',
  'https://LOCALHOST./v1',
  'https://x.localhost/v1',
  'https://metadata.google.internal/v1',
  'https://printer.local/v1',
  'https://①②⑦.0.0.1/v1',
  'https://inside.example/v1',
  'https://mixed.example/v1',
  'https://nowhere.example/v1',
  'https://user:pass@public.example/v1',
  'https://user@public.example/v1',
  'https://public.example@127.0.0.1/v1',
  'https://public.example/v1?a=b',
  'https://public.example/v1#a',
  'http://public.example/v1',
  'ftp://public.example/v1',
  'file:///etc/passwd',
  'gopher://public.example/',
  'public.example/v1',
  '//public.example/v1',
  '',
];

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.216.34', '2606:2800:220:1::1'],
  'inside.example': ['10.0.0.7'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'metadata.google.internal': ['93.184.216.34'],
  'x.localhost': ['93.184.216.34'],
};

const resolve = (host: string) => {
  const found = NAMES[host];
  if (found === undefined) return Promise.reject(new Error('ENOTFOUND'));
  return Promise.resolve(found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
};

describe('bases that callers name', () => {
  const guarded = openProviders({ allowPrivateNetwork: false, resolve });
  let server: ScriptedProvider;
  before(async () => {
    server = await startScriptedProvider();
  });
  after(async () => {
    await guarded.close();
    await server.stop();
  });

  for (const base of REFUSED)
    it(`are refused: ${base === '' ? 'nothing' : base}`, async () => {
      const checked = await guarded.checkBase(base);
      expect(checked.kind).to.equal('unsafe_api_base');
      const answer = await guarded.ask(asking(accessTo('openai_compatible/m', base)));
      expect(answer).to.have.nested.property('failure.kind', 'unsafe_api_base');
    });

  it('are let through when they are public, with or without the last dot', async () => {
    for (const base of ['https://public.example/v1', 'https://public.example./v1', 'https://8.8.8.8/v1'])
      expect(await guarded.checkBase(base), base).to.deep.equal({ kind: 'ok' });
    expect(await guarded.checkBase('https://[2606:2800:220:1::1]/v1')).to.deep.equal({ kind: 'ok' });
  });

  it('stay shut at link-local addresses even where private networks are open', async () => {
    const open = openProviders({ resolve });
    expect((await open.checkBase('http://10.1.2.3/v1')).kind).to.equal('ok');
    expect((await open.checkBase('http://169.254.169.254/v1')).kind).to.equal('unsafe_api_base');
    expect((await open.checkBase('http://[fe80::1]/v1')).kind).to.equal('unsafe_api_base');
    await open.close();
  });

  it('are resolved once: a name that changes leads to the address that was checked', async () => {
    let asked = 0;
    const rebinding = () => {
      asked += 1;
      return Promise.resolve([{ address: asked === 1 ? '127.0.0.1' : '127.0.0.99', family: 4 }]);
    };
    const providers = openProviders({ resolve: rebinding });
    server.script('*', { do: 'status', status: 500 }, { do: 'status', status: 500 }, answers('here'));
    const { port } = new URL(server.url);
    const answer = await providers.ask(asking(accessTo('ollama/m', `http://rebound.example:${port}/v1`)));
    expect(answer).to.include({ kind: 'answered', text: 'here' });
    expect(asked).to.equal(1);
    expect(server.requests.at(-1)?.headers.host).to.equal(`rebound.example:${port}`);
    await providers.close();
  });

  it('that redirect are not followed', async () => {
    const providers = openProviders();
    const other = await startScriptedProvider();
    server.script('*', { do: 'redirect', to: `${other.url}/v1/chat/completions` });
    const answer = await providers.ask(asking(accessTo('ollama/m', server.url)));
    expect(answer).to.have.nested.property('failure.provider_status', 307);
    expect(other.requests).to.deep.equal([]);
    await providers.close();
    await other.stop();
  });

  it('may be anything when they are of the platform', async () => {
    server.script('*', answers('ours'));
    const answer = await guarded.ask(asking(accessTo('ollama/m', server.url, { owner: 'platform' })));
    expect(answer).to.include({ kind: 'answered', text: 'ours' });
  });
});
