import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const today = (): string => new Date().toISOString().slice(0, 10);

describe('what an operator publishes', () => {
  let world: World;
  let page: Page;
  before(async () => {
    world = await startWorld();
    page = await world.open('/finance?tab=prices');
  });
  after(() => world.close());
  afterEach(() => expect(faults(page)).to.deep.equal([]));

  const tab = (name: string): Promise<void> => page.getByRole('tab', { name }).click();
  const review = (): Promise<void> => page.getByRole('button', { name: 'Review and publish' }).click();
  const publish = async (): Promise<void> => {
    await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const changes = async (): Promise<readonly string[]> => {
    const rows = page.getByRole('dialog').getByRole('table', { name: 'What changes' }).locator('tbody tr');
    await rows.first().waitFor();
    return (await rows.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim());
  };

  it('is a price list: what it changes is shown first, then it is the active one', async () => {
    const before = await world.admin.api.getAdminCreditPrices();
    const [kept] = before.entries;
    if (kept === undefined) throw new Error('nothing is sold');
    await page.getByText(`Active: version ${String(before.version)}`).waitFor();
    const price = page.getByLabel(`Price of 1,000 credits ${kept.currency}`);
    await price.fill('12.3x');
    expect(await page.getByRole('button', { name: 'Review and publish' }).isDisabled()).to.equal(true);
    await price.fill('12.34');
    await review();
    expect(await changes()).to.include(`${kept.currency} ${kept.price_per_1000_credits} 12.34 Changed`);
    expect(await axeFindings(page)).to.deep.equal([]);
    await publish();
    await page.getByText(`Active: version ${String(before.version + 1)}`).waitFor();
    await page.getByRole('gridcell', { name: /12\.34/ }).waitFor();
    const { entries } = await world.admin.api.getAdminCreditPrices();
    expect(entries.find(({ currency }) => currency === kept.currency)?.price_per_1000_credits).to.equal(
      '12.34',
    );
  });

  it('is no price list where another was published meanwhile; what was typed stays', async () => {
    const { version, entries } = await world.admin.api.getAdminCreditPrices();
    const [kept] = entries;
    const price = page.getByLabel(`Price of 1,000 credits ${kept?.currency ?? ''}`);
    await price.fill('13.5');
    await review();
    const same = entries.map(({ currency, price_per_1000_credits, tax_basis }) => ({
      currency,
      price_per_1000_credits,
      tax_basis,
    }));
    await world.admin.api.publishCreditPrices({
      body: { expected_version: version, entries: same, note: 'of another' },
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByText(`Active: version ${String(version + 1)}`).waitFor();
    expect(await price.inputValue()).to.equal('13.5');
    await review();
    expect(await changes()).to.include(`${kept?.currency ?? ''} 12.34 13.5 Changed`);
    await publish();
    await page.getByText(`Active: version ${String(version + 2)}`).waitFor();
  });

  it('are rates of a day', async () => {
    await tab('Exchange rates');
    await page.getByLabel('Rate USD').fill('1.0833');
    await review();
    expect(await changes()).to.deep.equal(['USD – 1.0833 New']);
    await publish();
    await page.getByRole('gridcell', { name: '1.0833' }).waitFor();
    const rate = await world.admin.api.getFxRate({ query: { base: 'EUR', quote: 'USD', on: today() } });
    expect(rate.rate).to.equal('1.0833');
  });

  it('are prices of models that were called without one', async () => {
    await world.tenant('caller');
    const model_name = 'model-of-the-spec';
    await world.admin.api.logLlmCost({
      body: {
        tenant_id: 'caller',
        job_id: 'priced',
        operation: 'extract',
        provider: 'openai',
        model_name,
        input_tokens: 2_000_000,
        output_tokens: 1_000_000,
      },
    });
    await tab('Model costs');
    const missing = page.getByRole('grid', { name: 'Missing prices' });
    await missing.getByRole('gridcell', { name: model_name }).click();
    await page.getByLabel('USD for a million input tokens').fill('0.15');
    await page.getByLabel('USD for a million output tokens').fill('0.6');
    await page.getByRole('dialog').getByRole('button', { name: 'Publish a price' }).click();
    await page.getByText('Every model has a price').waitFor();
    const costs = page.getByRole('grid', { name: 'Model costs' });
    await costs.getByRole('row').filter({ hasText: model_name }).getByText('0.9').waitFor();
  });

  it('are next versions that keep what the form does not show: rules of reviews among it', async () => {
    const { quire } = await world.tenant('ruling');
    const rules = {
      review: { below: 0.8, rules: true },
      models_for: 'doubtful',
      require_grounding: true,
    } as const;
    const first = { type: 'object', properties: { total: { type: 'number' } } };
    const body = { tenant_id: 'ruling', name: 'Ruled', schema: first, ...rules };
    const { config_id } = await world.admin.api.publishConfig({ body });
    await world.admin.api.publishConfig({ body: { ...body, config_id, review: { below: 0.7 } } });
    await page.getByRole('combobox', { name: 'Tenant' }).fill('ruling');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Configs' }).click();
    await page.getByRole('gridcell', { name: 'Ruled' }).click();
    const compared = page.getByRole('group', { name: 'Compare versions' });
    await compared.getByText('"below": 0.7').waitFor();
    await page.getByRole('button', { name: 'Publish a new version' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const { items } = await quire.api.listConfigs({ query: { tenant_id: 'ruling' } });
    expect(items[0]).to.deep.include({ ...rules, version: 3, review: { below: 0.7 } });
  });

  it('are versions of a config, side by side, until it is revoked', async () => {
    const { quire } = await world.tenant('saving');
    await page.getByRole('combobox', { name: 'Tenant' }).fill('saving');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Configs', exact: true }).click();
    await page.getByRole('button', { name: 'Publish a config' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Vouchers');
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('gridcell', { name: 'Vouchers' }).click();
    await page.getByRole('button', { name: 'Publish a new version' }).click();
    const schema = { type: 'object', properties: { total: { type: 'number' }, voucher: { type: 'string' } } };
    await dialog.locator('.cm-content').fill(JSON.stringify(schema, undefined, 2));
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const compared = page.getByRole('group', { name: 'Compare versions' });
    await compared.getByText('"voucher"').waitFor();
    await compared.locator('.cm-changedLine').first().waitFor();
    const { items } = await quire.api.listConfigs({ query: { tenant_id: 'saving' } });
    expect(items.map(({ name, version, schema: saved }) => ({ name, version, saved }))).to.deep.equal([
      { name: 'Vouchers', version: 2, saved: schema },
    ]);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke the config' }).click();
    await page.getByText('Revoked', { exact: true }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Publish a new version' }).waitFor({ state: 'detached' });
    const file = new File(['Total: 12.50'], 'voucher.txt');
    const refused = await quire.extract({ file, config_id: items[0]?.config_id ?? '' }).then(
      () => 'taken',
      (error: unknown) => String(error),
    );
    expect(refused).not.to.equal('taken');
  });
});
