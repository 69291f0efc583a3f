import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { isProblem, Quire } from '../../../sdk/src/index.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

describe('budgets', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  /** 5,000 credits of work. */
  const use = (quire: Quire, tenant_id: string, idempotency_key: string) =>
    quire.api.chargeExamples({ body: { tenant_id, idempotency_key } });

  const budgetsOf = async (tenant_id: string) =>
    (await world.admin.api.listBudgets({ path: { tenant_id } })).budgets;

  const choose = async (page: Page, label: string, name: string): Promise<void> => {
    await page.getByRole('combobox', { name: label }).click();
    await page.getByRole('option', { name, exact: true }).click();
  };

  it('are set in a form that says what is wrong, and drawn as the API counts them', async () => {
    const { key } = await world.tenant('setting', 50_000);
    const page = await world.open('/budgets', { key, zone: 'Europe/Berlin' });
    await page.getByRole('button', { name: 'Set a budget' }).click();
    const submit = page.getByRole('button', { name: 'Set the budget' });
    await page.getByLabel('Alerts at, in percent').fill('half');
    await submit.click();
    await page.getByText('Enter a name of at most 200 characters.').waitFor();
    await page.getByText('A whole number from 0 to 1,000,000,000,000.').waitFor();
    await page.getByText('At most 20 percentages from 0.1 to 1000').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('<b>Claims</b>');
    await choose(page, 'What it limits', 'A tag');
    await page.getByLabel('Name of the tag').fill('Team');
    await submit.click();
    await page.getByText('A small letter, then at most 39').waitFor();
    await page.getByLabel('Name of the tag').fill('team');
    await page.getByLabel('Value of the tag').fill('claims');
    await choose(page, 'Period', 'Each week, from Monday');
    await page.getByLabel('Limit in credits').fill('20,000');
    await page.getByLabel('Alerts at, in percent').fill('100, 12.5');
    await submit.click();
    await page.getByText('The budget is set.').waitFor();
    const [made] = await budgetsOf('setting');
    expect(made).to.deep.include({
      name: '<b>Claims</b>',
      scope: { tag: { name: 'team', value: 'claims' } },
      period: 'week',
      time_zone: 'Europe/Berlin',
      limit_credits: 20_000,
      on_reached: 'refuse',
      alert_at: [0.125, 1],
    });
    await page.getByRole('heading', { name: '<b>Claims</b>' }).waitFor();
    await page.getByRole('img', { name: '0 % of the limit: 0 used and 0 held of 20,000 credits' }).waitFor();
    await page.getByText('Week in Europe/Berlin').waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('say which work was refused and why, are raised, and ended after asking', async () => {
    const tenant = 'refused';
    const { key, quire } = await world.tenant(tenant, 50_000);
    const body = { tenant_id: tenant, name: 'Exports', period: 'month', limit_credits: 7_000 } as const;
    await world.admin.api.createBudget({ body: { ...body, scope: {} } });
    await use(quire, tenant, 'one');
    await use(quire, tenant, 'two').catch(() => undefined);
    const page = await world.open('/budgets', { key });
    await page.getByText('Latest refusals in this period (1)').click();
    await page
      .getByText('5,000 credits were required, 2,000 were left: 5,000 used and 0 held of 7,000.')
      .waitFor();
    await page.getByText(/Key \u2068web\u2069/).waitFor();
    await page.getByRole('button', { name: 'Change: Exports' }).click();
    expect(await page.getByLabel('Limit in credits').inputValue()).to.equal('7,000');
    await page.getByLabel('Limit in credits').fill('10000');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The budget was changed.').waitFor();
    await page.getByRole('img', { name: /^50 % of the limit: 5,000 used/ }).waitFor();
    await use(quire, tenant, 'three');
    await page.reload();
    await page.getByRole('img', { name: /^100 % of the limit: 10,000 used/ }).waitFor();
    await page.getByRole('button', { name: 'End: Exports' }).click();
    await page.getByRole('button', { name: 'End the budget' }).click();
    await page.getByText('No budgets yet').waitFor();
    expect(await budgetsOf(tenant)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('stand in the order of their use, and are found by name or by what they limit', async () => {
    const tenant_id = 'sorted';
    const { quire } = await world.tenant(tenant_id, 50_000);
    const make = (name: string, scope: object, limit_credits: number) =>
      world.admin.api.createBudget({ body: { tenant_id, name, scope, period: 'month', limit_credits } });
    await make('Wide', {}, 20_000);
    await make('Elsewhere', { project_id: 'archive' }, 5_000);
    await make('Narrow', {}, 6_000);
    await make('Full', {}, 5_000);
    await use(quire, tenant_id, 'one');
    const page = await world.open('/budgets');
    await page.getByLabel('Tenant').first().fill(tenant_id);
    await page.keyboard.press('Enter');
    const names = page.getByRole('list', { name: 'Budgets, the most used first' }).getByRole('heading');
    await names.first().waitFor();
    expect(await names.allInnerTexts()).to.deep.equal(['Full', 'Narrow', 'Wide', 'Elsewhere']);
    await page.getByLabel('Find a budget').fill('archive');
    await page.getByText('1 of 4 budgets').waitFor();
    expect(await names.allInnerTexts()).to.deep.equal(['Elsewhere']);
    await page.getByText('Limit of all work in the same period: 5,000 credits.').waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('are set and raised at their key, which itself raises no more than it may', async () => {
    const tenant_id = 'ofkeys';
    const { key } = await world.tenant(tenant_id, 50_000);
    const robot = await world.admin.api.createApiKey({ body: { tenant_id, name: 'robot' } });
    const page = await world.open('/keys', { key });
    await page.getByRole('button', { name: 'Set a budget: robot' }).click();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).to.equal('robot');
    await page.getByLabel('Limit in credits').fill('8000');
    await page.getByRole('button', { name: 'Set the budget' }).click();
    await page.getByText('The budget is set.').waitFor();
    const [made] = await budgetsOf(tenant_id);
    expect(made).to.deep.include({ scope: { key_id: robot.key_id }, limit_credits: 8_000 });
    await use(new Quire({ url: world.url, key: robot.key, tenant: tenant_id }), tenant_id, 'one');
    await page.reload();
    await page.getByText('5,000 / 8,000').waitFor();
    const own = await world.open('/keys', { key: robot.key });
    await own.getByRole('button', { name: /^Budget of .robot.$/ }).click();
    await own.getByLabel('Limit in credits').fill('9000');
    await own.getByRole('button', { name: 'Save' }).click();
    const told = await new Quire({ url: world.url, key: robot.key, tenant: tenant_id }).api
      .changeBudget({ path: { tenant_id, budget_id: made!.budget_id }, body: { limit_credits: 9_000 } })
      .catch((error: unknown) => error);
    if (!isProblem(told, 'budget_read_only'))
      throw new Error('the key raised its own budget without a parent');
    await own.getByRole('dialog').getByText(told.problem.detail).waitFor();
    await page.getByRole('button', { name: /^Budget of .robot.$/ }).click();
    await page.getByLabel('Limit in credits').fill('9000');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('5,000 / 9,000').waitFor();
    expect([...faults(page), ...faults(own)]).to.deep.equal([]);
  });

  for (const theme of ['light', 'dark'] as const)
    it(`have forms without a serious finding in the ${theme} theme`, async () => {
      const { key } = await world.tenant(`forms-${theme}`);
      const page = await world.open('/budgets', { key, theme });
      await page.getByRole('button', { name: 'Set a budget' }).click();
      await page.getByRole('button', { name: 'Set the budget' }).click();
      await page.getByText('Enter a name of at most 200 characters.').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
    });
});
