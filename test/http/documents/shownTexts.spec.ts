import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../../engine/test/support/until.ts';
import { objectSweeper } from '../../../src/worker/sweeping.ts';
import { type Browser, signedInBy } from '../sessions/browser.ts';
import { CLIENT, startProvider, type TestProvider } from '../sessions/provider.ts';
import { formOf, INVOICE } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { namedIn, okOver, plantIn } from './planted.ts';

const PUBLIC_URL = 'http://quire.test';
const TOKEN = 'quire:text:';

/** Sign-in pages lead away; events are tokens on purpose, and asked for apart. */
const NOT_ASKED = /^\/v1\/(?:session|admin\/events)/;

describe('what people wrote, in answers', () => {
  let api: TestApi;
  let provider: TestProvider;
  const lines: string[] = [];
  before(async () => {
    provider = await startProvider(`${PUBLIC_URL}/v1/session/oidc/callback`);
    api = await startApi({
      PUBLIC_URL,
      TRUST_PROXY: '1',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.client_id,
      OIDC_CLIENT_SECRET: CLIENT.client_secret,
      WEBHOOKS_ALLOW_PRIVATE_NETWORK: 'true',
      LOG_LEVEL: 'debug',
    });
    api.faults.onLog = (line) => lines.push(line);
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });
  const ok = (method: string, path: string, options: object = {}) => okOver(api)(method, path, options);

  const signedIn = (sub: string, claims: Readonly<Record<string, string>>): Promise<Browser> =>
    signedInBy(api, { provider, publicUrl: PUBLIC_URL }, { sub, ...claims });
  const done = async (browser: Browser, path: string, json?: object) => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const reply = await browser.call('post', path, { headers, ...(json && { json }) });
    expect(reply.status, `${path}: ${reply.text}`).to.be.below(300);
    return reply;
  };

  const events = async (query = '') =>
    (await ok('get', `/v1/admin/events?limit=100000${query}`)).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; covered: string; texts?: Record<string, unknown> });

  /** An operation that a person has to look at. */
  const reviewIn = async (tenant_id: string, key: string): Promise<string> => {
    const schema = { type: 'object', properties: { iban: { type: 'string' } }, required: ['iban'] };
    const fields = { schema: JSON.stringify(schema), mode: 'fast', review: '{"missing_required":true}' };
    let review_id: string | undefined;
    const asked = { key, form: formOf({ tenant_id, ...fields }, INVOICE) };
    const sent = ok('post', '/v1/extract', asked).then(({ body }) => (review_id = String(body['review_id'])));
    await until(async () => {
      await api.operations.drain();
      return review_id !== undefined;
    });
    return sent;
  };

  /** Every value that answers have for each name of an ID. */
  const noteIds = (ids: Map<string, Set<string>>, value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, one] of Object.entries(value)) {
      const known = ids.get(name) ?? new Set();
      if (typeof one === 'string' && /_id$|^environment$/.test(name)) ids.set(name, known.add(one));
      else noteIds(ids, one);
    }
  };

  /** Paths of a route for all IDs that are known. */
  const pathsOf = (path: string, ids: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] =>
    [...path.matchAll(/\{(\w+)\}/g)].reduce<readonly string[]>(
      (paths, [part, name = '']) =>
        paths.flatMap((one) =>
          [...(ids.get(name) ?? [])].map((id) => one.replace(part, encodeURIComponent(id))),
        ),
      [path],
    );

  /** The answer of each GET route for all that a tenant has, by operation ID. */
  const everyAnswer = async (tenant: string): Promise<ReadonlyMap<string, string>> => {
    const ids = new Map([['tenant_id', new Set([tenant])]]);
    const answers = new Map<string, string>();
    const asked = new Set<string>();
    const ask = async (one: string): Promise<string> => {
      asked.add(one);
      const ofTenant = await api.call('get', `${one}?tenant_id=${tenant}`);
      const reply = ofTenant.status === 422 ? await api.call('get', one) : ofTenant;
      if (reply.status === 200 && reply.text.startsWith('{'))
        noteIds(ids, JSON.parse(reply.text.split('\n')[0] ?? ''));
      return reply.text;
    };
    const routes = api.routes.filter(({ method, path }) => method === 'get' && !NOT_ASKED.test(path));
    for (let before = -1; before < asked.size;) {
      before = asked.size;
      for (const { path, operationId } of routes)
        for (const one of pathsOf(path, ids).filter((each) => !asked.has(each)))
          answers.set(operationId, (answers.get(operationId) ?? '') + (await ask(one)));
    }
    return answers;
  };

  it('are never tokens, in any route, before and after the tenant was erased', async () => {
    const tenant = `shown-${randomUUID()}`;
    const { planted, key, artifact_id } = await plantIn(api, tenant);
    const review_id = await reviewIn(tenant, key);
    const [member, other, operator] = [
      await signedIn('Mina Zwolle', { tenant, role: 'member' }),
      await signedIn('Otto Zwolle', { tenant, role: 'member' }),
      await signedIn('Olga Zwolle', { role: 'admin' }),
    ];
    // Who holds it, and who decides, is compared.
    await done(member, `/v1/reviews/${review_id}/lease`);
    await done(member, `/v1/reviews/${review_id}/lease`);
    expect((await other.call('post', `/v1/reviews/${review_id}/lease`)).status).to.equal(409);
    await api.deps.reads.settleAll();
    expect((await ok('get', `/v1/reviews/${review_id}`)).body['lease']).to.include({
      held_by: 'oidc:Mina Zwolle',
    });
    const decision = { result: { iban: 'DE02120300000000202051' }, generation: 1 };
    await done(member, `/v1/reviews/${review_id}/decision`, decision);
    await done(member, '/v1/inference/deployments', {
      tenant_id: tenant,
      project_id: 'q',
      artifact_id,
      artifact_uri: `quire://artifacts/${artifact_id}`,
    });
    await done(operator, '/v1/api-keys', { tenant_id: tenant, name: 'of Olga' });
    await done(operator, `/v1/admin/tenants/${tenant}/adjust-credits`, { credits: 5, reason: 'by Olga' });
    await api.deps.reads.settleAll();

    const before = await everyAnswer(tenant);
    for (const [operationId, text] of before) expect(text, operationId).not.to.include(TOKEN);
    const said = [...before.values()].join('\n');
    for (const word of ['Mina', 'Olga']) expect(said).to.include(`oidc:${word} Zwolle`);
    expect(namedIn(planted, said).length).to.be.greaterThan(15);
    // Its tenant sees who of the operators acted.
    const made = await other.call('get', `/v1/api-keys/${tenant}`);
    expect(made.text).to.include('oidc:Olga Zwolle').and.not.to.include(TOKEN);
    expect(made.text).to.include('"erased_at":null');

    const told = (await events()).map(({ covered }) => covered).join('\n');
    expect(told).to.include(TOKEN);
    expect(told).not.to.match(/Mina|Otto|Olga/);
    const withTexts = await events(`&tenant_id=${tenant}&texts=true`);
    const shown = withTexts.map(({ texts }) => Object.values(texts ?? {})).flat();
    expect(shown).to.include.members(['oidc:Mina Zwolle', 'oidc:Olga Zwolle', 'of Olga']);
    expect(shown).not.to.include(null);

    await ok('delete', `/v1/admin/tenants/${tenant}/data`);
    while ((await api.batches.look()) > 0) await api.deps.reads.settleAll();
    await objectSweeper(api.swept).sweep();
    await api.deps.reads.settleAll();
    const after = await everyAnswer(tenant);
    for (const [operationId, text] of after) expect(text, operationId).not.to.include(TOKEN);
    const reviews = (await ok('get', `/v1/reviews?tenant_id=${tenant}`)).body['items'];
    expect(reviews).to.have.nested.property('0.file_name', null);
    expect(reviews).to.have.nested.property('0.erased_at').that.is.a('string');
    const keys = (await ok('get', `/v1/api-keys/${tenant}`)).body['items'];
    expect(keys).to.have.nested.property('0.name', null);
    expect(keys).to.have.nested.property('0.erased_at').that.is.a('string');
    const left = [...after.values()].join('\n');
    expect(left).not.to.match(/Mina|Otto/);
    expect(namedIn(planted, left)).to.deep.equal([]);
    // Operators are of the installation: theirs is not the tenant's to forget.
    expect(left).to.include('oidc:Olga Zwolle');
    const gone = (await events(`&tenant_id=${tenant}&texts=true`)).flatMap(({ texts }) =>
      Object.values(texts ?? {}),
    );
    expect(new Set(gone)).to.deep.equal(new Set([null, 'oidc:Olga Zwolle']));
    // Nor does the service's log name anybody: of a change it has what its event has.
    expect(lines.filter((line) => line.includes(`"key_id":"${TOKEN}`)).length).to.be.greaterThan(3);
    expect(lines.join('')).not.to.match(/Mina|Otto|Olga/);
  });
});
