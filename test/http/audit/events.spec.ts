import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { startApi, type TestApi } from '../support/testApi.ts';

type Line = Readonly<Record<string, unknown>> & { readonly [member in 'position' | 'revision']: string };
type FlawOf = (event: unknown, before: unknown) => Promise<string | null>;

/** The code of the reference, as a browser would load it. */
const documentedCheck = async (): Promise<FlawOf> => {
  const text = await readFile('docs/reference/audit.md', 'utf8');
  const [, code = ''] = /^```js\n([\s\S]*?)^```$/m.exec(text) ?? [];
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return (module as { readonly flawOf: FlawOf }).flawOf;
};

describe('the event log over HTTP', () => {
  let api: TestApi;
  let flawOf: FlawOf;
  before(async () => {
    api = await startApi();
    flawOf = await documentedCheck();
    for (const tenant of ['acme', 'globex']) {
      await api.newKey(tenant);
      for (const credits of [1_000, 2_000, 3_000]) await api.sell(tenant, credits);
    }
  });
  after(() => api.stop());

  const events = async (query: string): Promise<readonly Line[]> => {
    const reply = await api.call('get', `/v1/admin/events?${query}`);
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.headers.get('content-type')).to.include('application/x-ndjson');
    return reply.text === ''
      ? []
      : reply.text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Line);
  };

  const flaws = async (lines: readonly Line[]): Promise<readonly (string | null)[]> =>
    Promise.all(lines.map((line, at) => flawOf(line, lines[at - 1] ?? null)));

  it('is all of it, in order, each event with the text that its hash is over', async () => {
    const all = await events('');
    expect(all.map(({ position }) => position)).to.deep.equal(all.map((_, n) => String(n + 1)));
    expect(all[0]).to.include({ type: 'LogOpened', stream: '$quire', revision: '0', prev_hash: null });
    const streams = new Map<unknown, Line>();
    for (const line of all) {
      expect(await flawOf(line, streams.get(line['stream']) ?? null), JSON.stringify(line)).to.equal(null);
      streams.set(line['stream'], line);
    }
  });

  it('goes on behind an event, in both directions, in a stream and in the whole', async () => {
    const all = await events('');
    expect(await events(`limit=2&after=${all[2]!.position}`)).to.deep.equal(all.slice(3, 5));
    expect(await events('direction=backwards')).to.deep.equal(all.toReversed());
    expect(await events(`direction=backwards&limit=1&after=${all[2]!.position}`)).to.deep.equal([all[1]]);
    const stream = all.filter((line) => line['stream'] === 'account-acme');
    const named = 'stream=account-acme';
    expect(await events(named)).to.deep.equal(stream);
    expect(await events(`${named}&after=0&limit=1`)).to.deep.equal([stream[1]]);
    expect(await events(`${named}&direction=backwards&after=2`)).to.deep.equal([stream[1], stream[0]]);
    expect(await events(`${named}&direction=backwards&after=0`)).to.deep.equal([]);
    expect(await events('stream=account-nobody')).to.deep.equal([]);
  });

  it('is of one tenant, in all of its streams', async () => {
    const all = await events('');
    const own = all.filter(({ metadata }) => (metadata as Record<string, unknown>)['tenant_id'] === 'globex');
    expect(new Set(own.map(({ stream }) => stream))).to.include('account-globex');
    expect(await events('tenant_id=globex')).to.deep.equal(own);
    expect(await events('tenant_id=globex&direction=backwards&limit=2')).to.deep.equal(
      own.toReversed().slice(0, 2),
    );
    expect(await events('tenant_id=globex&stream=account-acme')).to.deep.equal([]);
  });

  it('refuses a place that is no number and a direction that there is not', async () => {
    for (const query of ['after=x', 'after=-1', 'direction=up', 'limit=0', 'limit=1000001'])
      expect((await api.call('get', `/v1/admin/events?${query}`)).code).to.equal('validation_error');
  });

  it('shows where a byte was changed, where an event was removed, and what is no JSON any more', async () => {
    const file = new Database(join(api.dataDir, 'events.db'));
    const stream = 'stream=account-acme';
    const before = await events(stream);
    expect(await flaws(before)).to.deep.equal(before.map(() => null));
    file.exec(
      `UPDATE events SET data = replace(data, '"credits":1000', '"credits":1001')
       WHERE stream = 'account-acme' AND revision = 1`,
    );
    const changed = await flaws(await events(stream));
    expect(changed[1]).to.include('does not have the hash');
    expect(changed.filter((flaw) => flaw !== null)).to.have.length(1);
    const without = before.filter(({ revision }) => revision !== '2');
    expect((await flaws(without))[2]).to.include('does not name the event before it');
    file.exec(`UPDATE events SET data = '{' WHERE stream = 'account-acme' AND revision = 1`);
    const broken = (await events(stream))[1];
    expect(broken).to.include({ data: null, covered: null, revision: '1' });
    file.close();
  });
});
