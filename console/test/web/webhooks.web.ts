import { expect } from 'chai';
import { startReceiver, status, type Receiver } from '../../../test/http/webhooks/receiver.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const ENV = {
  FIELD_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  WEBHOOKS_ALLOW_PRIVATE_NETWORK: 'true',
};

describe('the page of webhooks', () => {
  let world: World;
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
    world = await startWorld(ENV);
  });
  after(async () => {
    await world.close();
    await receiver.stop();
  });

  const made = async (tenant: string) => {
    const { key, quire } = await world.tenant(tenant);
    const body = { tenant_id: tenant, url: receiver.url, events: ['*' as const] };
    const { webhook_id } = await quire.api.createWebhook({ body });
    return { key, quire, webhook_id };
  };

  it('makes a webhook, shows its secret once, tests it, and shows what arrived', async () => {
    const { key } = await world.tenant('told');
    const page = await world.open('/webhooks', { key });
    await page.getByRole('button', { name: 'Create a webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByLabel('Everything about the tenant').uncheck();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Choose at least one event.').waitFor();
    await dialog.getByLabel('The balance was adjusted').check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue();
    expect(secret).to.match(/^whsec_/);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('gridcell', { name: receiver.url }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('gridcell', { name: 'Delivered' }).waitFor();
    expect(receiver.received.map(({ payload }) => payload['type'])).to.deep.equal(['webhook.test']);
    await page.getByRole('gridcell', { name: 'webhook.test' }).click();
    await page.getByLabel('Message', { exact: true }).getByText('"type": "webhook.test"').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(await page.content()).not.to.include(secret);
    expect(faults(page)).to.deep.equal([]);
  });

  it('sends a message again that the receiver refused', async () => {
    receiver.answerWith(status(500));
    const { key, quire, webhook_id } = await made('refused');
    await quire.api.testWebhook({ path: { webhook_id } });
    const page = await world.open(`/webhooks/${webhook_id}`, { key });
    const refused = page.getByRole('gridcell', { name: '500: The receiver refused it' });
    await refused.waitFor();
    receiver.answerWith(status(204));
    await refused.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('gridcell', { name: 'Delivered' }).waitFor();
    expect(new Set(receiver.received.slice(-2).map(({ id }) => id)).size).to.equal(1);
  });

  it('rotates the secret, disables, changes and removes a webhook', async () => {
    const { key, quire, webhook_id } = await made('changed');
    const page = await world.open(`/webhooks/${webhook_id}`, { key });
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    expect(await page.getByRole('button', { name: 'Send a test' }).isDisabled()).to.equal(true);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByLabel('Description').fill('For the ledger');
    await page.getByLabel('Low balance at').fill('100, 1000');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('For the ledger').waitFor();
    expect(await quire.api.getWebhook({ path: { webhook_id } })).to.deep.include({
      enabled: false,
      description: 'For the ledger',
      low_balance_at: [100, 1_000],
    });
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Remove the webhook' }).click();
    await page.getByText('No webhooks yet').waitFor();
    expect((await quire.api.listWebhooks({ query: { tenant_id: 'changed' } })).items).to.deep.equal([]);
  });

  it('says of another tenant’s webhook that there is none', async () => {
    const { webhook_id } = await made('owner');
    const { key } = await world.tenant('stranger');
    const page = await world.open(`/webhooks/${webhook_id}`, { key });
    await page.getByText('There is no such webhook', { exact: true }).waitFor();
  });
});
