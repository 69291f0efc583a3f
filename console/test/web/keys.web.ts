import { expect } from 'chai';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

describe('the page of keys', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  it('makes a key that works, shows it once and keeps it nowhere', async () => {
    const { key } = await world.tenant('keys');
    const page = await world.open('/keys', { key });
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('<b>robot</b>');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const shown = page.getByRole('textbox', { name: '<b>robot</b>' });
    const made = await shown.inputValue();
    const answer = await page.request.get(`${world.url}/v1/billing/balance/keys`, {
      headers: { 'x-api-key': made },
    });
    expect(answer.status()).to.equal(200);
    await page.keyboard.press('Escape');
    await page.getByText('The key is not shown again. Store it first').waitFor();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('gridcell', { name: '<b>robot</b>', exact: true }).waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        location.href,
        document.body.innerHTML,
      ]),
    );
    expect(kept).not.to.include(made);
    expect(faults(page)).to.deep.equal([]);
  });

  it('rotates with a grace, and revokes after asking', async () => {
    const { key } = await world.tenant('rotated');
    const page = await world.open('/keys', { key });
    await world.admin.api.createApiKey({ body: { tenant_id: 'rotated', name: 'other' } });
    await page.reload();
    await page.getByRole('button', { name: 'Rotate: web' }).click();
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByText('Ending').waitFor();
    await page.getByRole('button', { name: 'Revoke: other' }).click();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    // The dialog hides the page behind it from roles: a detached button alone would not say that it was revoked.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Revoke: other' }).waitFor({ state: 'detached' });
    const { items } = await world.admin.api.listApiKeys({ path: { tenant_id: 'rotated' } });
    expect(items.filter(({ revoked_at }) => revoked_at !== null).map(({ name }) => name)).to.deep.equal([
      'other',
    ]);
  });

  for (const theme of ['light', 'dark'] as const)
    it(`has no serious finding in the ${theme} theme`, async () => {
      const { key } = await world.tenant(`keys-${theme}`);
      const page = await world.open('/keys', { key, theme });
      await page.getByRole('grid').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
    });
});
