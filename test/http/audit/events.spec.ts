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

  it('is of one type, one actor, a time and a text, each in both directions', async () => {
    const all = await events('');
    const both = async (query: string) => {
      const found = await events(query);
      expect(await events(`${query}&direction=backwards`), query).to.deep.equal(found.toReversed());
      return found;
    };
    const grants = all.filter(({ type }) => type === 'CreditsGranted');
    expect(await both('type=CreditsGranted')).to.deep.equal(grants);
    expect(await events('type=CreditsGranted&tenant_id=acme&limit=2')).to.deep.equal(
      grants.filter(({ stream }) => stream === 'account-acme').slice(0, 2),
    );
    const actorOf = ({ metadata }: Line) =>
      (metadata as { readonly actor: { readonly key_id: string } }).actor.key_id;
    const system = all.filter((line) => actorOf(line) === 'system');
    expect(await both('actor=system')).to.deep.equal(system);
    const at = String(grants[2]!['recorded_at']);
    expect(await both(`from=${at}`)).to.deep.equal(all.filter((line) => String(line['recorded_at']) >= at));
    expect(await both(`to=${at}`)).to.deep.equal(all.filter((line) => String(line['recorded_at']) <= at));
    expect(await both(`from=${at}&to=${at}&type=CreditsGranted`)).to.deep.include(grants[2]);
    expect(await both('to=2000-01-01')).to.deep.equal([]);
    expect(await both('q=ACCOUNT-GLOBEX')).to.deep.equal(
      all.filter((line) => JSON.stringify(line).toLowerCase().includes('account-globex')),
    );
    expect(await events('q=account-globex&limit=1')).to.have.lengthOf(1);
  });

  it('is found by what a person wrote, and says what the key that acted is called', async () => {
    const { body } = await api.call('post', '/v1/api-keys', {
      json: { tenant_id: 'acme', role: 'admin', name: 'Night shift' },
    });
    const { key, key_id } = body as { readonly key: string; readonly key_id: string };
    const json = { credits: 7, reason: 'Goodwill for Müller' };
    await api.call('post', '/v1/admin/tenants/acme/adjust-credits', { key, json });
    const [found, ...others] = await events('q=m%C3%BCller&texts=true');
    expect(others).to.deep.equal([]);
    expect(found).to.include({ type: 'CreditsAdjusted', actor_name: 'Night shift' });
    expect(Object.values(found!['texts'] as object)).to.include('Goodwill for Müller');
    expect(await events(`actor=${key_id}`)).to.have.lengthOf(1);
    expect((await events('texts=true&limit=1'))[0]).to.include({ actor_name: null });
  });

  it('is found by its values, quotes and backslashes included, and not by how they are written', async () => {
    const written = ['Says "no" to C:\\scans', 'Two\nlines'];
    for (const reason of written)
      await api.call('post', '/v1/admin/tenants/acme/adjust-credits', { json: { credits: 3, reason } });
    const textsFor = async (q: string) =>
      (await events(`q=${encodeURIComponent(q)}&texts=true`)).flatMap(({ texts }) =>
        Object.values(texts as Readonly<Record<string, string>>),
      );
    expect(await textsFor('"NO" to c:\\')).to.deep.equal([written[0]]);
    expect(await textsFor('lines')).to.deep.equal([written[1]]);
    for (const q of ['":', '\\n', '"reason"', 'balance_after', '},{'])
      expect(await events(`q=${encodeURIComponent(q)}`), q).to.deep.equal([]);
    expect(await events('q=account-globex&limit=1')).to.have.lengthOf(1);
  });

  it('refuses a type that there is not, and an end before its start', async () => {
    for (const query of ['type=Nothing', 'from=2026-02-01&to=2026-01-01', 'from=yesterday', 'q='])
      expect((await api.call('get', `/v1/admin/events?${query}`)).code, query).to.equal('validation_error');
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
