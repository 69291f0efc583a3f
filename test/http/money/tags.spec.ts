import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../../engine/test/support/until.ts';
import { hasEnded } from '../../../domain/leased.ts';
import { messageOf } from '../../../domain/webhookMessages.ts';
import { decodeAny } from '../../../domain/catalogue.ts';
import { operationStream } from '../../../domain/operation.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { batchTenant } from '../documents/later/batchTenant.ts';
import { formOf, INVOICE, INVOICE_SCHEMA, issuesIn, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

const TAGS = { team: 'claims', 'cost.center': '4711' };
const LATER = { prefer: 'respond-async' };

interface Row {
  readonly tags: object;
  readonly project_id: string | null;
}

describe('tags', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const newKey = async (tenant_id: string, tags?: object): Promise<string> => {
    const made = await api.call('post', '/v1/api-keys', { json: { tenant_id, ...(tags && { tags }) } });
    expect(made.status, made.text).to.equal(201);
    expect(made.body['tags']).to.deep.equal(tags ?? {});
    return String(made.body['key']);
  };

  const newTenant = async (tags?: object) => {
    const tenant_id = `tags-${randomUUID()}`;
    await api.sell(tenant_id, 100_000);
    const key = await newKey(tenant_id, tags);
    const extract = (
      fields: Readonly<Record<string, string>>,
      headers: Readonly<Record<string, string>> = {},
    ) =>
      api.call('post', '/v1/extract', {
        key,
        headers,
        form: formOf({ schema: INVOICE_SCHEMA, ...fields }, INVOICE),
      });
    const rows = async (path = `/v1/billing/usage/${tenant_id}`): Promise<readonly Row[]> =>
      (await api.call('get', path, { key })).body['items'] as readonly Row[];
    const tagsUsed = async () => (await rows()).map(({ tags }) => tags);
    return { tenant_id, key, extract, rows, tagsUsed };
  };

  const ok = (reply: Reply, status = 200) => {
    expect(reply.status, reply.text).to.equal(status);
    return reply.body;
  };

  it('of an extraction, a conversion and an envelope are in the usage and in the ledger', async () => {
    const { tenant_id, key, extract, rows, tagsUsed } = await newTenant();
    ok(await extract({ tags: JSON.stringify(TAGS) }));
    const form = formOf({ tags: JSON.stringify({ team: 'legal' }) }, INVOICE);
    ok(await api.call('post', '/v1/to-markdown', { key, form }));
    ok(await extract({ tags: '{}' }));
    expect(await tagsUsed()).to.deep.equal([{}, { team: 'legal' }, TAGS]);
    const ledger = await rows(`/v1/admin/tenants/${tenant_id}/ledger`);
    expect(ledger.map(({ tags }) => tags)).to.deep.equal([{}, { team: 'legal' }, TAGS, {}]);
    const csv = await api.call('get', `/v1/billing/usage/${tenant_id}`, {
      key,
      headers: { accept: 'text/csv' },
    });
    expect(csv.text.split('\r\n')[2]).to.include('"{""team"":""legal""}"');
  });

  it('of an operation are in its answer, in its hold, in its messages and in its burn', async () => {
    const { extract, tagsUsed } = await newTenant();
    const accepted = ok(await extract({ tags: JSON.stringify(TAGS) }, LATER), 202);
    expect(accepted['tags']).to.deep.equal(TAGS);
    const id = String(accepted['operation_id']);
    await until(async () => {
      await api.operations.drain();
      return hasEnded(await api.deps.operations.streams.stateOf(id));
    });
    await until(async () => (await tagsUsed()).length === 1);
    expect(await tagsUsed()).to.deep.equal([TAGS]);
    const ends = (await eventsOf(api.log, operationStream(id))).map((event) => messageOf(decodeAny(event)));
    expect(ends.at(-1)).to.deep.include({ type: 'operation.succeeded' });
    expect(ends.at(-1)?.data).to.deep.include({ tags: TAGS });
  });

  it('of a cancelled operation are in its message too', async () => {
    const { key, extract } = await newTenant();
    const id = String(ok(await extract({ tags: JSON.stringify(TAGS) }, LATER), 202)['operation_id']);
    ok(await api.call('post', `/v1/operations/${id}/cancel`, { key }));
    const events = await eventsOf(api.log, operationStream(id));
    expect(messageOf(decodeAny(events.at(-1)!))).to.deep.equal({
      type: 'operation.cancelled',
      data: { operation_id: id, tags: { 'cost.center': '4711', team: 'claims' } },
    });
  });

  it('of a batch are those of each of its documents, and of an envelope those of its work', async () => {
    const tenant = await batchTenant(api, 10_000);
    const uris = await tenant.invoices(2);
    const id = await tenant.created(uris, { tags: TAGS });
    const ended = await tenant.ended(id);
    expect(ended['tags']).to.deep.equal(TAGS);
    const envelope = {
      schema_version: '1.0',
      operation: 'inference.to_markdown',
      scope: { tenant_id: tenant.tenant_id },
      resource: { file_uri: (await tenant.invoices(1))[0] },
      payload: { tags: { team: 'legal' } },
    };
    ok(await tenant.call('post', '/v1/canonical', { json: envelope }));
    const usage = await tenant.call('get', `/v1/billing/usage/${tenant.tenant_id}`);
    const items = usage.body['items'] as readonly Row[];
    expect(items.map(({ tags }) => tags)).to.deep.equal([{ team: 'legal' }, TAGS, TAGS]);
  });

  it('of a key and of a saved config are defaults: the request wins by name, then the config', async () => {
    const { tenant_id, extract, tagsUsed } = await newTenant({ team: 'key', app: 'key', stage: 'key' });
    const json = {
      tenant_id,
      schema: JSON.parse(INVOICE_SCHEMA) as object,
      tags: { team: 'config', app: 'config' },
    };
    const config = ok(await api.call('post', '/v1/configs', { json }));
    expect(config['tags']).to.deep.equal({ app: 'config', team: 'config' });
    const config_id = String(config['config_id']);
    ok(await extract({ config_id, tags: '{"team":"request"}' }));
    ok(await extract({ tags: '' }));
    expect(await tagsUsed()).to.deep.equal([
      { team: 'key', app: 'key', stage: 'key' },
      { team: 'request', app: 'config', stage: 'key' },
    ]);
  });

  it('of a key are listed, and the key that replaces it has them', async () => {
    const { tenant_id, key } = await newTenant(TAGS);
    const rotated = ok(await api.call('post', '/v1/api-keys/rotate', { json: { key } }));
    expect(rotated['tags']).to.deep.equal(TAGS);
    const listed = await api.call('get', `/v1/api-keys/${tenant_id}`);
    const items = listed.body['items'] as readonly Row[];
    expect(items.map(({ tags }) => tags)).to.deep.equal([TAGS, TAGS]);
    const form = formOf({ schema: INVOICE_SCHEMA }, INVOICE);
    ok(await api.call('post', '/v1/extract', { key: String(rotated['key']), form }));
    const usage = await api.call('get', `/v1/billing/usage/${tenant_id}`);
    expect((usage.body['items'] as readonly Row[])[0]?.tags).to.deep.equal(TAGS);
  });

  it('are part of the request that a key names, in any order', async () => {
    const { extract, tagsUsed } = await newTenant();
    const named = { 'idempotency-key': 'one' };
    ok(await extract({ tags: '{"team":"claims","app":"a"}' }, named));
    const again = await extract({ tags: '{ "app": "a", "team": "claims" }' }, named);
    ok(again);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect((await extract({ tags: '{"team":"legal","app":"a"}' }, named)).code).to.equal(
      'idempotency_key_reused',
    );
    expect((await extract({}, named)).code).to.equal('idempotency_key_reused');
    expect(await tagsUsed()).to.have.length(1);
  });

  const many = (count: number, from = 0) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${String(from + at)}`, 'x']));

  it('that cannot be kept are refused, with what to do', async () => {
    const { extract, tagsUsed } = await newTenant();
    const wrong: readonly (readonly [string, string, string])[] = [
      ['not json', 'body.tags custom', 'Expected JSON.'],
      ['["a"]', 'body.tags invalid_type', 'Send an object of names and texts'],
      ['{"Team":"x"}', 'body.tags.Team custom', 'lower-case letters'],
      [JSON.stringify({ [`t${'a'.repeat(40)}`]: 'x' }), `body.tags.t${'a'.repeat(40)} custom`, '1 to 40'],
      ['{"team":""}', 'body.tags.team custom', 'Leave the tag out'],
      ['{"team":7}', 'body.tags.team invalid_type', 'Send a text'],
      ['{"team":"a\\u0000b"}', 'body.tags.team custom', 'control characters'],
      ['{"team":"\\ud800"}', 'body.tags.team custom', 'control characters'],
      [JSON.stringify({ team: 'x'.repeat(201) }), 'body.tags.team custom', 'Shorten'],
      [JSON.stringify(many(17)), 'body.tags custom', 'at most 16'],
    ];
    for (const [tags, issue, says] of wrong) {
      const reply = await extract({ tags });
      expect([reply.status, issuesIn(reply)], tags).to.deep.equal([422, [issue]]);
      expect(reply.text, tags).to.include(says);
    }
    expect(await tagsUsed()).to.deep.equal([]);
    ok(await extract({ tags: JSON.stringify({ ...many(15), constructor: 'x'.repeat(200) }) }));
    expect(await tagsUsed()).to.deep.equal([{ ...many(15), constructor: 'x'.repeat(200) }]);
  });

  it('that are too many together with the defaults are refused before anything is held', async () => {
    const { key, tenant_id, extract, tagsUsed } = await newTenant(many(10));
    const refused = await extract({ tags: JSON.stringify(many(8, 9)) });
    expect([refused.status, issuesIn(refused)]).to.deep.equal([422, ['body.tags value_error']]);
    expect(refused.text).to.include('17 tags');
    const form = formOf({ tags: JSON.stringify(many(8, 9)) }, INVOICE);
    expect((await api.call('post', '/v1/to-markdown', { key, form })).status).to.equal(422);
    ok(await extract({ tags: JSON.stringify(many(7, 9)) }));
    expect(await tagsUsed()).to.deep.equal([many(16)]);
    const { body } = await api.call('get', `/v1/billing/balance/${tenant_id}`);
    expect(body['held_credits']).to.equal(0);
  });

  it('of an examples charge are in the usage, and its key names them', async () => {
    const { tenant_id, key, tagsUsed } = await newTenant({ team: 'key' });
    const charge = (tags: object) =>
      api.call('post', '/v1/billing/dspy-examples-charge', {
        key,
        json: { tenant_id, idempotency_key: 'one', tags },
      });
    ok(await charge({ app: 'a' }));
    ok(await charge({ app: 'a' }));
    expect((await charge({ app: 'b' })).code).to.equal('idempotency_key_reused');
    expect(await tagsUsed()).to.deep.equal([{ app: 'a', team: 'key' }]);
  });

  it('are what usage is grouped and chosen by, several at once, for its tenant and as CSV', async () => {
    const { tenant_id, key, extract } = await newTenant();
    for (const [team, project_id] of [
      ['claims', 'north'],
      ['claims', 'south'],
      ['legal', 'north'],
    ] as const)
      ok(await extract({ project_id, tags: JSON.stringify({ team }) }));
    ok(await extract({ project_id: 'north' }));
    const stats = (query: string, more: object = {}) =>
      api.call('get', `/v1/billing/usage-stats/${tenant_id}?${query}`, { key, ...more });
    const today = api.deps.clock.now().slice(0, 10);
    const found = ok(await stats('group_by=tag:team&group_by=project'));
    const row = (team: string | null, project_id: string, operations = 1) => ({
      day: null,
      operation: null,
      task_id: null,
      api_key_id: null,
      project_id,
      rest_of: [],
      tags: { team },
      operations,
      pages: 1,
      free_pages: 1,
      credits: 0,
      list_value_usd: '0.00',
    });
    expect(found['items']).to.deep.equal([
      row('claims', 'north'),
      row('claims', 'south'),
      row('legal', 'north'),
      row(null, 'north'),
    ]);
    expect(found).to.deep.include({ group_by: ['tag:team', 'project'], to_date: today, tags_at_limit: [] });
    expect(found['totals']).to.include({ operations: 4, pages: 4 });
    const chosen = ok(await stats('tag=team:claims&project_id=south&group_by=day&time_zone=Asia/Kathmandu'));
    expect(chosen['totals']).to.include({ operations: 1 });
    const csv = await stats('group_by=tag:team', { headers: { accept: 'text/csv' } });
    expect(csv.text.split('\r\n')[0]).to.include(
      'day,operation,project_id,task_id,api_key_id,tags,rest_of,operations',
    );
    expect(csv.text.split('\r\n')).to.have.length(5);
    const stranger = await api.newKey(`tags-${randomUUID()}`);
    const foreign = await api.call('get', `/v1/billing/usage-stats/${tenant_id}`, { key: stranger });
    expect(foreign.code).to.equal('tenant_mismatch');
    const wrong = [
      'group_by=tag:Team',
      'group_by=colour',
      'group_by=day&group_by=day',
      'group_by=',
      'tag=team',
      'tag=team:',
      'tag=a:b&tag=a:c',
      'from_date=2026-01-02&to_date=2026-01-01',
      'from_date=2020-01-01&to_date=2026-01-01',
      'from_date=2026-01-01T00:00:00Z',
      'key=x',
      'time_zone=Mars/Base',
    ];
    for (const query of wrong) {
      const reply = await stats(query);
      expect([query, reply.status, reply.code]).to.deep.equal([query, 422, 'validation_error']);
    }
  });
});
