import { expect } from 'chai';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

describe('the console', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  it('is signed in to by a key, comes back to the page that was asked for, and signs out', async () => {
    const { key } = await world.tenant('shell');
    const page = await world.open('/usage', { key: undefined });
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/app/usage');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/app/sign-in');
    expect(faults(page)).to.deep.equal([]);
  });

  it('stays while a page cannot be loaded, says so, and loads it when the service is reached again', async () => {
    const page = await world.open('/tenants');
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Finance', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'This page is not loaded yet' }).waitFor();
    await page.getByText('The service was not reached').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    const again = page.getByRole('button', { name: 'Try again' });
    await again.click();
    await page.getByText('The service was not reached').waitFor();
    await page.getByRole('link', { name: 'Tenants', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor();
    await page.getByRole('link', { name: 'Finance', exact: true }).click();
    await again.waitFor();
    await page.context().setOffline(false);
    await again.click();
    await page.getByRole('heading', { level: 1, name: 'Finance' }).waitFor();
  });

  it('opens menus, the palette and toasts without a fault of its policy', async () => {
    const page = await world.open('/playground');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(faults(page)).to.deep.equal([]);
  });

  it('says what a button without words does, also where its focus scrolls it into view, until Escape', async () => {
    const { key } = await world.tenant('tips');
    const page = await world.open('/playground', { key, height: 500 });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    const last = page.getByRole('button', { name: /^Remove / }).last();
    await last.waitFor();
    const name = (await last.getAttribute('aria-label')) ?? '';
    const top = () => last.evaluate((button) => button.getBoundingClientRect().top);
    const before = await top();
    // the keyboard was used last, so that the focus is shown
    await page.keyboard.press('Shift');
    await last.focus();
    await page.getByRole('tooltip', { name }).waitFor();
    await page.waitForFunction((was) => document.activeElement!.getBoundingClientRect().top < was, before);
    await page.evaluate(
      () =>
        new Promise((drawn) => {
          requestAnimationFrame(() => requestAnimationFrame(drawn));
        }),
    );
    expect(await page.getByRole('tooltip', { name }).count()).to.equal(1);
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await page.getByRole('tooltip').waitFor({ state: 'detached' });
    expect(faults(page)).to.deep.equal([]);
  });

  for (const theme of ['light', 'dark'] as const)
    it(`has no serious finding in the ${theme} theme`, async () => {
      const page = await world.open('/playground', { theme });
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
    });
});
