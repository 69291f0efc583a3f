import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { encryptedPdf } from '../../../../engine/test/support/pdfs.ts';
import { QUEUED_MAX } from '../../../../src/worker/batches.ts';
import { everything } from '../../../../src/audit/streams.ts';
import { startApi, type TestApi } from '../../support/testApi.ts';
import { batchTenant } from './batchTenant.ts';

const PASSWORD = 'a-password-of-batches';

describe('batches of a service of their own', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ FIELD_ENCRYPTION_KEY: randomBytes(32).toString('base64') });
  });
  after(() => api.stop());

  it('put only so many of their documents in the queue at once', async () => {
    const tenant = await batchTenant(api);
    const id = await tenant.created(await tenant.invoices(QUEUED_MAX + 5));
    let did = 1;
    while (did > 0) {
      did = await api.batches.look();
      // What was put in the queue has to be seen there before the next look.
      await tenant.batch(id);
    }
    expect((await api.deps.batches.streams.stateOf(id)).begun).to.equal(QUEUED_MAX);
    await tenant.call('post', `/v1/batches/${id}/cancel`);
    expect((await tenant.ended(id))['documents']).to.deep.include({ cancelled: QUEUED_MAX + 5 });
    expect(await tenant.balance()).to.include({ free_pages_remaining: 50, held_credits: 0 });
  });

  const keysIn = async (prefix: string): Promise<readonly string[]> => {
    const keys: string[] = [];
    for await (const { key } of api.objects.list(prefix)) keys.push(key);
    return keys;
  };

  it('keep a password sealed until they end, and nowhere else', async () => {
    const tenant = await batchTenant(api);
    const sealed = encryptedPdf(PASSWORD);
    const uri = await tenant.uploaded(sealed, 'application/pdf');
    const id = await tenant.created([uri], { password: PASSWORD });
    const wrong = await tenant.created([await tenant.uploaded(sealed, 'application/pdf')], { password: 'x' });
    expect(await keysIn(`secrets/${id}/`)).to.have.length(1);
    for (const key of await keysIn('')) {
      const bytes = await api.objects.get(key);
      expect(Buffer.from(bytes ?? []).includes(PASSWORD), key).to.equal(false);
    }
    expect((await tenant.ended(id))['documents']).to.deep.include({ succeeded: 1 });
    expect((await tenant.ended(wrong))['documents']).to.deep.include({ failed: 1 });
    expect((await tenant.results(wrong))[0]?.error).to.include({ code: 'wrong_password' });
    expect(await keysIn('secrets/')).to.deep.equal([]);
    for await (const { data } of everything(api.log)) expect(JSON.stringify(data)).to.not.contain(PASSWORD);
  });

  it('take what they leave out from a saved config, as it was when they were accepted', async () => {
    const tenant = await batchTenant(api);
    const { tenant_id } = tenant;
    const schema = { type: 'object', properties: { invoice_number: { type: 'string' } } };
    const config = await api.call('post', '/v1/configs', { json: { tenant_id, schema, mode: 'fast' } });
    expect(config.status, config.text).to.be.below(300);
    const { config_id } = config.body;
    const id = await tenant.created(await tenant.invoices(1), { schema: undefined, config_id });
    expect((await api.call('delete', `/v1/configs/${String(config_id)}`)).status).to.be.below(300);
    await tenant.ended(id);
    const [line] = await tenant.results(id);
    expect(line?.result).to.have.nested.property('result.invoice_number', 'Q-0');
    expect(line?.result).to.have.nested.property('meta.config_id', config_id);
  });

  it('read only the pages that they name', async () => {
    const tenant = await batchTenant(api, 1_000);
    const id = await tenant.created([await tenant.uploaded('x'.repeat(3000 * 3))], { pages: '2' });
    expect(await tenant.ended(id)).to.include({ pages_done: 1 });
  });
});
