import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startService, type ServiceProcess } from '../../../test/support/serviceProcess.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { axeFindings } from './support/axe.ts';
import { faults, openBrowser, openPage } from './support/browser.ts';

const LINK = /sign in +(http\S+)/;

/** The link that a start prints. */
const linkIn = (output: string): string => {
  const link = LINK.exec(output)?.[1];
  if (link === undefined) throw new Error(`no link is printed:\n${output}`);
  return link;
};

describe('the first minute', () => {
  const folder = tempFolder();
  let service: ServiceProcess;
  let browser: Browser;
  let page: Page;
  before(async () => {
    service = await startService(folder.path, { ADMIN_API_KEY: '' });
    browser = await openBrowser();
    page = await openPage(browser, {});
  });
  after(async () => {
    await browser.close();
    await service.stop('SIGTERM');
    folder.remove();
  });

  it('leads from the printed link to a result by one click', async () => {
    const began = performance.now();
    await page.goto(linkIn(service.output()));
    const sample = page.getByRole('button', { name: 'Invoice', exact: true });
    await sample.waitFor();
    expect(new URL(page.url()).pathname).to.equal('/app/playground');
    expect(await page.getByLabel('Tenant').inputValue()).to.equal('default');
    const opened = performance.now();
    await sample.click();
    await page.locator('button[data-value="/grand_total"]').getByText('757.2').waitFor();
    const read = performance.now();
    const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
    console.log(
      `      1 click: ${seconds(opened - began)} s to the page, ${seconds(read - opened)} s to the result`,
    );
    // half a minute is not what one waits for, also beside other work; alone it takes less than 2 s
    expect(read - opened).to.be.below(30_000);
    await page.getByText('Charged 0 credits for 1 page').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('gives a key with the line that sends the same, which works, and is gone when it is stored', async () => {
    await page.getByRole('button', { name: 'Get a key' }).click();
    const line = (await page.getByRole('region', { name: 'The request with your key' }).textContent()) ?? '';
    const key = /X-API-KEY: (\S+)"/.exec(line)?.[1] ?? '';
    const schema = /-F 'schema=([\s\S]*)'$/.exec(line)?.[1] ?? '';
    const form = new FormData();
    form.set('schema', schema);
    form.set('file', new Blob(['Invoice number: A-7'], { type: 'text/plain' }), 'a.txt');
    const answer = await fetch(`${service.url}/v1/extract`, {
      method: 'POST',
      headers: { 'X-API-KEY': key },
      body: form,
    });
    expect(answer.status).to.equal(200);
    expect(((await answer.json()) as { result: object }).result).to.include({ invoice_number: 'A-7' });
    await page.getByRole('button', { name: 'I have stored it' }).click();
    expect(await page.getByRole('button', { name: 'Get a key' }).count()).to.equal(0);
  });

  it('sells credits in place', async () => {
    await page.getByRole('button', { name: 'Sell credits' }).click();
    await page.getByText('10,000 credits by the price list.').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Record the sale' }).click();
    await page.getByText('10,000 credits were sold.').waitFor();
    await page.getByRole('button', { name: 'Sell credits' }).waitFor({ state: 'detached' });
  });

  it('reads the same document by a schema of one’s own, and then has nothing more to ask', async () => {
    await page.getByRole('button', { name: 'Use my schema' }).click();
    const own = JSON.stringify({ type: 'object', properties: { iban: { type: 'string' } } });
    await page.locator('[role=dialog] .cm-content').fill(own);
    await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click();
    await page.locator('button[data-value="/grand_total"]').waitFor({ state: 'detached' });
    await page.locator('button[data-value="/iban"]').waitFor();
    await page.getByRole('heading', { name: 'Next', exact: true }).waitFor({ state: 'hidden' });
    expect(faults(page)).to.deep.equal([]);
  });

  it('shows what came of it on the first page from then on, each figure with the way to its rows', async () => {
    await page.goto(`${service.url}/app/`);
    await page.waitForURL('**/app/overview');
    const month = page.getByRole('region', { name: 'Today and the last 30 days: Last 30 days' }).last();
    await month.getByRole('link', { name: '100 % none failed' }).waitFor();
    await month.getByRole('link', { name: '3', exact: true }).click();
    await page.waitForURL('**/app/usage?*');
    // of the three, what the program read by its key is billed: by a free page
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(faults(page)).to.deep.equal([]);
  });
});
