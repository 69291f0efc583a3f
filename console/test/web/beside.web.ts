import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { READING } from './support/trouble.ts';
import { startWorld, type World } from './support/world.ts';

const wide = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth);

describe('side by side in the playground', () => {
  let world: World;
  let key: string;
  before(async () => {
    world = await startWorld();
    ({ key } = await world.tenant('beside'));
    const schema = {
      type: 'object',
      properties: { iban: { type: 'string' }, grand_total: { type: 'string' } },
    };
    await world.admin.api.publishConfig({ body: { tenant_id: 'beside', name: 'Mine', schema } });
  });
  after(() => world.close());

  const sample = async (options: { width?: number; theme?: 'dark' } = {}): Promise<Page> => {
    const page = await world.open('/playground', { key, ...options });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    await page.locator('[data-cost]').waitFor();
    return page;
  };

  for (const look of [{}, { width: 390 }, { theme: 'dark' as const }])
    it(`stand schemas: the present one, a config and a template ${JSON.stringify(look)}`, async () => {
      const page = await sample(look);
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
      const table = page.getByRole('region', { name: 'Schemas side by side' });
      await table.getByText(/ fields are the same in each\.$/).waitFor();
      const iban = table.getByRole('row', { name: /^iban / });
      expect(await iban.locator('td').allInnerTexts()).to.deep.equal(['Text', 'Text', 'Text']);
      const total = table.getByRole('row', { name: /^grand_total / });
      expect(await total.locator('[data-differs=true]').allInnerTexts()).to.deep.equal(['Text']);
      expect(await wide(page)).to.be.at.most(look.width ?? 1280);
      expect(await axeFindings(page)).to.deep.equal([]);
      await table.getByRole('button', { name: 'Read by this one' }).nth(1).click();
      await page.getByLabel('Name: due_date').waitFor({ state: 'detached' });
      await page
        .getByLabel('Type: grand_total')
        .getByText('Text', { exact: true })
        .waitFor({ state: 'attached' });
      expect(faults(page)).to.deep.equal([]);
      await page.context().close();
    });

  for (const look of [{}, { width: 390 }, { theme: 'dark' as const }])
    it(`stand two readings, each with what it took, and what differs is marked ${JSON.stringify(look)}`, async () => {
      const page = await sample(look);
      // the other reading says another total, as another mode or model may
      await page.route(READING, async (route) => {
        const answer = await route.fetch();
        const body = (await answer.json()) as { result: { result: Record<string, unknown> } };
        const result = { ...body.result, result: { ...body.result.result, grand_total: 1 } };
        await route.fulfill({ response: answer, json: { ...body, result } });
      });
      await page.getByRole('tab', { name: 'Compare' }).click();
      await page.getByRole('button', { name: 'Run with these settings' }).click();
      await page.getByText(/^1 of \d+ values differ\.$/).waitFor();
      const table = page.getByRole('region', { name: 'Two readings side by side' });
      expect(await table.getByRole('columnheader').allInnerTexts()).to.satisfy(
        ([, one = '', other = '']: readonly string[]) =>
          one.startsWith('Standard') && other.startsWith('Robust'),
      );
      const total = table.getByRole('row', { name: /^grand_total / });
      expect(await total.locator('[data-differs=true]').count()).to.equal(2);
      await page.getByLabel('Only what differs').check();
      expect(await table.locator('tbody tr').count()).to.equal(1);
      expect(await wide(page)).to.be.at.most(look.width ?? 1280);
      expect(await axeFindings(page)).to.deep.equal([]);
      expect(faults(page)).to.deep.equal([]);
      await page.context().close();
    });
});
