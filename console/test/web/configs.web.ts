import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const schemaOf = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

const choose = async (page: Page, tenantId: string): Promise<void> => {
  await page.getByRole('banner').getByRole('combobox', { name: 'Tenant' }).fill(tenantId);
  await page.keyboard.press('Enter');
};

describe('the pages of configs and pipelines', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  it('show a tenant two versions of a config side by side, and let it publish the next', async () => {
    const { key } = await world.tenant('configs');
    const body = { tenant_id: 'configs', name: 'Receipts' };
    const { config_id } = await world.admin.api.publishConfig({
      body: { ...body, schema: schemaOf('first') },
    });
    await world.admin.api.publishConfig({
      body: { ...body, config_id, schema: schemaOf('first', 'second') },
    });
    const page = await world.open('/configs', { key });
    await page.getByRole('gridcell', { name: config_id.slice(-6) }).click();
    await page.getByRole('group', { name: 'Compare versions' }).getByText('"second"').waitFor();
    await page.getByRole('button', { name: 'Publish a new version' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('without a required value').check();
    await dialog.getByLabel('with a value less sure than, in %').fill('80');
    expect(await axeFindings(page)).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await page
      .getByRole('region', { name: /Notifications/ })
      .getByText('Version 3')
      .waitFor();
    const { versions } = await world.admin.api.getConfig({ path: { config_id } });
    expect(versions[0]?.review).to.deep.equal({ below: 0.8, missing_required: true });
    await page.locator('bdi', { hasText: 'web' }).first().waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('compare in one column in a narrow window, and say in a toast what was published', async () => {
    await world.tenant('narrow');
    const body = { tenant_id: 'narrow', name: 'Receipts' };
    const { config_id } = await world.admin.api.publishConfig({
      body: { ...body, schema: schemaOf('first') },
    });
    const next = { ...body, config_id, schema: schemaOf('second') };
    await world.admin.api.publishConfig({ body: next });
    const page = await world.open('/configs', { width: 390, height: 844 });
    const tenant = page.getByRole('combobox', { name: 'Tenant' }).first();
    await tenant.fill('narrow');
    await tenant.press('Enter');
    await page.getByRole('gridcell', { name: config_id.slice(-6) }).click();
    const compared = page.getByRole('group', { name: 'Compare versions' });
    await compared.getByText('"second"').waitFor();
    expect(await compared.getByRole('textbox').count()).to.equal(1);
    await compared.locator('.cm-deletedChunk').getByText('"first"').waitFor();
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths[0]).to.be.at.most(widths[1]!);
    await page.getByRole('button', { name: 'Publish a new version' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click();
    await page
      .getByRole('region', { name: /Notifications/ })
      .getByText('Version 3')
      .waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('say what to do first where nothing was trained', async () => {
    const { key } = await world.tenant('pipelines');
    const page = await world.open('/pipelines', { key, theme: 'dark' });
    await page.getByText('Nothing was trained yet').waitFor();
    await page.getByRole('button', { name: 'Start a training' }).last().click();
    await page.getByText(/^Costs [\d,]+ credits/).waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Give at least two examples').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('are read again soon where an answer came before what was just published', async () => {
    await world.tenant('late');
    const page = await world.open('/configs');
    await choose(page, 'late');
    let reads = 0;
    await page.route('**/v1/configs?*', async (route) => {
      reads += 1;
      const body = JSON.stringify({ items: [], total: 0, limit: 200, offset: 0 });
      if (reads > 1) await route.continue();
      else
        await route.fulfill({ body, contentType: 'application/json', headers: { 'x-projection-lag': '7' } });
    });
    await world.admin.api.publishConfig({ body: { tenant_id: 'late', name: 'Late', schema: schemaOf('a') } });
    await page.reload();
    await page.getByRole('gridcell', { name: 'Late', exact: true }).waitFor();
    expect(reads).to.be.greaterThan(1);
    expect(faults(page)).to.deep.equal([]);
  });

  it('begin at the first field, and keep their buttons where they are while the editor is loaded', async () => {
    await world.tenant('steady');
    const page = await world.open('/configs');
    await choose(page, 'steady');
    let load = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route('**/assets/loadedEditor*.js', async (route) => {
      await isAsked;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Publish a config' }).first().click();
    const dialog = page.getByRole('dialog');
    const button = dialog.getByRole('button', { name: 'Publish', exact: true });
    await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor();
    await dialog.getByRole('status').waitFor();
    const before = await button.boundingBox();
    load();
    await dialog.locator('.cm-content').waitFor();
    expect(await button.boundingBox()).to.deep.equal(before);
  });
});
